# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The output directory: made once, never mixed, locked while the trial lives.

# output_make: makes $out (and $state in it), takes its lock on descriptor 9, or ends with 125.
output_make() {
	umask 077
	out_shown=${opt_out:-trials/$(date -u +%Y%m%dT%H%M%SZ)-$CELL_TRIAL}
	if [ -z "$opt_out" ] && ! mkdir -p trials 2>/dev/null; then
		complain "run_trial: not started: cannot make the directory trials here"
		exit 125
	fi
	if ! output_reason=$(mkdir -m 0700 -- "$out_shown" 2>&1); then
		complain "run_trial: not started: ${output_reason#mkdir: }"
		exit 125
	fi
	out=$(readlink -f -- "$out_shown")
	state=$out/.state
	if ! mkdir "$state" "$out/subject" 2>/dev/null || ! : >"$out/run.log" ||
		! : >"$out/evidence.jsonl" || ! : >"$out/lock"; then
		complain "run_trial: not started: cannot write in $out_shown"
		exit 125
	fi
	# Room for the last words of a trial, whatever its subject does to the disk: blocks and inodes.
	if ! mkdir "$state/reserve" || ! (
		cd "$state/reserve" && { fallocate -l 4M blocks || head -c 4194304 /dev/zero >blocks; } &&
			touch 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
	) 2>/dev/null; then
		complain "run_trial: not started: no room in $out_shown"
		exit 125
	fi
	exec 9>"$out/lock"
	flock -n 9
	export out state out_shown
}

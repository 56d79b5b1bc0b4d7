#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root jq setpriv strace unshare python3 busybox
# cell-exec as a link of a chain: usage, what is given up and what passes through, exit codes, the
# kept profile, and the strange places it is started in.
. "$(dirname "$0")/lib/cell_test.sh"
. "$top/tests/lib/hostile_root.sh"

uid=61234
plain() { setpriv --reuid "$uid" --regid "$uid" "$@"; }
held() { # FIELD: from the status file that the subject itself read last
	sed -n "s/^$1:[[:space:]]*//p" "$work/out"
}

test_wrong_usage_is_100() {
	expect_error 100 'no PROGRAM' cell-exec
	expect_error 100 'no PROGRAM' cell-exec --
	expect_error 100 'not UID:GID' cell-exec --user 1000 true
	expect_error 100 'not a whole number' cell-exec --user root:root true
	expect_error 100 'not a whole number' cell-exec --user :1 true
	expect_error 100 'not a whole number' cell-exec --user 1: true
	expect_error 100 'not in 0 to 4294967294' cell-exec --user 4294967295:1 true
	expect_error 100 'not in 0 to 4294967294' cell-exec --user 1:4294967295 true
	expect_error 100 'not a whole number' cell-exec --user 1:-1 true
	expect_error 100 'neither none nor keep' cell-exec --caps some true
	expect_error 100 'given twice' cell-exec --caps none --caps none true
	expect_error 100 'nothing that is refused' cell-exec --allow read true
	expect_error 100 'nothing that is refused' cell-exec --allow socket true
	expect_error 100 'nothing that is refused' cell-exec --allow VSOCK true
	expect_error 100 'no_new_privs' cell-exec --unprivileged --allow new-privileges true
	expect_error 100 'not json' cell-exec --print-filter bpf
	expect_error 100 'runs no program' cell-exec --print-filter json true
	for other in '--user 1:1' '--caps none' '--caps keep' --keep-session --unprivileged; do
		# shellcheck disable=SC2086 # a list of words
		expect_error 100 'goes with --allow alone' cell-exec $other --print-filter json
	done
	expect_error 100 'unknown option' cell-exec --us 1:1 true
	expect 100 cell-exec --print-filter json --json
	assertEquals usage "$(jq -r .error.kind "$work/out")"
}

test_options_end_at_the_program() {
	expect 0 cell-exec echo --json --user
	assertEquals '--json --user' "$out"
	expect 3 cell-exec -- sh -c 'exit 3'
}

test_program_that_cannot_run_is_126_and_missing_is_127() {
	expect_error 127 'No such file' cell-exec /nonexistent/program
	expect_error 127 'No such file' cell-exec cell-no-such-program
	expect_error 127 'No such file' cell-exec ''
	expect_error 126 'Permission denied' cell-exec /etc/passwd
	expect_error 126 'Permission denied' cell-exec /etc
	printf '#!/nonexistent/interpreter\n' >"$work/script"
	chmod 0755 "$work/script"
	expect_error 127 'No such file' cell-exec "$work/script"
	printf '\177ELF, not really' >"$work/elf"
	chmod 0755 "$work/elf"
	# sh gets it, as with every chain loader, and cannot read it.
	expect 127 cell-exec "$work/elf"
	expect 127 cell-exec --json /nonexistent/program
	assertEquals 'cell-exec 127 2' "$(jq -r '"\(.tool) \(.exit) \(.error.errno)"' "$work/out")"
	expect 127 cell-exec --quiet /nonexistent/program
	assertEquals '' "$err"
}

test_default_leaves_nothing_in_any_set() {
	# The positive control: what it started with.
	run setpriv --inh-caps +net_admin,+net_raw --ambient-caps +net_raw --groups 4,5 cat /proc/self/status
	assertNotEquals 0000000000000000 "$(held CapAmb)"
	assertNotEquals 0000000000000000 "$(held CapInh)"
	assertNotEquals 0000000000000000 "$(held CapBnd)"
	assertEquals '4 5' "$(held Groups | sed 's/ $//')"
	expect 0 setpriv --inh-caps +net_admin,+net_raw --ambient-caps +net_raw --groups 4,5 \
		cell-exec --user $uid:$uid cat /proc/self/status
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		assertEquals "$set" 0000000000000000 "$(held $set)"
	done
	assertEquals "$uid	$uid	$uid	$uid" "$(held Uid)"
	assertEquals "$uid	$uid	$uid	$uid" "$(held Gid)"
	assertEquals '' "$(held Groups | tr -d ' ')"
	assertEquals 1 "$(held NoNewPrivs)"
	assertEquals 2 "$(held Seccomp)"
	# A program of root's, without a user: root without capabilities.
	expect 0 cell-exec cat /proc/self/status
	assertEquals "0	0	0	0" "$(held Uid)"
	assertEquals 0000000000000000 "$(held CapEff)"
	assertEquals 0000000000000000 "$(held CapBnd)"
}

test_keep_takes_only_what_the_gate_refuses() {
	run cat /proc/self/status
	before=$(held CapBnd)
	expect 0 setpriv --inh-caps +net_admin,+net_raw,+chown --ambient-caps +net_raw,+chown \
		cell-exec --caps keep cat /proc/self/status
	# net_raw 13, net_admin 12, sys_admin 21, sys_module 16, sys_rawio 17, dac_read_search 2, bpf 39
	deny=$((1 << 13 | 1 << 12 | 1 << 21 | 1 << 16 | 1 << 17 | 1 << 2 | 1 << 39))
	assertEquals "$(printf %016x $((0x$before & ~deny)))" "$(held CapBnd)"
	assertEquals "$(held CapBnd)" "$(held CapEff)"
	assertEquals "$(held CapBnd)" "$(held CapPrm)"
	assertEquals 0000000000000001 "$(held CapInh)"
	assertEquals 0000000000000001 "$(held CapAmb)"
	assertEquals 'the filter did not need it' 0 "$(held NoNewPrivs)"
	assertEquals 2 "$(held Seccomp)"
	# Without sys_admin, as in a container, the filter does need it.
	expect 0 setpriv --bounding-set -sys_admin -- cell-exec --caps keep cat /proc/self/status
	assertEquals 1 "$(held NoNewPrivs)"
	# Groups stay without --user and go with it.
	expect 0 setpriv --groups 4,5 cell-exec --caps keep cat /proc/self/status
	assertEquals '4 5' "$(held Groups | sed 's/ $//')"
	expect 0 setpriv --groups 4,5 cell-exec --caps keep --user $uid:$uid cat /proc/self/status
	assertEquals '' "$(held Groups | tr -d ' ')"
	assertEquals 0000000000000000 "$(held CapEff)"
}

test_new_privileges_are_allowed_only_where_the_filter_can_do_without() {
	expect 0 cell-exec --allow new-privileges cat /proc/self/status
	assertEquals 0 "$(held NoNewPrivs)"
	assertEquals 2 "$(held Seccomp)"
	assertEquals 0000000000000000 "$(held CapBnd)"
	expect_error 111 'takes sys_admin' setpriv --bounding-set -sys_admin -- \
		cell-exec --allow new-privileges true
	expect_error 111 'takes sys_admin' setpriv --bounding-set -sys_admin -- \
		cell-exec --caps keep --allow new-privileges true
}

test_what_cannot_be_given_up_ends_it() {
	expect_error 111 'bounding set' plain --clear-groups cell-exec true
	expect_error 111 'bounding set' plain --clear-groups cell-exec --caps keep true
	expect_error 111 'supplementary groups' \
		plain --bounding-set=-all --groups 4,5 cell-exec true
	expect_error 111 'group id' plain --clear-groups --bounding-set=-all cell-exec --user 0:0 true
	expect_error 111 'user id' setpriv --bounding-set=+all,-setuid \
		cell-exec --user $uid:$uid true
	# An ordinary user may say that this is known.
	expect 0 plain --groups 4,5 cell-exec --unprivileged cat /proc/self/status
	assertEquals '4 5' "$(held Groups | sed 's/ $//')"
	assertEquals 1 "$(held NoNewPrivs)"
	assertEquals 0000000000000000 "$(held CapPrm)"
	expect_error 111 'group id' plain --clear-groups cell-exec --unprivileged --user 0:0 true
	# Nothing to give up: nothing is asked of the kernel.
	expect 0 plain --clear-groups --bounding-set=-all cell-exec --user $uid:$uid cat /proc/self/status
}

test_descriptors_above_two_are_closed() {
	cat >"$work/inherit" <<'EOS'
import os, subprocess, sys
for number in 3, 7, 300:
    os.dup2(os.open("/etc", os.O_RDONLY), number)
    os.set_inheritable(number, True)
os.execvp(sys.argv[1], sys.argv[1:])
EOS
	run python3 "$work/inherit" ls /proc/self/fd
	assertContains 'the control inherits them' "$out" 300
	expect 0 python3 "$work/inherit" cell-exec ls /proc/self/fd
	# 3 is ls's own.
	assertEquals '0 1 2 3' "$(tr '\n' ' ' <"$work/out" | sed 's/ $//')"
}

test_a_way_out_among_the_first_three_is_refused() {
	expect_error 100 'descriptor 0 is a directory' cell-exec true </etc
	expect 0 cell-exec true </
	expect 0 cell-exec true <&-
	expect 0 python3 -c '
import socket, subprocess, sys
a, b = socket.socketpair()
network = socket.socket()
ok = subprocess.run(["cell-exec", "true"], stdin=a, stdout=b, stderr=a).returncode
no = subprocess.run(["cell-exec", "true"], stdin=network, stderr=subprocess.PIPE)
plain = subprocess.run(["true"], stdin=network).returncode
sys.exit(0 if (ok, no.returncode, plain) == (0, 100, 0) and b"network socket" in no.stderr else 1)'
}

test_session_is_left_and_kept() {
	# shellcheck disable=SC2016 # for the inner shell
	session='cut -d" " -f6 /proc/$$/stat'
	mine=$(cut -d' ' -f6 "/proc/$$/stat")
	expect 0 cell-exec sh -c "$session"
	assertNotEquals "$mine" "$out"
	expect 0 cell-exec --keep-session sh -c "$session"
	assertEquals "$mine" "$out"
	# A leader of a process group that is alone in it, as under an interactive shell.
	expect 0 python3 -c '
import os, subprocess, sys
r = subprocess.run(["cell-exec", "sh", "-c", "cut -d\" \" -f1,6 /proc/$$/stat"],
                   preexec_fn=lambda: os.setpgid(0, 0), stdout=subprocess.PIPE)
pid, session = r.stdout.split()
sys.exit(0 if pid == session else 1)'
	# A leader of a session stays what it is.
	expect 0 setsid --wait cell-exec true
}

test_signals_limits_and_environment_pass_through() {
	cat >"$work/state" <<'EOS'
grep -E '^Sig(Blk|Ign)' /proc/self/status
umask; ulimit -n; pwd; env | grep -v ^_=
EOS
	cat >"$work/states" <<'EOS'
trap '' HUP USR2
umask 027; ulimit -n 77; cd /usr
exec "$@"
EOS
	# A suite that was started in the background has INT and QUIT ignored.
	env -i --default-signal PATH="$PATH" ODD='a=b
c' sh "$work/states" sh "$work/state" >"$work/plain"
	expect 0 env -i --default-signal PATH="$PATH" ODD='a=b
c' sh "$work/states" cell-exec sh "$work/state"
	assertEquals "$(cat "$work/plain")" "$out"
	# HUP and USR2; what a parent ignored of the C library's own signals (32 and 33) stays ignored.
	printf '%s\n' "$out" | grep -qE '^SigIgn:.*00000801$|^SigIgn:.*80000801$'
	assertEquals "HUP and USR2 are ignored in: $out" 0 $?
}

test_parent_death_signal_survives_the_change_of_ids() {
	# The control: the kernel forgets it with the ids.
	asked='import ctypes, sys
n = ctypes.c_int()
ctypes.CDLL(None).prctl(2, ctypes.byref(n), 0, 0, 0)
print(n.value)'
	expect 0 setpriv --pdeathsig KILL setpriv --reuid $uid --clear-groups python3 -c "$asked"
	assertEquals 0 "$out"
	expect 0 setpriv --pdeathsig KILL cell-exec --user $uid:$uid python3 -c "$asked"
	assertEquals 9 "$out"
}

test_kept_profile_is_what_the_tool_prints() {
	expect 0 cell-exec --print-filter json
	cp "$work/out" "$work/profile"
	case $(uname -m) in
	x86_64) assertTrue 'share/cell/seccomp.json is stale' \
		"cmp '$work/profile' '$top/share/cell/seccomp.json'" ;;
	esac
	assertEquals 'SCMP_ACT_ALLOW 1' "$(jq -r '"\(.defaultAction) \(.architectures | length)"' "$work/profile")"
	# Docker's format: these keys, these types, no argument twice in a rule (it would mean "or").
	expect 0 jq -e '
		(keys == ["architectures", "defaultAction", "syscalls"]) and
		([.syscalls[] | keys - ["names", "action", "errnoRet", "args"]] | add == []) and
		all(.syscalls[];
			(.names | length == 1) and .action == "SCMP_ACT_ERRNO" and
			(.errnoRet | type == "number") and
			((.args // []) | map(.index) | length == (unique | length)) and
			all(.args[]?; (.op | startswith("SCMP_CMP_")) and (.value | type == "number")))
		' "$work/profile"
	cell-exec --print-filter json --allow vsock >"$work/vsock"
	assertEquals '40' "$(diff "$work/profile" "$work/vsock" | sed -n 's/^<.*"valueTwo": \([0-9]*\).*/\1/p')"
}

test_names_to_allow_are_the_same_everywhere() {
	names=$(sed -n -e 's/^	{"\([a-z0-9_]*\)", .*/\1/p' -e 's/^} requests\[\] = //p' \
		"$top/common/seccomp_filter_rules.c" | grep -v TIOC
		grep -o '\] = "[a-z0-9]*"' "$top/common/seccomp_filter_rules.c" | cut -d'"' -f2
		echo tiocsti tioclinux new-privileges other-processes core-helper | tr ' ' '\n')
	names=$(echo "$names" | sort)
	assertTrue 'all of them were found' "[ $(echo "$names" | wc -l) -gt 65 ]"
	for name in $names; do
		case $name in new-privileges | other-processes | core-helper) ;; *)
			cell-exec --print-filter json --allow "$name" >"$work/one" ||
				fail "--allow $name"
			cmp -s "$work/one" "$top/share/cell/seccomp.json" && fail "$name opens nothing"
			;;
		esac
		sed 's/\\-/-/g' "$top/share/man/man1/cell-exec.1" | grep -qw -e "$name" ||
			fail "$name is not in the manual"
	done
	assertEquals bash "$names" \
		"$(sed -n "/names='/,/'\$/p" "$top/completions/bash/cell-exec" | sed "s/.*'//" |
			tr -s '\t ' '\n' | grep . | sort)"
	assertEquals zsh "$names" \
		"$(sed -n '/names=(/,/^)/p' "$top/completions/zsh/_cell-exec" | grep -v '[()]' |
			tr -s '\t ' '\n' | grep . | sort)"
	assertEquals fish "$names" \
		"$(sed -n '/set -l names/,/[a-z0-9]$/p' "$top/completions/fish/cell-exec.fish" |
			sed '1d; s/\\//' | tr -s '\t ' '\n' | grep . | sort)"
}

# core_limit PATTERN COMMAND...: the limit that COMMAND leaves, where core_pattern says PATTERN.
core_limit() {
	printf '%s\n' "$1" >"$work/pattern"
	shift
	# shellcheck disable=SC2016 # for the other shell
	expect 0 unshare --mount sh -c 'mount --bind "$1" /proc/sys/kernel/core_pattern && shift && exec "$@"' \
		sh "$work/pattern" prlimit --core=4096:1000000 "$@" \
		sed -n 's/^Max core file size  *\([^ ]*\) *\([^ ]*\) .*/\1 \2/p' /proc/self/limits
}

test_host_program_for_core_dumps_is_not_started() {
	core_limit '|/usr/lib/helper %e' env
	assertEquals 'without' '4096 1000000' "$out"
	for pattern in '|/usr/lib/helper %e' '@/run/socket'; do
		core_limit "$pattern" cell-exec --user "$uid:$uid" --
		assertEquals "$pattern" '1 1' "$out"
		core_limit "$pattern" cell-exec --caps keep --
		assertEquals "$pattern, capabilities kept" '1 1' "$out"
	done
	core_limit core.%p cell-exec --user "$uid:$uid" --
	assertEquals 'plain files' '4096 1000000' "$out"
	core_limit '|/usr/lib/helper %e' cell-exec --user "$uid:$uid" --allow core-helper --
	assertEquals 'allowed' '4096 1000000' "$out"
	# A hard limit of 0 cannot be raised by who lacks sys_resource: that is no reason not to start.
	expect 0 unshare --mount sh -c 'mount --bind "$1" /proc/sys/kernel/core_pattern && shift && exec "$@"' \
		sh "$work/pattern" prlimit --core=0:0 setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
		cell-exec --user "$uid:$uid" -- true
}

test_runs_as_process_one_in_an_empty_read_only_root() {
	mkdir "$work/root"
	cp "$top/build/bin/cell-exec" "$(command -v busybox)" "$work/root"
	cat >"$work/enter" <<EOS
mount --bind "$work/root" "$work/root" && mount -o remount,bind,ro "$work/root" &&
	exec chroot "$work/root" /cell-exec --user $uid:$uid -- \\
		/busybox sh -c 'echo "\$\$ \$(/busybox id -u)"; : >/file'
EOS
	run unshare --mount --pid --fork sh "$work/enter"
	assertEquals "$err" "1 $uid" "$out"
	assertContains "$err" 'Read-only file system'
	assertNotEquals 0 "$status"
}

test_hostile_root_gets_nothing_but_the_program() {
	hostile_root_new
	chmod 0755 "$hostile" # or the user could not run what is in there
	hostile_root_run 'exec /tool' 'open /proc/sys/kernel/core_pattern' -- "$top/build/bin/cell-exec" --user $uid:$uid -- /tool --version
	assertContains "$out" 'cell-exec '
	assert_hostile_root_clean cell-exec
	hostile_root_run 'exec /*/nothing' 'open /proc/sys/kernel/core_pattern' -- "$top/build/bin/cell-exec" --caps keep --json -- nothing
	assertEquals 127 "$status"
	assert_hostile_root_clean cell-exec
	hostile_root_run -- "$top/build/bin/cell-exec" --print-filter json
	assertEquals 0 "$status"
	assert_hostile_root_clean cell-exec
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The subject as an adversary of its own trial: it lost, and wants no result, or another one. What
# it can reach must leave a summary that says it ran.
# needs: root netns mitmdump bwrap jq nft
. "$(dirname "$0")/../lib/cell_test.sh"
. "$(dirname "$0")/../lib/trial_world.sh"

test_file_setup() { task_start 87654; }
test_setup() { task_next; }

# --- where DIR stands in what the subject can write

# A subject that puts a forged result in the place of its own.
forger='for way in "$@"; do
	mv "$way" "$way.gone" && mkdir -p "$way" && echo "moved $way"
	true 2>/dev/null >"$way/left" && echo "wrote in $way"
done
exit 5'

test_a_place_that_may_be_renamed_is_renamed() {
	mkdir -p trials/sub # the control: the same, where no evidence is
	expect 5 trial -o "$out_dir" -- sh -c "$forger" sh trials
	assertContains "$out" 'moved trials'
	rm -rf trials*
}

test_directory_below_the_work_directory_stays() {
	expect 5 trial -- sh -c "$forger" sh trials
	assertEquals '' "$out"
	out_dir=$(echo trials/*)
	assertEquals 'exited 5 true' "$(field '"\(.outcome) \(.exit) \(.sealed)"')"
	rm -rf trials
	# Deeper, and another trial's result beside it.
	mkdir -p a/b/other
	chmod -R 0777 a
	out_dir=a/b/mine
	expect 5 trial -o "$out_dir" -- sh -c "$forger" sh a a/b a/b/mine a/b/other
	assertEquals '' "$out"
	assertEquals 'exited 5 true' "$(field '"\(.outcome) \(.exit) \(.sealed)"')"
	rm -rf a
}

test_directory_below_another_bind_stays() {
	mkdir -p "$work/more/results/other"
	chmod -R 0777 "$work/more"
	ln -s "$work/more" "$work/link"
	for bind in "$work/more" "$work/link:/mnt"; do
		count=$((count + 1)) out_dir=$work/more/results/$count
		at=${bind#*:}
		expect 5 trial -o "$out_dir" --bind "$bind" -- sh -c "$forger" sh "$at/results" "$at/results/other" \
			"$at/results/$count"
		assertEquals "$bind" '' "$out"
		assertEquals 'exited 5 true' "$(field '"\(.outcome) \(.exit) \(.sealed)"')"
	done
	rm -rf "$work/more" "$work/link"
}

# --- the disk

# small_disk SCRIPT: a trial of SCRIPT, with its evidence, on a file system that it can fill.
small_disk() {
	count=$((count + 1)) small=$work/small-$count
	mkdir "$small"
	mount -t tmpfs -o mode=0777,size=24m,nr_inodes=1500 cell-test-small "$small" || fail 'no file system'
	mkdir "$small/trials"
	run trial -C "$small" -o "$small/trials/1" -- sh -c "$1"
	out_dir=$work/kept-$count
	cp -r "$small/trials/1" "$out_dir"
	umount "$small"
}

test_full_disk_is_a_result_and_no_free_trial() {
	small_disk 'cat /dev/zero >fill 2>/dev/null; exit 1'
	assertEquals 'subject.started' true "$(field .subject.started)"
	assertEquals 'outcome and code' "$status" "$(field .exit)"
	assertTrue "exit $status" "[ $status = 1 ] || [ $status = 122 ]"
	# As many files as it can, and as many bytes; daemons go on with it.
	small_disk 'i=0; while true >f$i; do i=$((i + 1)); done 2>/dev/null
		(while :; do cat /dev/zero >>fill; done) 2>/dev/null & exit 1'
	assertEquals 'subject.started' true "$(field .subject.started)"
	assertTrue "exit $status" "[ $status = 1 ] || [ $status = 122 ]"
	(cd "$out_dir" && sha256sum --quiet -c sha256sums)
	assertEquals 'sha256sums' 0 $?
}

test_requests_that_could_not_be_recorded_make_the_trial_void() {
	small_disk 'cat /dev/zero >fill 2>/dev/null; i=0; while [ $i -lt 40 ]; do
			curl -s -m 5 "http://lost-$i.example/$(printf "%0500d" 0)"; i=$((i + 1)); done >/dev/null
		rm fill; curl -s -m 5 http://after.example/; exit 0'
	assertEquals 122 "$status"
	assertEquals 'void true' "$(field '"\(.outcome) \(.subject.started)"')"
	assertEquals 'said once' 1 "$(grep -c '"event":"audit_lost"' "$out_dir/hits.jsonl")"
	# Left full: the proxy cannot say it, so its exit status does.
	small_disk 'cat /dev/zero >fill 2>/dev/null; i=0; while [ $i -lt 40 ]; do
			curl -s -m 5 "http://lost-$i.example/$(printf "%0500d" 0)"; i=$((i + 1)); done >/dev/null; exit 0'
	assertEquals 122 "$status"
	assertEquals 'void true' "$(field '"\(.outcome) \(.subject.started)"')"
}

# --- variables

test_variables_for_the_subject_reach_nothing_else() {
	# The loader of every program that has these two writes a file: a library could be loaded so.
	expect 0 trial -q -o "$out_dir" -E LD_DEBUG=libs -E LD_DEBUG_OUTPUT=./loader -- cat /dev/null
	assertNotEquals 'loaders of the subject' '' "$(find . -name 'loader.*')"
	assertEquals 'loaders of others' '' "$(find . -name 'loader.*' ! -uid "$(field .subject.uid)")"
	rm -f loader.*
}

# --- what is to be seen of the machine

test_interfaces_of_the_machine_are_not_seen() {
	expect 0 trial -q -o "$out_dir" -- sh -c 'ls /sys/class/net | xargs; cat /sys/class/net/eth0/address
		ip -o link show eth0 | sed "s/.*ether \([^ ]*\).*/\1/"; find /sys/fs/cgroup -maxdepth 1 | wc -l'
	assertEquals 'eth0 lo' "$(printf '%s\n' "$out" | sed -n 1p)"
	assertEquals "$(printf '%s\n' "$out" | sed -n 3p)" "$(printf '%s\n' "$out" | sed -n 2p)"
	assertEquals 'control groups' "$(find /sys/fs/cgroup -maxdepth 1 | wc -l)" "$(printf '%s\n' "$out" | sed -n 4p)"
}

# --- memory

test_subject_ends_first_where_memory_runs_out() {
	expect 0 trial -q -o "$out_dir" -- cat /proc/self/oom_score_adj
	assertEquals 1000 "$out"
}

# --- processes

test_time_limit_holds_where_no_process_can_be_had() {
	# What a subject that holds every process of the machine does to us: there is nobody to wait.
	mkdir "$work/shim"
	printf '#!/bin/sh\n[ "$1" != 0.77 ] || exit 1\nexec /bin/sleep "$@"\n' >"$work/shim/sleep"
	chmod 0755 "$work/shim/sleep"
	(
		PATH=$work/shim:$PATH
		trial -q -o "$out_dir" -t 0.5 --grace 0.77 -- sh -c 'trap "" TERM; while :; do sleep '"$mark"'; done'
	) &
	wait_for 60 [ -e "$out_dir/summary.json" ] || pkill -KILL -P $!
	wait $!
	assertEquals 124 $?
	assertEquals 'timed-out true' "$(field '"\(.outcome) \(.sealed)"')"
}

# --- the verifier

test_verifier_that_the_subject_makes_hang_has_an_end() {
	expect 0 trial -o "$out_dir" -t 1 --after 'cat /tmp/result' -- mkfifo /tmp/result
	assertEquals 'exited 124' "$(field '"\(.outcome) \(.after.exit)"')"
	count=$((count + 1)) out_dir=$work/trial-$count
	expect 0 trial -o "$out_dir" -t 1 --after-timeout 60 --after 'sleep 2; cat /tmp/result' -- \
		sh -c 'echo right >/tmp/result'
	assertEquals right "$(cat "$out_dir/after/stdout")"
	assertEquals 0 "$(field .after.exit)"
	# A signal ends it too.
	background nsenter -n -t "$caller" -- env --default-signal "$CELL_BIN/run_trial" -q -o "$out_dir-b" \
		--after 'echo up; cat /tmp/result' -- mkfifo /tmp/result
	hanging=$pid
	wait_for 30 grep -q up "$out_dir-b/after/stdout"
	kill -TERM "$hanging"
	wait "$hanging"
	assertEquals 143 $?
	assertEquals 'interrupted true' "$(jq -r '"\(.outcome) \(.subject.started)"' "$out_dir-b/summary.json")"
}

test_verifier_output_is_bounded() {
	expect 0 trial -o "$out_dir" --after 'cat /tmp/result' -- truncate -s 70000000 /tmp/result
	assertEquals 67108864 "$(stat -c %s "$out_dir/after/stdout")"
	assertEquals 0 "$(field .after.exit)"
}

# --- those who listen

test_reader_that_has_had_enough_leaves_a_summary() {
	trial -o "$out_dir" -- sh -c 'yes >&2 & sleep 1; kill $!; exit 3' 2>&1 >/dev/null | head -c 5000 >/dev/null
	assertEquals 'exited 3' "$(field '"\(.outcome) \(.exit)"')"
}

. "$CELL_TEST_SHUNIT2"

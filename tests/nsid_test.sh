#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns jq strace python3
# cell-nsid: the identity of a network namespace, and when several are one.
. "$(dirname "$0")/lib/cell_test.sh"
. "$top/tests/lib/hostile_root.sh"

plain='--clear-groups --inh-caps -all --ambient-caps -all --bounding-set -all --pdeathsig KILL'

# as_user COMMAND...: as uid 1000, with nothing.
as_user() {
	# shellcheck disable=SC2086 # a list of words
	setpriv --reuid 1000 --regid 1000 $plain "$@"
}

# cookie_of PID: its namespace's cookie as Python reads it, in place.
cookie_of() {
	in_ns "$1" /usr/bin/python3 -c 'import socket, struct
print(struct.unpack("Q", socket.socket().getsockopt(socket.SOL_SOCKET, 71, 8))[0])'
}

test_file_setup() {
	netns_new || return 1
	one=$pid
	netns_new || return 1
	two=$pid
	one_identity=$(readlink "/proc/$one/ns/net")
	two_identity=$(readlink "/proc/$two/ns/net")
	own_identity=$(readlink /proc/self/ns/net)
	one_cookie=$(cookie_of "$one")
	two_cookie=$(cookie_of "$two")
}

# Identity

test_identity_is_what_the_kernel_writes() {
	expect 0 cell-nsid
	assertEquals "$own_identity" "$out"
	expect 0 cell-nsid --pid "$one"
	assertEquals "$one_identity" "$out"
	expect 0 in_ns "$one" cell-nsid
	assertEquals "$one_identity" "$out"
	expect 0 as_user "$CELL_BIN/cell-nsid"
	assertEquals "$own_identity" "$out"
}

test_a_file_is_a_handle_wherever_it_lies() {
	expect 0 cell-nsid --file "/proc/$two/ns/net"
	assertEquals "$two_identity" "$out"
	: >"$work/handle"
	# shellcheck disable=SC2016 # the inner shell expands them
	expect 0 unshare --mount sh -c 'mount --bind "/proc/$1/ns/net" "$2" && cell-nsid --file "$2" &&
		cell-nsid --same "$2" "$1"' sh "$two" "$work/handle"
	assertEquals "$two_identity" "$(sed -n 1p "$work/out")"
}

test_the_record_of_an_identity() {
	expect 0 cell-nsid --pid "$one" --json
	assertEquals 'tool format version time ok exit trial step identity device inode cookie reusable' \
		"$(jq -r 'keys_unsorted | join(" ")' "$work/out")"
	assertEquals "$one_identity" "$(jq -r '"net:[\(.inode)]"' "$work/out")"
	assertEquals "$(stat -L -c %d /proc/self/ns/net)" "$(jq -r .device "$work/out")"
	assertEquals 'null true string string' \
		"$(jq -r '"\(.cookie) \(.reusable) \(.inode | type) \(.device | type)"' "$work/out")"
	expect 0 cell-nsid --pid "$one" --cookie --json
	assertEquals "$one_cookie false string" \
		"$(jq -r '"\(.cookie) \(.reusable) \(.cookie | type)"' "$work/out")"
}

test_the_cookie_is_the_second_word() {
	expect 0 cell-nsid --pid "$one" --cookie
	assertEquals "$one_identity $one_cookie" "$out"
	# shellcheck disable=SC2086 # a list of words
	expect 0 in_ns "$two" setpriv --reuid 1000 --regid 1000 $plain "$CELL_BIN/cell-nsid" --cookie
	assertEquals "$two_identity $two_cookie" "$out"
	assertNotEquals "$one_cookie" "$two_cookie"
}

test_the_tool_stays_in_its_namespace_when_it_reads_another_ones_cookie() {
	expect 0 strace -f -o "$work/trace" -e trace=setns,clone,clone3,fork,vfork \
		"$top/build/bin/cell-nsid" --pid "$one" --cookie
	# The first process of the trace is the tool; only its child enters.
	tool=$(sed -n '1s/ .*//p' "$work/trace")
	assertEquals 0 "$(grep -c "^$tool .*setns" "$work/trace")"
	assertEquals 1 "$(grep -c 'setns.*= 0' "$work/trace")"
}

test_inside_the_seccomp_filter_of_a_subject_it_answers_the_same() {
	expect 0 in_ns "$one" cell-exec --user 1000:1000 -- "$CELL_BIN/cell-nsid" --cookie
	assertEquals "$one_identity $one_cookie" "$out"
}

test_anothers_cookie_without_permission_is_a_system_failure() {
	# A process of our own uid: its handle can be opened, but not entered.
	# shellcheck disable=SC2086 # a list of words
	background nsenter -n -t "$one" setpriv --reuid 1000 --regid 1000 $plain sleep 300
	wait_for 10 grep -q sleep "/proc/$pid/comm"
	expect 0 as_user "$CELL_BIN/cell-nsid" --pid "$pid"
	assertEquals "$one_identity" "$out"
	expect_error 111 'Operation not permitted' as_user "$CELL_BIN/cell-nsid" --pid "$pid" --cookie
	assertContains "$err" "cannot enter the namespace of process $pid"
	end_process "$pid"
}

test_a_kernel_without_cookies_is_unsupported() {
	expect 0 "$top/build/bin/cell-nsid" --cookie
	expect 102 strace -f -o /dev/null -e trace=getsockopt -e inject=getsockopt:error=ENOPROTOOPT \
		"$top/build/bin/cell-nsid" --cookie
	expect 102 strace -f -o /dev/null -e trace=getsockopt -e inject=getsockopt:error=ENOPROTOOPT \
		"$top/build/bin/cell-nsid" --cookie --pid "$one"
	expect 111 strace -f -o /dev/null -e trace=clone,clone3 -e inject=clone,clone3:error=EAGAIN \
		"$top/build/bin/cell-nsid" --cookie --pid "$one"
}

# Not an identity

test_not_allowed_to_look_is_evidence_never_different() {
	background sleep 300
	expect_error 103 "cannot identify the namespace of process $pid: Permission denied" \
		as_user "$CELL_BIN/cell-nsid" --pid "$pid"
	expect_error 103 "cannot identify the namespace of $pid: Permission denied" \
		as_user "$CELL_BIN/cell-nsid" --same "/proc/self/ns/net" "$pid"
	expect 103 as_user "$CELL_BIN/cell-nsid" --same "$pid" "$pid"
	expect 103 as_user "$CELL_BIN/cell-nsid" --same "net:[1]" "$pid"
	# Two that differ for certain do not outweigh one that could not be looked at.
	expect 103 as_user "$CELL_BIN/cell-nsid" --same "net:[1]" "net:[2]" "$pid"
	expect 103 as_user "$CELL_BIN/cell-nsid" --same "net:[1]" "$pid" --json --quiet
	assertEquals 'evidence 13' "$(jq -r '.error | "\(.kind) \(.errno)"' "$work/out")"
	end_process "$pid"
}

test_another_kind_of_namespace_is_evidence() {
	for kind in mnt user uts ipc pid cgroup; do
		expect_error 103 'it is a namespace of another kind' \
			cell-nsid --file "/proc/self/ns/$kind"
		expect 103 cell-nsid --same "$one" "/proc/self/ns/$kind"
		expect 103 cell-nsid --same "/proc/self/ns/$kind" "/proc/self/ns/$kind"
		expect_error 103 'it is a namespace of another kind' \
			cell-nsid --same "$one" "$(readlink "/proc/self/ns/$kind")"
	done
}

test_what_is_no_namespace_is_evidence() {
	mkfifo "$work/fifo"
	: >"$work/file"
	ln -s /proc/self/ns/net "$work/link"
	for path in "$work/file" "$work/fifo" "$work" /dev/null /proc/self/status /proc/self/ns; do
		expect_error 103 'it is not a namespace' cell-nsid --file "$path"
		expect 103 cell-nsid --same "$path" "$path"
	done
	expect 0 cell-nsid --file "$work/link"
	expect_error 103 'No such file or directory' cell-nsid --file "$work/none"
	expect 103 cell-nsid --same "$one" "$work/none"
}

test_a_missing_process_is_evidence() {
	background true
	wait "$pid"
	expect_error 103 "process $pid: /proc shows no such process" cell-nsid --pid "$pid"
	expect_error 103 "of $pid: /proc shows no such process" cell-nsid --same "$one" "$pid"
	expect 103 cell-nsid --same "$pid" "$pid"
}

test_a_zombie_is_evidence() {
	zombie_new
	expect_error 103 "process $zombie: it has ended" cell-nsid --pid "$zombie"
	expect_error 103 "of $zombie: it has ended" cell-nsid --same "$one" "$zombie"
	end_process "$pid"
}

test_a_root_without_proc_is_evidence() {
	mkdir -p "$work/root"
	cp "$top/build/bin/cell-nsid" "$work/root/"
	for entry in '' proc/self/ns/net proc/1/ns/net; do
		mkdir -p "$work/root/$(dirname "$entry.")"
		[ -z "$entry" ] || : >"$work/root/$entry"
		for call in '' '--pid 1' '--same 1 1'; do
			# shellcheck disable=SC2086 # a list of words
			expect 103 chroot "$work/root" /cell-nsid $call
			assertContains "$entry: $call" "$err" '/proc is not a proc file system'
		done
	done
}

test_malformed_operands_are_evidence() {
	expect_error 103 'namespace of an empty operand: ' cell-nsid --same "$one" ''
	for operand in '' 'net:[' 'net:[]' 'net:[x]' 'net:[1' 'net:[0]' 'net:[01]' 'net:[-1]' 'net:[1] ' \
		'net:[1]x' 'net:[1] x' 'net:[1] 0' 'net:[1] 01' 'net:[1]  2' 'net:[1] 2 ' 'net:[1] 2 3' \
		'net:[1]	2' ' net:[1]' 'net:[99999999999999999999]' 'net:[1] 99999999999999999999' \
		0 01 99999999 4294967297 ' 1' '1 ' -1; do
		expect 103 cell-nsid --same -- "$operand" "$one"
		expect 103 cell-nsid --same -- "$one" "$operand"
	done
	expect_error 103 'neither a process id, a path nor net:[NUMBER]' cell-nsid --same "$one" 'net:[]'
}

# The same or not

test_one_namespace_through_different_handles_is_the_same() {
	background nsenter -n -t "$one" sleep 300
	wait_for 10 grep -q sleep "/proc/$pid/comm"
	expect 0 cell-nsid --same "$one" "$pid"
	assertEquals "same: $one_identity" "$(sed -n 1p "$work/out")"
	expect 0 cell-nsid --same "$one" "$pid" "/proc/$one/ns/net" "/proc/$pid/task/$pid/ns/net" \
		"$one_identity" "$one_identity $one_cookie" --json
	assertEquals 6 "$(jq '.handles | length' "$work/out")"
	assertEquals "$one_identity" "$(jq -r '[.handles[].identity] | unique | join(" ")' "$work/out")"
	end_process "$pid"
}

test_different_namespaces_are_different_and_both_are_printed() {
	expect 1 cell-nsid --same "$one" "$two"
	assertEquals '' "$err"
	assertContains "$(sed -n 1p "$work/out")" "$one is $one_identity, $two is $two_identity"
	expect 1 cell-nsid --same "$one" "$two" --json
	assertEquals "no $one_identity $two_identity" \
		"$(jq -r '[.error.kind, .handles[].identity] | join(" ")' "$work/out")"
	expect 1 cell-nsid --same "$one" "$one" "$one" "$two"
	expect 1 cell-nsid --same "$one" "$two_identity"
	expect 1 cell-nsid --same "$one" "$two_identity $two_cookie"
	expect 1 cell-nsid --same "$one_identity" "$two_identity"
}

# As when the container that owned the namespace restarts: its companion stays in the dead one.
test_a_companion_left_in_a_dead_namespace_is_different() {
	netns_new
	owner=$pid
	background nsenter -n -t "$owner" sleep 300
	companion=$pid
	wait_for 10 grep -q sleep "/proc/$companion/comm"
	recorded=$(cell-nsid --cookie --pid "$owner")
	expect 0 cell-nsid --same "$owner" "$companion" "$recorded"
	end_process "$owner"
	netns_new
	expect 1 cell-nsid --same "$pid" "$companion"
	expect 1 cell-nsid --same "$pid" "$recorded"
	expect 0 cell-nsid --same "$companion" "$recorded"
	end_process "$companion"
	end_process "$pid"
}

test_a_cookie_decides_where_the_number_was_reused() {
	expect 0 cell-nsid --same "$one" "$one_identity $one_cookie"
	expect 1 cell-nsid --same "$one" "$one_identity 999999999999"
	assertContains "$out" 'but not one cookie'
	expect 1 cell-nsid --same "$one_identity 1" "$one_identity 2"
	expect 0 cell-nsid --same "$one_identity 7" "$one_identity 7"
}

test_one_cookie_with_two_numbers_is_evidence() {
	expect_error 103 'one cookie, but different numbers' cell-nsid --same 'net:[1] 7' 'net:[2] 7'
	expect 103 cell-nsid --same --cookie "$one" "$two_identity $one_cookie"
}

test_a_literal_with_cookie_asks_for_the_live_ones_only_where_it_must() {
	# shellcheck disable=SC2086 # a list of words
	background nsenter -n -t "$one" setpriv --reuid 1000 --regid 1000 $plain sleep 300
	wait_for 10 grep -q sleep "/proc/$pid/comm"
	expect 0 as_user "$CELL_BIN/cell-nsid" --same "$pid" "$one_identity"
	expect 1 as_user "$CELL_BIN/cell-nsid" --same "$pid" "$two_identity $two_cookie"
	expect 111 as_user "$CELL_BIN/cell-nsid" --same "$pid" "$one_identity $one_cookie"
	expect 111 as_user "$CELL_BIN/cell-nsid" --same --cookie "$pid" "$one_identity"
	end_process "$pid"
}

test_an_identity_without_cookie_is_said_to_be_reusable() {
	expect 0 cell-nsid --same "$one_identity" "$one_identity 7" --json
	assertEquals 'true null,false 7' \
		"$(jq -r '[.handles[] | "\(.reusable) \(.cookie)"] | join(",")' "$work/out")"
	expect 0 cell-nsid --same --cookie "$one" "$one_identity" --json
	assertEquals "false $one_cookie,true null" \
		"$(jq -r '[.handles[] | "\(.reusable) \(.cookie)"] | join(",")' "$work/out")"
}

test_each_handle_is_opened_once_and_by_no_other_way() {
	expect 0 strace -f -o "$work/trace" -e trace=open,openat,openat2,readlink,readlinkat,stat,newfstatat \
		"$top/build/bin/cell-nsid" --same "$one" "/proc/$one/ns/net" "$one_identity"
	assertEquals 2 "$(grep -c "/proc/$one/ns/net" "$work/trace")"
	assertEquals 0 "$(grep -c 'link.*/ns/\|stat.*/ns/' "$work/trace")"
}

# The process changes its namespace and even ends: the descriptor that was opened is what counts.
test_the_handle_keeps_the_namespace_that_was_found() {
	netns_new
	subject=$pid
	background strace -f -o "$work/kept" -e trace=openat -e inject=openat:signal=STOP:when=1 \
		"$top/build/bin/cell-nsid" --same "$subject" "$one" >"$work/out" 2>"$work/err"
	wait_for 10 grep -q 'stopped by SIGSTOP' "$work/kept" || fail 'no stop'
	identity=$(readlink "/proc/$subject/ns/net")
	end_process "$subject"
	kill -CONT "$(sed -n '1s/ .*//p' "$work/kept")"
	wait "$pid"
	assertEquals 1 $?
	assertContains "$(cat "$work/out")" "$subject is $identity"
}

# The rest

test_usage_errors() {
	expect_error 100 'takes 2 to 64' cell-nsid --same
	expect_error 100 'takes 2 to 64' cell-nsid --same "$one"
	# shellcheck disable=SC2046 # 65 words
	expect 100 cell-nsid --same $(seq 65)
	expect_error 100 'only one of' cell-nsid --pid 1 --file /proc/self/ns/net
	expect_error 100 'only one of' cell-nsid --pid 1 --same 1 2
	expect_error 100 'unexpected operand' cell-nsid 1
	for pid in 0 -1 1x 4194305 ' 1'; do
		expect 100 cell-nsid --pid "$pid"
	done
	expect_error 100 'has an empty value' cell-nsid --file ''
}

test_a_lost_answer_is_a_system_failure() {
	expect 111 sh -c 'exec "$@" >/dev/full' sh "$CELL_BIN/cell-nsid"
	expect 111 sh -c 'exec "$@" >/dev/full' sh "$CELL_BIN/cell-nsid" --json
	expect 111 sh -c 'exec "$@" >&-' sh "$CELL_BIN/cell-nsid" --cookie
}

test_help_and_version() {
	expect 0 cell-nsid --help
	assertContains "$out" '--file PATH'
	expect 0 cell-nsid --version
}

test_nothing_of_a_hostile_image_is_touched() {
	hostile_root_new
	for form in '' --cookie '--pid 1 --cookie' "--same $one $two" "--same --cookie $one $one"; do
		# shellcheck disable=SC2086 # a list of words
		hostile_root_run 'open /proc/self/ns/net' 'open /proc/[0-9]*/ns/net' -- \
			"$top/build/bin/cell-nsid" --json $form
		assert_hostile_root_clean "cell-nsid $form"
	done
	assertEquals "the last of them: $err" 0 "$status"
}

. "$CELL_TEST_SHUNIT2"

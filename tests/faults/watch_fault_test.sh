#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cell-watch when a system call fails, and when it is killed: it says so and is not ready, or it
# works; never half a line, never a silent success.
# needs: root netns nft jq python3 strace
. "$(dirname "$0")/../lib/cell_test.sh"

send=$top/tests/lib/send_packets.py

test_setup() {
	netns_new || return 1
	cell=$netns_pid
	in_ns "$cell" ip link add eth0 type veth peer name eth1
	in_ns "$cell" ip link set eth0 up
	in_ns "$cell" ip address add 198.18.0.2/30 dev eth0
	in_ns "$cell" ip route add default via 198.18.0.1
	in_ns "$cell" nft -f "$top/tests/lib/refusing.nft"
}

# Every call of the set-up fails once, in turn: the Nth of its kind, until there is no Nth.
test_each_call_of_the_set_up_fails() {
	for call in socket bind setsockopt sendto recvmsg fcntl openat signalfd4 capset seccomp write; do
		nth=0 failures=0
		while [ "$nth" -lt 12 ]; do
			nth=$((nth + 1))
			watch_with_fault "$call" "$nth" || break
		done
		# An instrumented build has no filter to load.
		[ "$call.$CELL_BIN" = "seccomp.$top/build/bin" ] || [ "$call" != seccomp ] || continue
		assertTrue "$call failed at least once" "[ $failures -gt 0 ]"
	done
}

# watch_with_fault CALL N: 1 if there is no Nth call. Counts in $failures the ends by an error.
watch_with_fault() {
	rm -f "$work/log" "$work/ready" "$work/trace"
	: >"$work/ready"
	# shellcheck disable=SC2016 # for the inner shell
	nsenter -n -t "$cell" -- sh -c 'exec setpriv --pdeathsig KILL strace -D -o "$4" -e trace="$2" \
		-e inject="$2:error=EIO:when=$3" cell-watch --log "$1" --ready-fd 9 9>>"$0"' \
		"$work/ready" "$work/log" "$1" "$2" "$work/trace" >"$work/out" 2>"$work/err" &
	watch=$!
	wait_for 10 ready_or_gone
	if [ -s "$work/ready" ]; then
		kill -TERM "$watch" 2>/dev/null
		wait "$watch"
		status=$?
	else
		wait "$watch"
		status=$?
	fi
	grep -q INJECTED "$work/trace" || {
		assertEquals "exit without a fault [$(cat "$work/err")]" 0 "$status"
		return 1
	}
	case $status in
	0) # it can do without, and did its work
		assertEquals "$1 $2: summary" summary "$(tail -n 1 "$work/log" | jq -r .record)"
		;;
	100 | 111 | 102)
		failures=$((failures + 1))
		assertEquals "$1 $2: lines on stderr [$(cat "$work/err")]" 1 "$(wc -l <"$work/err")"
		assertContains "$1 $2" "$(cat "$work/err")" 'cell-watch: cannot '
		;;
	*)
		# The loader's own calls come before the program's.
		assertContains "$1 $2: exit $status [$(cat "$work/err")]" "$(cat "$work/err")" \
			'error while loading shared libraries'
		;;
	esac
	if [ -e "$work/log" ]; then
		assertTrue "$1 $2: the log is JSON lines" "jq -s . '$work/log' >/dev/null"
	fi
}
ready_or_gone() {
	[ -s "$work/ready" ] || ! kill -0 "$watch" 2>/dev/null
}

test_a_kill_leaves_whole_lines_and_a_free_group() {
	for round in 1 2 3 4 5 6 7 8; do
		rm -f "$work/log"
		: >"$work/ready"
		# shellcheck disable=SC2016 # for the inner shell
		background nsenter -n -t "$cell" -- sh -c \
			'exec cell-watch --log "$1" --max-rate 1000000 --ready-fd 9 9>>"$0"' \
			"$work/ready" "$work/log"
		watch=$pid
		wait_for 10 test -s "$work/ready"
		in_ns "$cell" "$send" -n 100000 udp:203.0.113.10:9:x >/dev/null &
		sender=$!
		wait_for 10 grep -q '"packet"' "$work/log"
		sleep "0.0$round"
		end_process "$watch"
		assertTrue "round $round: whole lines" "jq -s 'length > 1' '$work/log' >'$work/out'"
		assertEquals "round $round: the last line ends" 1 "$(tail -c 1 "$work/log" | wc -l)"
		assertEquals 'no summary' '' "$(grep '"summary"' "$work/log")"
		kill "$sender" 2>/dev/null
		wait "$sender" 2>/dev/null
	done
	# The kernel has given the group back, and the policy has gone on refusing.
	background nsenter -n -t "$cell" -- cell-watch --log "$work/log.next"
	wait_for 10 grep -q '"start"' "$work/log.next"
	assertEquals 'the group is free' 0 $?
	assertContains "$(in_ns "$cell" "$send" udp:203.0.113.10:9:x)" EPERM
}

. "$CELL_TEST_SHUNIT2"

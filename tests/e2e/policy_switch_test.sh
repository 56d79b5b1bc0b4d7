#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Modes and proxies change while other processes send without pause: what either mode forbids never
# leaves, and what both allow is never dropped. CELL_TEST_LONG=1: 1,000 changes instead of 100.
# needs: root netns nft python3

. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/policy_cell.sh"

changes=100
[ -z "${CELL_TEST_LONG:-}" ] || changes=1000

test_setup() {
	cell_new
	background nsenter -n -t "$world" python3 "$top/tests/lib/policy_echo.py" "$work/outside" \
		tcp:10.77.0.2:8080 tcp:10.77.0.9:8080
	outside=$pid
	background nsenter -n -t "$cell" python3 "$top/tests/lib/policy_echo.py" "$work/inside" \
		'udp:127.0.0.1:7000' 'udp:[::1]:7000'
	inside=$pid
	wait_for 10 grep -q ready "$work/outside"
	wait_for 10 grep -q ready "$work/inside"
	hammers=
	rm -f "$work/stop"
}

test_teardown() {
	end_process "$outside"
	end_process "$inside"
	cell_end
	rm -f "$work/outside" "$work/inside"
}

# hammer KIND TARGET...: runs until stopped.
hammer() {
	background nsenter -n -t "$cell" python3 "$top/tests/lib/policy_hammer.py" "$work/stop" "$@" \
		>"$work/hammer.$1"
	hammers="$hammers $pid"
}

# stopped: every hammer has ended and said what it met.
stopped() {
	touch "$work/stop"
	for hammer_pid in $hammers; do wait "$hammer_pid"; done
	cat "$work"/hammer.*
}

# never_bad KIND: it tried a lot, and nothing was otherwise than it should be.
never_bad() {
	read -r _ tried bad <"$work/hammer.$1"
	assertTrue "$1: tried only $tried times" "[ ${tried:-0} -gt 200 ]"
	assertEquals "$1: of $tried" 0 "$bad"
}

forbidden='udp:10.77.0.9:9000 tcp:10.77.0.9:9000 udp:[fd77::9]:9000 tcp:[fd77::9]:9000
	udp:127.0.0.11:53 tcp:127.0.0.11:53 udp:10.77.0.2:8080 tcp:10.77.0.2:8081'

test_what_both_modes_forbid_never_leaves_and_loopback_never_stops() {
	policy deny-all >/dev/null
	frames_reset
	# shellcheck disable=SC2086 # a list of words
	hammer forbidden $forbidden
	hammer loopback udp:127.0.0.1:7000 'udp:[::1]:7000'
	refused=0
	for number in $(seq "$changes"); do
		case $((number % 4)) in
		0) policy deny-all ;;
		2) policy --log-group $((number % 7)) deny-all ;; # another ruleset: the table is replaced
		*)
			echo 10.77.0.$((number % 4 == 1 ? 2 : 9)) >"$work/egress/proxy-ipv4"
			policy allow cell-proxy
			;;
		esac >/dev/null || refused=$((refused + 1))
	done
	stopped
	assertEquals "changes that failed, of $changes" 0 "$refused"
	never_bad forbidden
	never_bad loopback
	assertEquals 'frames that left' 0 "$(frames '^ip')"
}

test_what_both_modes_allow_is_never_dropped() {
	policy allow cell-proxy >/dev/null
	hammer stream tcp:10.77.0.2:8080
	hammer connects tcp:10.77.0.2:8080
	refused=0
	for number in $(seq $((changes / 4))); do
		policy --log-group $((number % 7)) allow cell-proxy >/dev/null || refused=$((refused + 1))
	done
	stopped
	assertEquals 'changes that failed' 0 "$refused"
	never_bad stream
	never_bad connects
}

# The same hammer, where a tool would delete and add: the test can see a gap.
test_a_gap_would_be_seen() {
	policy deny-all >/dev/null
	policy --dry-run deny-all >"$work/rules"
	frames_reset
	# shellcheck disable=SC2086 # a list of words
	hammer forbidden $forbidden
	for _ in $(seq 20); do
		in_ns "$cell" nft delete table inet cell_egress
		in_ns "$cell" nft -f "$work/rules"
	done
	stopped
	assertNotEquals 'frames that left' 0 "$(frames '^ip')"
}

# Two modes at once: each call is done, and what is in force is one of them, whole.
test_instances_at_once_leave_one_whole_policy() { six_at_once; }

# Nor do they need the lock for that.
test_instances_at_once_without_a_lock_leave_one_whole_policy() {
	background nsenter -n -t "$cell" flock /proc/self/ns/net sleep 60
	holder=$pid
	wait_for 10 lock_is_held
	six_at_once
	end_process "$holder"
}

six_at_once() {
	for _ in 1 2 3; do
		in_ns "$cell" nft flush ruleset
		callers=
		for number in 1 2 3 4 5 6; do
			if [ $((number % 2)) -eq 0 ]; then set -- deny-all; else set -- allow cell-proxy; fi
			background nsenter -n -t "$cell" cell-policy "$@" >"$work/caller.$number" 2>&1
			callers="$callers $pid"
		done
		for caller in $callers; do
			wait "$caller"
			assertEquals 'exit of one of six' 0 $?
		done
		expect 0 policy check
	done
	cat "$work"/caller.* | grep -c '^ok'
}

# Others change their tables without pause: each answer is right, or it is that there is none.
test_changes_by_others_never_make_a_wrong_answer() {
	policy allow cell-proxy >/dev/null
	background nsenter -n -t "$cell" sh -c 'while :; do
		nft "add table ip passing; add chain ip passing out { type filter hook output priority 0; }"
		nft delete table ip passing
	done'
	changer=$pid
	answers=
	for _ in $(seq 15); do
		run policy --json check
		case $status in
		0) answers="$answers+" ;;
		111) assertContains "$err" 'it changes all the time' ;;
		*) fail "exit $status: $out" ;;
		esac
		run policy deny-all
		case $status in
		0) assertEquals 'mode: deny-all' "$(sed -n 2p "$work/out")" ;;
		111) assertContains "$err" 'changes all the time' ;;
		*) fail "exit $status: $err" ;;
		esac
		run policy allow cell-proxy
		assertTrue "exit $status: $err" "[ $status = 0 ] || [ $status = 111 ]"
	done
	assertNotEquals 'never an answer' '' "$answers"
	end_process "$changer"
	expect 0 policy allow cell-proxy
	expect 0 policy check
}

# A subject can hold the lock that instances take turns by; that delays them, no more.
test_a_held_lock_stops_nobody() {
	background nsenter -n -t "$cell" flock /proc/self/ns/net sleep 60
	holder=$pid
	wait_for 10 lock_is_held
	expect 0 policy deny-all
	expect 0 policy check
	end_process "$holder"
}
lock_is_held() { ! in_ns "$cell" flock -n /proc/self/ns/net true; }

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns strace openssl
# cell-publish killed before every system call it makes: no address ever lies beside a certificate
# that it does not belong to, no private key outside the state directory, and the next run heals.
. "$(dirname "$0")/../lib/cell_test.sh"

. "$top/tests/lib/publish_scene.sh"

kill_everywhere() {
	scenario=$1
	calls
	number=0
	while read -r name count; do
		case $name in execve | exit_group) continue ;; esac
		scene
		code=0
		act strace -f -o /dev/null -e "trace=$name" \
			-e "inject=$name:signal=KILL:when=$count" || code=$?
		assertEquals "$scenario: $name $count is killed" 137 "$code"
		judge "$scenario: killed at $name $count"
		act || fail "$scenario: the run after $name $count failed"
		nsenter -n -t "$net" "$CELL_BIN/cell-publish" --check --state "$work/state" \
			--dir "$work/dir" >/dev/null || fail "$scenario: not healthy after $name $count"
		assertEquals "$scenario: left after $name $count" '' "$(find "$work/dir" "$work/state" -name '.*.new')"
		number=$((number + 1))
		[ "$__shunit_assertsFailed" -eq "$cell_failed" ] || return
	done <"$work/calls"
	echo "$scenario: $number kills"
	assertTrue "$scenario: only $number places" "[ $number -gt 40 ]"
}

test_first_publish_killed_everywhere() {
	kill_everywhere first
}

test_publish_of_another_authority_killed_everywhere() {
	kill_everywhere other_ca
}

test_publish_of_another_address_killed_everywhere() {
	kill_everywhere other_address
}

test_renewal_killed_everywhere() {
	kill_everywhere renew
}

test_renewal_with_another_address_killed_everywhere() {
	kill_everywhere renew_and_move
}

test_stale_address_killed_everywhere() {
	kill_everywhere stale
}

. "$CELL_TEST_SHUNIT2"

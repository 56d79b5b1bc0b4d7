#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root strace python3
# The hostile root itself: what it offers does get into programs that ask for it.
. "$(dirname "$0")/lib/cell_test.sh"
. "$top/tests/lib/hostile_root.sh"

test_setup() {
	hostile_root_new
}

test_a_static_program_that_asks_for_a_user_is_caught() {
	hostile_root_run -- "$top/build/test/lib/hostile_victim_static"
	assertContains 'what it touched' "$hostile_broken" '/etc/nsswitch.conf'
	assertContains 'what it touched' "$hostile_broken" 'connect unix:/var/run/nscd/socket'
	assertContains 'what it loaded' "$hostile_broken" 'hostile code was loaded'
	assertContains 'whom it asked' "$hostile_broken" 'the nscd socket was asked'
}

test_what_is_allowed_is_not_counted() {
	hostile_root_run 'open /*' 'connect unix:/var/run/nscd/socket' -- \
		"$top/build/test/lib/hostile_victim_static"
	assertEquals ' hostile code was loaded the nscd socket was asked' "$hostile_broken"
}

test_a_tool_that_does_not_run_is_no_verdict() {
	hostile_root_run -- /etc/passwd
	assertContains 'verdict' "$hostile_broken" 'no verdict'
}

# The tools that have no such test of their own.

test_pinhost_touches_the_hosts_file_and_reads_nsswitch_conf_itself() {
	for action in '--address 192.0.2.1' --check --remove; do
		# shellcheck disable=SC2086 # two words
		hostile_root_run 'open /etc/hosts' 'open /etc/nsswitch.conf' \
			'open /opt/cell-egress/proxy-ipv4' -- \
			"$top/build/bin/cell-pinhost" --json $action cell-proxy
		assert_hostile_root_clean "cell-pinhost $action"
		assertContains "$out" '"tool":"cell-pinhost"'
	done
	assertEquals "the last of them: $err" 0 "$status"
}

test_exec_touches_nothing_but_the_program() {
	hostile_root_run 'exec /tool' 'open /proc/sys/kernel/core_pattern' -- "$top/build/bin/cell-exec" --user 1000:1000 -- /tool --version
	assert_hostile_root_clean cell-exec
	assertEquals "$err" 0 "$status"
	assertContains "$out" 'cell-exec '
	hostile_root_run -- "$top/build/bin/cell-exec" --print-filter json
	assert_hostile_root_clean 'cell-exec --print-filter'
	assertEquals "$err" 0 "$status"
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The demonstration: every way open without the seal and closed with it, and it can say no.
# needs: root netns mitmdump bwrap jq nft openssl
. "$(dirname "$0")/../lib/cell_test.sh"

test_the_demo_shows_every_way_open_and_closed() {
	CELL_DEMO_OUT=$work/trial
	export CELL_DEMO_OUT
	expect 0 "$top/share/cell/examples/demo"
	assertEquals 'rows' 14 "$(printf '%s\n' "$out" | grep -cE ' (open|closed) +(open|closed) ')"
	assertEquals 'closed with the seal' 12 "$(printf '%s\n' "$out" | grep -cE ' open +closed ')"
	assertEquals true "$(jq .sealed "$work/trial/summary.json")"
	# The table says no when one way is still open, or was never open.
	printf '%s\n' "$out" >"$work/table"
	printf 'proxy\topen\t1\tx\nloopback\topen\t1\tx\ntcp\topen\t1\tx\n' >"$work/some"
	: >"$work/log"
	expect 1 "$top/share/cell/examples/demo-table" "$work/some" "$work/some" "$work/log"
	assertContains "$out" 'NOT as it must be'
}

. "$CELL_TEST_SHUNIT2"

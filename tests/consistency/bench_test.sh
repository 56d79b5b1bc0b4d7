#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns nft mitmdump curl make cc
# The measurements run to their end and print every line that they are to; what they measured is
# nobody's business here.
. "$(dirname "$0")/../lib/cell_test.sh"

test_file_setup() {
	make -s -C "$top" B="$work/build" "$work/build/bench/alternate" "$work/build/bench/traffic"
}

# bench NAME LINES: tests/bench/NAME.sh, its shortest; so many lines with a figure.
bench() {
	expect 0 env BENCH_BIN="$work/build/bench" BENCH_ROUNDS=1 BENCH_CELLS=1 \
		"$top/tests/bench/$1.sh"
	assertEquals "lines of $1: $out" "$2" "$(printf '%s\n' "$out" | grep -c '^  .* [0-9]')"
	assertNotContains "$out" nan
}

test_policy() { bench policy 20; }

test_traffic() { bench traffic 44; }

test_seal() { bench seal 13; }

. "$CELL_TEST_SHUNIT2"

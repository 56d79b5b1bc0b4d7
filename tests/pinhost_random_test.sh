#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root python3
# Random hosts files through cell-pinhost: HOST gets exactly the address, all other names answer as
# before, by the reading of glibc and of musl.
. "$(dirname "$0")/lib/cell_test.sh"

test_random_files_answer_well() {
	files=300
	[ -z "${CELL_TEST_LONG:-}" ] || files=3000
	for seed in 1 "$(date +%s)"; do
		mkdir "$work/$seed" && cd "$work/$seed" || exit 1
		"$top/tests/lib/hosts_random.py" "$seed" $files "$CELL_BIN/cell-pinhost" \
			"$CELL_TEST_BIN/lib/hosts_lookup" "$CELL_TEST_BIN/lib/hosts_lookup_musl" >verdict 2>&1
		assertEquals "seed $seed: $(tail -n 20 verdict)" 0 $?
		tail -n 1 verdict
	done
}

. "$CELL_TEST_SHUNIT2"

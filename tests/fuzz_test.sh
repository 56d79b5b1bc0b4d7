#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: clang make
# A short run of every fuzzer by libFuzzer; CELL_TEST_LONG=1 gives each a minute.
. "$(dirname "$0")/lib/cell_test.sh"

test_no_fuzzer_finds_anything() {
	seconds=2
	[ -z "${CELL_TEST_LONG:-}" ] || seconds=60
	# Two runs of the suite in one tree share what is built.
	expect 0 env -u MAKEFLAGS -u MAKELEVEL flock "$top/build" make -s -C "$top" fuzz "FUZZ_SECONDS=$seconds"
	for fuzzer in "$top"/tests/fuzz/*_fuzz.c; do
		name=$(basename "$fuzzer" _fuzz.c)
		assertContains "$name ran" "$out" "$name "
		assertTrue "$name has a corpus" "ls '$top/tests/fuzz/corpus/$name/'* >/dev/null"
	done
	assertEquals 'each is clean' "$(find "$top/tests/fuzz" -name '*_fuzz.c' | wc -l)" \
		"$(grep -c ' clean, [1-9][0-9]* runs$' "$work/out")"
}

test_a_fuzzer_that_finds_something_fails_the_run() {
	mkdir -p "$work/build/bin"
	printf '#!/bin/sh\necho "stat::number_of_executed_units: 7"\nexit 0\n' \
		>"$work/build/bin/host_name_fuzz"
	printf '#!/bin/sh\necho crash; exit 77\n' >"$work/build/bin/text_fuzz"
	chmod +x "$work"/build/bin/*
	expect 0 "$top/tests/fuzz/run" "$work/build" 1 host_name
	assertContains "$out" 'clean, 7 runs'
	expect 1 "$top/tests/fuzz/run" "$work/build" 1 text
	assertContains "$out" 'FOUND SOMETHING'
}

. "$CELL_TEST_SHUNIT2"

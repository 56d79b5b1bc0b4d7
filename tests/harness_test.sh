#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root setpriv unshare
# cell_test.sh itself: a file whose set-up fails is red, and none of its tests is run. And run: a tree
# that only its owner can come to is tested.
. "$(dirname "$0")/lib/cell_test.sh"

# file LINE...: a test file of these lines; what it counts is in $work/results, what it says in $out, $err.
file() {
	{
		printf '#!/bin/sh\n. "%s"\n' "$top/tests/lib/cell_test.sh"
		printf '%s\n' "$@"
		# shellcheck disable=SC2016 # for the file
		printf '. "$CELL_TEST_SHUNIT2"\n'
	} >"$top_of_files/a_test.sh"
	: >"$work/results"
	run env TMPDIR="$work" CELL_TEST_RESULTS="$work/results" sh "$top_of_files/a_test.sh"
}

test_file_setup() {
	# Where cell_test.sh finds the top of a tree.
	top_of_files=$work/tree
	mkdir "$top_of_files"
	: >"$top_of_files/Makefile"
}

ran='test_it_runs() { echo "a test ran"; }'

test_good_file_is_green() {
	# shellcheck disable=SC2016 # for the file
	file 'test_file_setup() { value=7; }' 'test_value() { assertEquals 7 "$value"; }'
	assertEquals "$out $err" 0 "$status"
	assertEquals 'pass test_value ' "$(cat "$work/results")"
}

test_setup_that_fails_is_red_and_nothing_runs() {
	for body in false 'false; true' 'return 3' 'exit 0' 'exit 4' 'inner() { false; echo on; }; inner' \
		'fail "not made"' 'expect 0 false' '(exit 5); fine=1' 'value=$(false); fine=1' \
		'true && false' 'wait_for 0 false; fine=1'; do
		file "test_file_setup() { $body; }" "$ran"
		assertNotEquals "$body: $out" 0 "$status"
		assertEquals "$body: $out $err" 'fail test_file_setup ' "$(cat "$work/results")"
		assertNotContains "$body" "$out" 'a test ran'
	done
}

test_setup_that_fails_is_torn_down() {
	file "test_file_setup() { echo \"\$work\" >\"$work/of\"; background sleep 77; echo \"\$pid\" >\"$work/pid\"; false; }" \
		"test_file_teardown() { echo 'torn down'; }" "$ran"
	assertContains "$out" 'torn down'
	assertFalse 'its directory is gone' "[ -e '$(cat "$work/of")' ]"
	assertFalse 'its process is gone' "kill -0 $(cat "$work/pid") 2>/dev/null"
}

test_setup_of_one_test_that_fails_is_red() {
	file 'test_setup() { false; }' "$ran"
	assertNotEquals 0 "$status"
	assertEquals 'fail test_it_runs ' "$(cat "$work/results")"
}

test_teardown_that_asserts_in_vain_is_red() {
	file 'test_file_teardown() { assertEquals 1 2; }' "$ran"
	assertContains "$(cat "$work/results")" 'fail test_file_teardown'
}

test_commands_that_fail_in_a_test_do_not_end_it() {
	file 'test_file_setup() { :; }' 'test_goes_on() { false; assertTrue true; }'
	assertEquals "$out $err" 0 "$status"
	assertEquals 'pass test_goes_on ' "$(cat "$work/results")"
}

# as_nobody COMMAND...
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

test_tree_below_a_private_directory_is_tested() {
	tree=$work/private/tree
	mkdir -p "$tree/tests/lib" "$tree/share/cell/lib"
	cp "$top/tests/run" "$tree/tests/"
	cp "$top/tests/lib/cell_test.sh" "$tree/tests/lib/"
	cp "$top/share/cell/lib/packages.sh" "$tree/share/cell/lib/"
	cp "$top/Makefile" "$tree/"
	chmod 0755 "$work" "$tree/tests/run"
	chmod -R go+rX "$tree"
	# shellcheck disable=SC2016 # for the file
	printf '%s\n' '#!/bin/sh' '. "$(dirname "$0")/lib/cell_test.sh"' \
		'as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }' \
		'test_reach() { expect 0 as_nobody cat "$top/Makefile" "$CELL_BIN/x"; }' \
		'. "$CELL_TEST_SHUNIT2"' >"$tree/tests/reach_test.sh"
	mkdir -m 0755 "$tree/bin"
	: >"$tree/bin/x"
	chmod 0755 "$tree/tests/reach_test.sh"
	expect 0 as_nobody cat "$tree/Makefile"
	chmod 0700 "$work/private"
	expect 1 as_nobody cat "$tree/Makefile"
	set -- env TMPDIR="$work" CELL_TEST_NO_INSTALL=1 CELL_BIN="$tree/bin" CELL_UNIT=none "$tree/tests/run"
	expect 0 "$@"
	assertContains "$out" '1 passed, 0 failed, 0 skipped'
	# Its very files: there is no other way to those.
	chmod 0700 "$tree/tests/run"
	expect 1 timeout 60 "$@"
	assertContains "$err" 'others cannot read the files of this tree'
}

. "$CELL_TEST_SHUNIT2"

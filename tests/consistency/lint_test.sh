#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# clang-format, shellcheck, codespell and cppcheck find nothing, and would find something.
# needs: clang-format shellcheck codespell cppcheck make
. "$(dirname "$0")/../lib/cell_test.sh"

test_the_linters_find_nothing() {
	expect 0 make -s -C "$top" lint-quick
	assertEquals '' "$out$err"
}

# tree: a small tree in $tree that all four are content with.
tree() {
	tree=$work/tree
	rm -rf "$tree"
	mkdir -p "$tree/cmd" "$tree/common" "$tree/share/cell" "$tree/tests/lib" "$tree/.ci"
	cp "$top/Makefile" "$top/.clang-format" "$top/.shellcheckrc" "$tree/"
	cp "$top/common/text.c" "$top/common/text.h" "$tree/common/"
	cp "$top/.ci/run" "$tree/.ci/"
	cp "$top/tests/lib/cell_test.sh" "$tree/tests/lib/"
	cp "$top/tests/lint" "$tree/tests/"
	touch "$tree/README.md" "$tree/tests/x.sh"
}

test_each_of_them_finds_what_is_planted() {
	tree
	expect 0 make -s -C "$tree" lint-quick
	printf 'int  x;\n' >"$tree/common/planted.c"
	expect 2 make -s -C "$tree" lint-quick
	assertContains "$err" clang-format-violations
	tree
	printf '#!/bin/sh\ncd $1\n' >"$tree/cmd/planted"
	expect 2 make -s -C "$tree" lint-quick
	assertContains "$out" SC2086
	tree
	printf 'T%s proxy.\n' eh >"$tree/README.md"
	expect 2 make -s -C "$tree" lint-quick
	assertContains "$out" README.md:1
	tree
	printf 'int planted(void)\n{\n\tint *x = 0;\n\treturn *x;\n}\n' >"$tree/common/planted.c"
	expect 2 make -s -C "$tree" lint-quick
	assertContains "$err" nullPointer
}

. "$CELL_TEST_SHUNIT2"

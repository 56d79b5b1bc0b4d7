#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Options in the code, in --help, in the man page and in the three completions are the same.
# needs: groff
. "$(dirname "$0")/../lib/cell_test.sh"

tools=$(sed -n 's/^\(STATIC\|DYNAMIC\) *:= *//p' "$top/Makefile")

# options_in_code TOOL: the long options of its one table.
options_in_code() {
	if [ "$1" = run_trial ]; then
		# The case patterns that accept an option, with and without a value.
		sed -n '/^options_parse/,/^}/p' "$top/share/cell/lib/options.sh" |
			grep -o -- '--[a-z-]\{2,\}' | sort -u
	else
		sed -n '/struct option [a-z_]*\[\]/,/};/p' "$top/cmd/$1.c" |
			grep -o '{"[a-z0-9-]*"' | sed 's/{"\(.*\)"/--\1/'
		printf '%s\n' --json --quiet --help --version
	fi | sort -u
}

words() { grep -o -- '--[a-z0-9][a-z0-9-]*' | sort -u; }

# Plain text of a man page, without hyphenation or formatting.
page() { groff -mandoc -Tascii -P-c "$top/share/man/man1/$1.1" | sed 's/.\x08//g'; }

each_tool() {
	for tool in $tools run_trial; do
		options_in_code "$tool" >"$work/code"
		assertTrue "$tool has options" "[ -s $work/code ]"
		"$1" "$tool"
	done
}

in_help() {
	"$CELL_BIN/$1" --help | words >"$work/there"
	assertContains "the first line of $1 --help" \
		"$("$CELL_BIN/$1" --help | sed '/./!d' | head -n 1)" "usage: $1 "
	assertEquals "$1 --help" "$(cat "$work/code")" "$(cat "$work/there")"
}
in_page() {
	page "$1" | sed -n '/^OPTIONS/,/^[A-Z]/p' | words >"$work/there"
	assertEquals "$1.1, not in OPTIONS" '' "$(comm -23 "$work/code" "$work/there")"
}
in_bash() {
	words <"$top/completions/bash/$1" >"$work/there"
	assertEquals "bash completion of $1" "$(cat "$work/code")" "$(cat "$work/there")"
}
in_zsh() {
	words <"$top/completions/zsh/_$1" >"$work/there"
	assertEquals "zsh completion of $1" "$(cat "$work/code")" "$(cat "$work/there")"
}
in_fish() {
	grep '^complete' "$top/completions/fish/$1.fish" | grep -o -- ' -l [a-z0-9-]*' | sed 's/ -l /--/' | sort -u >"$work/there"
	assertEquals "fish completion of $1" "$(cat "$work/code")" "$(cat "$work/there")"
}

test_help_names_exactly_the_options_of_the_code() { each_tool in_help; }
test_man_page_names_every_option() { each_tool in_page; }
test_bash_completion_has_exactly_the_options() { each_tool in_bash; }
test_zsh_completion_has_exactly_the_options() { each_tool in_zsh; }
test_fish_completion_has_exactly_the_options() { each_tool in_fish; }

test_every_option_is_strict() {
	for tool in $tools; do
		expect_error 100 'unknown option --hel' "$CELL_BIN/$tool" --hel
		expect_error 100 'unknown option --no-such' "$CELL_BIN/$tool" --no-such
		expect_error 100 'unknown option -x' "$CELL_BIN/$tool" -x
		expect_error 100 'option --version is given twice' "$CELL_BIN/$tool" --version --version
	done
}

test_version_is_the_makefiles() {
	version=$(sed -n 's/^VERSION := //p' "$top/Makefile")
	for tool in $tools run_trial; do
		assertEquals "$tool $version" "$("$CELL_BIN/$tool" --version)"
	done
}

. "$CELL_TEST_SHUNIT2"

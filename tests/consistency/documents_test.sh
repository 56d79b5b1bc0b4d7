#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Man pages render, have the same sections, document every exit code and environment variable; the
# README's words are true of the tree.
# needs: groff
. "$(dirname "$0")/../lib/cell_test.sh"

tools=$(sed -n 's/^\(STATIC\|DYNAMIC\) *:= *//p' "$top/Makefile")

test_every_page_renders_without_a_warning() {
	for page in "$top"/share/man/man[17]/*; do
		assertEquals "$page" '' "$(groff -mandoc -ww -z "$page" 2>&1)"
	done
}

test_every_tool_has_a_page_with_the_same_sections() {
	for tool in $tools run_trial; do
		page=$top/share/man/man1/$tool.1
		assertTrue "$page" "[ -s $page ]"
		for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' ENVIRONMENT FILES EXAMPLES 'SEE ALSO'; do
			grep -q "^\.SH \"\{0,1\}$section\"\{0,1\}\$" "$page"
			assertEquals "$tool.1 has $section" 0 $?
		done
	done
}

# The exit codes that a tool's code names, in its page.
test_exit_codes_of_the_code_are_in_the_page() {
	for tool in $tools; do
		page=$(sed -n '/^\.SH "\{0,1\}EXIT STATUS/,/^\.SH "\{0,1\}ENV/p' "$top/share/man/man1/$tool.1")
		for pair in OK:0 NO:1 TIMEOUT:99 USAGE:100 UNSUPPORTED:102 EVIDENCE:103 SYSTEM:111; do
			grep -q "CELL_${pair%:*}\b" "$top/cmd/$tool.c" || continue
			printf '%s\n' "$page" | grep -qw "${pair#*:}"
			assertEquals "$tool.1 documents ${pair#*:}" 0 $?
		done
	done
}

# Every documented exit code of a tool is expected somewhere in the tests of that tool.
test_documented_exit_codes_are_tested() {
	for tool in $tools run_trial; do
		name=${tool#cell-}
		for code in $(sed -n '/^\.SH "\{0,1\}EXIT STATUS/,/^\.SH "\{0,1\}ENV/p' \
			"$top/share/man/man1/$tool.1" | sed -n 's/^\.B[RI]* *"\{0,1\}\([0-9][0-9]*\).*/\1/p' | grep -v '^128$' | sort -un); do # 128+n
			grep -rlE "$name|$tool" "$top/tests" --include='*_test.sh' |
				xargs grep -qE "(expect|expect_error|assertEquals[^\$]*|answer) .{0,60}\\b$code\\b" /dev/null
			assertEquals "$tool: a test expects $code" 0 $?
		done
	done
}

test_environment_variables_are_documented() {
	for variable in $(grep -rhoE 'arguments_environment\("[A-Z_]+"' "$top/cmd" "$top/common" |
		sed 's/.*"\(.*\)"/\1/' | sort -u) CELL_TRIAL CELL_STEP; do
		grep -q "$variable" "$top/share/man/man7/cell.7"
		assertEquals "cell.7 documents $variable" 0 $?
	done
}

test_environment_variables_of_the_scripts_are_documented() {
	# (The demo says in itself what it passes to itself.)
	grep -rhoE --exclude-dir=examples '\$\{?CELL_[A-Z_]+' "$top/share/cell" "$top/cmd/run_trial" |
		tr -d '${' | sort -u >"$work/names"
	grep -rhoE 'getenv\("CELL_[A-Z_]+' "$top/cmd" "$top/common" | sed 's/.*"//' >>"$work/names"
	assertTrue 'there are some' "[ $(wc -l <"$work/names") -gt 5 ]"
	while read -r variable; do
		grep -rqw "$variable" "$top/share/man"
		assertEquals "a page documents $variable" 0 $?
	done <"$work/names"
}

test_readme_shell_is_shell() {
	awk '/^```sh/ { file = sprintf("%s/block.%d", directory, ++count); next } /^```/ { file = "" }
		file != "" { print >file }' directory="$work" "$top/README.md"
	assertTrue 'there are blocks' "[ -s $work/block.4 ]"
	for block in "$work"/block.*; do expect 0 sh -n "$block"; done
}

test_readme_links_lead_somewhere() {
	for link in $(grep -o '](\([^)#]*\))' "$top/README.md" | sed 's/](\(.*\))/\1/' | grep -v '^http'); do
		assertTrue "README.md: $link" "[ -e $top/$link ]"
	done
}

test_readme_names_every_tool_and_every_exit_code() {
	for tool in $tools run_trial; do
		grep -qF "| \`$tool\` |" "$top/README.md"
		assertEquals "README: $tool" 0 $?
	done
	sed -n 's/^\tCELL_[A-Z_]* = \([0-9]*\),.*/\1/p' "$top/common/exit_code.h" | while read -r code; do
		grep -qE "^\| .*\b$code\b" "$top/README.md" || echo "$code"
	done >"$work/missing"
	assertEquals 'exit codes' '' "$(cat "$work/missing")"
}

test_readme_steps_by_hand_run_as_written() {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	awk '/^## By hand/ { f = 1 } f && /^```sh/ { p = 1; next } p && /^```/ { exit } p' \
		"$top/README.md" >"$work/by_hand"
	# In a directory of its own, so that two runs do not meet.
	sed -i "s,/tmp/cell-by-hand,$work/by-hand,g" "$work/by_hand"
	expect 0 sh "$work/by_hand"
	assertContains "$out" 'ok: nothing differs'
	assertContains "$out" 'capcheck said 1'
	assertContains "$out" 'for the subject: 0'
	assertContains "$out" 'closed: 0'
}

test_no_mark_of_unfinished_work_is_in_the_tree() {
	assertEquals '' "$(cd "$top" && git grep -nE '\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\b' -- . \
		':!tests/consistency' 2>/dev/null | head)"
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installed somewhere else, everything works from there, and uninstall removes exactly that.
# needs: root netns mitmdump bwrap jq
. "$(dirname "$0")/../lib/cell_test.sh"

test_file_setup() {
	chmod 0711 "$work"
	make -s -C "$top" install DESTDIR="$work/root" PREFIX=/opt/here >"$work/install.log" 2>&1
	installed=$work/root/opt/here
}

test_every_tool_is_installed_and_runs() {
	for tool in $(sed -n 's/^\(STATIC\|DYNAMIC\|SCRIPTS\) *:= *//p' "$top/Makefile"); do
		expect 0 "$installed/bin/$tool" --version
		assertTrue "$tool.1" "[ -s $installed/share/man/man1/$tool.1 ]"
		assertTrue "$tool bash" "[ -s $installed/share/bash-completion/completions/$tool ]"
		assertTrue "$tool zsh" "[ -s $installed/share/zsh/site-functions/_$tool ]"
		assertTrue "$tool fish" "[ -s $installed/share/fish/vendor_completions.d/$tool.fish ]"
	done
}

test_installed_run_trial_runs_a_trial() {
	netns_new
	mkdir -m 0777 "$work/task"
	cd "$work/task" || fail 'no directory'
	expect 0 in_ns "$pid" "$installed/bin/run_trial" -o "$work/trial" -- echo sealed
	assertEquals sealed "$out"
	assertEquals true "$(jq .sealed "$work/trial/summary.json")"
}

test_binaries_are_hardened() {
	for tool in "$installed"/bin/cell-*; do
		readelf -hlW "$tool" >"$work/elf" 2>/dev/null
		readelf -dW "$tool" >>"$work/elf" 2>/dev/null
		grep -q 'Type: *DYN' "$work/elf"
		assertEquals "$tool is position-independent" 0 $?
		grep -q GNU_RELRO "$work/elf"
		assertEquals "$tool has RELRO" 0 $?
		grep -qE 'BIND_NOW|FLAGS.*NOW' "$work/elf"
		assertEquals "$tool binds at once" 0 $?
		assertEquals "$tool has no executable stack" '' "$(grep 'GNU_STACK.*RWE' "$work/elf")"
	done
}

test_no_binary_links_both_libnftables_and_openssl() {
	for tool in "$installed"/bin/cell-*; do
		if readelf -dW "$tool" | grep -q nftables; then
			assertEquals "$tool" '' "$(readelf -dW "$tool" | grep -E 'libssl|libcrypto')"
			assertEquals "$tool" '' "$(readelf -sW "$tool" | grep -w OPENSSL_init_crypto)"
		fi
	done
}

test_uninstall_removes_exactly_what_was_installed() {
	mkdir -p "$work/again/opt/here/bin"
	echo mine >"$work/again/opt/here/bin/mine"
	make -s -C "$top" install DESTDIR="$work/again" PREFIX=/opt/here >/dev/null 2>&1
	assertTrue '[ -e "$work/again/opt/here/bin/run_trial" ]'
	make -s -C "$top" uninstall DESTDIR="$work/again" PREFIX=/opt/here >/dev/null 2>&1
	assertEquals "$work/again/opt/here/bin/mine" "$(find "$work/again" -type f)"
}

test_a_build_leaves_no_untracked_file() {
	assertEquals '' "$(git -C "$top" status --porcelain --untracked-files=all -- . ':!trials' 2>/dev/null |
		grep '^??' || :)"
}

. "$CELL_TEST_SHUNIT2"

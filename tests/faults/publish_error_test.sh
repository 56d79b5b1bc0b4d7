#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns strace openssl
# cell-publish with every system call failing in turn: it says so, or it is healthy; what it leaves
# is the old pair, a certificate alone, or the new pair, and no temporary file.
. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/publish_scene.sh"

fail_everywhere() {
	scenario=$1
	calls
	number=0
	while read -r name count; do
		case $name in
		# Not calls of the tool: the loader, the C library, the sanitizers, the end.
		execve | exit_group | brk | mmap | munmap | mprotect | futex | getrandom | \
			sigaltstack) continue ;;
		esac
		scene
		code=0
		act strace -f -o "$work/log" -e "trace=$name" \
			-e "inject=$name:error=EIO:when=$count" || code=$?
		where="$scenario: $name $count fails"
		case $code in
		0)
			nsenter -n -t "$net" "$CELL_BIN/cell-publish" --check --state "$work/state" \
				--dir "$work/dir" >/dev/null || fail "$where: 0, but not healthy"
			;;
		103 | 111) ;;
		*) fail "$where: exit $code" ;;
		esac
		judge "$where"
		if [ "$name" != unlinkat ]; then
			assertEquals "$where: left" '' "$(find "$work/dir" "$work/state" -name '.*.new')"
		fi
		[ "$code" -eq 0 ] || number=$((number + 1))
		[ "$__shunit_assertsFailed" -eq "$cell_failed" ] || return
	done <"$work/calls"
	echo "$scenario: $number calls whose failure was told"
	assertTrue "$scenario: only $number places" "[ $number -gt 15 ]"
}

test_renewal_with_another_address_failing_everywhere() {
	fail_everywhere renew_and_move
}

test_first_publish_failing_everywhere() {
	fail_everywhere first
}

. "$CELL_TEST_SHUNIT2"

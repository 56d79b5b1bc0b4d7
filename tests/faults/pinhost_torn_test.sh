#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root strace python3
# What readers of a hosts file can see while cell-pinhost patches it: every text is made that reading
# it in pieces can give, with the end of the reader's buffer at each byte in turn, or reading it during
# a write; and all are judged by glibc and musl.
. "$(dirname "$0")/../lib/cell_test.sh"

pin=$CELL_BIN/cell-pinhost
names='localhost db cache six old last proxy'
step=3 # every third byte; with CELL_TEST_LONG every one
[ -z "${CELL_TEST_LONG:-}" ] || step=1

test_file_setup() {
	cd "$work" || exit 1
}

# padding BYTES: a comment of so many bytes.
padding() {
	printf '#%*s\n' "$(($1 - 2))" ''
}

# judge_readings MODE NEW OPERANDS...: pins in each "start.*", and judges all readings of them.
judge_readings() {
	mode=$1 new=$2
	shift 2
	rm -rf states
	"$top/tests/lib/hosts_torn.py" "$mode" states "$pin" --hosts '{}' "$@" -- start.* || return 1
	for library in glibc musl; do
		helper=$CELL_TEST_BIN/lib/hosts_lookup
		[ $library = glibc ] || helper=${helper}_musl
		# shellcheck disable=SC2086 # names are words
		find states -type f -print0 | xargs -0 "$helper" $names -- >$library || return 1
	done
	"$top/tests/lib/hosts_judge.py" proxy "$new" glibc musl >verdict 2>&1
}

# at_every_byte WRITER FIRST LAST NEW OPERANDS...: a buffer's end meets each byte of what WRITER
# writes behind padding of FIRST to LAST bytes.
at_every_byte() {
	writer=$1 size=$2 last=$3
	shift 3
	rm -f start.*
	while [ "$size" -le "$last" ]; do
		{ padding "$size" && "$writer"; } >"start.$size"
		size=$((size + step))
	done
	judge_readings pieces "$@" || fail "$(tail -n 3 verdict)"
}

first() {
	printf '10.0.0.5 db cache\nfd00::9 six proxy\n10.0.0.9 proxy old\n10.0.0.8 proxy # alone\n'
	printf '10.7.7.7 last'
}

# A blank line that fits, and the old pin behind it.
again() {
	printf '10.0.0.5 db cache\nfd00::9 six\n%21s\n172.18.0.99     proxy\n10.0.0.9 old\n' ''
	printf '10.7.7.7 last\n'
}

# A blank line that an earlier removal left.
removed() {
	printf '10.0.0.5 db cache\nfd00::9 six\n%21s\n10.0.0.9 old\n10.7.7.7 last\n' ''
}

# A blank line that fits, and the old pin far behind it.
far() {
	printf '10.0.0.5 db cache\nfd00::9 six\n%21s\n' ''
	padding 1100
	printf '172.18.0.99     proxy\n10.0.0.9 old\n10.7.7.7 last\n'
}

test_first_pin() {
	at_every_byte first 900 1030 172.18.0.2 --address 172.18.0.2 proxy
}

test_second_pin_on_a_blank_line() {
	at_every_byte again 900 1030 172.18.0.2 --address 172.18.0.2 proxy
}

test_pin_after_a_removal() {
	at_every_byte removed 960 1000 172.18.0.2 --address 172.18.0.2 proxy
}

test_second_pin_with_a_blank_line_far_before() {
	at_every_byte far 960 1030 172.18.0.2 --address 172.18.0.2 proxy
}

test_removal() {
	at_every_byte first 930 1030 - --remove proxy
}

test_reading_during_a_write() {
	rm -f start.*
	for writer in first again removed far; do
		"$writer" >"start.$writer"
	done
	judge_readings during 172.18.0.2 --address 172.18.0.2 proxy || fail "$(tail -n 3 verdict)"
	judge_readings during - --remove proxy || fail "$(tail -n 3 verdict)"
	# On a line of its own no part of the name is ever seen.
	rm -f start.*
	again >start.again
	whole=$names
	names="$whole p pr pro prox roxy oxy xy y"
	judge_readings during 172.18.0.2 --address 172.18.0.2 proxy || fail "parts: $(tail -n 3 verdict)"
	names=$whole
}

# found_out TEXT MODE WRITER PADDING: the judges find that fault with the tool $pin.
found_out() {
	rm -f start.*
	{ padding "$4" && "$3"; } >start.one
	judge_readings "$2" 172.18.0.2
	assertEquals "$pin: $(tail -n 1 verdict)" 1 $?
	assertContains "$pin" "$(cat verdict)" "$1"
}

# The same judges find fault with a plain rewrite, and with a patch that uses any blank line at once.
test_other_ways_are_found_out() {
	cat >rewrite <<-'EOF'
		#!/usr/bin/python3
		import os, sys
		fd = os.open(sys.argv[2], os.O_RDWR)
		lines = [l for l in os.pread(fd, 99999, 0).split(b"\n") if b"proxy" not in l and l.strip()]
		text = b"\n".join(lines + [b"172.18.0.2      proxy", b""])
		os.pwrite(fd, text, 0)
		os.ftruncate(fd, len(text))
	EOF
	cat >any_blank <<-'EOF'
		#!/usr/bin/python3
		import os, sys
		fd = os.open(sys.argv[2], os.O_RDWR)
		text = os.pread(fd, 99999, 0)
		at = text.index(b"\n" + b" " * 21 + b"\n") + 1
		os.pwrite(fd, b"#72.18.0.2      proxy", at)
		os.pwrite(fd, b"1", at)
		at = text.index(b"172.18.0.99")
		os.pwrite(fd, b"#", at)
		os.pwrite(fd, b" " * 20, at + 1)
		os.pwrite(fd, b" ", at)
	EOF
	chmod +x rewrite any_blank
	real=$pin
	pin=$work/rewrite
	found_out 'another entry answers differently' pieces far 1000
	pin=$work/any_blank
	found_out 'neither all old addresses nor the new one' pieces far 1000
	found_out 'an address of nobody' pieces again 992 # cut within the address
	found_out 'an address of nobody' during again 100
	pin=$real
}

. "$CELL_TEST_SHUNIT2"

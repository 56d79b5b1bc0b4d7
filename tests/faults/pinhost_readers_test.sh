#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root python3
# cell-pinhost among others: readers that read in pieces, writers that take no lock, and many of itself.
. "$(dirname "$0")/../lib/cell_test.sh"

pin=$CELL_BIN/cell-pinhost

test_file_setup() {
	cd "$work" || exit 1
}

# foreign COUNT: other people's entries, more than a page of them.
foreign() {
	awk -v n="$1" 'BEGIN {
		for (i = 1; i <= n; i++) printf "10.8.0.%d\thost-%04d.example alias-%d\n", i, i, i
	}'
}

# readers_begin, readers_end: two readers of h at work in between; $readings and $bad.
readers_begin() {
	rm -f stop
	mkfifo stop
	for piece in 1024 4096; do
		"$CELL_TEST_BIN/lib/hosts_reader" h proxy $piece others <stop >read.$piece 2>torn.$piece &
	done
	exec 8>stop
}
readers_end() {
	exec 8>&-
	wait
	readings=$(awk '{ n += $1 } END { print n }' read.*)
	bad=$(awk '{ n += $2 } END { print n }' read.*)
}

test_no_reading_lacks_an_entry_in_1500_runs() {
	foreign 200 >others
	{ cat others && printf '10.0.0.9 proxy\n'; } >h
	readers_begin
	run=0
	while [ "$run" -lt 500 ]; do
		"$pin" --hosts h --address "172.18.0.$((run % 200 + 1))" proxy >/dev/null || fail "$run"
		"$pin" --hosts h --address "10.1.$((run % 200)).1" proxy >/dev/null || fail "$run"
		"$pin" --hosts h --remove proxy >/dev/null || fail "$run"
		run=$((run + 1))
	done
	readers_end
	echo "1500 runs: $readings readings, $bad bad"
	assertTrue "only $readings readings" "[ $readings -gt 1000 ]"
	assertEquals "bad readings: $(head -c 300 torn.1024 torn.4096)" 0 "$bad"
}

test_the_readers_notice_a_rewrite() {
	foreign 200 >others
	{ cat others && printf '10.0.0.9 proxy\n'; } >h
	readers_begin
	run=0
	while [ "$run" -lt 200 ]; do
		awk '$2 != "proxy"' h >new
		printf '172.18.0.%d proxy\n' "$run" >>new
		cat new >h
		run=$((run + 1))
	done
	readers_end
	echo "200 rewrites: $readings readings, $bad bad"
	assertNotEquals 0 "$bad"
}

# As engines do: reads all, changes its own lines, truncates and writes all back; takes no lock.
cat_engine() {
	cat >engine <<-'EOF'
		#!/usr/bin/python3
		"""usage: engine FILE SECONDS: rewrites FILE 25 times a second, one entry more each time."""
		import os, sys, time
		end = time.monotonic() + float(sys.argv[2])
		number = 0
		while time.monotonic() < end:
		    with open(sys.argv[1], "rb") as file:
		        text = file.read()
		    number += 1
		    with open(sys.argv[1], "r+b") as file:
		        file.truncate(0)
		        file.write(text + b"10.9.0.1\tengine-%d\n" % number)
		    time.sleep(0.04)
		print(number)
	EOF
	chmod +x engine
}

test_a_writer_without_a_lock_loses_no_entry() {
	cat_engine
	foreign 200 >others
	cp others h
	background ./engine h 6 >written
	engine=$pid
	run=0
	while kill -0 "$engine" 2>/dev/null; do
		"$pin" --hosts h --address "172.18.0.$((run % 200 + 1))" proxy >/dev/null 2>>err ||
			echo no >>unpinned
		run=$((run + 1))
	done
	wait "$engine"
	echo "$run pins beside $(cat written) rewrites"
	assertTrue "[ $(cat written) -gt 20 ] && [ $run -gt 100 ]"
	grep -o 'host-[0-9]*\.example alias-[0-9]*$' others | sort >wanted
	tr -d '\0' <h | grep -o 'host-[0-9]*\.example alias-[0-9]*$' | sort -u >there
	assertEquals 'entries of others' "$(cat wanted)" "$(cat there)"
	expect 0 "$pin" --hosts h --address 172.18.0.2 proxy
	expect 0 "$pin" --hosts h --address 172.18.0.2 --check proxy
}

test_sixty_pins_at_once_leave_one() {
	foreign 20 >h
	cp h others
	at_once=0
	while [ "$at_once" -lt 60 ]; do
		{ "$pin" --hosts h --timeout 60 --address "172.18.0.$((at_once + 1))" proxy >/dev/null ||
			echo "$at_once" >>failed; } &
		at_once=$((at_once + 1))
	done
	wait
	assertFalse "failed: $(cat failed 2>/dev/null)" '[ -s failed ]'
	assertEquals 'entries' 1 "$(grep -c '^172\.18\.0\.[0-9]* *proxy$' h)"
	assertEquals 'mentions' 1 "$(grep -c proxy h)"
	head -n 20 h | cmp - others || fail 'others'
}

test_sixty_names_at_once_are_all_there() {
	rm -f h # the first one makes it
	at_once=0
	while [ "$at_once" -lt 60 ]; do
		{ "$pin" --hosts h --timeout 60 --address "172.18.1.$((at_once + 1))" "name-$at_once" \
			>/dev/null || echo "$at_once" >>failed; } &
		at_once=$((at_once + 1))
	done
	wait
	assertFalse "failed: $(cat failed 2>/dev/null)" '[ -s failed ]'
	assertEquals 60 "$(grep -c '^172\.18\.1\.[0-9]* *name-[0-9]*$' h)"
	assertEquals 'lines' 60 "$(wc -l <h)"
}

test_200_pins_do_not_make_it_grow() {
	for before in 5 850 860 870 880 890 900 910; do # at and around the end of a reader's buffer
		{ printf '%*s\n' "$before" '# ' && foreign 3; } >h
		grown=0
		while [ "$grown" -lt 200 ]; do
			"$pin" --hosts h --address "172.18.0.$((grown + 1))" proxy >/dev/null || fail 'no pin'
			grown=$((grown + 1))
			[ "$grown" -ne 5 ] || size=$(wc -c <h)
		done
		assertEquals "behind $before bytes" "$size" "$(wc -c <h)"
		assertEquals 'mentions' 1 "$(grep -c proxy h)"
	done
}

# Between two looks the file becomes another one: the pin goes to the one that has the name now.
test_a_replaced_file_is_pinned_too() {
	foreign 3 >h
	exec 7<h
	background sh -c 'exec 9<h && flock 9 && exec sleep infinity'
	wait_for 10 sh -c '! flock -n h true'
	"$pin" --hosts h --timeout 60 --address 172.18.0.2 proxy >/dev/null &
	waiting=$!
	wait_for 10 sh -c "ls -l /proc/$waiting/fd 2>/dev/null | grep -q '/h$'"
	foreign 4 >new
	mv new h
	end_process "$pid"
	wait "$waiting"
	assertEquals 0 $?
	assertEquals 'the old file' 0 "$(grep -c proxy <&7)"
	exec 7<&-
	assertEquals 'the new file' 1 "$(grep -c '^172.18.0.2      proxy$' h)"
	assertEquals 5 "$(wc -l <h)"
}

. "$CELL_TEST_SHUNIT2"

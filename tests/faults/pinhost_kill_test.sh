#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root strace python3
# cell-pinhost killed at every system call and with its entry cut at every byte: what glibc and musl
# then answer, and that the next run ends the work.
. "$(dirname "$0")/../lib/cell_test.sh"

pin=$CELL_BIN/cell-pinhost
static=$top/build/bin/cell-pinhost # a loader's calls, or a sanitizer's, are not ours to be killed at
judge=$top/tests/lib/hosts_judge.py
names='localhost db cache six old last proxy p pr pro prox' # no beginning of a name is ever one

test_file_setup() {
	cd "$work" || exit 1
}

# A file in which the name stands alone, beside others, in both families, and last.
write_first() {
	cat <<-'EOF'
		127.0.0.1 localhost
		10.0.0.5 db cache
		fd00::5 six
		fd00::9 six proxy
		10.0.0.9 proxy old
		10.0.0.8 proxy # alone
		# 10.0.0.4 proxy
		10.0.0.7 proxy
		10.7.7.7 last
	EOF
}

# A pin, and the blank line that an earlier one left: the new entry goes there.
write_again() {
	printf '127.0.0.1 localhost\n10.0.0.5 db cache\n%21s\nfd00::5 six\n' ''
	printf '172.18.0.99     proxy\n10.0.0.9 old\n10.7.7.7 last\n'
}

# lookups DIRECTORY: what both libraries answer from each file in it, in glibc and musl.
lookups() {
	for library in glibc musl; do
		helper=$CELL_TEST_BIN/lib/hosts_lookup
		[ $library = glibc ] || helper=${helper}_musl
		# shellcheck disable=SC2086 # names are words
		find "$1" -type f -print0 | xargs -0 "$helper" $names -- >$library || return 1
	done
}

# judged NEW DIRECTORY: every state in DIRECTORY answers well.
judged() {
	lookups "$2" || fail 'the lookups failed'
	"$judge" proxy "$1" glibc musl >verdict 2>&1
	assertEquals "$(tail -n 20 verdict)" 0 $?
}

# kill_everywhere NEW OPERANDS...: from the file "start", states/CALL.N is what a kill at the N-th
# CALL leaves, states/CALL.N.again what the next run makes of that.
kill_everywhere() {
	new=$1
	shift
	rm -rf states
	mkdir states
	cp start states/before
	cp start states/after
	expect 0 strace -o trace "$static" --hosts states/after "$@"
	killed=0
	calls=$(sed -n 's/^\([a-z0-9_]*\)(.*/\1/p' trace | sort -u | grep -v -e execve -e exit)
	for call in $calls; do
		count=$(grep -c "^$call(" trace)
		nth=1
		while [ "$nth" -le "$count" ]; do
			state=states/$call.$nth
			cp start "$state"
			strace -o killed -e "inject=$call:signal=KILL:when=$nth" \
				"$static" --hosts "$state" "$@" >/dev/null 2>&1
			grep -q 'killed by SIGKILL' killed || fail "not killed at $call $nth"
			cp "$state" "$state.again"
			"$pin" --hosts "$state.again" "$@" >/dev/null 2>&1 ||
				fail "the run after a kill at $call $nth"
			nth=$((nth + 1))
			killed=$((killed + 1))
		done
	done
	echo "$killed kills: $*"
	assertTrue "only $killed kills" "[ $killed -gt 30 ]"
	assertTrue 'no kill between two writes' \
		"[ $(sha256sum states/pwrite64.* | cut -c 1-64 | sort -u | wc -l) -gt 3 ]"
	judged "$new" states
	# And the next run leaves HOST exactly as one undisturbed run does.
	for state in states/*.again; do
		for library in glibc musl; do
			grep "^$state	proxy	" $library | cut -f 3,4
		done
	done | sort -u >ends
	assertEquals 'answers after the next run' "$(printf '%s\t%s' "$new" "$new")" "$(cat ends)"
}

test_kill_at_every_call_of_a_first_pin() {
	write_first >start
	kill_everywhere 172.18.0.2 --address 172.18.0.2 proxy
}

test_kill_at_every_call_of_a_second_pin() {
	write_again >start
	kill_everywhere 172.18.0.2 --address 172.18.0.2 proxy
	assertEquals 'the blank line is used' "$(wc -c <start)" "$(wc -c <states/after)"
}

test_kill_at_every_call_behind_a_line_without_newline() {
	write_first | head -c -1 >start
	kill_everywhere 172.18.0.2 --address 172.18.0.2 proxy
}

test_kill_at_every_call_of_a_removal() {
	write_first >start
	kill_everywhere - --remove proxy
}

# cut_run WRITE BYTES THEN FILE: a pin in FILE, of whose WRITE only BYTES are written; $status.
cut_run() {
	run env CUT_WRITE="$1" CUT_BYTES="$2" CUT_THEN="$3" \
		LD_PRELOAD="$CELL_TEST_BIN/lib/cut_write_module.so" \
		ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" \
		"$CELL_TEST_BIN/cell-pinhost" --hosts "$4" --address 172.18.0.2 proxy
}

# cut_everywhere: from the file "start", states/cut.WRITE.BYTES is what a kill leaves in each WRITE behind
# each of its bytes in turn, as the kernel stops a write at the end of a page.
cut_everywhere() {
	rm -rf states
	mkdir states
	cp start states/before
	cp start states/after
	expect 0 strace -o trace -e trace=write,pwrite64 \
		"$pin" --hosts states/after --address 172.18.0.2 proxy
	cuts=0 write=0
	lengths=$(sed -n 's/^p*write[0-9]*(\([3-9]\), .*) *= \([0-9]*\)$/\2/p' trace)
	for length in $lengths; do
		write=$((write + 1)) bytes=0
		while [ "$bytes" -le "$length" ]; do
			state=states/cut.$write.$bytes
			cp start "$state"
			cut_run $write $bytes kill "$state"
			assertEquals "write $write cut after $bytes" 137 "$status"
			cp "$state" "$state.again"
			"$pin" --hosts "$state.again" --address 172.18.0.2 proxy >/dev/null || fail 'again'
			bytes=$((bytes + 1)) cuts=$((cuts + 1))
		done
	done
	echo "$cuts cuts of $write writes"
	judged 172.18.0.2 states
	assertEquals 'what the next run makes of it' '172.18.0.2	172.18.0.2' \
		"$(grep -h '^states/cut.*again	proxy	' glibc musl | cut -f 3,4 | sort -u)"
}

test_every_write_of_a_first_pin_cut_at_every_byte() {
	write_first | head -c -1 >start
	cut_everywhere
	assertTrue "only $write writes" "[ $write -gt 10 ]"
	# The entry: a newline, 21 bytes, a newline.
	assertEquals "$(($(wc -c <start) + 23))" "$(wc -c <states/cut.1.23)"
}

test_every_write_of_a_second_pin_cut_at_every_byte() {
	write_again >start
	cut_everywhere
	assertTrue "only $write writes" "[ $write -gt 7 ]"
}

test_disk_full_at_every_byte_leaves_the_file_identical() {
	write_first | head -c -1 >start
	bytes=0
	while [ "$bytes" -le 23 ]; do
		cp start h
		cut_run 1 $bytes full h
		assertEquals "full after $bytes [$err]" 111 "$status"
		assertContains "$err" 'No space left'
		cmp h start || fail "full after $bytes: the file differs"
		bytes=$((bytes + 1))
	done
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root strace chattr
# cell-pinhost on file systems that refuse: full, read-only, immutable, append-only, limited, broken.
. "$(dirname "$0")/../lib/cell_test.sh"

pin=$CELL_BIN/cell-pinhost

test_file_setup() {
	cd "$work" || exit 1
}

# text BYTES: a hosts file of so many bytes without the name.
text() {
	printf '127.0.0.1 localhost\n10.0.0.5 db\n#%*s\n' "$(($1 - 34))" ''
}

# In a mount namespace: a tmpfs of one page, and a hosts file of $1 bytes on it, bound over "hosts".
test_full_disk_leaves_the_file_identical() {
	cat >on_a_page <<-'EOF'
		mount -t tmpfs -o size=4k none full && mount --bind before hosts || exit 90
		cat before >full/hosts && mount --bind full/hosts hosts || exit 91
		"$1" --hosts hosts --address 172.18.0.2 proxy
		code=$?
		cat full/hosts >after
		exit $code
	EOF
	mkdir -p full
	: >hosts
	for size in 4000 4068 4073 4074 4075 4076 4080 4090 4095 4096; do
		text "$size" >before
		assertEquals "$size" "$(wc -c <before)"
		if [ "$size" -le 4074 ]; then
			expect 0 unshare -m sh on_a_page "$pin"
			assertEquals "$((size + 22))" "$(wc -c <after)"
		else
			expect 111 unshare -m sh on_a_page "$pin"
			assertContains "$err" 'cannot write hosts: No space left on device'
			cmp before after || fail "$size: the file differs"
		fi
	done
	# Room is made by another pin's blanks: a full disk is then no obstacle.
	{ text 4052 && printf '%21s\n%22s' '' ''; } >before
	expect 0 unshare -m sh on_a_page "$pin"
	assertEquals 4096 "$(wc -c <after)"
	assertEquals 1 "$(grep -c '^172.18.0.2      proxy$' after)"
}

test_file_size_limit_leaves_the_file_identical() {
	text 1010 >h
	cp h before
	# shellcheck disable=SC2016 # expanded by the inner shell
	expect 111 sh -c 'ulimit -f 2 && exec "$1" --hosts h --address 172.18.0.2 proxy' sh "$pin"
	assertContains "$err" 'cannot write h: File too large'
	cmp h before || fail 'the file differs'
	expect 0 "$pin" --hosts h --address 172.18.0.2 proxy
}

# refuses ERROR: h can't be written to now; what needs a write fails and what needs none does not.
refuses() {
	expect_error 111 "$1" "$pin" --hosts h --address 172.18.0.3 proxy
	assertContains "$err" ' h: '
	expect_error 111 "$1" "$pin" --hosts h --remove proxy
	expect 0 "$pin" --hosts h --address 172.18.0.2 proxy
	assertContains "$out" 'changed no'
	expect 0 "$pin" --hosts h --address 172.18.0.2 --check proxy
	expect 0 "$pin" --hosts h --remove no-such-name
	cmp h before || fail 'changed'
}

test_immutable_and_append_only_files() {
	rm -f h
	{ text 500 && printf '172.18.0.2 proxy\n'; } >h
	cp h before
	for attribute in i a; do
		if ! chattr +$attribute h 2>/dev/null; then
			skip "no chattr +$attribute here"
			return
		fi
		refuses 'Operation not permitted'
		chattr -$attribute h
	done
	expect 0 "$pin" --hosts h --address 172.18.0.3 proxy
}

test_read_only_mount() {
	rm -f h
	{ text 500 && printf '172.18.0.2 proxy\n'; } >h
	cp h before
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -m sh -c 'mount --bind h h && mount -o remount,bind,ro h && exec sleep infinity' &
	mounted=$!
	cell_pids="$cell_pids $mounted"
	wait_for 10 sh -c "[ \$(cat /proc/$mounted/comm) = sleep ]"
	outer=$pin
	cat >inside <<-EOF
		#!/bin/sh
		exec nsenter -m -t $mounted -- sh -c 'cd "$work" && exec "$outer" "\$@"' sh "\$@"
	EOF
	chmod +x inside
	ln -sf inside cell-pinhost
	pin=$work/cell-pinhost
	refuses 'Read-only file system'
	pin=$outer
	end_process $mounted
	expect 0 "$pin" --hosts h --address 172.18.0.3 proxy
}

test_no_file_in_a_read_only_directory() {
	mkdir -p ro
	# shellcheck disable=SC2016 # expanded by the inner shell
	expect 111 unshare -m sh -c 'mount -t tmpfs -o ro none ro &&
		exec "$1" --hosts ro/h --address 172.18.0.2 proxy' sh "$pin"
	assertContains "$err" 'cannot create ro/h: Read-only file system'
}

test_user_without_rights() {
	rm -f h
	printf '172.18.0.2 proxy\n' >h
	chmod 0755 .
	cp "$top/build/bin/cell-pinhost" tool
	set -- setpriv --reuid 65534 --regid 65534 --clear-groups ./tool --hosts h
	expect 111 "$@" --address 172.18.0.3 proxy
	assertContains "$err" 'cannot write h: Permission denied'
	expect 0 "$@" --address 172.18.0.2 proxy
	expect 0 "$@" --address 172.18.0.2 --check proxy
	chmod 0600 h
	expect 111 "$@" --address 172.18.0.2 --check proxy
	assertContains "$err" 'cannot open h: Permission denied'
}

# Every call that can fail does, once each: told, nobody else's entry touched, and the next run ends it.
test_every_failing_call_is_told() {
	rm -f h
	{ text 500 && printf 'fd00::9 db proxy\n10.0.0.9 proxy\n10.0.0.8 last'; } >start
	cp start h
	static=$top/build/bin/cell-pinhost # a loader's calls, or a sanitizer's, are not ours
	expect 0 strace -o trace "$static" --hosts h --address 172.18.0.2 proxy
	tried=0
	for call in openat newfstatat fstat flock pread64 write pwrite64 lseek fcntl ftruncate; do
		count=$(grep -c "^$call(" trace)
		# The first fcntl calls ask whether descriptors 0 to 2 are there.
		nth=1
		[ $call != fcntl ] || nth=4
		while [ "$nth" -le "$count" ]; do
			cp start h
			run strace -o failed -e "inject=$call:error=EIO:when=$nth" \
				"$static" --hosts h --address 172.18.0.2 proxy
			grep -q '(INJECTED)' failed || fail "no fault at $call $nth"
			# A file that can't be compared any more is looked at again.
			case $status in
			0) expect 0 "$pin" --hosts h --address 172.18.0.2 --check proxy ;;
			111) assertEquals "lines of $call $nth: $err" 1 "$(wc -l <err)" ;;
			*) fail "$call $nth: exit $status" ;;
			esac
			assertEquals "others after $call $nth" 4 "$(grep -c -e '^127.0.0.1 localhost$' \
				-e '^10.0.0.5 db$' -e '^fd00::9 db' -e '^10.0.0.8 last$' h)"
			expect 0 "$pin" --hosts h --address 172.18.0.2 proxy
			nth=$((nth + 1))
			tried=$((tried + 1))
		done
	done
	echo "$tried calls failed"
	assertTrue "[ $tried -gt 20 ]"
}

# An append that lands elsewhere each time means that somebody else always appends as well.
test_a_file_that_never_holds_still_is_an_error() {
	rm -f h
	text 500 >h
	cp h before
	run strace -o trace -e inject=lseek:retval=1 "$pin" --hosts h --address 172.18.0.2 proxy
	assertEquals "$err" 111 "$status"
	assertContains "$err" 'cannot patch h: another process keeps changing it'
	assertEquals 'tries' 7 "$(grep -c INJECTED trace)"
	head -c 500 h | cmp - before || fail 'another entry'
	assertEquals 'only comments' 0 "$(tail -c +501 h | grep -vc '^#72')"
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root jq
# What cell-pinhost does to a hosts file, judged byte by byte and by the resolvers of two C libraries.
. "$(dirname "$0")/lib/cell_test.sh"

pin=$CELL_BIN/cell-pinhost

test_file_setup() {
	cd "$work" || exit 1
	printf '172.18.0.2\n' >proxy-ipv4
}

test_setup() {
	rm -rf h want
}

# put_pin [OPTION...]: pins "proxy" to 172.18.0.2 in h.
put_pin() {
	expect 0 "$pin" --hosts h --address 172.18.0.2 "$@" proxy
}

# want TEXT: h is exactly that (printf's escapes).
want() {
	# shellcheck disable=SC2059 # the text is a format on purpose
	printf "$1" >want
	assertEquals 'the file' "$(cat -A want)" "$(cat -A h)"
	cmp -s h want || fail 'the file differs from what is wanted'
}

# answers LIBRARY NAME...: one line a name, what that library answers from h.
answers() {
	answers_helper=$CELL_TEST_BIN/lib/hosts_lookup
	[ "$1" = glibc ] || answers_helper=${answers_helper}_musl
	shift
	"$answers_helper" "$@" -- h | cut -f 2,3
}

# resolves NAME ADDRESS: to both libraries NAME is ADDRESS ("-": unknown).
resolves() {
	for library in glibc musl; do
		assertEquals "$1 by $library" "$1	$2" "$(answers "$library" "$1")"
	done
}

field() {
	printf '%s' "$out" | jq -c "$1"
}

test_entry_is_appended_in_its_form() {
	printf '127.0.0.1\tlocalhost\n' >h
	put_pin
	assertEquals 'proxy is 172.18.0.2' "$(printf '%s' "$out" | head -n 1)"
	want '127.0.0.1\tlocalhost\n172.18.0.2      proxy\n'
	resolves proxy 172.18.0.2
	resolves localhost 127.0.0.1
}

test_nothing_to_do_writes_nothing() {
	printf '127.0.0.1 localhost\n' >h
	strace -o trace -e trace=pread64,write,pwrite64 "$pin" --hosts h --address 172.18.0.2 proxy >out
	assertContains "$(cat out)" 'changed yes'
	# What was written was read again, whole, before it was called done.
	assertTrue 'read after the last write' "sed '1,/pwrite64/d' trace | grep -q '^pread64(.*, 0) *= 42'"
	rm h
	printf '127.0.0.1 localhost\n' >h
	put_pin
	assertContains "$out" 'changed yes'
	touch -d 2001-01-01 h
	put_pin
	assertContains "$out" 'changed no'
	assertEquals '2001-01-01' "$(date -r h +%F)"
	strace -o trace -e trace=write,pwrite64,ftruncate "$pin" --hosts h --address 172.18.0.2 proxy >/dev/null
	assertEquals 'writes' 0 "$(grep -c -e pwrite -e ftruncate -e "write([3-9]" trace)"
	# A line somebody else wrote is as good, if every resolver reads it.
	printf '172.18.0.2\tdb proxy # mine\n' >h
	put_pin
	assertContains "$out" 'changed no'
}

test_address_comes_from_the_published_file() {
	: >h
	expect 0 "$pin" --hosts h --from proxy-ipv4 proxy
	want '172.18.0.2      proxy\n'
	mkdir -p volume
	printf '10.1.2.3\n' >volume/proxy-ipv4
	expect 0 env CELL_EGRESS_DIR="$work/volume" "$pin" --hosts h proxy
	resolves proxy 10.1.2.3
}

test_unusable_address_file_is_evidence() {
	printf '127.0.0.1 localhost\n' >h
	cp h before
	expect_error 103 'No such file' "$pin" --hosts h --from missing proxy
	for bad in '' '127.0.0.1' '1.2.3.4 ' '01.2.3.4' '1.2.3.4\n1.2.3.5\n' '1.2.3.4\r\n' 'x' \
		'224.0.0.1' '0.0.0.0' '169.254.1.1' '::1'; do
		# shellcheck disable=SC2059 # escapes
		printf "$bad" >bad
		expect_error 103 'cannot use bad' "$pin" --hosts h --from bad proxy
		expect_error 103 'cannot use bad' "$pin" --hosts h --from bad --check proxy
	done
	ln -sf proxy-ipv4 link
	expect_error 103 'symbolic link' "$pin" --hosts h --from link proxy
	mkfifo -m 0644 fifo
	expect_error 103 'not a regular file' "$pin" --hosts h --from fifo proxy
	cmp h before || fail 'the hosts file was touched'
}

test_wrong_calls_are_usage() {
	printf '127.0.0.1 localhost\n' >h
	cp h before
	for bad in 999.1.1.1 10.0.0.1.2 127.0.0.1 010.0.0.1 0.0.0.0 ::1 ' 10.0.0.1' 255.255.255.255; do
		expect_error 100 '--address' "$pin" --hosts h --address "$bad" proxy
	done
	expect_error 100 'HOST' "$pin" --hosts h --address 10.0.0.1
	expect_error 100 'HOST' "$pin" --hosts h --address 10.0.0.1 a b
	expect_error 100 'exclude' "$pin" --hosts h --address 10.0.0.1 --from proxy-ipv4 a
	expect_error 100 'exclude' "$pin" --hosts h --check --remove a
	expect_error 100 'no address' "$pin" --hosts h --remove --address 10.0.0.1 a
	expect_error 100 'no address' "$pin" --hosts h --remove --from proxy-ipv4 a
	expect_error 100 'empty' "$pin" --hosts '' --address 10.0.0.1 a
	expect_error 100 'seconds' "$pin" --hosts h --timeout 5s --address 10.0.0.1 a
	expect_error 100 'CELL_EGRESS_DIR' env CELL_EGRESS_DIR= "$pin" --hosts h a
	cmp h before || fail 'the hosts file was touched'
}

test_names_at_the_edge() {
	printf '127.0.0.1 localhost\n10.0.0.8 %s\n' "$(printf '%074d' 0 | tr 0 l).example" >h
	cp h before
	label63=$(printf '%063d' 0 | tr 0 a)
	long254=$label63.$label63.$label63.$(printf '%062d' 0 | tr 0 b)
	for bad in "a$label63" "$long254" proxy. .proxy pro..xy bücher -proxy proxy- 127.0.0.1 \
		localhost LOCALHOST a.localhost 1234 a.0x1f 'a b' "$(printf 'a\tb')" 'a#b' ''; do
		expect_error 100 'host name' "$pin" --hosts h --address 172.18.0.2 -- "$bad"
	done
	cmp h before || fail 'the hosts file was touched'
	long253=$label63.$label63.$label63.$(printf '%061d' 0 | tr 0 b)
	for good in maka_eval_proxy "$label63" "$long253" xn--bcher-kva a 1a PROXY; do
		cp before h
		expect 0 "$pin" --hosts h --address 172.18.0.2 "$good"
		resolves "$good" 172.18.0.2
		assertEquals 'other lines' "$(cat before)" "$(head -n 2 h)"
	done
}

test_missing_final_newline_is_added() {
	printf '127.0.0.1 localhost\n10.9.9.9 other' >h
	assertEquals 'other	-' "$(answers musl other)" # musl needs the newline
	put_pin
	want '127.0.0.1 localhost\n10.9.9.9 other\n172.18.0.2      proxy\n'
	resolves other 10.9.9.9
	resolves proxy 172.18.0.2
}

test_unterminated_pin_is_not_enough() {
	printf '172.18.0.2 proxy' >h
	assertEquals 'proxy	-' "$(answers musl proxy)"
	expect 1 "$pin" --hosts h --address 172.18.0.2 --check proxy
	assertContains "$out" 'not in a form'
	put_pin
	resolves proxy 172.18.0.2
	want '                \n172.18.0.2      proxy\n'
}

test_carriage_returns_stay() {
	printf '127.0.0.1 localhost\r\n10.0.0.9 proxy\r\n10.0.0.8 db proxy\r\n' >h
	put_pin
	want '127.0.0.1 localhost\r\n              \r\n10.0.0.8 db      \r\n172.18.0.2      proxy\n'
	resolves proxy 172.18.0.2
	resolves db 10.0.0.8
}

test_every_white_space_of_the_resolvers_counts() {
	printf '10.0.0.1\vproxy\n10.0.0.2\fproxy\n10.0.0.3 db\vproxy\n \t10.0.0.4 proxy\n' >h
	assertContains "$(answers glibc proxy)" '10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4'
	put_pin
	want '              \n              \n10.0.0.3 db\v     \n                \n172.18.0.2      proxy\n'
	resolves proxy 172.18.0.2
	resolves db 10.0.0.3
}

test_what_is_not_an_entry_stays() {
	cat >h <<-'EOF'
		fe80::1%lo0 localhost
		0 ads.example
		not an entry
		not proxy
		# 10.0.0.9 proxy #[old
		#10.0.0.9 proxy
		10.0.0.8 db # proxy lived here
		10.0.0.7 proxy#x db2
		256.1.1.1 proxy
		proxy
	EOF
	printf '\t\n' >>h
	cp h before
	put_pin
	sed 's/^10.0.0.7 proxy#/              #/' before >want
	printf '172.18.0.2      proxy\n' >>want
	assertEquals "$(cat -A want)" "$(cat -A h)"
	resolves proxy 172.18.0.2
	resolves db 10.0.0.8
	resolves db2 -
}

test_addresses_that_only_one_library_reads_count() {
	printf '10.2 proxy\n0x0a000003 proxy\nfe80::1%%lo proxy\n012.0.0.4 proxy\n' >h
	assertContains "$(answers musl proxy)" '10.0.0.2'
	assertEquals 'proxy	-' "$(answers glibc proxy)"
	put_pin
	resolves proxy 172.18.0.2
	assertEquals 'lines' 1 "$(grep -c '[^ ]' h)"
}

test_names_that_hold_the_name_stay() {
	printf '10.0.0.5 proxy-2 xproxy proxy.internal\n10.0.0.6 db proxy cache\n10.0.0.7 proxy\n' >h
	put_pin
	want '10.0.0.5 proxy-2 xproxy proxy.internal\n10.0.0.6 db       cache\n              \n172.18.0.2      proxy\n'
	for name in proxy-2 xproxy proxy.internal; do resolves "$name" 10.0.0.5; done
	resolves db 10.0.0.6
	resolves cache 10.0.0.6
	resolves proxy 172.18.0.2
}

test_one_address_in_any_case_and_either_family() {
	printf 'fd00::9 proxy\n10.0.0.9 Proxy\n10.0.0.9 PROXY.\n172.18.0.1 proxy\n172.18.0.2 PROXY\n' >h
	put_pin
	want '             \n              \n10.0.0.9 PROXY.\n                \n                \n172.18.0.2      proxy\n'
	resolves proxy 172.18.0.2
	resolves PROXY. 10.0.0.9
	# shellcheck disable=SC2016 # expanded by the inner shell
	getent=$(unshare -mn sh -c 'echo "hosts: files" >nsswitch &&
		mount --bind nsswitch /etc/nsswitch.conf && mount --bind h /etc/hosts && getent ahosts proxy' | awk '{ print $1 }' | sort -u)
	assertEquals 172.18.0.2 "$getent"
}

test_duplicates_of_the_pin_go() {
	printf '172.18.0.2 proxy proxy\n172.18.0.2 db proxy\n172.18.0.2 proxy\n' >h
	expect 1 "$pin" --hosts h --address 172.18.0.2 --check proxy
	put_pin
	want '172.18.0.2 proxy      \n172.18.0.2 db      \n                \n'
	expect 0 "$pin" --hosts h --address 172.18.0.2 --check proxy
	resolves proxy 172.18.0.2
	resolves db 172.18.0.2
}

test_line_with_the_name_alone_twice_becomes_blank() {
	printf '10.0.0.9 proxy PROXY proxy # why\n' >h
	put_pin
	want '                           # why\n172.18.0.2      proxy\n'
	assertEquals 'places told' 1 "$(printf '%s\n' "$out" | grep -c ^removed)"
}

test_nul_bytes_are_only_bytes() {
	printf '10.0.0.9 proxy\0x\n\0\0\000010.0.0.8 proxy\n10.0.0.7 db\n' >h
	size=$(stat -c %s h)
	put_pin
	assertEquals "$((size + 22))" "$(stat -c %s h)"
	resolves proxy 172.18.0.2
	resolves db 10.0.0.7
}

test_long_lines_as_musl_reads_them() {
	# A comment of 511 bytes, behind which musl begins to read a line; the same behind an entry.
	{
		printf '#%0510d10.0.0.9 proxy ghost\n' 0
		printf '10.0.0.5 %0502d10.0.0.8 x proxy\n' 0
		printf '10.0.0.6 db\n'
	} >h
	assertEquals 'proxy	10.0.0.8,10.0.0.9' "$(answers musl proxy)"
	put_pin
	resolves proxy 172.18.0.2
	resolves db 10.0.0.6
	assertEquals 'ghost	10.0.0.9' "$(answers musl ghost)"
	assertEquals 'x	10.0.0.8' "$(answers musl x)"
}

test_pin_on_a_long_line_is_written_anew() {
	printf '172.18.0.2 proxy %0600d\n' 0 >h
	expect 1 "$pin" --hosts h --address 172.18.0.2 --check proxy
	put_pin
	resolves proxy 172.18.0.2
}

test_quarter_of_a_million_lines() {
	seq -f '0.0.0.0 h%06g.example' 250000 | sed '125000i 10.0.0.9 proxy' | head -c -1 >h
	cp h before
	# Seven MB of file in 32 MiB of address space; a sanitizer would want terabytes.
	expect 0 sh -c 'ulimit -v 32768 && exec "$1" --hosts h --address 172.18.0.2 proxy' sh \
		"$top/build/bin/cell-pinhost"
	sed '125000s/.*/              /' before >want
	printf '\n172.18.0.2      proxy\n' >>want
	cmp h want || fail 'another line changed'
}

test_too_large_a_file_is_refused_unread() {
	printf '10.0.0.9 proxy\n' >h
	truncate -s 65M h
	sum=$(sha256sum <h)
	expect_error 111 'larger than 64 MiB' "$pin" --hosts h --address 172.18.0.2 proxy
	expect_error 111 'larger than 64 MiB' "$pin" --hosts h --address 172.18.0.2 --check proxy
	assertEquals "$sum" "$(sha256sum <h)"
}

test_empty_and_comment_only_files() {
	: >h
	put_pin
	want '172.18.0.2      proxy\n'
	printf '# nothing\n\n' >h
	put_pin
	want '# nothing\n\n172.18.0.2      proxy\n'
}

test_missing_file_is_made_readable() {
	(umask 077 && "$pin" --hosts h --address 172.18.0.2 proxy) >out || fail 'no pin'
	grep -q '^changed yes' out || fail 'not told as changed'
	want '172.18.0.2      proxy\n'
	assertEquals '-rw-r--r--' "$(stat -c %A h)"
	expect_error 111 'cannot create' "$pin" --hosts no/such/h --address 172.18.0.2 proxy
	rm h
	expect 0 "$pin" --hosts h --remove proxy
	assertFalse 'removing makes no file' '[ -e h ]'
	expect 1 "$pin" --hosts h --address 172.18.0.2 --check proxy
	assertContains "$out" 'there is no h'
	assertFalse 'checking makes no file' '[ -e h ]'
}

test_mode_and_owner_stay() {
	printf '127.0.0.1 localhost\n' >h
	chown 12:34 h
	chmod 0600 h
	(umask 077 && "$pin" --hosts h --address 172.18.0.2 proxy) >out 2>err || fail 'no pin'
	assertEquals '600 12 34' "$(stat -c '%a %u %g' h)"
	assertContains "$(cat err)" 'cannot be read by every user'
	chmod 0644 h
	put_pin
	assertEquals 'no warning' '' "$err"
}

test_what_is_no_regular_file_is_refused() {
	mkdir -p d
	printf '127.0.0.1 localhost\n' >target
	ln -s target l
	ln -s nowhere dangling
	mkfifo f
	for file in d l dangling f /dev/null; do
		for mode in '--address 172.18.0.2' '--address 172.18.0.2 --check' --remove; do
			# shellcheck disable=SC2086 # words on purpose
			expect_error 111 'not a regular file' timeout 10 "$pin" --hosts "$file" $mode proxy
		done
	done
	assertFalse '[ -e nowhere ]'
	assertEquals '127.0.0.1 localhost' "$(cat target)"
	expect_error 111 'Not a directory' "$pin" --hosts target/h --address 172.18.0.2 proxy
}

test_check_answers() {
	printf '127.0.0.1 localhost\n' >h
	set -- --hosts h --address 172.18.0.2 --check proxy
	expect 1 "$pin" "$@"
	assertEquals 'proxy is not in h' "$(head -n 1 out)"
	assertEquals 'stderr' '' "$err"
	put_pin
	expect 0 "$pin" "$@"
	assertEquals 'proxy is 172.18.0.2' "$(head -n 1 out)"
	expect 1 "$pin" --hosts h --address 172.18.0.3 --check proxy
	assertEquals 'proxy is 172.18.0.2 in h, not 172.18.0.3' "$(head -n 1 out)"
	expect 1 "$pin" --hosts h --address 172.18.0.2 --check Proxy # musl would not find it
	printf 'fd00::9 db proxy\n' >>h
	expect 1 "$pin" "$@"
	assertContains "$out" '2 times'
	# The engine writes the file anew.
	printf '127.0.0.1\tlocalhost\n172.18.0.5\tmain\n' >h
	expect 1 "$pin" "$@"
	put_pin
	expect 0 "$pin" "$@"
	expect 0 "$pin" --hosts h --from proxy-ipv4 --check proxy
}

test_check_writes_and_waits_for_nothing() {
	printf '172.18.0.2 proxy\n10.0.0.9 proxy\n' >h
	cp h before
	flock h strace -o trace -e trace=openat,flock,write,pwrite64,ftruncate \
		"$pin" --hosts h --address 172.18.0.2 --check proxy >/dev/null
	assertEquals 1 "$?"
	assertEquals 'locks and writes' 0 "$(grep -c -e flock -e pwrite -e "write([3-9]" -e ftruncate -e O_RDWR trace)"
	cmp h before || fail 'changed'
}

test_remove_takes_every_place() {
	printf '172.18.0.2      proxy\nfd00::9 db Proxy\n10.0.0.5 proxy-2\n' >h
	expect 0 "$pin" --hosts h --remove proxy
	assertEquals 'proxy is not in h' "$(head -n 1 out)"
	want '                     \nfd00::9 db      \n10.0.0.5 proxy-2\n'
	resolves proxy -
	expect 0 "$pin" --hosts h --remove proxy
	assertContains "$out" 'changed no'
	# And back, on the line that was left blank.
	put_pin
	want '172.18.0.2      proxy\nfd00::9 db      \n10.0.0.5 proxy-2\n'
}

test_lock_has_a_deadline() {
	printf '127.0.0.1 localhost\n' >h
	cp h before
	background sh -c 'exec 9<h && flock 9 && exec sleep infinity'
	wait_for 10 sh -c '! flock -n h true'
	expect_error 99 'cannot lock h' "$pin" --hosts h --address 172.18.0.2 --timeout 0.1 proxy
	expect_error 99 'cannot lock h' "$pin" --hosts h --timeout 0 --remove proxy
	cmp h before || fail 'changed'
	end_process "$pid"
	put_pin --timeout 10
	resolves proxy 172.18.0.2
}

test_record_of_a_pin() {
	printf '10.0.0.9 Proxy\nfd00::9 db proxy\n' >h
	put_pin --json
	assertEquals '["tool","format","version","time","ok","exit","trial","step","host","address","file","changed","removed","removed_count"]' \
		"$(field keys_unsorted)"
	assertEquals '["proxy","172.18.0.2","h",true,["10.0.0.9","fd00::9"],2,true,0]' \
		"$(field '[.host,.address,.file,.changed,.removed,.removed_count,.ok,.exit]')"
	put_pin --json
	assertEquals '[false,[]]' "$(field '[.changed,.removed]')"
	expect 0 "$pin" --json --hosts h --remove proxy
	assertEquals '[null,true,["172.18.0.2"]]' "$(field '[.address,.changed,.removed]')"
}

test_record_of_a_no_and_of_errors() {
	printf '10.0.0.9 proxy\n' >h
	expect 1 "$pin" --json --hosts h --check --address 172.18.0.2 proxy
	assertEquals '["no","proxy is 10.0.0.9 in h, not 172.18.0.2",1,false,"proxy"]' \
		"$(field '[.error.kind,.error.message,.exit,.ok,.host]')"
	for case in '100 usage --address 1 proxy' '103 evidence --from missing proxy' \
		'111 system --hosts /dev/null --address 10.0.0.1 proxy' \
		'99 timeout --timeout 0 --address 10.0.0.1 proxy'; do
		# shellcheck disable=SC2086 # words on purpose
		set -- $case
		code=$1 kind=$2
		shift 2
		case "$*" in *--hosts*) ;; *) set -- --hosts h "$@" ;; esac
		expect "$code" flock h "$pin" --json "$@"
		assertEquals "[\"$kind\",$code,false]" "$(field '[.error.kind,.exit,.ok]')"
		assertEquals 'records' 1 "$(wc -l <out)"
	done
	expect 111 "$pin" --json --quiet --hosts missing/h --address 10.0.0.1 proxy
	assertEquals '2' "$(field .error.errno)"
	assertEquals 'stderr' '' "$err"
}

test_many_removals_are_counted() {
	awk 'BEGIN { for (i = 0; i < 250; i++) print "10.0.0." i " proxy" }' >h
	put_pin --json
	assertEquals '[100,250]' "$(field '[(.removed|length),.removed_count]')"
	resolves proxy 172.18.0.2
}

test_odd_zone_is_told_on_one_line() {
	printf 'fe80::1%%\033\377 proxy\n' >h
	put_pin
	assertContains "$out" 'removed fe80::1%\x1b\xff'
}

test_order_of_lookup_is_warned_of() {
	mkdir -p etc
	printf '127.0.0.1 localhost\n' >etc/hosts
	set -- --hosts etc/hosts --address 172.18.0.2
	for good in 'hosts: files dns' 'hosts:files' 'passwd: db\n  hosts:\tfiles [NOTFOUND=return] dns # x' \
		'hosts: dns\nhosts: files'; do
		# shellcheck disable=SC2059 # escapes
		printf "$good\n" >etc/nsswitch.conf
		expect 0 "$pin" "$@" proxy
		assertEquals "warnings for $good" '' "$err"
	done
	for bad in 'hosts: dns files' 'hosts: mymachines files dns' 'hosts: files [SUCCESS=continue] dns' \
		'hosts:' 'hosts: filesystem dns'; do
		# shellcheck disable=SC2059 # escapes
		printf "$bad\n" >etc/nsswitch.conf
		expect 0 "$pin" "$@" proxy
		assertContains "warning for $bad" "$err" 'warning: etc/nsswitch.conf'
		expect 0 "$pin" "$@" --check --quiet proxy
		assertEquals 'quiet' '' "$err"
	done
	printf 'passwd: files\n' >etc/nsswitch.conf
	expect 0 "$pin" "$@" proxy
	assertContains "$err" 'has no line for hosts'
	rm etc/nsswitch.conf
	expect 0 "$pin" "$@" proxy
	assertContains "$err" 'there is no etc/nsswitch.conf'
	mkfifo etc/nsswitch.conf
	expect 0 timeout 10 "$pin" "$@" proxy
	assertContains "$err" 'not a regular file'
	# Only the file of that name belongs to a root whose nsswitch.conf counts.
	cp etc/hosts etc/hosts2
	expect 0 "$pin" --hosts etc/hosts2 --address 172.18.0.2 proxy
	assertEquals '' "$err"
	rm etc/nsswitch.conf
}

test_bind_mount_is_patched_in_place() {
	mkdir -p dir
	printf '127.0.0.1 localhost\n10.0.0.9 proxy\n' >dir/source
	: >dir/hosts
	inode=$(stat -c %i dir/source)
	# shellcheck disable=SC2016 # expanded by the inner shell
	expect 0 unshare -m sh -c 'mount --bind dir/source dir/hosts &&
		! mv dir/source dir/hosts 2>/dev/null &&
		"$1" --hosts dir/hosts --address 172.18.0.2 proxy' sh "$pin"
	assertEquals "$inode" "$(stat -c %i dir/source)"
	assertEquals 'strays' 'hosts
source' "$(ls -A dir)"
	cp dir/source h
	want '127.0.0.1 localhost\n              \n172.18.0.2      proxy\n'
}

test_help_and_version() {
	expect 0 "$pin" --help
	assertContains "$out" '--address IP'
	expect 0 "$pin" --version
	assertContains "$out" 'cell-pinhost '
}

test_lost_output_is_an_error() {
	printf '127.0.0.1 localhost\n' >h
	"$pin" --hosts h --address 172.18.0.2 proxy >/dev/full 2>err
	assertEquals 111 "$?"
	"$pin" --hosts h --address 172.18.0.2 --check proxy >&- 2>err
	assertEquals 111 "$?"
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns jq openssl nft strace
# cell-publish: which address, which authority, what is published, what the program inherits.
. "$(dirname "$0")/lib/cell_test.sh"

certificate=$top/tests/lib/certificate.py

test_file_setup() {
	netns_new || exit 1
	net=$netns_pid
	in_ns "$net" ip link add eth0 type veth peer name eth0p
	in_ns "$net" ip link set eth0 up
	in_ns "$net" ip address add 172.18.0.3/16 dev eth0
	# --check and --connect reach the port of whoever listens in this namespace.
	export net certificate
}

test_setup() {
	rm -rf "$work/state" "$work/dir"
	mkdir "$work/dir"
	chmod 0755 "$work/dir"
}

# publish [OPTION...]: cell-publish in the namespace of this file, in its two directories.
publish() {
	in_ns "$net" "$CELL_BIN/cell-publish" --state "$work/state" --dir "$work/dir" "$@"
}

# publish_in PID [OPTION...]: the same in another namespace.
publish_in() {
	publish_pid=$1
	shift
	in_ns "$publish_pid" "$CELL_BIN/cell-publish" --state "$work/state" --dir "$work/dir" "$@"
}

# healthy / unhealthy TEXT [OPTION...]: what --check answers.
healthy() {
	expect 0 publish --check "$@"
	assertEquals healthy "$(printf '%s\n' "$out" | head -n 1)"
}
unhealthy() {
	unhealthy_text=$1
	shift
	expect 1 publish --check "$@"
	assertContains "$out" "unhealthy: "
	assertContains "the answer" "$(printf '%s\n' "$out" | head -n 1)" "$unhealthy_text"
	assertEquals 'stderr of a no' '' "$err"
}

# refuses TEXT [OPTION...]: 103, and nothing is published.
refuses() {
	refuses_text=$1
	shift
	expect_error 103 "$refuses_text" publish "$@"
	assertContains "$err" 'cell-publish: '
	assertFalse 'an address is published' "[ -e '$work/dir/proxy-ipv4' ]"
}

# names DIRECTORY: what is in it, in one line.
names() {
	find "$work/$1" -mindepth 1 -printf '%f\n' | sort | xargs
}

# as_nobody COMMAND...: without any right, in a mount namespace where $work/dir is /mnt and a copy
# of the tool is in /media; the directories above them may be closed to others.
as_nobody() {
	mkdir -p "$work/tool"
	cp "$CELL_BIN/cell-publish" "$work/tool/"
	chmod 0755 "$work/tool"
	# shellcheck disable=SC2016 # expanded by the inner shell
	in_ns "$net" unshare -m sh -c 'mount --bind "$1/dir" /mnt && mount --bind "$1/tool" /media &&
		shift && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"' sh "$work" "$@"
}

published() {
	cat "$work/dir/proxy-ipv4"
}

# ---- the authority ----

test_first_publish_makes_authority_and_pair() {
	expect 0 publish
	assertEquals 'published 172.18.0.3 port 8080' "$(printf '%s\n' "$out" | head -n 1)"
	assertEquals 172.18.0.3 "$(published)"
	assertEquals 11 "$(wc -c <"$work/dir/proxy-ipv4")"
	assertEquals 600 "$(stat -c %a "$work/state/mitmproxy-ca.pem")"
	assertEquals 700 "$(stat -c %a "$work/state")"
	assertEquals '644 644' "$(stat -c %a "$work/dir/proxy-ipv4" "$work/dir/mitmproxy-ca-cert.pem" | xargs)"
	assertEquals 600 "$(stat -c %a "$work/state/hits.jsonl")"
	assertEquals 'mitmproxy-ca-cert.pem proxy-ipv4' "$(names dir)"
	assertEquals 'hits.jsonl mitmproxy-ca.pem' "$(names state)"
	grep -rl 'PRIVATE KEY' "$work/dir" && fail 'a private key is published'
	grep -q 'PRIVATE KEY' "$work/state/mitmproxy-ca.pem" || fail 'no private key at all'
}

test_certificate_is_what_strict_clients_want() {
	expect 0 publish
	text=$(openssl x509 -in "$work/dir/mitmproxy-ca-cert.pem" -noout -text)
	assertContains "$text" 'prime256v1'
	assertContains "$text" 'ecdsa-with-SHA256'
	assertContains "$text" 'X509v3 Basic Constraints: critical'
	assertContains "$text" 'CA:TRUE'
	assertContains "$text" 'X509v3 Key Usage: critical'
	assertContains "$text" 'Certificate Sign, CRL Sign'
	assertContains "$text" 'X509v3 Subject Key Identifier'
	assertContains "$text" 'X509v3 Authority Key Identifier'
	expect 0 openssl verify -x509_strict -CAfile "$work/dir/mitmproxy-ca-cert.pem" \
		"$work/dir/mitmproxy-ca-cert.pem"
	serial=$(openssl x509 -in "$work/dir/mitmproxy-ca-cert.pem" -noout -serial)
	assertEquals 'hex digits of the serial number' 40 "$(printf %s "${serial#serial=}" | wc -c)"
	begin=$(date -d "$(openssl x509 -in "$work/dir/mitmproxy-ca-cert.pem" -noout -startdate |
		cut -d = -f 2)" +%s)
	age=$(($(date +%s) - begin))
	assertTrue "valid since $age seconds" "[ $age -ge 890 ] && [ $age -le 960 ]"
}

test_two_authorities_share_nothing() {
	expect 0 publish
	mv "$work/state" "$work/first"
	expect 0 publish
	first=$(openssl x509 -in "$work/first/mitmproxy-ca.pem" -noout -serial -pubkey)
	second=$(openssl x509 -in "$work/state/mitmproxy-ca.pem" -noout -serial -pubkey)
	assertNotEquals "$first" "$second"
	rm -rf "$work/first"
}

test_common_name_is_the_callers() {
	expect 0 publish --ca-name 'Zelle 7 ü'
	assertContains "$(openssl x509 -in "$work/dir/mitmproxy-ca-cert.pem" -noout -subject \
		-nameopt utf8)" 'CN=Zelle 7 ü'
	expect_error 100 '--ca-name' publish --ca-name "$(printf 'a\nb')"
	expect_error 100 '--ca-name' publish --ca-name "$(printf '%065d' 1)"
	expect 0 publish --renew --ca-name "$(printf '%064d' 1)"
}

test_authority_is_reused_and_nothing_is_written_twice() {
	expect 0 publish
	before=$(hash_tree "$work")
	inodes=$(ls -i "$work/dir" "$work/state")
	expect 0 publish --json
	assertEquals false "$(printf %s "$out" | jq .changed)"
	assertEquals "$inodes" "$(ls -i "$work/dir" "$work/state")"
	expect 0 publish --json --renew
	assertEquals true "$(printf %s "$out" | jq .changed)"
	assertNotEquals "$before" "$(hash_tree "$work")"
	healthy
}

test_audit_file_is_never_cut() {
	expect 0 publish
	echo '{"kept":1}' >>"$work/state/hits.jsonl"
	expect 0 publish --renew
	assertEquals '{"kept":1}' "$(cat "$work/state/hits.jsonl")"
	rm "$work/state/hits.jsonl"
	mkdir "$work/state/hits.jsonl"
	expect_error 111 hits.jsonl publish
	rmdir "$work/state/hits.jsonl"
	mkfifo "$work/state/hits.jsonl"
	expect_error 111 hits.jsonl publish
}

# use KIND [FROM TO]: an authority of that kind lies in the state directory.
use() {
	mkdir -p "$work/state"
	use_kind=$1
	shift
	"$certificate" "$use_kind" "$work/state/mitmproxy-ca.pem" "$@"
	chmod 0600 "$work/state/mitmproxy-ca.pem"
}

test_foreign_authorities_that_can_be_used() {
	for kind in ca rsa; do
		use "$kind"
		expect 0 publish
		healthy
		openssl x509 -in "$work/state/mitmproxy-ca.pem" >"$work/plain.pem"
		assertTrue "$kind as published" "cmp -s '$work/plain.pem' '$work/dir/mitmproxy-ca-cert.pem'"
	done
}

test_published_form_is_normal_whatever_was_read() {
	use ca
	openssl x509 -in "$work/state/mitmproxy-ca.pem" >"$work/plain.pem"
	cp "$work/state/mitmproxy-ca.pem" "$work/authority"
	for form in crlf no-newline text-before; do
		case $form in
		crlf) sed 's/$/\r/' "$work/authority" ;;
		no-newline) printf %s "$(cat "$work/authority")" ;;
		text-before) echo 'subject=whoever' && cat "$work/authority" ;;
		esac >"$work/state/mitmproxy-ca.pem"
		expect 0 publish
		assertTrue "$form as published" "cmp -s '$work/plain.pem' '$work/dir/mitmproxy-ca-cert.pem'"
	done
}

test_expired_authority_is_refused_with_dates() {
	use ca -120 -60
	refuses 'its certificate has expired (valid 20'
	assertContains "$err" ', now 20'
	assertContains "$err" '--renew makes a new one'
	expect 0 publish --renew
	healthy
}

test_authority_from_the_future_is_refused_with_dates() {
	use ca 5 60
	refuses 'its certificate is not yet valid (valid 20'
	assertContains "$err" ', now 20'
}

test_authorities_that_are_none_are_refused() {
	use leaf
	refuses "its certificate is not a CA's"
	use version1
	refuses "its certificate is not a CA's"
	use no-sign
	refuses "its certificate is not a CA's"
	use intermediate
	refuses 'its certificate is not signed by itself'
	use other-key
	refuses "its private key is not the certificate's"
	use no-key
	refuses 'it holds no private key that can be read'
	use encrypted-key
	refuses 'it holds no private key that can be read'
}

test_authorities_that_are_no_pem_are_refused() {
	use ca
	cp "$work/state/mitmproxy-ca.pem" "$work/authority"
	openssl x509 -in "$work/authority" >"$work/plain.pem"
	head -c -120 "$work/authority" >"$work/state/mitmproxy-ca.pem"
	refuses 'its certificate is cut short or malformed'
	openssl x509 -in "$work/authority" -outform DER -out "$work/state/mitmproxy-ca.pem"
	refuses 'it holds no certificate in PEM form'
	: >"$work/state/mitmproxy-ca.pem"
	refuses 'it holds no certificate in PEM form'
	cat "$work/authority" "$work/plain.pem" >"$work/state/mitmproxy-ca.pem"
	refuses 'it holds more than one certificate'
	use ca
	sed -i 's/CERTIFICATE-/TRUSTED &/' \
		"$work/state/mitmproxy-ca.pem"
	refuses 'it holds no certificate in PEM form'
	head -c 70000 /dev/zero >"$work/state/mitmproxy-ca.pem"
	refuses 'it is larger than 64 KiB'
	rm "$work/state/mitmproxy-ca.pem"
	ln -s "$work/authority" "$work/state/mitmproxy-ca.pem"
	refuses 'it is a symbolic link'
}

test_one_changed_byte_is_refused() {
	use ca
	# Inside the signature, at the end of the last block.
	openssl x509 -in "$work/state/mitmproxy-ca.pem" -outform DER -out "$work/der"
	size=$(stat -c %s "$work/der")
	cp "$work/der" "$work/der.right"
	for byte in U V; do # one of them it is not
		printf %s "$byte" | dd of="$work/der" bs=1 seek=$((size - 3)) conv=notrunc status=none
		cmp -s "$work/der" "$work/der.right" || break
	done
	sed -i '/BEGIN CERTIFICATE/,$d' "$work/state/mitmproxy-ca.pem"
	openssl x509 -inform DER -in "$work/der" >>"$work/state/mitmproxy-ca.pem" 2>"$work/err"
	grep -q 'BEGIN CERTIFICATE' "$work/state/mitmproxy-ca.pem" || fail 'no certificate to try'
	refuses 'its certificate is'
}

test_key_that_others_can_read_is_made_private() {
	expect 0 publish
	chmod 0660 "$work/state/mitmproxy-ca.pem"
	expect 0 publish
	assertEquals 600 "$(stat -c %a "$work/state/mitmproxy-ca.pem")"
}

test_state_inside_the_published_directory_is_refused() {
	for state in "$work/dir" "$work/dir/deep/er"; do
		mkdir -p "$state"
		expect_error 100 'lies in the published directory' in_ns "$net" \
			"$CELL_BIN/cell-publish" --state "$state" --dir "$work/dir"
	done
	assertEquals deep "$(ls -A "$work/dir")"
	# The other way round is fine: readers are given the inner directory alone.
	mkdir -p "$work/state/public"
	expect 0 in_ns "$net" "$CELL_BIN/cell-publish" --state "$work/state" --dir "$work/state/public"
}

# ---- the address ----

test_several_addresses_need_a_choice() {
	netns_new || fail 'no namespace'
	two=$netns_pid
	in_ns "$two" ip link add eth0 type veth peer name eth1
	in_ns "$two" ip link set eth0 up
	in_ns "$two" ip link set eth1 up
	in_ns "$two" ip address add 172.17.0.3/16 dev eth0
	in_ns "$two" ip address add 172.18.0.3/16 dev eth1
	expect_error 103 'eth0 172.17.0.3' publish_in "$two"
	assertContains "$err" 'eth1 172.18.0.3'
	assertContains "$err" 'give --address, --interface or --network'
	assertFalse 'published' "[ -e '$work/dir/proxy-ipv4' ]"
	expect 0 publish_in "$two" --interface eth1
	assertEquals 172.18.0.3 "$(published)"
	expect 0 publish_in "$two" --network 172.17.0.0/16
	assertEquals 172.17.0.3 "$(published)"
	expect 0 publish_in "$two" --address 172.18.0.3
	assertEquals 172.18.0.3 "$(published)"
	expect_error 103 'no interface eth7' publish_in "$two" --interface eth7
	expect_error 103 'inside that network' publish_in "$two" --network 10.0.0.0/8
	expect_error 103 'give --address' publish_in "$two" --network 172.16.0.0/12
	# An interface that is down has no address to publish.
	in_ns "$two" ip link set eth0 down
	expect 0 publish_in "$two"
	assertEquals 172.18.0.3 "$(published)"
	expect_error 103 'on eth0' publish_in "$two" --interface eth0
	# Two addresses of one interface are two candidates; one on two interfaces is one.
	in_ns "$two" ip address add 172.18.0.4/16 dev eth1
	expect_error 103 'eth1 172.18.0.3, eth1 172.18.0.4' publish_in "$two" --interface eth1
	in_ns "$two" ip address del 172.18.0.4/16 dev eth1
	in_ns "$two" ip link set eth0 up
	in_ns "$two" ip address flush dev eth0
	in_ns "$two" ip address add 172.18.0.3/16 dev eth0
	expect 0 publish_in "$two"
	end_process "$two"
}

test_many_candidates_are_listed_up_to_a_bound() {
	netns_new || fail 'no namespace'
	many=$netns_pid
	in_ns "$many" ip link add eth0 type veth peer name eth1
	in_ns "$many" ip link set eth0 up
	for i in 1 2 3 4 5 6 7 8 9 10 11; do
		in_ns "$many" ip address add 10.1.1.$i/24 dev eth0
	done
	expect_error 103 '10.1.1.8 and 3 more' publish_in "$many"
	end_process "$many"
}

test_addresses_nobody_could_use_are_no_candidates() {
	netns_new || fail 'no namespace'
	none=$netns_pid
	expect_error 103 'no usable IPv4 address on an interface that is up' publish_in "$none"
	in_ns "$none" ip link add eth0 type veth peer name eth1
	in_ns "$none" ip link set eth0 up
	in_ns "$none" ip address add fd00:55::2/64 dev eth0
	expect_error 103 'no usable IPv4 address' publish_in "$none"
	in_ns "$none" ip address add 169.254.7.7/16 dev eth0
	expect_error 103 'no usable IPv4 address' publish_in "$none"
	in_ns "$none" ip address add 10.9.9.9/32 dev lo
	# With the list of what is there, and the options that help.
	expect_error 103 'this host has lo 127.0.0.1, lo 10.9.9.9, eth0 169.254.7.7: --address, ' \
		publish_in "$none"
	expect_error 103 'no usable IPv4 address on eth0; this host has lo 127.0.0.1, ' \
		publish_in "$none" --interface eth0
	expect_error 103 'no usable IPv4 address inside that network; this host has lo 127' \
		publish_in "$none" --network 172.18.0.0/16
	expect_error 103 'there is no interface eth9; this host has lo 127' \
		publish_in "$none" --interface eth9
	assertFalse 'published' "[ -e '$work/dir/proxy-ipv4' ]"
	assertFalse 'a certificate is published' "[ -e '$work/dir/mitmproxy-ca-cert.pem' ]"
	# Asked for by name it is somebody's decision.
	expect 0 publish_in "$none" --interface lo
	assertEquals 10.9.9.9 "$(published)"
	expect 0 publish_in "$none" --address 10.9.9.9
	end_process "$none"
}

test_address_of_another_host_is_refused() {
	expect_error 103 'it is not an address of this host' publish --address 172.18.0.99
	assertContains "$err" 'eth0 172.18.0.3'
}

test_addresses_are_read_strictly() {
	for bad in 172.18.0.03 172.18.3 0xac.18.0.3 172.18.0.3/16 ' 172.18.0.3' 172.18.0.3. ::1 \
		127.0.0.1 0.0.0.0 224.0.0.1 255.255.255.255 169.254.1.1 proxy; do
		expect_error 100 '--address' publish --address "$bad"
	done
	for bad in 172.18.0.3/16 172.18.0.0 172.18.0.0/33 172.18.0.0/016 172.18.0.0/-1 /16 fd00::/8; do
		expect_error 100 '--network' publish --network "$bad"
	done
	expect 0 publish --network 0.0.0.0/0
}

# ---- what is published, and its order ----

test_stale_address_goes_first_even_if_the_publish_fails() {
	expect 0 publish
	echo 172.18.0.99 >"$work/dir/proxy-ipv4"
	expect_error 103 'no interface eth7' publish --interface eth7
	assertFalse 'the stale address is still there' "[ -e '$work/dir/proxy-ipv4' ]"
	assertTrue 'the certificate is gone' "[ -e '$work/dir/mitmproxy-ca-cert.pem' ]"
	# One that is this host's stays: it is right.
	expect 0 publish
	expect_error 103 'no interface eth7' publish --interface eth7
	assertEquals 172.18.0.3 "$(published)"
}

test_address_that_is_none_is_replaced() {
	expect 0 publish
	for content in 010.0.0.1 172.18.0.02 1.1.1.12.2.2.2 0x7f.1 127.1 0.0.0.0 224.0.0.1 \
		255.255.255.255 127.0.0.11 '' '172.18.0.3\n172.18.0.3' '172.18.0.3 ' '172.18.0.3\r' \
		'172.18.0.3\0' '\357\273\277172.18.0.3'; do
		# shellcheck disable=SC2059 # the content is a format on purpose
		printf "$content\n" >"$work/dir/proxy-ipv4"
		unhealthy 'cannot use proxy-ipv4'
		expect 0 publish
		healthy
	done
	head -c 1048576 /dev/zero >"$work/dir/proxy-ipv4"
	unhealthy 'larger than 64 KiB'
	expect 0 publish
	rm "$work/dir/proxy-ipv4"
	ln -s /etc/passwd "$work/dir/proxy-ipv4"
	unhealthy 'it is a symbolic link'
	expect 0 publish
	assertEquals 172.18.0.3 "$(published)"
	rm "$work/dir/proxy-ipv4"
	mkfifo "$work/dir/proxy-ipv4"
	unhealthy 'not a regular file'
	expect 0 publish
	rm "$work/dir/proxy-ipv4"
	mkdir "$work/dir/proxy-ipv4"
	unhealthy 'not a regular file'
	expect_error 111 'cannot remove' publish
	rmdir "$work/dir/proxy-ipv4"
	assertTrue 'passwd is what it was' "grep -q ^root: /etc/passwd"
}

test_certificate_that_is_none_is_replaced() {
	expect 0 publish
	cp "$work/dir/mitmproxy-ca-cert.pem" "$work/right"
	head -c -120 "$work/right" >"$work/dir/mitmproxy-ca-cert.pem"
	unhealthy 'cut short'
	expect 0 publish
	assertTrue 'the certificate' "cmp -s '$work/right' '$work/dir/mitmproxy-ca-cert.pem'"
	rm "$work/dir/mitmproxy-ca-cert.pem"
	unhealthy 'mitmproxy-ca-cert.pem is not there'
	expect 0 publish
	rm "$work/dir/mitmproxy-ca-cert.pem"
	ln -s "$work/right" "$work/dir/mitmproxy-ca-cert.pem"
	unhealthy 'it is a symbolic link'
	expect 0 publish
	assertEquals 'regular file' "$(stat -c %F "$work/dir/mitmproxy-ca-cert.pem")"
	ln "$work/dir/mitmproxy-ca-cert.pem" "$work/second-name"
	expect 0 publish
	assertEquals 1 "$(stat -c %h "$work/dir/mitmproxy-ca-cert.pem")"
	healthy
}

test_modes_do_not_depend_on_the_umask() {
	expect 0 in_ns "$net" sh -c "umask 077; exec '$CELL_BIN/cell-publish' --state '$work/state' \
		--dir '$work/dir'"
	assertEquals '644 644' "$(stat -c %a "$work/dir/proxy-ipv4" "$work/dir/mitmproxy-ca-cert.pem" | xargs)"
	healthy
	expect 0 as_nobody cat /mnt/proxy-ipv4
	# Right bytes, wrong mode: repaired.
	chmod 0600 "$work/dir/proxy-ipv4"
	expect 1 as_nobody cat /mnt/proxy-ipv4
	unhealthy 'proxy-ipv4 has mode 0600'
	expect 0 publish
	chmod 0600 "$work/dir/mitmproxy-ca-cert.pem"
	unhealthy 'mitmproxy-ca-cert.pem has mode 0600'
	expect 0 publish
	chmod 0700 "$work/dir"
	unhealthy 'the directory has mode 0700'
	expect 0 publish
	assertEquals 755 "$(stat -c %a "$work/dir")"
	healthy
	expect 0 in_ns "$net" sh -c "umask 000; exec '$CELL_BIN/cell-publish' --renew \
		--state '$work/state' --dir '$work/dir'"
	assertEquals '600 644' "$(stat -c %a "$work/state/mitmproxy-ca.pem" "$work/dir/proxy-ipv4" | xargs)"
}

test_unlisted_material_is_reported() {
	echo hello >"$work/dir/note.txt"
	mkdir "$work/dir/lost+found"
	expect 0 publish
	assertContains "$err" 'cell-publish: warning: '
	assertContains "$err" 'holds what was not published'
	expect 0 publish --json --quiet
	assertEquals '["lost+found","note.txt"]' "$(printf %s "$out" | jq -c '.unlisted|sort')"
	assertEquals '' "$err"
	healthy
	assertContains "$out" 'unlisted note.txt'
}

test_secrets_in_the_published_directory_stop_everything() {
	expect 0 publish
	healthy
	for name in mitmproxy-ca.pem README; do
		cp "$work/state/mitmproxy-ca.pem" "$work/dir/$name"
		unhealthy "$name lies in the published directory: a secret"
		expect_error 103 "$name there is a secret" publish
		rm "$work/dir/$name"
	done
	for name in mitmproxy-ca.p12 store.PFX server.key; do
		: >"$work/dir/$name"
		unhealthy "$name lies in the published directory: a secret"
		rm "$work/dir/$name"
	done
	cat "$work/state/mitmproxy-ca.pem" >"$work/dir/mitmproxy-ca-cert.pem"
	unhealthy 'a secret'
	rm "$work/dir/mitmproxy-ca-cert.pem"
	expect 0 publish
	healthy
}

test_leftovers_of_a_killed_run_are_removed() {
	expect 0 publish
	for left in dir/.proxy-ipv4.new dir/.mitmproxy-ca-cert.pem.new state/.mitmproxy-ca.pem.new; do
		echo half >"$work/$left"
	done
	healthy
	expect 0 publish
	assertEquals 'mitmproxy-ca-cert.pem proxy-ipv4' "$(names dir)"
	assertEquals 'hits.jsonl mitmproxy-ca.pem' "$(names state)"
	# Somebody's link under our temporary name leads nowhere.
	echo precious >"$work/precious"
	ln -s "$work/precious" "$work/dir/.proxy-ipv4.new"
	rm "$work/dir/proxy-ipv4"
	expect 0 publish
	assertEquals precious "$(cat "$work/precious")"
	assertEquals 172.18.0.3 "$(published)"
}

test_one_publisher_a_directory() {
	expect 0 publish
	for held in dir state; do
		background flock "$work/$held" sleep infinity
		holder=$pid
		wait_for 5 test -e "/proc/$holder/task/$holder/children"
		wait_for 5 sh -c "! flock -n '$work/$held' true" || fail 'the lock is not held'
		expect_error 111 "cannot lock $work/$held: somebody else holds its lock" publish
		healthy # asks without the lock
		pkill_children "$holder"
	done
	expect 0 publish
}

# pkill_children PID: ends what PID started, then PID.
pkill_children() {
	# shellcheck disable=SC2046 # one word a child
	kill -KILL $(cat "/proc/$1/task/$1/children")
	end_process "$1"
}

test_publishers_at_once_take_turns() {
	# Few enough to be through within the second that each waits, on a slow machine too.
	for i in 1 2 3 4; do
		publish --renew >"$work/turn.$i" 2>&1 &
		eval "turn_$i=\$!"
	done
	for i in 1 2 3 4; do
		eval "wait \$turn_$i" || fail "publisher $i: $(cat "$work/turn.$i")"
	done
	healthy
}

test_missing_volume_is_not_invented() {
	rmdir "$work/dir"
	expect_error 111 "cannot open directory $work/dir" publish
	assertFalse 'it was made' "[ -e '$work/dir' ]"
	expect 1 publish --check
	assertContains "$out" "unhealthy: there is no directory $work/dir"
	mkdir "$work/dir"
}

# ---- the program ----

test_program_gets_its_words_and_its_exit_code_counts() {
	# shellcheck disable=SC2016 # expanded by the program
	expect 7 publish -- sh -c 'printf "[%s]" "$@"; exit 7' name --json -- 'a b' ''
	assertContains "$out" '[--json][--][a b][]'
	expect 7 publish sh -c 'exit 7'
	expect 137 publish -- sh -c 'kill -KILL $$'
	assertEquals 172.18.0.3 "$(published)"
}

test_record_is_written_before_the_program_runs() {
	expect 0 publish --json -- echo mine
	assertEquals 'cell-publish mine' "$(printf '%s\n' "$out" | sed 's/^{.*"tool":"\([^"]*\)".*/\1/' | xargs)"
	expect 111 in_ns "$net" sh -c "exec '$CELL_BIN/cell-publish' --state '$work/state' \
		--dir '$work/dir' -- touch '$work/ran' >/dev/full"
	assertFalse 'the program ran although the record was lost' "[ -e '$work/ran' ]"
	assertFalse 'an address without a proxy' "[ -e '$work/dir/proxy-ipv4' ]"
	assertTrue 'the certificate stays' "[ -e '$work/dir/mitmproxy-ca-cert.pem' ]"
}

test_program_that_cannot_run_withdraws_the_address() {
	expect 127 publish -- /nowhere/mitmdump
	assertEquals 'cell-publish: cannot run /nowhere/mitmdump: No such file or directory' "$err"
	assertFalse 'an address without a proxy' "[ -e '$work/dir/proxy-ipv4' ]"
	expect 127 publish -- no-such-program
	echo text >"$work/plain"
	expect 126 publish -- "$work/plain"
	assertContains "$err" 'Permission denied'
	expect 126 publish -- "$work"
}

# last_child PID: the end of the chain of only children that begins there.
last_child() {
	last=$1
	while next=$(cat "/proc/$last/task/$last/children") && [ -n "$next" ]; do last=${next% }; done
	echo "$last"
}

test_program_is_process_one_with_its_own_signals() {
	# As a container's entrypoint; process one gets only the signals that it handles.
	mkfifo "$work/fifo"
	background nsenter -n -t "$net" unshare --pid --fork --kill-child --mount-proc \
		"$CELL_BIN/cell-publish" --state "$work/state" --dir "$work/dir" -- sh -c \
		'trap "echo got TERM; exit 42" TERM; echo pid $$; : >"$1/up"; read -r word <"$1/fifo"' \
		sh "$work" >"$work/one" 2>&1
	outer=$pid
	wait_for 10 test -e "$work/up" || fail "not up: $(cat "$work/one")"
	inner=$(last_child "$outer")
	assertEquals 'the program, as process one' '1 sh' "$(sed -n 's/^NSpid:.*\t//p' \
		"/proc/$inner/status") $(cat "/proc/$inner/comm")"
	kill -TERM "$inner"
	status=0
	wait "$outer" || status=$?
	assertEquals "exit: $(cat "$work/one")" 42 "$status"
	assertContains "$(cat "$work/one")" 'pid 1'
	assertContains "$(cat "$work/one")" 'got TERM'
}

# with_signals COMMAND...: SIGINT and SIGPIPE ignored, SIGUSR1 and SIGTERM blocked.
with_signals() {
	in_ns "$net" python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
os.execv(sys.argv[1], sys.argv[1:])' "$@"
}

test_program_inherits_what_was_there() {
	# grep itself is the program: a shell clears the mask.
	with_signals /bin/grep -E '^Sig(Blk|Ign)' /proc/self/status >"$work/plain"
	assertContains "$(cat "$work/plain")" 'SigBlk:	0000000000004200'
	assertContains "$(cat "$work/plain")" '1002'
	with_signals "$CELL_BIN/cell-publish" --state "$work/state" --dir "$work/dir" -- \
		/bin/grep -E '^Sig(Blk|Ign)' /proc/self/status >"$work/through"
	assertEquals "$(cat "$work/plain")" "$(tail -n 2 "$work/through")"
	publish -- /bin/grep -E '^Sig(Blk|Ign)' /proc/self/status >"$work/through"
	assertEquals "$(in_ns "$net" grep -E '^Sig(Blk|Ign)' /proc/self/status)" \
		"$(tail -n 2 "$work/through")"
	# Descriptors, working directory, umask, environment.
	ask='find /proc/self/fd -mindepth 1 -printf "%f " && pwd && umask && env | sort'
	in_ns "$net" sh -c "umask 027; exec 7</dev/null; exec sh -c '$ask'" >"$work/plain"
	in_ns "$net" sh -c "umask 027; exec 7</dev/null; exec '$CELL_BIN/cell-publish' \
		--state '$work/state' --dir '$work/dir' -- sh -c '$ask'" >"$work/through"
	assertContains "$(cat "$work/plain")" ' 7 '
	assertEquals "$(cat "$work/plain")" \
		"$(tail -n "$(wc -l <"$work/plain")" "$work/through")"
}

# ---- health ----

# listen ADDRESS PORT: somebody accepts there, until the end of the file; its pid is $pid.
listen() {
	background nsenter -n -t "$net" python3 -c '
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
s = socket.socket(family)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if family == socket.AF_INET6:
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
s.bind((sys.argv[1], int(sys.argv[2])))
s.listen(5)
open(sys.argv[3], "w").close()
while True:
    s.accept()[0].close()' "$1" "$2" "$work/listening"
	wait_for 10 test -e "$work/listening" || fail "nobody listens at $1"
	rm -f "$work/listening"
}

test_connect_asks_at_the_published_address() {
	expect 0 publish
	unhealthy 'nothing accepts at 172.18.0.3 port 8080: Connection refused' --connect
	for address in 127.0.0.1 ::1; do
		listen "$address" 8080
		unhealthy 'nothing accepts at 172.18.0.3 port 8080' --connect
		end_process "$pid"
	done
	for address in 0.0.0.0 172.18.0.3; do
		listen "$address" 8080
		healthy --connect
		unhealthy 'port 8081' --connect --port 8081
		end_process "$pid"
	done
	unhealthy 'Connection refused' --connect
	healthy
}

test_port_comes_from_the_environment_and_the_option_wins() {
	expect 0 publish
	listen 172.18.0.3 9000
	expect 0 env CELL_PROXY_PORT=9000 nsenter -n -t "$net" "$CELL_BIN/cell-publish" \
		--state "$work/state" --dir "$work/dir" --check --connect
	expect 0 env CELL_PROXY_PORT=9001 CELL_EGRESS_DIR="$work/dir" nsenter -n -t "$net" \
		"$CELL_BIN/cell-publish" --state "$work/state" --check --connect --port 9000
	expect 100 env CELL_PROXY_PORT= nsenter -n -t "$net" "$CELL_BIN/cell-publish" --check
	expect 100 env CELL_PROXY_PORT=x nsenter -n -t "$net" "$CELL_BIN/cell-publish" --check
	expect 100 env CELL_EGRESS_DIR= nsenter -n -t "$net" "$CELL_BIN/cell-publish" --check
	end_process "$pid"
}

test_connect_has_a_deadline() {
	expect 0 publish
	listen 172.18.0.3 8080
	healthy --connect
	in_ns "$net" nft -f - <<-'END'
		table ip silent {
			chain input {
				type filter hook input priority 0; policy accept;
				tcp dport 8080 drop
			}
		}
	END
	begin=$(date +%s)
	unhealthy 'port 8080: Connection timed out' --connect --timeout 0.3
	unhealthy 'port 8080: Connection timed out' --connect --timeout 0
	assertTrue 'it ends in time' "[ $(($(date +%s) - begin)) -le 10 ]"
	in_ns "$net" nft delete table ip silent
	healthy --connect --timeout 30
	end_process "$pid"
}

test_stale_address_is_unhealthy() {
	expect 0 publish
	echo 172.18.0.99 >"$work/dir/proxy-ipv4"
	unhealthy 'proxy-ipv4 is stale: 172.18.0.99 is not an address of this host'
	rm "$work/dir/proxy-ipv4"
	unhealthy 'cannot use proxy-ipv4: No such file or directory'
}

test_certificate_of_an_earlier_run_is_unhealthy() {
	expect 0 publish
	cp "$work/dir/mitmproxy-ca-cert.pem" "$work/earlier"
	expect 0 publish --renew
	cp "$work/earlier" "$work/dir/mitmproxy-ca-cert.pem"
	unhealthy "mitmproxy-ca-cert.pem is another run's"
	# Without the private key in sight that cannot be told.
	expect 0 in_ns "$net" unshare -m sh -c "mount -t tmpfs none /var/lib &&
		exec '$CELL_BIN/cell-publish' --check --dir '$work/dir'"
}

test_published_certificates_that_are_unhealthy() {
	expect 0 publish
	for case in 'ca -120 -60 has_expired' 'ca 5 60 is_not_yet_valid' "leaf -60 60 not_a_CA" \
		'intermediate -60 60 not_signed_by_itself'; do
		# shellcheck disable=SC2086 # four words
		set -- $case
		"$certificate" "$1" "$work/both" "$2" "$3"
		openssl x509 -in "$work/both" >"$work/dir/mitmproxy-ca-cert.pem"
		unhealthy "$(printf %s "$4" | tr _ ' ')"
		assertContains "$out" '(valid 20'
	done
	echo nothing >"$work/dir/mitmproxy-ca-cert.pem"
	unhealthy 'it holds no certificate in PEM form'
}

test_state_that_cannot_be_used_is_unhealthy() {
	expect 0 publish
	mv "$work/state" "$work/elsewhere"
	unhealthy "there is no directory $work/state"
	mkdir "$work/state"
	unhealthy 'mitmproxy-ca.pem is not there'
	use other-key
	unhealthy "its private key is not the certificate's"
	rm -rf "$work/elsewhere"
}

test_what_cannot_be_looked_at_is_evidence() {
	expect 0 publish
	expect 0 as_nobody /media/cell-publish --check --dir /mnt
	chmod 0700 "$work/dir"
	expect_error 103 'cannot judge /mnt: cannot open directory /mnt: Permission denied' \
		as_nobody /media/cell-publish --check --dir /mnt
}

test_health_record_has_every_field_on_every_answer() {
	expect 1 publish --check --json
	for key in address certificate; do
		assertEquals null "$(printf %s "$out" | jq ".$key")"
	done
	assertEquals '["tool","format","version","time","ok","exit","trial","step","address","port","certificate","directory","changed","unlisted","error"]' \
		"$(printf %s "$out" | jq -c keys_unsorted)"
	assertEquals no "$(printf %s "$out" | jq -r .error.kind)"
	expect 0 publish
	expect 0 publish --check --json
	assertEquals '["tool","format","version","time","ok","exit","trial","step","address","port","certificate","directory","changed","unlisted"]' \
		"$(printf %s "$out" | jq -c keys_unsorted)"
	assertEquals "$(openssl x509 -in "$work/dir/mitmproxy-ca-cert.pem" -outform DER | sha256sum | cut -d ' ' -f 1)" \
		"$(printf %s "$out" | jq -r .certificate.sha256)"
	ends=$(openssl x509 -in "$work/dir/mitmproxy-ca-cert.pem" -noout -enddate | cut -d = -f 2)
	assertEquals "$(date -u -d "$ends" +%Y-%m-%dT%H:%M:%SZ)" \
		"$(printf %s "$out" | jq -r .certificate.not_after)"
}

test_check_serves_as_an_exec_probe() {
	# As kubelet and engines run it: no shell, no environment, a second at most, 10 KiB at most.
	expect 0 publish
	listen 0.0.0.0 8080
	expect 0 timeout -s KILL 1 env -i nsenter -n -t "$net" "$CELL_BIN/cell-publish" --check \
		--connect --timeout 0.5 --state "$work/state" --dir "$work/dir"
	assertTrue 'the output is small' "[ $(wc -c <"$work/out") -lt 4096 ]"
	end_process "$pid"
	expect 1 timeout -s KILL 1 env -i nsenter -n -t "$net" "$CELL_BIN/cell-publish" --check \
		--connect --timeout 0.5 --state "$work/state" --dir "$work/dir"
	expect 0 publish --check </dev/null
	expect 0 publish --check <&-
}

test_no_configuration_of_openssl_is_read() {
	mkdir -p "$work/hostile"
	cat >"$work/hostile/openssl.cnf" <<-END
		openssl_conf = a
		[a]
		providers = b
		[b]
		hostile = c
		[c]
		module = $work/hostile/hostile.so
		activate = 1
	END
	# The control: OpenSSL's own program reads it, and tries to load the module.
	run env OPENSSL_CONF="$work/hostile/openssl.cnf" strace -f -o "$work/control" \
		openssl x509 -help
	grep -q 'hostile/openssl.cnf' "$work/control" || fail 'the control does not read it'
	for what in "--state $work/state" "--state $work/state --renew" "--state $work/state --check"; do
		# shellcheck disable=SC2086 # several words
		expect 0 env OPENSSL_CONF="$work/hostile/openssl.cnf" SSL_CERT_FILE=/nowhere \
			OPENSSL_MODULES="$work/hostile" nsenter -n -t "$net" strace -f -o "$work/log" \
			"$CELL_BIN/cell-publish" --dir "$work/dir" $what
		grep -E 'openssl|hostile|nowhere|ossl-modules' "$work/log" | grep -v execve
		assertFalse 'OpenSSL reads a configuration' \
			"grep -v execve '$work/log' | grep -Eq 'openssl.cnf|hostile|nowhere|ossl-modules'"
	done
}

# ---- called wrongly ----

test_options_that_contradict_one_another() {
	expect_error 100 'only one of' publish --address 172.18.0.3 --interface eth0
	expect_error 100 'only one of' publish --network 172.18.0.0/16 --interface eth0
	expect_error 100 'publishes nothing' publish --check --address 172.18.0.3
	expect_error 100 'publishes nothing' publish --check --renew
	expect_error 100 'publishes nothing' publish --check --ca-name x
	expect_error 100 'runs no program' publish --check -- true
	expect_error 100 '--connect needs --check' publish --connect
	expect_error 100 '--timeout needs' publish --timeout 1
	expect_error 100 '--timeout needs' publish --check --timeout 1
	expect_error 100 'unknown option --chec' publish --chec
	expect_error 100 'unknown option -c' publish -c
	expect_error 100 'twice' publish --port 1 --port 2
	for bad in 0 65536 -1 80x ''; do
		expect_error 100 '--port' publish --port "$bad"
	done
	expect_error 100 '--timeout' publish --check --connect --timeout 1x
	assertEquals '' "$(ls -A "$work/dir")"
}

test_lost_output_is_a_failure() {
	expect 0 publish
	expect 111 sh -c "exec nsenter -n -t '$net' '$CELL_BIN/cell-publish' --check \
		--state '$work/state' --dir '$work/dir' >/dev/full"
	expect 111 sh -c "exec nsenter -n -t '$net' '$CELL_BIN/cell-publish' \
		--state '$work/state' --dir '$work/dir' >&-"
}

. "$CELL_TEST_SHUNIT2"

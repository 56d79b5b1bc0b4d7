#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns jq python3 openssl mitmdump
# cell-proxycheck: yes only for an answer that the cell's own authority signed; everything else by
# its own name.
. "$(dirname "$0")/lib/cell_test.sh"

# certificate NAME ISSUER SUBJECT-ALT-NAME: $work/NAME.pem, key and certificate signed by
# $work/ISSUER.pem.
certificate() {
	certificate_name=$1 certificate_issuer=$2 certificate_san=$3
	printf 'subjectAltName=%s\n' "$certificate_san" >"$work/extensions"
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/key" \
		-subj "/CN=$certificate_name" -out "$work/request" 2>"$work/openssl" || return
	openssl x509 -req -in "$work/request" -CA "$work/$certificate_issuer.pem" \
		-CAkey "$work/$certificate_issuer.pem" -CAcreateserial -days 30 \
		-extfile "$work/extensions" -out "$work/certificate" 2>"$work/openssl" || return
	cat "$work/key" "$work/certificate" >"$work/$certificate_name.pem"
}

# authority NAME CN: $work/NAME.pem, key and certificate.
authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=$2" \
		-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
		-keyout "$work/key" -out "$work/certificate" 2>"$work/openssl" &&
		cat "$work/key" "$work/certificate" >"$work/$1.pem"
}

test_file_setup() {
	authority ours 'cell egress proxy' || fail 'no authority'
	authority theirs 'somebody else' || fail 'no authority'
	authority twin 'cell egress proxy' || fail 'no authority'
	certificate site ours DNS:site.test,IP:10.77.0.2 || fail 'no certificate'
	certificate other ours DNS:other.test || fail 'no certificate'
	certificate real theirs DNS:site.test,IP:10.77.0.2 || fail 'no certificate'
	certificate forged twin DNS:site.test || fail 'no certificate'
	expired_certificate || fail 'no expired certificate'
	mkdir -p "$work/egress"
	openssl x509 -in "$work/ours.pem" -out "$work/egress/mitmproxy-ca-cert.pem"
	echo 10.77.0.2 >"$work/egress/proxy-ipv4"
	CELL_EGRESS_DIR=$work/egress
	export CELL_EGRESS_DIR
	netns_new || return 1
	cell=$pid
	netns_new || return 1
	world=$pid
	netns_join "$cell" eth0 10.77.0.1/24 "$world" eth0 10.77.0.2/24
	background nsenter -n -t "$world" -- /usr/bin/python3 "$top/tests/lib/toy_proxy.py" 10.77.0.2 \
		"tls:8080:$work/site.pem,200" "status:1:407" "status:2:502" "status:3:403" "status:4:302" \
		garbage:5 headless:14 close:6 silent:7 half:8 endless:9 tunnel:10:443 plain:11 mute:12 shut:13 \
		"tls:20:$work/other.pem,200" "tls:21:$work/real.pem,200" "tls:22:$work/forged.pem,200" \
		"tls:23:$work/old.pem,200" "tls:30:$work/site.pem,404" "tls:31:$work/site.pem,502" \
		"tls:32:$work/site.pem,403" "tls:33:$work/site.pem,407" "tls:34:$work/site.pem,garbage" \
		"tls:35:$work/site.pem,nothing" "tls:36:$work/site.pem,silence" "server:443:$work/real.pem" \
		>"$work/ready"
	wait_for 10 grep -q ready "$work/ready" || fail 'no toy proxies'
}

# $work/old.pem, for site.test and one day of 2020: openssl x509 sets no dates, openssl ca does.
expired_certificate() {
	certificate site2 ours DNS:site.test || return 1
	mkdir -p "$work/ca"
	: >"$work/ca/index"
	echo 77 >"$work/ca/serial"
	cat >"$work/ca/config" <<-EOF
		[ca]
		default_ca = d
		[d]
		database = $work/ca/index
		serial = $work/ca/serial
		new_certs_dir = $work/ca
		default_md = sha256
		policy = p
		x509_extensions = x
		[p]
		commonName = supplied
		[x]
		subjectAltName = DNS:site.test
	EOF
	openssl ca -batch -notext -config "$work/ca/config" -cert "$work/ours.pem" -keyfile "$work/ours.pem" \
		-in "$work/request" -startdate 20200101000000Z -enddate 20200102000000Z \
		-out "$work/certificate" 2>"$work/openssl" &&
		cat "$work/key" "$work/certificate" >"$work/old.pem"
}

check() {
	in_ns "$cell" "$CELL_BIN/cell-proxycheck" "$@"
}

# answers CODE RESULT PORT [WORDS]: what a proxy at that port is called.
answers() {
	run check --json --timeout 1 --proxy "10.77.0.2:$3" https://site.test/
	assertEquals "exit at port $3 [$out]" "$1" "$status"
	assertEquals "result at port $3 [$out]" "$2" "$(jq -r .result "$work/out")"
	assertEquals "exit in the record" "$1" "$(jq -r .exit "$work/out")"
	[ "$1" -eq 0 ] || assertContains "$(jq -r .error.message "$work/out")" "${4:-}"
}

test_what_our_authority_signed_is_audited() {
	expect 0 check https://site.test/
	assertEquals audited "$(head -n 1 "$work/out")"
	assertContains "$out" 'CN=cell egress proxy'
	assertContains "$out" 'status 200'
	expect 0 check 'https://10.77.0.2/path?query'
	expect 0 check https://site.test:444
	answers 0 audited 30
}

test_a_tunnel_to_the_real_server_is_no() {
	answers 1 tunnelled 10 "signed by /CN=somebody else, not by the cell's own authority"
	assertEquals '/CN=somebody else' "$(jq -r .issuer "$work/out")"
	assertEquals no "$(jq -r .error.kind "$work/out")"
	answers 1 tunnelled 21 'somebody else'
	# The same server passes where its authority is the trusted one: nothing else is wrong with it.
	mkdir -p "$work/egress.theirs"
	openssl x509 -in "$work/theirs.pem" -out "$work/egress.theirs/mitmproxy-ca-cert.pem"
	CELL_EGRESS_DIR=$work/egress.theirs expect 0 check --proxy 10.77.0.2:10 https://site.test/
}

test_an_authority_of_the_same_name_is_another() {
	answers 1 tunnelled 22 "not by the cell's own authority"
}

test_a_certificate_for_another_name_is_no() {
	answers 1 wrong-name 20 'not for site.test'
	expect 0 check --proxy 10.77.0.2:20 https://other.test/
	expect 1 check --proxy 10.77.0.2:20 https://10.77.0.2/
	assertContains "$out" 'wrong-name'
}

test_an_expired_certificate_is_no() {
	answers 1 bad-certificate 23 expired
}

test_refusals_are_told_apart() {
	answers 1 credentials 1 407
	answers 1 server-error 2 502
	answers 1 refused 3 403
	answers 1 refused 4 302
	answers 1 garbage 5 'not HTTP'
	answers 1 closed 6 'closed the connection'
	answers 1 closed 8 'within an answer'
	answers 1 garbage 9 'no end'
	answers 1 garbage 14 'not HTTP'
	answers 1 no-tls 11 'does not speak TLS'
	answers 1 closed 13 'behind the proxy closed'
	answers 1 unreachable 40 'Connection refused'
	assertEquals 111 "$(jq .errno "$work/out")"
}

test_what_comes_within_tls_is_judged_too() {
	answers 1 server-error 31 502
	answers 1 refused 32 403
	answers 1 credentials 33 407
	answers 1 garbage 34 'within TLS is not HTTP'
	answers 1 closed 35 'closed without an answer'
}

test_silence_ends_at_the_deadline_with_99() {
	answers 99 silent 7 'the proxy said nothing'
	answers 99 silent 12 'behind the proxy said nothing'
	answers 99 silent 36 'behind the proxy said nothing'
	assertEquals timeout "$(jq -r .error.kind "$work/out")"
	expect_error 99 'said nothing within 0.3 s' check --timeout 0.3 --proxy 10.77.0.2:7 https://site.test/
	# An address where nobody is.
	answers_nobody=$(in_ns "$cell" "$CELL_BIN/cell-proxycheck" --timeout 0.5 \
		--proxy 10.77.0.200:8080 https://site.test/ 2>/dev/null)
	assertEquals 'status of nobody' 1 "$?"
	assertContains "$answers_nobody" unreachable
}

test_the_record_has_its_fields() {
	run check --json https://site.test/x
	assertEquals 'cell-proxycheck 1 true 0 https://site.test/x 10.77.0.2 8080 200' "$(jq -r '[.tool, .format,
		.ok, .exit, .url, .proxy.address, .proxy.port, .status] | join(" ")' "$work/out")"
}

test_wrong_use_is_100() {
	expect_error 100 'exactly one URL' check
	expect_error 100 'exactly one URL' check https://site.test/ https://site.test/
	expect_error 100 'https://' check http://site.test/
	expect_error 100 'host name' check https:///x
	expect_error 100 'host name' check https://user@site.test/
	expect_error 100 'port' check https://site.test:0/
	expect_error 100 'port' check https://site.test:65536/
	expect_error 100 'a request cannot carry' check 'https://site.test/a b'
	expect_error 100 'a request cannot carry' check "https://site.test/$(printf 'a\r\nb')"
	expect_error 100 'IPv6' check 'https://[::g]/'
	expect_error 100 'HOST:PORT' check --proxy 10.77.0.2 https://site.test/
	expect_error 100 'port' check --proxy 10.77.0.2:0 https://site.test/
	expect_error 100 'host name' check --proxy a..b:80 https://site.test/
	expect_error 100 'not a number of seconds' check --timeout -1 https://site.test/
	CELL_PROXY_PORT=no expect_error 100 CELL_PROXY_PORT check https://site.test/
	expect 0 check --help
	expect 0 check --version
}

test_missing_or_bad_evidence_is_103() {
	mkdir -p "$work/empty"
	CELL_EGRESS_DIR=$work/empty expect_error 103 proxy-ipv4 check https://site.test/
	CELL_EGRESS_DIR=$work/empty expect_error 103 mitmproxy-ca-cert.pem check --proxy 10.77.0.2:80 \
		https://site.test/
	cp -r "$work/egress" "$work/bad"
	printf 'rubbish\n' >"$work/bad/mitmproxy-ca-cert.pem"
	CELL_EGRESS_DIR=$work/bad expect_error 103 'cannot use' check https://site.test/
	cat "$work/egress/mitmproxy-ca-cert.pem" "$work/egress/mitmproxy-ca-cert.pem" \
		>"$work/bad/mitmproxy-ca-cert.pem"
	CELL_EGRESS_DIR=$work/bad expect_error 103 'cannot use' check https://site.test/
	openssl x509 -in "$work/site.pem" -out "$work/bad/mitmproxy-ca-cert.pem"
	CELL_EGRESS_DIR=$work/bad expect_error 103 'cannot use' check https://site.test/
	rm "$work/bad/mitmproxy-ca-cert.pem"
	ln -s "$work/egress/mitmproxy-ca-cert.pem" "$work/bad/mitmproxy-ca-cert.pem"
	CELL_EGRESS_DIR=$work/bad expect_error 103 'symbolic link' check https://site.test/
	expect_error 103 'gives it no IPv4 address' check --proxy no-such-host:80 https://site.test/
}

test_a_host_name_is_found_by_the_hosts_file_alone() {
	printf '10.77.0.2 the-proxy\n10.77.0.3 twice\n10.77.0.4 twice\n' >"$work/hosts"
	with_hosts() {
		# shellcheck disable=SC2016 # the inner shell expands them
		in_ns "$cell" unshare --mount sh -ec 'mount --bind "$1" /etc/hosts; shift; exec "$@"' sh \
			"$work/hosts" "$CELL_BIN/cell-proxycheck" "$@"
	}
	expect 0 with_hosts --proxy the-proxy:8080 https://site.test/
	expect_error 103 'more than one address' with_hosts --proxy twice:8080 https://site.test/
	run in_ns "$cell" strace -f -e trace=openat,socket -o "$work/trace" "$top/build/bin/cell-proxycheck" \
		--proxy nobody-here:8080 https://site.test/
	assertEquals 103 "$status"
	assertContains "$(cat "$work/trace")" '/etc/hosts'
	assertNotContains "$(cat "$work/trace")" resolv.conf
	assertNotContains "$(cat "$work/trace")" nsswitch
	assertNotContains "$(cat "$work/trace")" SOCK_DGRAM
}

test_a_lost_write_is_111() {
	expect 111 in_ns "$cell" sh -c 'exec "$0" --json https://site.test/ >/dev/full' \
		"$CELL_BIN/cell-proxycheck"
}

test_mitmdump_is_audited_until_it_lets_a_host_through() {
	mkdir -p "$work/state" "$work/published"
	openssl x509 -in "$work/theirs.pem" -out "$work/theirs.crt"
	printf '10.77.0.2 site.test\n' >"$work/hosts.world"
	# mitm PORT [HOST]: mitmdump there, which lets HOST through unseen.
	mitm() {
		# shellcheck disable=SC2016
		background nsenter -n -t "$world" -- unshare --mount sh -ec '
			mount --bind "$1" /etc/hosts
			shift
			exec "$@"' sh "$work/hosts.world" "$CELL_BIN/cell-publish" --state "$work/state" \
			--dir "$work/published" --address 10.77.0.2 --port "$1" -- \
			mitmdump -q --set confdir="$work/state" --listen-host 10.77.0.2 --listen-port "$1" \
			--set ssl_verify_upstream_trusted_ca="$work/theirs.crt" \
			${2:+--ignore-hosts "$2"} >"$work/mitm" 2>&1
		wait_for 30 in_ns "$cell" python3 -c "import socket
socket.create_connection(('10.77.0.2', $1), 1)" || fail "no mitmdump: $(cat "$work/mitm")"
	}
	CELL_EGRESS_DIR=$work/published
	mitm 3128
	expect 0 check --proxy 10.77.0.2:3128 https://site.test/
	assertContains "$out" 'CN=cell egress proxy'
	# Its own error page is no answer.
	expect 1 check --proxy 10.77.0.2:3128 https://site.test:41/
	assertContains "$out" server-error
	mitm 3129 site.test
	expect 1 check --proxy 10.77.0.2:3129 https://site.test/
	assertContains "$out" "tunnelled: what is behind the proxy is signed by /CN=somebody else"
	CELL_EGRESS_DIR=$work/egress
}

. "$CELL_TEST_SHUNIT2"

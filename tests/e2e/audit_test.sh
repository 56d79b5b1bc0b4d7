#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns mitmdump curl node openssl jq
# The proxy's audit on a real mitmdump: every request has its line before it leaves, private
# destinations and raw tunnels are refused, and trouble in the audit stops the request.
. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/audit_world.sh"

test_file_setup() {
	world_new || exit 1
	background nsenter -n -t "$outside" node "$top/tests/lib/origin_h2.js" 0.0.0.0 8443 \
		"$work/origin.key" "$work/origin.pem" "$work/origin/arrived" "$work/h2.ready"
	wait_for 20 test -e "$work/h2.ready" || exit 1
	: >"$work/origin/arrived"
	options=none
}

# with OPTION...: a proxy with these options runs, the one of the test before if they are the same.
with() {
	if [ "$options" != "$*" ] || [ -z "$proxy_pid" ]; then
		[ -z "$proxy_pid" ] || proxy_stop
		proxy_start "$@" || fail 'the proxy does not start'
		options=$*
	fi
	: >"$work/state/hits.jsonl" # opened for append: it goes on at the beginning
	: >"$work/origin/arrived"
}

# without: no proxy runs; the next one has options of its own.
without() {
	[ -z "$proxy_pid" ] || proxy_stop
	options=none
	mkdir -p "$work/state"
	: >"$work/state/hits.jsonl"
	: >"$work/origin/arrived"
}

via() {
	inside env -i PATH="$PATH" curl -sS -m 20 -x "$proxy_url" --cacert "$work/dir/mitmproxy-ca-cert.pem" "$@"
}
client() {
	inside "$top/tests/lib/audit_client.py" "$@"
}

# record JQ_CONDITION: the one record that fulfils it; anything but one is a failure.
record() {
	await 10 "$1" || fail "no record: $1 in $(audit)"
	assertEquals "records with $1" 1 "$(how_many "$1")"
	jq -c "select($1)" "$work/state/hits.jsonl"
}

# ---- what is recorded ----

test_request_has_one_complete_line() {
	with
	expect 0 via -f 'http://public.test/hello?a=1&b=%20c'
	assertContains "$out" 'hello from public.test'
	line=$(record '.event == "request"')
	assertEquals '["format","time","trial","event","decision","rule","id","client","method","scheme","host","port","path","http","query","addresses"]' \
		"$(printf %s "$line" | jq -c keys_unsorted)"
	assertEquals '["request","allowed","public","GET","http","public.test",80,"/hello","HTTP/1.1","a=1&b=%20c",["1.2.3.4"]]' \
		"$(printf %s "$line" | jq -c '[.event,.decision,.rule,.method,.scheme,.host,.port,.path,.http,.query,.addresses]')"
	assertEquals true "$(printf %s "$line" | jq '.time | test("^[0-9]{4}-[0-9-]{5}T[0-9:]{8}[.][0-9]{3}Z$")')"
	assertEquals true "$(printf %s "$line" | jq '.client | startswith("198.18.0.1:")')"
	assertEquals 1 "$(wc -l <"$work/state/hits.jsonl")"
}

test_https_has_a_line_for_the_connect_and_one_for_each_request() {
	with
	expect 0 via -f https://public.test/hello1 https://public.test/hello2
	record '.event == "connect" and .host == "public.test" and .port == 443 and .decision == "allowed"' >/dev/null
	for path in /hello1 /hello2; do
		record ".event == \"request\" and .path == \"$path\" and .scheme == \"https\"" >/dev/null
	done
	assertEquals 3 "$(wc -l <"$work/state/hits.jsonl")"
}

test_http2_has_a_line_for_each_stream() {
	with
	expect 0 via -f --http2 -Z https://public.test:8443/one https://public.test:8443/two \
		-d data https://public.test:8443/three
	for path in /one /two /three; do
		line=$(record ".event == \"request\" and .path == \"$path\"")
		assertEquals HTTP/2.0 "$(printf %s "$line" | jq -r .http)"
		assertTrue "$path did not arrive" "arrived 'http2 POST $path'"
	done
}

test_http2_upload_is_streamed_and_recorded() {
	with
	head -c 20000000 /dev/zero >"$work/upload"
	expect 0 via -f --http2 -T "$work/upload" https://public.test:8443/upload
	assertContains "$out" 'h2 got 20000000'
	record '.event == "request" and .method == "PUT" and .http == "HTTP/2.0"' >/dev/null
}

test_websocket_works_and_is_recorded() {
	with
	expect 0 client websocket public.test:80 first second third
	assertContains "$out" '101 Switching'
	assertContains "$out" 'echo third'
	record '.event == "request" and .websocket == true and .path == "/websocket"' >/dev/null
	line=$(record '.event == "websocket_end"')
	assertEquals '[{"client":3,"server":3},{"client":16,"server":16}]' \
		"$(printf %s "$line" | jq -c '[.messages,.bytes]')"
}

test_other_names_than_the_destination_are_recorded() {
	with
	expect 0 via -f -H 'Host: fronted.test' https://public.test/hello
	line=$(record '.event == "request"')
	assertEquals '["public.test","fronted.test"]' "$(printf %s "$line" | jq -c '[.host,.host_header]')"
	with
	expect 0 via -f -k --connect-to hidden.test:443:public.test:443 https://hidden.test/hello
	line=$(record '.event == "request"')
	assertEquals '["public.test","hidden.test"]' "$(printf %s "$line" | jq -c '[.host,.sni]')"
}

test_any_bytes_make_valid_records() {
	with
	client connect public.test:80 'GET /\xff\xfe"\\\x7f?\xc3\x28 HTTP/1.1\r\nHost: public.test\r\nConnection: close\r\n\r\n' >/dev/null
	client send 'G\xe4T http://public.test/hello HTTP/1.1\r\nHost: public.test\r\n\r\n' >/dev/null
	await 10 '.event == "request"' || fail "no record: $(audit)"
	expect 0 jq -e -s 'all(.[]; type == "object")' "$work/state/hits.jsonl"
	assertTrue 'not one line each' "[ $(jq -c . "$work/state/hits.jsonl" | wc -l) -eq $(wc -l <"$work/state/hits.jsonl") ]"
	record '.path == "/\\xff\\xfe\"\\\u007f"' >/dev/null
	assertFalse 'other than printable ASCII' "grep -q '[^ -~]' '$work/state/hits.jsonl'"
	with
	long=$(head -c 30000 /dev/zero | tr '\0' p)
	via "http://public.test/hello$long?$long" >/dev/null
	line=$(record '.event == "request"')
	assertEquals '[8192,8192,true]' "$(printf %s "$line" | jq -c '[(.path|length),(.query|length),.cut]')"
}

test_trial_is_in_every_record() {
	without
	CELL_TRIAL=3f9c2a7e
	export CELL_TRIAL
	with
	unset CELL_TRIAL
	options=none
	via http://public.test/hello >/dev/null
	assertEquals 3f9c2a7e "$(record '.event == "request"' | jq -r .trial)"
}

test_headers_and_credentials_are_not_kept() {
	with
	via -H 'Authorization: Bearer TOPSECRET' -H 'Cookie: TOPSECRET' -d TOPSECRET \
		-u user:TOPSECRET http://public.test/hello >/dev/null
	record '.event == "request"' >/dev/null
	assertFalse 'a secret is in the audit' "grep -q TOPSECRET '$work/state/hits.jsonl'"
	assertTrue 'the request did not arrive' "arrived 'http POST /hello'"
}

test_each_of_500_requests_at_once_has_its_line() {
	with
	expect 0 client many 500 24 http://public.test/hello/
	assertEquals 500 "$out"
	assertEquals 500 "$(how_many '.event == "request" and .decision == "allowed"')"
	assertEquals 500 "$(jq -r 'select(.event == "request").path' "$work/state/hits.jsonl" | sort -u | wc -l)"
	assertEquals 500 "$(grep -c 'http GET /hello/' "$work/origin/arrived")"
}

test_query_is_kept_whole_hashed_or_not_at_all() {
	with --set cell_audit_query=hash
	via 'http://public.test/hello?token=1' >/dev/null
	assertEquals "$(printf token=1 | sha256sum | cut -d ' ' -f 1)" \
		"$(record '.event == "request"' | jq -r .query_sha256)"
	assertFalse 'the query is kept' "grep -q token '$work/state/hits.jsonl'"
	with --set cell_audit_query=off
	via 'http://public.test/hello?token=1' >/dev/null
	assertEquals '[false,false]' "$(record '.event == "request"' |
		jq -c '[has("query"),has("query_sha256")]')"
	assertFalse 'the query is kept' "grep -q token '$work/state/hits.jsonl'"
}

# ---- where it may not go ----

# The destinations, one a line: what is asked for, and the rule that refuses it.
destinations='127.0.0.1 loopback
127.1 loopback
2130706433 loopback
0x7f.0.0.1 loopback
0177.0.0.1 loopback
127.0.0.11 loopback
localhost loopback
loopback.test loopback
[::1] loopback
[::ffff:127.0.0.1] loopback
[::ffff:7f00:1] loopback
[::127.0.0.1] loopback
[64:ff9b::7f00:1] loopback
[2002:7f00:1::] loopback
own.test own
5.6.7.8 own
[::ffff:5.6.7.8] own
private.test private
10.9.9.9 private
172.16.0.1 private
192.168.1.1 private
198.18.0.1 private
198.19.255.254 private
[::ffff:10.9.9.9] private
[fd00::1] private
[fec0::1] private
169.254.169.254 link-local
metadata.test link-local
[fe80::1] link-local
100.64.0.1 shared
224.0.0.1 multicast
[ff02::1] multicast
0.0.0.0 unspecified
[::] unspecified
240.0.0.1 reserved
255.255.255.255 reserved
192.0.2.1 reserved
[100::1] reserved
[2001:db8::1] reserved'

test_private_destinations_are_refused_and_recorded() {
	with
	expect 0 via -f http://public.test/hello # the same request to elsewhere arrives
	: >"$work/origin/arrived"
	while read -r destination rule; do
		: >"$work/state/hits.jsonl"
		expect 0 client send "GET http://$destination/hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
		assertContains "$destination by a request" "$out" 'HTTP/1.1 403'
		expect 0 client connect "$destination:80"
		assertContains "$destination by a tunnel" "$out" 'HTTP/1.1 403'
		assertEquals "$destination" "[[\"request\",\"refused\",\"$rule\"],[\"connect\",\"refused\",\"$rule\"]]" \
			"$(jq -c -s 'map([.event, .decision, .rule])' "$work/state/hits.jsonl")"
	done <<-END
		$destinations
	END
	assertEquals 'what arrived' '' "$(cat "$work/origin/arrived")"
}

test_private_network_can_be_allowed() {
	with --set cell_allow_private=10.9.9.0/24,127.0.0.0/8
	expect 0 via -f http://private.test/hello
	assertContains "$out" 'hello from private.test'
	record '.event == "request" and .rule == "allowed-private" and .addresses == ["10.9.9.9"]' >/dev/null
	expect 0 via -f https://private.test/hello
	expect 0 client send 'GET http://127.1/hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
	assertContains "$out" 'HTTP/1.1 200'
	expect 22 via -f http://198.18.0.1:80/hello
	expect 22 via -f http://metadata.test/hello
	with --set cell_allow_private=5.6.7.8/32
	expect 0 via -f http://own.test/hello # a public address, but the proxy's own host
	record '.event == "request" and .rule == "allowed-private" and .addresses == ["5.6.7.8"]' >/dev/null
}

test_name_that_changes_its_mind_is_connected_as_it_was_judged() {
	# The first answer is public, every later one private: what is judged is what is connected to.
	printf 'nameserver 127.0.0.1\n' >"$work/resolv.conf"
	background nsenter -n -t "$ns" /usr/bin/python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 53))
open(sys.argv[1] + "/dns.ready", "w").close()
asked = {}
while True:
    query, peer = s.recvfrom(512)
    end = query.index(b"\0", 12) + 5
    answer = query[:2] + b"\x81\x80\0\1\0\0\0\0\0\0" + query[12:end]
    if query[end - 4:end - 2] == b"\0\1":
        name = query[12:end]
        asked[name] = asked.get(name, 0) + 1
        address = "1.2.3.4" if asked[name] == 1 or b"stays" in name else "10.9.9.9"
        if b"both" in name:
            answer = query[:2] + b"\x81\x80\0\1\0\2\0\0\0\0" + query[12:end]
            for a in ("10.9.9.9", "1.2.3.4"):
                answer += b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(a)
        else:
            answer = query[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + query[12:end]
            answer += b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(address)
        with open(sys.argv[1] + "/dns.log", "a") as log:
            log.write(name.decode("latin-1") + address + "\n")
    s.sendto(answer, peer)' "$work"
	dns=$pid
	wait_for 10 test -e "$work/dns.ready" || fail 'no name server'
	with --set ssl_insecure=true
	expect 0 via -f http://stays.example/hello # the name server works
	inside getent ahostsv4 turns.example >/dev/null
	assertContains 'the name server changes its mind' \
		"$(inside getent ahostsv4 turns.example)" 10.9.9.9
	for url in http://one.example/hello https://two.example/hello; do
		: >"$work/state/hits.jsonl"
		expect 0 via -f -k "$url"
		assertContains "$out" 'at 1.2.3.4'
		record '.event == "request" and .addresses == ["1.2.3.4"]' >/dev/null
	done
	sleep 5.1 # judged again after five seconds: now they are refused
	expect 22 via -f http://one.example/hello
	expect 22 via -f -k https://two.example/hello
	assertEquals 2 "$(how_many '.decision == "refused" and .rule == "private"')"
	# Of two addresses only the one that may be is used.
	: >"$work/state/hits.jsonl"
	expect 0 via -f http://both.example/hello
	assertContains "$out" 'at 1.2.3.4'
	record '.event == "request" and .addresses == ["1.2.3.4"]' >/dev/null
	end_process "$dns"
	: >"$work/resolv.conf"
}

test_refused_upload_is_cut_off() {
	with
	head -c 50000000 /dev/zero >"$work/upload"
	run via -T "$work/upload" http://private.test/upload
	assertNotEquals "$out" 0 "$status"
	record '.event == "request" and .decision == "refused"' >/dev/null
	assertFalse 'it arrived' "arrived upload"
}

# ---- what is no request ----

test_raw_tunnels_are_open_without_the_audit() {
	# The control of the tests below: mitmdump alone relays such bytes.
	without
	background env HOME="$work/home" nsenter -n -m -t "$ns" mitmdump -q --listen-host 198.18.0.1 \
		--listen-port 8080 --set "confdir=$work/state"
	proxy_pid=$pid
	wait_for 30 proxy_healthy || fail 'no proxy'
	expect 0 client connect public.test:25
	assertContains "$out" SECRET-GREETING
	expect 0 client connect public.test:7 'SSH-2.0-x\r\n' '\x00\x01\x02'
	expect 0 client connect public.test:7 '\x00\x01\x02'
	assertTrue 'bytes did not arrive' "arrived 'raw 7 000102'"
	proxy_stop
}

test_raw_tunnels_are_closed_and_recorded() {
	with
	expect 0 client connect public.test:25
	assertContains "$out" '200 Connection established'
	assertNotContains "$out" SECRET
	record '.event == "raw_tunnel" and .decision == "refused" and .host == "public.test" and .port == 25' >/dev/null
	for bytes in '\x00\x01\x02' 'SSH-2.0-x\r\n' 'EHLO there\r\n' '\x13BitTorrent protocol' \
		'GET\r\n' 'no http at all, only a long line of words\n' '\r\n\r\n\r\n'; do
		: >"$work/state/hits.jsonl"
		expect 0 client connect public.test:7 "$bytes" "$bytes"
		record '.event == "raw_tunnel" and .decision == "refused" and .port == 7' >/dev/null
		record '.event == "connect"' >/dev/null
	done
	# In pieces, so that the first is no proof of anything.
	: >"$work/state/hits.jsonl"
	expect 0 client connect public.test:7 'SSH-' '2.0-x\r\n' 'more\r\n\r\n'
	record '.event == "raw_tunnel" and .port == 7' >/dev/null
	assertFalse 'bytes arrived' "arrived 'raw 7'"
	assertFalse 'bytes arrived' "arrived 'raw 25'"
}

test_raw_bytes_inside_tls_are_closed_and_recorded() {
	with
	ca=$work/dir/mitmproxy-ca-cert.pem
	expect 0 client tls public.test:443 "$ca" 'GET /hello HTTP/1.1\r\nHost: public.test\r\nConnection: close\r\n\r\n'
	assertContains "$out" 'hello from'
	expect 0 client tls public.test:443 "$ca" '\x00\x01\x02\x03' '\x04\x05'
	record '.event == "raw_tunnel" and .tls == true and .sni == "public.test"' >/dev/null
	: >"$work/state/hits.jsonl"
	expect 0 client tls public.test:443 "$ca" 'a001 LOGIN user secret\r\n' 'x'
	record '.event == "raw_tunnel" and .tls == true' >/dev/null
}

test_upgrade_to_something_else_is_closed_and_recorded() {
	with
	run via -H 'Upgrade: own-protocol' -H 'Connection: Upgrade' http://public.test/upgrade
	assertNotContains "$out" SECRET
	record '.event == "raw_tunnel" and .rule == "upgrade" and .upgrade == "own-protocol"' >/dev/null
	: >"$work/state/hits.jsonl"
	expect 0 client connect public.test:80 'GET /upgrade HTTP/1.1\r\nHost: public.test\r\nUpgrade: own-protocol\r\nConnection: Upgrade\r\n\r\n' 'TALK'
	assertNotContains "$out" SECRET
	record '.event == "raw_tunnel" and .rule == "upgrade"' >/dev/null
	assertFalse 'bytes arrived' "arrived $(printf TALK | od -An -tx1 | tr -d ' ')"
}

test_tls_without_a_request_is_no_raw_tunnel() {
	with
	expect 0 client tls public.test:443 "$work/dir/mitmproxy-ca-cert.pem"
	expect 0 client connect public.test:80
	record '.event == "connect" and .port == 443' >/dev/null
	record '.event == "connect" and .port == 80' >/dev/null
	sleep 0.3
	assertEquals 0 "$(how_many '.event == "raw_tunnel"')"
}

test_what_the_proxy_itself_cannot_read_is_recorded() {
	with
	client send '\x00\x01garbage\r\n\r\n' >/dev/null
	record '.event == "malformed" and .decision == "refused"' >/dev/null
	: >"$work/state/hits.jsonl"
	client send 'GET gopher://public.test/ HTTP/1.1\r\nHost: public.test\r\n\r\n' >/dev/null
	await 10 '.event == "malformed" or .rule == "invalid"' || fail "not recorded: $(audit)"
}

test_what_comes_to_nothing_is_recorded_as_that() {
	with
	via http://nowhere.test/hello >/dev/null
	record '.event == "request" and .decision == "failed" and .rule == "unresolvable"' >/dev/null
	: >"$work/state/hits.jsonl"
	via http://public.test:81/hello >/dev/null
	record '.event == "request" and .decision == "allowed"' >/dev/null
	record '.event == "failure" and .decision == "failed"' >/dev/null
	assertEquals 1 "$(jq -s 'map(select(.event == "request" or .event == "failure").id) | unique | length' "$work/state/hits.jsonl")"
	: >"$work/state/hits.jsonl"
	run via -p http://public.test:81/hello
	record '.event == "failure"' >/dev/null
	: >"$work/state/hits.jsonl"
	run inside curl -sS -m 10 -x "$proxy_url" --cacert "$work/origin.pem" https://public.test/hello
	record '.event == "tls" and .side == "client"' >/dev/null
	: >"$work/state/hits.jsonl"
	run via http://public.test/drop
	record '.event == "failure"' >/dev/null
}

# ---- bodies ----

memory() {
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(pgrep -f -P "$proxy_pid" mitmdump || echo "$proxy_pid")/status"
}

test_bodies_are_streamed() {
	with
	via http://public.test/hello >/dev/null
	before=$(memory)
	head -c 300000000 /dev/zero >"$work/upload"
	expect 0 via -f -T "$work/upload" http://public.test/upload
	assertContains "$out" 'got 300000000'
	expect 0 via -f -H 'Transfer-Encoding: chunked' -T "$work/upload" https://public.test/upload
	assertContains "$out" 'got 300000000'
	expect 0 via -f -o /dev/null http://public.test/large/300000000
	run via -T "$work/upload" http://private.test/upload
	run via -T "$work/upload" -H 'Transfer-Encoding: chunked' http://private.test/upload
	after=$(memory)
	rm "$work/upload"
	echo "memory: $before kB before, $after kB at most"
	assertTrue "the proxy grew from $before to $after kB" "[ $((after - before)) -lt 100000 ]"
}

# ---- trouble ----

test_audit_that_cannot_be_written_stops_requests() {
	without
	mkdir -p "$work/small"
	inside mount -t tmpfs -o size=64k none "$work/small"
	proxy_start --set "cell_audit_file=$work/small/hits" || fail 'no proxy'
	expect 0 via -f http://public.test/hello
	expect 0 via -f https://public.test/hello
	inside sh -c "cat /dev/zero >'$work/small/filler' 2>/dev/null; dd if=/dev/zero of='$work/small/hits' \
		oflag=append conv=notrunc bs=1 count=5000 2>/dev/null; :"
	: >"$work/origin/arrived"
	for url in http://public.test/hello https://public.test/hello; do
		run via -f "$url"
		assertNotEquals "$url goes out unrecorded" 0 "$status"
	done
	assertEquals 503 "$(via -o /dev/null -w '%{http_code}' http://public.test/hello)"
	assertEquals 'what arrived' '' "$(cat "$work/origin/arrived")"
	inside rm "$work/small/filler"
	inside truncate -s 0 "$work/small/hits"
	expect 0 via -f http://public.test/hello
	proxy_stop
	inside umount "$work/small"
}

test_error_in_the_audit_stops_requests() {
	without
	cat >"$work/broken.py" <<-'END'
		from mitmproxy import ctx

		def break_it():
		    raise RuntimeError("broken on purpose")

		def requestheaders(flow):
		    pass

		def running():
		    for addon in list(ctx.master.addons.lookup.values()):
		        if type(addon).__name__ == "CellAudit":
		            addon.judge = lambda flow: break_it()
	END
	proxy_start -s "$work/broken.py" || fail 'no proxy'
	: >"$work/origin/arrived"
	assertEquals 503 "$(via -o /dev/null -w '%{http_code}' http://public.test/hello)"
	expect 22 via -f https://public.test/hello
	assertEquals 'what arrived' '' "$(cat "$work/origin/arrived")"
	assertEquals 'records of the failure' 2 "$(how_many '.decision == "failed" and .rule == "error"')"
	assertContains "$(cat "$work/proxy.log")" 'broken on purpose'
	proxy_stop
}

test_options_that_cannot_be_are_told_at_the_start() {
	without
	for option in cell_allow_private=10.0.0.1/8 cell_audit_file=/nowhere/hits cell_audit_query=half \
		ignore_hosts=public.test tcp_hosts=.; do
		code=0
		timeout 30 env HOME="$work/home" nsenter -n -m -t "$ns" mitmdump -q --listen-host 198.18.0.1 \
			--listen-port 8080 --set "confdir=$work/state" \
			-s "$top/share/cell/mitmproxy/cell_audit.py" --set "$option" >"$work/log" 2>&1 || code=$?
		assertTrue "mitmdump runs with $option" "[ $code -ne 0 ] && [ $code -ne 124 ]"
	done
}

test_file_is_bounded_and_the_totals_add_up() {
	without
	proxy_start --set cell_audit_max_bytes=20000 || fail 'no proxy'
	expect 0 client many 200 8 http://public.test/hello/
	assertEquals 200 "$out"
	expect 0 client connect private.test:80
	expect 0 client many 30 8 http://public.test:80/hello/
	proxy_stop
	assertTrue "$(wc -c <"$work/state/hits.jsonl") bytes" "[ $(wc -c <"$work/state/hits.jsonl") -lt 22000 ]"
	assertEquals 1 "$(how_many '.event == "audit_truncated"')"
	assertEquals '231 1' "$(jq -s -r '
		[.[] | select(.event == "request" or .event == "connect")] as $kept |
		[.[] | select(.event == "audit_totals") | .counts] as $totals |
		"\(($kept | length) + ([$totals[] | .[] | .[]] | add)) \([$totals[] | .connect.refused // 0] | add)"' \
		"$work/state/hits.jsonl")"
	assertEquals 'hosts add up' true "$(jq -s '[.[] | select(.event == "audit_totals")] |
		all(.[]; ([.hosts[]] | add) + .other == ([.counts[][]] | add))' "$work/state/hits.jsonl")"
	# Another start over the bound: it is not cut, not said twice, and goes on counting.
	before=$(cat "$work/state/hits.jsonl")
	proxy_start --set cell_audit_max_bytes=20000 || fail 'no proxy'
	expect 0 client many 7 2 http://public.test/hello/
	proxy_stop
	assertEquals "$before" "$(head -n "$(printf '%s\n' "$before" | wc -l)" "$work/state/hits.jsonl")"
	assertEquals 1 "$(how_many '.event == "audit_truncated"')"
	assertEquals 7 "$(tail -n 1 "$work/state/hits.jsonl" | jq .counts.request.allowed)"
	rm "$work/state/hits.jsonl"
}

test_half_a_line_of_a_killed_run_spoils_no_other() {
	with
	via http://public.test/hello >/dev/null
	proxy_stop
	options=none
	printf '{"format":1,"ev' >>"$work/state/hits.jsonl"
	proxy_start || fail 'no proxy'
	via http://public.test/hello >/dev/null
	assertEquals 2 "$(grep -c '"event":"request"' "$work/state/hits.jsonl")"
	assertEquals 1 "$(grep -c '^{"format":1,"ev$' "$work/state/hits.jsonl")"
	proxy_stop
}

test_what_arrived_was_recorded_before_even_under_kill() {
	with
	background nsenter -n -m -t "$ns" "$top/tests/lib/audit_client.py" many 3000 8 http://public.test/hello/k
	load=$pid
	wait_for 20 arrived hello/k || fail 'nothing arrives'
	sleep 0.7
	for child in $(pgrep -P "$proxy_pid") "$proxy_pid"; do kill -KILL "$child" 2>/dev/null; done
	wait "$proxy_pid" 2>/dev/null
	proxy_pid=
	options=none
	end_process "$load"
	sleep 0.3
	jq -R -r 'fromjson? | select(.event == "request") | .path' "$work/state/hits.jsonl" | sort >"$work/recorded"
	sed -n 's|^http GET \(/hello/k[0-9]*\) 0$|\1|p' "$work/origin/arrived" | sort >"$work/seen"
	assertTrue "only $(wc -l <"$work/seen") arrived" "[ $(wc -l <"$work/seen") -gt 20 ]"
	assertEquals 'arrived, but not recorded' '' "$(comm -13 "$work/recorded" "$work/seen")"
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns jq python3 strace
# cell-probe: its command line, its lists, its verdicts on what answers, refuses and is silent.
. "$(dirname "$0")/lib/cell_test.sh"
. "$top/tests/lib/probe_cell.sh"

test_file_setup() {
	cell_new
	serve "$world" echo:10.77.0.2:7 silent-udp:10.77.0.2:9 chatter:10.77.0.2:13 accept:10.77.0.2:9 close:10.77.0.2:10 \
		banner:10.77.0.2:22 http-200:10.77.0.2:80 http-404:10.77.0.2:84 http-400:10.77.0.2:8080 \
		http-407:10.77.0.2:87 http-502:10.77.0.2:82 http-403:10.77.0.2:83 garbage:10.77.0.2:81 \
		'echo:[fd00:77::2]:7' dns-5:10.77.0.2:53 dns-3-tcp:10.77.0.2:5301 dns-3-udp:10.77.0.2:5302
	world_served=$served
}

test_setup() {
	: >"$work/resolv.conf"
	printf '127.0.0.1 localhost\n10.77.0.2 cell-proxy\n' >"$work/hosts"
	printf 'hosts: files dns\n' >"$work/nsswitch.conf"
	echo 10.77.0.2 >"$work/egress/proxy-ipv4"
}

# --- command line

test_help_and_version_are_answers() {
	expect 0 cell-probe --help
	assertContains "$out" 'usage: cell-probe'
	expect 0 cell-probe --version
	assertEquals 'cell-probe 1.0' "$out"
}

test_wrong_use_is_100() {
	expect_error 100 'neither open nor closed' cell-probe --expect shut loopback:
	expect_error 100 'not a number of seconds' cell-probe --timeout 1s loopback:
	expect_error 100 'given twice' cell-probe --timeout 1 --timeout 2 loopback:
	expect_error 100 'is of no known kind' cell-probe gopher://127.0.0.1:70
	expect_error 100 'no port' cell-probe tcp://127.0.0.1
	expect_error 100 'no port' cell-probe tcp://127.0.0.1:0
	expect_error 100 'no port' cell-probe tcp://127.0.0.1:65536
	expect_error 100 'canonical' cell-probe tcp://127.1:7
	expect_error 100 'canonical' cell-probe tcp://localhost:7
	expect_error 100 'no /NAME' cell-probe dns://127.0.0.1:53
	expect_error 100 'no DNS name' cell-probe dns://127.0.0.1:53/a..b
	expect_error 100 'no socket family' cell-probe family:carrier-pigeon
	expect_error 100 'no call' cell-probe call:reboot
	expect_error 100 'unix:/PATH' cell-probe unix:relative
	expect_error 100 '?dev=' cell-probe 'udp://127.0.0.1:7?via=eth0'
	expect_error 100 'cell-proxycheck' cell-probe http+proxy://127.0.0.1:80/https://example.test/
	expect_error 100 'nothing defines' cell-probe 'icmp://{siblin}'
	expect_error 100 'NAME=VALUE' cell-probe --define 10.1.1.1 'icmp://{sibling}'
	expect_error 100 '--compare takes two files' cell-probe --compare one
	expect_error 100 '--compare takes two files' cell-probe --compare --expect open one two
	CELL_PROXY_HOST=a..b expect_error 100 'CELL_PROXY_HOST "a..b" has an empty label' cell-probe loopback:
	CELL_PROXY_PORT=0 expect_error 100 CELL_PROXY_PORT cell-probe loopback:
	CELL_EGRESS_DIR='' expect_error 100 CELL_EGRESS_DIR cell-probe loopback:
}

test_dry_run_reads_the_targets_and_tries_none() {
	calls='strace -f -qq -e trace=socket,connect -o'
	# shellcheck disable=SC2086 # a command
	expect 0 $calls "$work/tried" cell-probe --timeout 0.2 tcp://127.0.0.1:9 unix:/nowhere
	assertContains "$(cat "$work/tried")" 'connect('
	assertContains "$(cat "$work/tried")" '"/nowhere"'
	# shellcheck disable=SC2086 # a command
	expect 0 $calls "$work/dry" cell-probe --dry-run tcp://127.0.0.1:9 unix:/nowhere
	assertEquals 'ok: 2 targets, none tried' "$out"
	assertNotContains "$(cat "$work/dry")" connect
	assertEquals 2 "$(cell-probe --json --dry-run tcp://127.0.0.1:9 unix:/nowhere | jq .targets)"
	expect_error 100 'is of no known kind' cell-probe --dry-run loopback: gopher://127.0.0.1:70
	printf 'loopback: shut\n' >"$work/list"
	expect_error 103 'line 1' cell-probe --dry-run --targets "$work/list"
	expect_error 100 '--compare takes two files' cell-probe --compare --dry-run one two
}

test_a_reason_is_said_once() {
	mkdir -p "$work/bare"
	cp "$top/build/bin/cell-probe" "$work/bare/"
	expect 0 chroot "$work/bare" /cell-probe name:cell-proxy
	assertEquals "$out" 1 "$(grep -o 'No such file' "$work/out" | wc -l)"
}

test_a_list_with_a_fault_names_the_line_and_probes_nothing() {
	printf '# comment\nloopback:\n\ntcp://10.77.0.2 closed\n' >"$work/list"
	expect_error 103 'line 4: target tcp://10.77.0.2 has no port' cell-probe --targets "$work/list"
	printf 'loopback: shut\n' >"$work/list"
	expect_error 103 'line 1: behind the target' cell-probe --targets "$work/list"
	printf 'loopback: open closed\n' >"$work/list"
	expect_error 103 'line 1: behind the target' cell-probe --targets "$work/list"
	printf 'loopback:\0 open\n' >"$work/list"
	expect_error 103 'line 1' cell-probe --targets "$work/list"
	printf '# nothing\n' >"$work/list"
	expect_error 103 'holds no target' cell-probe --targets "$work/list"
	for input in --targets '--compare - '; do
		# shellcheck disable=SC2086 # a list of words
		expect_error 103 'cannot use standard input: ' cell-probe $input - </dev/null
	done
	expect_error 103 'No such file' cell-probe --targets "$work/absent"
	expect_error 103 'Is a directory' cell-probe --targets "$work"
}

test_the_list_says_what_is_expected_and_the_kind_does_where_it_does_not() {
	printf 'loopback: # kept\r\n  tcp://10.77.0.2:9 blocked # x\nudp://10.77.0.2:7\nloopback: closed\n' \
		>"$work/list"
	probe --timeout 0.2 --targets - <"$work/list"
	assertEquals 0 "$status"
	assertEquals 'loopback: open
tcp://10.77.0.2:9 blocked
udp://10.77.0.2:7 closed' "$(jq -r '.target + " " + .expect' "$records")"
}

test_placeholders_become_a_target_for_every_value() {
	printf 'nameserver 10.77.0.2\nnameserver fd00:77::2\nnameserver fe80::1%%eth0\n#nameserver 1.2.3.4\nsearch 9.9.9.9\n nameserver\t10.77.0.9 \n' \
		>"$work/resolv.conf"
	probe --timeout 0.2 --define mine=10.77.0.2 'udp://{mine}:7' 'dns://{nameserver}:53/{name}' \
		'icmp://{gateway}' 'udp://{proxy}:{proxy_port}?dev={dev}' 'icmp://{gateway6}' \
		'tcp://{sibling}:1' 'name:{proxy_host}'
	assertEquals 'udp://10.77.0.2:7
dns://10.77.0.2:53/example.com
dns://[fd00:77::2]:53/example.com
dns://[fe80::1]:53/example.com
dns://10.77.0.9:53/example.com
icmp://10.77.0.2
udp://10.77.0.2:8080?dev=eth0
icmp://{gateway6}
tcp://{sibling}:1
name:cell-proxy' "$(jq -r .target "$records")"
	assert_result unusable 'icmp://{gateway6}'
	assert_result unusable 'tcp://{sibling}:1'
}

test_without_a_target_the_usual_ones_are_tried() {
	printf 'nameserver 10.77.0.2\n' >"$work/resolv.conf"
	probe --timeout 0.5
	assertEquals 0 "$status"
	for target in loopback: name:cell-proxy tcp://10.77.0.2:8080 dns://10.77.0.2:53/example.com \
		dns+tcp://10.77.0.2:53/example.com; do
		assert_result open "$target"
	done
	for target in dns://127.0.0.11:53/example.com dns+tcp://127.0.0.11:53/example.com; do
		assert_result refused "$target"
	done
	assertContains "$(jq -r .target "$records")" 'icmp://10.77.0.2'
	assertContains "$(jq -r .target "$records")" 'tcp://10.77.0.2:80'
	assertEquals 11 "$(grep -c '"target":"family:' "$records")"
	assertEquals 5 "$(grep -c '"target":"call:' "$records")"
	assert_result denied policy:
}

# --- records and text

test_a_record_a_target_in_the_order_given_each_with_the_answer() {
	probe --timeout 0.3 --expect open udp://10.77.0.2:9 tcp://10.77.0.2:7 loopback:
	assertEquals 1 "$status"
	assertEquals 'udp://10.77.0.2:9 inet silent no 1 no
tcp://10.77.0.2:7 inet open yes 1 no
loopback: inet open yes 1 no' "$(jq -r '[.target, .family, .result, .verdict, .exit, .error.kind] |
		join(" ")' "$records")"
	assertEquals 3 "$(jq -c 'select(.tool == "cell-probe" and .format == 1 and .ok == false and
		(.ms | type) == "number" and has("errno") and (.ways | length) > 0)' "$records" | wc -l)"
	assertEquals tool "$(jq -r 'keys_unsorted[0]' "$records" | sort -u)"
}

test_the_text_says_the_answer_first() {
	run subject cell-probe --timeout 0.3 --expect closed udp://10.77.0.2:9 tcp://10.77.0.2:7
	assertEquals 1 "$status"
	assertEquals '' "$err"
	assertEquals 'not closed: tcp://10.77.0.2:7' "$(head -n 1 "$work/out")"
	assertContains "$(sed -n 2p "$work/out")" 'silent   udp://10.77.0.2:9  '
	assertContains "$(sed -n 3p "$work/out")" 'open     tcp://10.77.0.2:7  '
}

test_a_failure_with_json_is_one_record_that_no_comparison_takes() {
	run cell-probe --json --quiet tcp://
	assertEquals 100 "$status"
	assertEquals '' "$err"
	assertEquals usage "$(jq -r .error.kind "$work/out")"
	cp "$work/out" "$work/failed"
	expect_error 103 'line 1 has no target' cell-probe --compare "$work/failed" "$work/failed"
}

test_a_lost_write_is_111() {
	expect 111 sh -c 'exec cell-probe --json loopback: >/dev/full'
	expect 111 sh -c 'exec cell-probe loopback: >/dev/full'
	expect 111 sh -c 'exec cell-probe loopback: >&-'
}

# --- TCP and UDP: an answer with our nonce, or nothing

test_only_an_answer_is_open() {
	probe --timeout 0.5 tcp://10.77.0.2:7 tcp://10.77.0.2:80 tcp://10.77.0.2:8080 tcp://10.77.0.2:9 \
		tcp://10.77.0.2:10 tcp://10.77.0.2:22 tcp://10.77.0.2:81 tcp://10.77.0.2:11 \
		'tcp://[fd00:77::2]:7' 'tcp://[::ffff:10.77.0.2]:7'
	for target in tcp://10.77.0.2:7 tcp://10.77.0.2:80 tcp://10.77.0.2:8080 'tcp://[fd00:77::2]:7' \
		'tcp://[::ffff:10.77.0.2]:7'; do
		assert_result open "$target"
	done
	for target in tcp://10.77.0.2:9 tcp://10.77.0.2:10 tcp://10.77.0.2:22 tcp://10.77.0.2:81; do
		assert_result silent "$target"
	done
	assert_result refused tcp://10.77.0.2:11
	assertEquals 'connected, but nothing came back' "$(detail tcp://10.77.0.2:9)"
	assertContains "$(detail tcp://10.77.0.2:22)" 'none of them an answer'
}

test_udp_that_was_sent_is_not_open() { # PR-02
	probe --timeout 0.5 udp://10.77.0.2:7 udp://10.77.0.2:9 udp://10.77.0.2:13 udp://10.77.0.2:11 'udp://[fd00:77::2]:7' \
		'udp://[fd00:77::2]:11' 'udp://[::ffff:10.77.0.2]:7'
	assert_result open udp://10.77.0.2:7
	assert_result open 'udp://[fd00:77::2]:7'
	assert_result open 'udp://[::ffff:10.77.0.2]:7'
	assert_result silent udp://10.77.0.2:9
	assert_result silent udp://10.77.0.2:13 # bytes, but not ours
	assert_result refused udp://10.77.0.2:11
	assert_result refused 'udp://[fd00:77::2]:11'
	assertEquals 111 "$(jq 'select(.target == "udp://10.77.0.2:11") | .errno' "$records")"
}

test_an_answer_from_somebody_else_is_none() {
	# An unconnected socket takes packets from anybody; the answer counts if the target sent it.
	in_ns "$world" ip address add 10.77.0.4/24 dev eth0
	serve "$world" elsewhere:10.77.0.2:14
	probe --timeout 0.5 'udp://10.77.0.2:14?dev=eth0' 'udp://10.77.0.2:7?dev=eth0'
	assertContains "$(cat "$served")" 'elsewhere'
	for binding in SO_BINDTODEVICE IP_UNICAST_IF IP_PKTINFO; do
		assertEquals 'open null' "$(way 'udp://10.77.0.2:7?dev=eth0' $binding)"
		assertEquals 'silent null' "$(way 'udp://10.77.0.2:14?dev=eth0' $binding)"
	done
}

test_expectations_have_their_exits() {
	expect 0 subject cell-probe --expect open tcp://10.77.0.2:7 udp://10.77.0.2:7
	expect 1 subject cell-probe --expect open --timeout 0.3 tcp://10.77.0.2:7 udp://10.77.0.2:9
	expect 103 subject cell-probe --expect open tcp://10.77.0.2:7 'tcp://[2001:db8::1]:7'
	expect 0 subject cell-probe --expect closed tcp://10.77.0.2:11 udp://10.77.0.2:11
	expect 1 subject cell-probe --expect closed --timeout 0.3 udp://10.77.0.2:7 udp://10.77.0.2:9
	expect 103 subject cell-probe --expect closed --timeout 0.3 udp://10.77.0.2:9
	expect 103 subject cell-probe --expect closed 'tcp://[2001:db8::1]:7'
	expect 0 subject cell-probe --timeout 0.3 udp://10.77.0.2:9 'tcp://[2001:db8::1]:7'
}

test_everything_runs_at_once() {
	set --
	for port in $(seq 10001 10100); do set -- "$@" "udp://10.77.0.200:$port"; done
	probe_began=$(date +%s)
	probe --timeout 1 "$@"
	assertEquals 100 "$(grep -c '"result":"silent"' "$records")"
	# One after the other they would need 100 s.
	assertTrue 'within 30 s' "[ $(($(date +%s) - probe_began)) -lt 30 ]"
}

# --- PR-01: "closed" because nothing worked anyway

test_a_namespace_without_any_network_proves_nothing() {
	for expect in open closed; do
		expect 103 unshare --net cell-probe --expect "$expect" loopback:
		expect 103 unshare --net cell-probe --expect "$expect" tcp://10.1.1.1:7 udp://10.1.1.1:7
	done
	run unshare --net cell-probe --json loopback: tcp://10.1.1.1:7
	assertEquals 'unusable unusable' "$(jq -r .result "$work/out" | paste -sd ' ')"
}

test_the_tools_own_trouble_is_never_a_result() {
	# The static tool: a dynamic one would not even be loaded.
	for target in loopback: tcp://10.77.0.2:7 family:packet udp://10.77.0.2:7; do
		expect_error 111 'Too many open files' in_ns "$cell" prlimit --nofile=3 \
			"$top/build/bin/cell-probe" --expect closed "$target"
	done
	# In the middle of a run, when some are under way.
	set --
	for port in $(seq 1 20); do set -- "$@" "udp://10.77.0.200:$port"; done
	expect_error 111 'Too many open files' in_ns "$cell" prlimit --nofile=12 \
		"$top/build/bin/cell-probe" --timeout 0.2 --expect closed "$@"
}

test_a_host_that_is_not_there_is_silent() {
	probe --timeout 0.4 tcp://10.77.0.200:7 udp://10.77.0.200:7
	assert_result silent tcp://10.77.0.200:7
	assert_result silent udp://10.77.0.200:7
}

test_a_neighbour_that_does_not_answer_is_silent_however_long_one_waits() {
	# After three tries the kernel makes an ICMP error about itself: nobody refused anything.
	probe --timeout 5 tcp://10.77.0.201:7 udp://10.77.0.201:7
	assert_result silent tcp://10.77.0.201:7
	assert_result silent udp://10.77.0.201:7
	assertEquals 113 "$(jq 'select(.target == "udp://10.77.0.201:7") | .errno' "$records")"
}

# --- PR-05, PR-06: DNS

test_dns_asks_three_types_with_a_nonce_and_takes_any_answer() {
	for target in dns://10.77.0.2:53/out.test dns+tcp://10.77.0.2:53/out.test; do
		: >"$world_served"
		probe "$target"
		assert_result open "$target"
		assertEquals 'answered REFUSED' "$(detail "$target")"
		assertEquals 'A AAAA TXT' "$(sed -n 's/^dns c[0-9a-f]\{16\}\.out\.test //p' \
			"$world_served" | sort | paste -sd ' ')"
		assertEquals 3 "$(sort -u "$world_served" | grep -c '^dns')"
	done
}

test_dns_by_one_transport_alone_is_seen() {
	probe --timeout 0.4 dns://10.77.0.2:5301/a.test dns+tcp://10.77.0.2:5301/a.test \
		dns://10.77.0.2:5302/a.test dns+tcp://10.77.0.2:5302/a.test
	assert_result refused dns://10.77.0.2:5301/a.test
	assert_result open dns+tcp://10.77.0.2:5301/a.test
	assert_result open dns://10.77.0.2:5302/a.test
	assert_result refused dns+tcp://10.77.0.2:5302/a.test
}

test_one_type_that_gets_out_is_enough() {
	# A resolver that sinks A and AAAA and lets TXT out.
	serve "$world" dns-3-txt:10.77.0.2:5303
	probe --timeout 0.4 dns://10.77.0.2:5303/a.test dns+tcp://10.77.0.2:5303/a.test
	assert_result open dns://10.77.0.2:5303/a.test
	assertEquals 'silent null' "$(way dns://10.77.0.2:5303/a.test A)"
	assertEquals 'open null' "$(way dns://10.77.0.2:5303/a.test TXT)"
	assert_result open dns+tcp://10.77.0.2:5303/a.test
}

test_a_resolver_in_the_cell_tells_about_its_own_upstream() {
	serve "$cell" dns-2:127.0.0.1:53 dns-3:127.0.0.53:53
	printf 'nameserver 127.0.0.1\nnameserver 127.0.0.53\n' >"$work/resolv.conf"
	probe 'dns://{nameserver}:53/{name}' 'dns+tcp://{nameserver}:53/{name}'
	assert_result open dns://127.0.0.1:53/example.com
	assertContains "$(detail dns://127.0.0.1:53/example.com)" 'SERVFAIL; its own upstream is closed'
	assertContains "$(detail dns+tcp://127.0.0.53:53/example.com)" 'NXDOMAIN; its own upstream is open'
}

# --- PR-03: ICMP

test_icmp_is_tried_by_both_sockets_in_both_families() {
	in_ns "$cell" sh -c 'echo 1 0 >/proc/sys/net/ipv4/ping_group_range'
	probe icmp://10.77.0.2 'icmp://[fd00:77::2]'
	for target in icmp://10.77.0.2 'icmp://[fd00:77::2]'; do
		assert_result denied "$target"
		assertEquals 'denied 13' "$(way "$target" 'ping socket')"
		assertEquals 'denied 1' "$(way "$target" 'raw socket')"
	done
	in_ns "$cell" sh -c 'echo 0 2147483647 >/proc/sys/net/ipv4/ping_group_range'
	probe icmp://10.77.0.2 'icmp://[fd00:77::2]' icmp://127.0.0.1
	for target in icmp://10.77.0.2 'icmp://[fd00:77::2]' icmp://127.0.0.1; do
		assert_result open "$target"
		assertEquals 'open null' "$(way "$target" 'ping socket')"
		assertEquals 'denied 1' "$(way "$target" 'raw socket')"
	done
	run in_ns "$cell" cell-probe --json icmp://10.77.0.2 'icmp://[fd00:77::2]'
	assertEquals 4 "$(jq -c '.ways[] | select(.result == "open")' "$work/out" | wc -l)"
}

# --- PR-04: sockets that are not IP

test_families_are_created_and_never_connected() {
	set -- packet vsock pppox qipcrtr tipc rds can smc bluetooth xdp llc alg kcm mctp
	# shellcheck disable=SC2046 # a list of words
	probe $(printf 'family:%s ' "$@")
	assertEquals 0 "$status"
	assert_result denied family:packet
	# shellcheck disable=SC2046
	run in_ns "$cell" strace -f -e trace=connect,bind,sendto,sendmsg -o "$work/trace" \
		cell-probe --json $(printf 'family:%s ' "$@")
	assertEquals open "$(jq -r 'select(.target == "family:packet") | .result' "$work/out")"
	# What is sent at all goes to the kernel's own route and gateway tables.
	assertEquals '' "$(grep -E '^[0-9]+ +(connect|bind|send)' "$work/trace" | grep -v AF_NETLINK |
		grep -v 'sin_addr=inet_addr("0.0.0.0")')"
}

test_unix_sockets_that_accept_are_open() {
	mkdir -p "$work/sockets"
	background nsenter -n -t "$cell" -- /usr/bin/python3 -c '
import os, socket, sys, time
os.chdir(sys.argv[1])
held = []
for name, kind in (("stream", socket.SOCK_STREAM), ("datagram", socket.SOCK_DGRAM),
                   ("packet", socket.SOCK_SEQPACKET), ("\0probed", socket.SOCK_STREAM),
                   ("dead", socket.SOCK_STREAM)):
    held.append(socket.socket(socket.AF_UNIX, kind))
    held[-1].bind(name)
    if kind != socket.SOCK_DGRAM:
        held[-1].listen(5)
held[-1].close()
open("ready", "w").close()
time.sleep(600)' "$work/sockets"
	wait_for 10 test -e "$work/sockets/ready"
	run in_ns "$cell" cell-probe --json "unix:$work/sockets/stream" "unix:$work/sockets/datagram" \
		"unix:$work/sockets/packet" unix:@probed "unix:$work/sockets/dead" \
		"unix:$work/sockets/none" unix:@nobody
	assertEquals 'open open open open refused unusable unusable' \
		"$(jq -r .result "$work/out" | paste -sd ' ')"
	# An abstract name belongs to the network namespace.
	run cell-probe --json unix:@probed
	assertEquals unusable "$(jq -r .result "$work/out")"
	chmod 0700 "$work/sockets"
	probe "unix:$work/sockets/stream"
	assert_result denied "unix:$work/sockets/stream"
}

# --- doors

test_doors_leave_nothing_behind() {
	keys=$(grep -c . /proc/keys)
	run in_ns "$cell" cell-probe --json call:request_key call:pidfd_getfd call:bpf call:io_uring \
		call:unshare
	assertEquals 'open open open open open' "$(jq -r .result "$work/out" | paste -sd ' ')"
	assertEquals 'keys' "$keys" "$(grep -c . /proc/keys)"
}

test_doors_that_a_filter_shuts_are_denied() {
	for target in call:request_key call:pidfd_getfd call:bpf call:io_uring call:unshare; do
		expect 1 cell-probe --expect closed "$target"
		expect 0 cell-exec --caps none --user 1000:1000 -- \
			"$(command -v cell-probe)" --expect closed "$target"
		assertContains "$target" "$out" denied
	done
	# A filter that says "not supported" cannot be told from a kernel that says so.
	expect 1 cell-probe --expect closed family:vsock
	expect 103 cell-exec --caps none --user 1000:1000 -- \
		"$(command -v cell-probe)" --expect closed family:vsock
	assertContains "$out" 'unusable family:vsock'
}

test_the_policy_can_be_changed_only_by_those_who_may_and_is_not() {
	probe policy:
	assert_result denied policy:
	assertEquals 'denied 1' "$(way policy: nftables)"
	assertEquals 'denied 1' "$(way policy: route)"
	background nsenter -n -t "$cell" -- nft monitor >"$work/changes"
	monitor=$pid
	wait_for 10 monitor_sees_a_change
	run in_ns "$cell" cell-probe --json policy:
	assertEquals 'open open' "$(jq -r '.ways[].result' "$work/out" | paste -sd ' ')"
	in_ns "$cell" nft add table inet last
	wait_for 10 grep -q last "$work/changes"
	assertEquals '' "$(sed '/^add table inet /d; /^# new generation .*(nft)$/d; /^delete table/d' \
		"$work/changes")"
	end_process "$monitor"
	in_ns "$cell" nft flush ruleset
}
monitor_sees_a_change() {
	in_ns "$cell" nft add table inet first && in_ns "$cell" nft delete table inet first &&
		grep -q first "$work/changes"
}

# --- PR-07: the name and the proxy

test_the_name_is_resolved_by_the_hosts_file_alone() {
	serve "$cell" dns-3:127.0.0.11:53
	printf 'nameserver 127.0.0.11\n' >"$work/resolv.conf"
	probe name:cell-proxy
	assert_result open name:cell-proxy
	assertEquals 'is 10.77.0.2' "$(detail name:cell-proxy)"
	printf '127.0.0.1 localhost\n' >"$work/hosts"
	probe name:cell-proxy
	assert_result unusable name:cell-proxy
	assertContains "$(detail name:cell-proxy)" 'DNS would be asked'
	assertNotContains "$(cat "$served")" 'dns '
	expect 103 subject cell-probe --expect open name:cell-proxy
}

test_a_name_that_is_not_the_published_address_is_no() {
	printf '10.77.0.9 cell-proxy\n' >"$work/hosts"
	expect 1 subject cell-probe --expect open name:cell-proxy
	assertContains "$out" 'is 10.77.0.9, but the published address is 10.77.0.2'
	printf '10.77.0.2 cell-proxy\n10.77.0.9 CELL-PROXY\n' >"$work/hosts"
	expect 1 subject cell-probe --expect open name:cell-proxy
	assertContains "$out" 'more than one address'
	printf '10.77.0.2 cell-proxy\nfd00:77::2 cell-proxy\n' >"$work/hosts"
	expect 1 subject cell-probe --expect open name:cell-proxy
	printf '10.77.0.9 other\n10.77.0.2 cell-proxy\n' >"$work/hosts"
	expect 0 subject cell-probe --expect open name:cell-proxy name:other
}

test_an_nsswitch_that_asks_others_first_is_told() {
	printf 'hosts: dns files\n' >"$work/nsswitch.conf"
	probe name:cell-proxy
	assertContains "$(detail name:cell-proxy)" 'asks others before'
}

test_a_proxy_that_answers_without_serving_is_not_open() {
	for pair in 80:open 84:open 87:refused 82:refused 83:refused 81:refused 9:silent 10:silent 11:refused; do
		target="http+proxy://cell-proxy:${pair%:*}/http://example.test/x?y"
		probe --timeout 0.5 "$target"
		assert_result "${pair#*:}" "$target"
	done
	assertContains "$(cat "$world_served")" 'http GET http://example.test/x?y HTTP/1.1'
	probe http+proxy://10.77.0.2:80/http://example.test/ http+proxy://nowhere:80/http://example.test/
	assert_result open http+proxy://10.77.0.2:80/http://example.test/
	assert_result unusable http+proxy://nowhere:80/http://example.test/
}

# --- static

test_it_runs_in_an_empty_root_and_opens_nothing_else() {
	mkdir -p "$work/root"
	cp "$top/build/bin/cell-probe" "$work/root/"
	expect 0 in_ns "$cell" chroot "$work/root" /cell-probe --expect open loopback: tcp://10.77.0.2:7
	expect 0 in_ns "$cell" chroot "$work/root" /cell-probe
}

. "$CELL_TEST_SHUNIT2"

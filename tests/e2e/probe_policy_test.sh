#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns jq python3 nft
# cell-probe against policies: who refused, told apart by what the kernel tells; two runs compared;
# the lists that are shipped. Whatever is closed here was shown open before.
. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/probe_cell.sh"

test_setup() {
	cell_new
	serve "$world" http-200:10.77.0.2:8080 echo:10.77.0.2:7 'echo:[fd00:77::2]:7' dns-3:10.77.0.2:53
	serve "$cell" dns-3:127.0.0.11:53 echo:127.0.0.1:7
	in_ns "$cell" sh -c 'echo 0 2147483647 >/proc/sys/net/ipv4/ping_group_range'
}

test_teardown() {
	end_process "$cell"
	end_process "$world"
}

ways='tcp://10.77.0.2:7 udp://10.77.0.2:7 tcp://[fd00:77::2]:7 udp://[fd00:77::2]:7
	dns://10.77.0.2:53/a.test dns+tcp://10.77.0.2:53/a.test dns://127.0.0.11:53/a.test
	dns+tcp://127.0.0.11:53/a.test icmp://10.77.0.2 icmp://[fd00:77::2]
	tcp://[::ffff:10.77.0.2]:7 udp://[::ffff:10.77.0.2]:7 udp://[::ffff:127.0.0.11]:53
	udp://10.77.0.2:7?dev=eth0 tcp://10.77.0.2:7?dev=eth0 icmp://10.77.0.2?dev=eth0
	udp://[fd00:77::2]:7?dev=eth0 icmp://[fd00:77::2]?dev=eth0 dns://10.77.0.2:53/a.test?dev=eth0'

test_the_policy_closes_every_way_here_and_keeps_three() {
	# shellcheck disable=SC2086 # a list of targets
	{
		printf '%s\n' $ways
		printf '%s open\n' loopback: tcp://10.77.0.2:8080 name:cell-proxy
	} >"$work/list"
	probe --timeout 1 --targets - <"$work/list"
	cp "$records" "$work/before"
	for target in $ways; do
		case $target in
		udp*127.0.0.11*) assert_result silent "$target" ;; # a name server echoes nothing
		*) assert_result open "$target" ;;
		esac
	done
	seal
	probe --timeout 1 --targets - <"$work/list"
	cp "$records" "$work/after"
	for target in loopback: tcp://10.77.0.2:8080 name:cell-proxy; do assert_result open "$target"; done
	for target in $ways; do
		assert_result blocked "$target"
		# Not one of its ways is anything but refused here, or refused the socket.
		assertEquals "ways of $target" '' "$(jq -c --arg target "$target" 'select(.target == $target) |
			.ways[] | select(.result != "blocked" and .result != "denied")' "$records")"
	done
	# shellcheck disable=SC2086
	expect 0 subject cell-probe --timeout 1 --expect closed $ways
	expect 103 cell-probe --compare "$work/before" "$work/after"
	assertEquals 'nothing proven: udp://[::ffff:127.0.0.11]:53' "$(head -n 1 "$work/out")"
	grep -v '::ffff:127' "$work/before" >"$work/before.part"
	grep -v '::ffff:127' "$work/after" >"$work/after.part"
	expect 0 cell-probe --compare "$work/before.part" "$work/after.part"
	assertEquals closed "$(head -n 1 "$work/out")"
	run cell-probe --json --compare "$work/before.part" "$work/after.part"
	assertEquals '18 0 3 0 0 0 0 0' "$(jq -r '[.closed, .still_open, .kept, .lost, .absent, .vacuous,
		.missing, .unusable] | join(" ")' "$work/out")"
	assertEquals '[]' "$(jq -c .offending "$work/out")"
}

test_icmpv6_is_known_to_be_blocked_from_the_error_queue() {
	probe 'icmp://[fd00:77::2]'
	assertEquals 'open null' "$(way 'icmp://[fd00:77::2]' 'ping socket')"
	seal
	probe 'icmp://[fd00:77::2]'
	assertEquals 'blocked 13' "$(way 'icmp://[fd00:77::2]' 'ping socket')"
}

# rejects KIND: a policy that refuses everything but lo with that kind of reject.
rejects() {
	in_ns "$cell" nft -f - <<-EOF
		flush ruleset
		table inet t {
			chain o {
				type filter hook output priority 0; policy drop;
				oif "lo" accept
				$1
			}
		}
	EOF
}

test_every_kind_of_reject_is_known_as_ours() { # PR-01
	for kind in 'meta l4proto tcp reject with tcp reset' 'reject' \
		'reject with icmpx type port-unreachable' 'reject with icmpx type admin-prohibited' \
		'reject with icmpx type host-unreachable' 'reject with icmpx type no-route'; do
		in_ns "$cell" nft flush ruleset
		probe --timeout 3 tcp://10.77.0.2:7 udp://10.77.0.2:7 'tcp://[fd00:77::2]:7' \
			'udp://[fd00:77::2]:7'
		assertEquals "before: $kind" 4 "$(grep -c '"result":"open"' "$records")"
		rejects "$kind"
		probe --timeout 3 tcp://10.77.0.2:7 udp://10.77.0.2:7 'tcp://[fd00:77::2]:7' \
			'udp://[fd00:77::2]:7'
		assertEquals "$kind: $(jq -r .detail "$records")" 4 "$(grep -c '"result":"blocked"' "$records")"
	done
}

test_a_drop_is_silence_for_tcp_and_blocked_for_udp() {
	rejects 'drop'
	probe --timeout 0.5 tcp://10.77.0.2:7 udp://10.77.0.2:7
	assert_result silent tcp://10.77.0.2:7
	assert_result blocked udp://10.77.0.2:7
}

test_a_refusal_of_the_target_is_not_taken_for_the_policys() {
	probe tcp://10.77.0.2:9 tcp://127.0.0.1:9 udp://10.77.0.2:9 'tcp://[fd00:77::2]:9' 'tcp://[::1]:9' \
		tcp://10.77.0.1:9
	assertEquals 6 "$(grep -c '"result":"refused"' "$records")"
	seal
	probe tcp://10.77.0.2:9 tcp://127.0.0.1:9 udp://10.77.0.2:9 'tcp://[fd00:77::2]:9' 'tcp://[::1]:9' \
		tcp://10.77.0.1:9
	for target in tcp://10.77.0.2:9 udp://10.77.0.2:9 'tcp://[fd00:77::2]:9'; do
		assert_result blocked "$target"
	done
	# Loopback is open; nobody listens there.
	for target in tcp://127.0.0.1:9 'tcp://[::1]:9' tcp://10.77.0.1:9; do
		assert_result refused "$target"
	done
}

test_a_far_policy_is_not_taken_for_ours() {
	for kind in 'tcp reset' 'icmp type admin-prohibited' 'icmp type host-unreachable'; do
		in_ns "$world" nft -f - <<-EOF
			flush ruleset
			table inet t {
				chain i {
					type filter hook input priority 0; policy accept;
					tcp dport 7 reject with $kind
				}
			}
		EOF
		probe --timeout 1 tcp://10.77.0.2:7
		assert_result refused tcp://10.77.0.2:7
	done
	in_ns "$world" nft flush ruleset
}

test_the_author_is_told_beside_traffic_of_others() {
	seal
	# Somebody else in the cell talks to the proxy and, in bursts, to loopback.
	background nsenter -n -t "$cell" -- /usr/bin/python3 -c '
import socket, time
noise = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    end = time.monotonic() + 0.001
    while time.monotonic() < end:
        noise.sendto(b"x", ("127.0.0.1", 7))
    try:
        with socket.create_connection(("10.77.0.2", 8080), 1) as proxy:
            proxy.sendall(b"GET / HTTP/1.1\r\n\r\n")
            proxy.recv(100)
    except OSError:
        pass
    time.sleep(0.003)'
	# So many that some attempts are sure to be disturbed.
	set -- tcp://127.0.0.1:9
	for port in $(seq 20 219); do set -- "$@" "tcp://10.77.0.2:$port"; done
	for round in 1 2 3 4 5; do
		probe "$@"
		assertEquals "round $round" 200 "$(grep -c '"result":"blocked"' "$records")"
		assert_result refused tcp://127.0.0.1:9
	done
}

test_multicast_is_silent_until_it_is_blocked() {
	targets='icmp://[ff02::1:ff00:9]?dev=eth0 udp://[ff02::fb]:5353?dev=eth0 udp://224.0.0.251:5353?dev=eth0'
	# shellcheck disable=SC2086 # a list of targets
	probe --timeout 0.3 $targets
	assertEquals "$(jq -r .detail "$records")" 3 "$(grep -c '"result":"silent"' "$records")"
	seal
	# shellcheck disable=SC2086
	probe --timeout 0.3 $targets
	assertEquals "$(jq -r .detail "$records")" 3 "$(grep -c '"result":"blocked"' "$records")"
}

test_the_seal_that_breaks_half_of_loopback_is_seen() {
	probe loopback:
	cp "$records" "$work/before"
	assert_result open loopback:
	rejects 'drop'
	probe loopback:
	assert_result open loopback:
	in_ns "$cell" nft insert rule inet t o oif lo meta l4proto udp reject
	probe loopback:
	assert_result blocked loopback:
	expect 1 cell-probe --compare "$work/before" "$records"
	assertContains "$out" 'lost: loopback:'
	in_ns "$cell" nft insert rule inet t o oif lo tcp dport 1-65535 drop
	in_ns "$cell" nft insert rule inet t o oif lo meta l4proto udp accept
	probe --timeout 0.3 loopback:
	assert_result silent loopback:
}

test_a_device_that_is_bound_past_loopback_is_seen() {
	# Frames to 127.x that leave by eth0: the world has no answer to them, but it gets them.
	in_ns "$world" nft -f - <<-EOF
		table netdev t {
			counter got { }
			chain i {
				type filter hook ingress device eth0 priority 0;
				ip daddr 127.0.0.0/8 counter name got
			}
		}
	EOF
	frames() {
		in_ns "$world" nft -j list counters | jq '[.nftables[].counter? // empty | .packets] | add'
	}
	targets='dns://127.0.0.11:53/a.test?dev=eth0 udp://127.0.0.1:53?dev=eth0 icmp://127.0.0.1?dev=eth0
		tcp://127.0.0.1:53?dev=eth0'
	# shellcheck disable=SC2086
	probe --timeout 0.5 $targets
	assertEquals 4 "$(grep -c '"result":"silent"' "$records")"
	for binding in SO_BINDTODEVICE IP_UNICAST_IF IP_PKTINFO; do
		assertEquals 'silent null' "$(way 'udp://127.0.0.1:53?dev=eth0' "$binding")"
	done
	before=$(frames)
	assertTrue "frames left: $before" "[ $before -ge 10 ]"
	seal
	# shellcheck disable=SC2086
	probe --timeout 0.5 $targets
	assertEquals 4 "$(grep -c '"result":"blocked"' "$records")"
	assertEquals "$before" "$(frames)"
}

test_the_seal_that_leaves_a_way_open_is_seen() {
	list='loopback: open\ntcp://{proxy}:{proxy_port} open\ntcp://10.77.0.2:7 closed\nicmp://10.77.0.2 closed\n'
	# shellcheck disable=SC2059 # it has escapes and no format
	printf "$list" >"$work/list"
	probe --targets - <"$work/list"
	cp "$records" "$work/before"
	# A policy that forgot ICMP.
	rejects 'ip daddr 10.77.0.2 tcp dport 8080 accept
		meta l4proto icmp accept
		meta l4proto tcp reject with tcp reset'
	probe --targets - <"$work/list"
	cp "$records" "$work/after"
	expect 1 cell-probe --compare "$work/before" "$work/after"
	assertEquals 'still open: icmp://10.77.0.2' "$(head -n 1 "$work/out")"
	assertContains "$out" 'targets closed tcp://10.77.0.2:7 open blocked'
	run cell-probe --json --compare "$work/before" "$work/after"
	assertEquals 'no still open: icmp://10.77.0.2' "$(jq -r '.error | .kind + " " + .message' "$work/out")"
	assertEquals '[["still-open","icmp://10.77.0.2","open","open"]]' \
		"$(jq -c '[.offending[] | [.verdict, .target, .before, .after]]' "$work/out")"
	# One that also cuts the proxy off.
	rejects 'meta l4proto icmp reject'
	probe --timeout 0.5 --targets - <"$work/list"
	expect 1 cell-probe --compare "$work/before" "$records"
	assertEquals 'lost: tcp://10.77.0.2:8080' "$(head -n 1 "$work/out")"
	# tcp to port 7 is dropped there: silence proves nothing.
	assertContains "$out" 'targets vacuous tcp://10.77.0.2:7 open silent'
}

test_shipped_lists_pass_in_a_sealed_cell_and_fail_in_an_open_one() {
	printf 'nameserver 127.0.0.11\n' >"$work/resolv.conf"
	in_ns "$world" ip address add 10.77.0.3/24 dev eth0
	serve "$world" echo:10.77.0.3:8080 dns-3:10.77.0.3:53
	try() {
		cp "$CELL_BIN/cell-exec" "$CELL_BIN/cell-probe" "$work/egress/"
		run subject_confined /opt/cell-egress/cell-probe --json --timeout 1 \
			--define sibling=10.77.0.3 --define resolver=10.77.0.3 --define outside=10.77.0.3 \
			--targets - <"$top/share/cell/targets/$1.txt"
		assertEquals "exit of $1 [$err]" 0 "$status"
		cp "$work/out" "$work/$1.$2"
	}
	for list in docker podman netns; do try "$list" before; done
	expect 1 cell-probe --compare "$work/netns.before" "$work/netns.before"
	assertContains "$(head -n 1 "$work/out")" 'still open: dns://127.0.0.11:53/example.com'
	seal
	for list in docker podman netns; do
		try "$list" after
		expect 0 cell-probe --compare "$work/$list.before" "$work/$list.after"
	done
	assertContains "$out" 'targets closed tcp://10.77.0.3:8080 open blocked'
	assertContains "$out" 'targets closed dns+tcp://10.77.0.3:53/example.com open blocked'
}
# As subject, but with the privileges to start cell-exec, which then has no doors.
subject_confined() {
	# shellcheck disable=SC2016
	in_ns "$cell" unshare --mount sh -ec '
		work=$1
		shift
		mount -t tmpfs none /opt
		mkdir /opt/cell-egress
		cp "$work/egress/"* /opt/cell-egress/
		chmod -R a+rX /opt
		mount -t tmpfs none /run
		for file in hosts resolv.conf nsswitch.conf; do mount --bind "$work/$file" "/etc/$file"; done
		exec /opt/cell-egress/cell-exec --caps none --user 1000:1000 -- "$@"' sh "$work" "$@"
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What passes and what does not: both families, connections opened before, resolvers behind others'
# redirections, what comes in, path MTU, two networks, and which counter counts it.
# needs: root netns nft python3 setpriv iptables-legacy iptables-nft

. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/policy_cell.sh"

servers='udp:10.77.0.9:9000 tcp:10.77.0.9:9000 udp:[fd77::9]:9000 tcp:[fd77::9]:9000'

test_setup() {
	cell_new
	# shellcheck disable=SC2086 # a list of words
	background nsenter -n -t "$world" python3 "$top/tests/lib/policy_echo.py" "$work/outside" \
		$servers tcp:10.77.0.2:8080 tcp:10.77.0.2:8081 udp:10.77.0.2:8080
	outside=$pid
	background nsenter -n -t "$cell" python3 "$top/tests/lib/policy_echo.py" "$work/inside" \
		udp:127.0.0.1:7000 tcp:127.0.0.1:7000 'udp:[::1]:7000' 'tcp:[::1]:7000' \
		udp:127.0.0.11:40053 tcp:127.0.0.11:40053 udp:0.0.0.0:5000 tcp:0.0.0.0:5000
	inside=$pid
	wait_for 10 grep -q ready "$work/outside"
	wait_for 10 grep -q ready "$work/inside"
}

test_teardown() {
	end_process "$outside"
	end_process "$inside"
	cell_end
	rm -f "$work/outside" "$work/inside" "$work/held" "$work/go"
}

# asked WHO WANTED TARGET...: what policy_ask.py says of each.
asked() {
	asked_who=$1 asked_wanted=$2
	shift 2
	asked_got=$($asked_who python3 "$top/tests/lib/policy_ask.py" "$@" | sed 's/.* //' | tr '\n' ' ')
	assertEquals "$asked_who: $*" "$asked_wanted" "${asked_got% }"
}

loopback='udp:127.0.0.1:7000 tcp:127.0.0.1:7000 udp:[::1]:7000 tcp:[::1]:7000'
four='open open open open'

# shellcheck disable=SC2086 # lists of words
test_both_families_are_refused_and_known_at_once() {
	in_ns "$cell" sysctl -qw net.ipv4.ping_group_range='0 2000'
	for who in as_user as_root; do
		asked $who "$four" $servers
		asked $who 'open open' icmp:10.77.0.9 'icmp:[fd77::9]'
		asked $who "$four" $loopback
		asked $who 'open open' tcp:10.77.0.2:8080 udp:10.77.0.2:8080
	done
	policy deny-all >/dev/null
	frames_reset
	for who in as_user as_root; do
		asked $who 'EPERM ECONNREFUSED EPERM ECONNREFUSED' $servers
		asked $who 'EPERM EACCES' icmp:10.77.0.9 'icmp:[fd77::9]'
		asked $who "$four" $loopback
		asked $who 'ECONNREFUSED EPERM' tcp:10.77.0.2:8080 udp:10.77.0.2:8080
	done
	assertEquals 'frames while denied' 0 "$(frames '^ip')"
	policy allow cell-proxy >/dev/null
	frames_reset
	for who in as_user as_root; do
		asked $who 'EPERM ECONNREFUSED EPERM ECONNREFUSED' $servers
		asked $who "$four" $loopback
		asked $who 'open EPERM ECONNREFUSED' tcp:10.77.0.2:8080 udp:10.77.0.2:8080 tcp:10.77.0.2:8081
	done
	assertNotEquals 'frames to the proxy' 0 "$(frames '^ip 6 10.77.0.2 8080')"
	assertEquals 'frames to others' "$(frames '^ip 6 10.77.0.2 8080')" "$(frames '^ip')"
}

# held: connections opened now are used again after "$@" ran; $held has a line for each.
held() {
	# shellcheck disable=SC2086 # a list of words
	background nsenter -n -t "$cell" python3 "$top/tests/lib/policy_held.py" "$work/held" \
		"$work/go" $servers tcp:127.0.0.11:40053 udp:127.0.0.11:40053 tcp:10.77.0.2:8080 tcp:127.0.0.1:7000 \
		>"$work/answers"
	holder=$pid
	wait_for 10 test -e "$work/held" || fail 'no connections'
	"$@" >/dev/null
	touch "$work/go"
	wait "$holder"
	cat "$work/answers"
	held=$(cut -d' ' -f2 "$work/answers" | tr '\n' ' ')
}

test_connections_opened_before_end_at_once() {
	held policy allow cell-proxy
	assertEquals 'EPERM ECONNRESET EPERM ECONNRESET ECONNRESET EPERM open open ' "$held"
	slow=$(awk '$3 > 500' "$work/answers")
	assertEquals 'a refusal that was not known at once' '' "$slow"
}

test_connections_opened_before_go_on_without_a_policy() {
	held true
	assertEquals 'open open open open open open open open ' "$held"
}

# Conntrack knows them as established; that excuses nothing.
test_connections_that_conntrack_knows_end_too() {
	in_ns "$cell" nft 'table inet tracking {
		chain out {
			type filter hook output priority -10
			ct state established,related accept
		}
		chain in {
			type filter hook input priority -10
			ct state established,related accept
		}
	}'
	held policy deny-all
	assertEquals 'EPERM ECONNRESET EPERM ECONNRESET ECONNRESET EPERM ECONNRESET open ' "$held"
}

test_following_the_proxy_ends_connections_to_the_old_one() {
	policy allow cell-proxy >/dev/null
	background nsenter -n -t "$cell" python3 "$top/tests/lib/policy_held.py" "$work/held" \
		"$work/go" tcp:10.77.0.2:8080 >"$work/answers"
	holder=$pid
	wait_for 10 test -e "$work/held"
	echo 10.77.0.9 >"$work/egress/proxy-ipv4"
	expect 0 policy allow cell-proxy
	touch "$work/go"
	wait "$holder"
	assertContains "$(cat "$work/answers")" ECONNRESET
}

# shellcheck disable=SC2086 # lists of words
test_ipv6_switched_on_later_is_closed() {
	in_ns "$cell" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	expect 0 policy allow cell-proxy
	expect 0 policy check
	in_ns "$cell" sysctl -qw net.ipv6.conf.all.disable_ipv6=0
	in_ns "$cell" ip -6 address add fd77::1/64 dev eth0 nodad
	in_ns "$cell" ip -6 neighbour replace fd77::9 lladdr "$cell_mac" dev eth0
	asked as_user 'EPERM ECONNREFUSED' 'udp:[fd77::9]:9000' 'tcp:[fd77::9]:9000'
	asked as_user open tcp:10.77.0.2:8080
	policy allow-all >/dev/null
	asked as_user 'open open' 'udp:[fd77::9]:9000' 'tcp:[fd77::9]:9000'
}

# ---- resolvers: an engine's, redirected in three ways ----

resolver='udp:127.0.0.11:53 tcp:127.0.0.11:53 udp:[::ffff:127.0.0.11]:53 udp:127.0.0.11:40053'
# shellcheck disable=SC2086 # lists of words
resolver_is_refused() {
	asked as_user "$four" $resolver
	policy deny-all >/dev/null
	asked as_user 'EPERM ECONNREFUSED EPERM EPERM' $resolver
	asked as_user "$four" $loopback
	policy allow cell-proxy >/dev/null
	asked as_user 'EPERM ECONNREFUSED EPERM EPERM' $resolver
	expect 0 policy check
}

test_resolver_behind_legacy_iptables_is_refused() {
	for kind in udp tcp; do
		in_ns "$cell" iptables-legacy -t nat -A OUTPUT -d 127.0.0.11 -p $kind --dport 53 \
			-j DNAT --to-destination 127.0.0.11:40053
	done
	resolver_is_refused
	assertContains "$out" 'note: legacy iptables tables'
}

test_resolver_behind_iptables_nft_is_refused() {
	for kind in udp tcp; do
		in_ns "$cell" iptables-nft -t nat -A OUTPUT -d 127.0.0.11 -p $kind --dport 53 \
			-j DNAT --to-destination 127.0.0.11:40053
	done
	resolver_is_refused
	assertContains "$out" 'note: foreign chain ip nat OUTPUT'
}

test_resolver_behind_an_nft_table_is_refused() {
	in_ns "$cell" nft 'table ip docker-dns {
		chain output {
			type nat hook output priority -100
			ip daddr 127.0.0.11 udp dport 53 dnat to 127.0.0.11:40053
			ip daddr 127.0.0.11 tcp dport 53 dnat to 127.0.0.11:40053
		}
	}'
	resolver_is_refused
}

test_other_resolvers_are_refused_by_option_in_both_families() {
	in_ns "$cell" ip -6 address add fd00::53/128 dev lo
	background nsenter -n -t "$cell" python3 "$top/tests/lib/policy_echo.py" "$work/resolvers" \
		udp:127.0.0.53:53 tcp:127.0.0.53:53 'udp:[fd00::53]:53' 'tcp:[fd00::53]:53'
	resolvers=$pid
	wait_for 10 grep -q ready "$work/resolvers"
	set -- udp:127.0.0.53:53 tcp:127.0.0.53:53 'udp:[fd00::53]:53' 'tcp:[fd00::53]:53'
	policy deny-all >/dev/null
	asked as_user "$four" "$@"
	policy --refuse 127.0.0.53 --refuse fd00::53 allow cell-proxy >/dev/null
	# The reset of the last would go to a refused address itself: its own.
	asked as_user 'EPERM ECONNREFUSED EPERM silent' "$@"
	expect 0 policy check
	end_process "$resolvers"
}

# ---- what comes in ----

test_siblings_reach_nothing_in_the_cell() {
	from_world() { in_ns "$world" "$@"; }
	in_ns "$world" sysctl -qw net.ipv4.ping_group_range='0 2000'
	asked from_world open icmp:10.77.0.1
	asked from_world 'open open' udp:10.77.0.1:5000 tcp:10.77.0.1:5000
	policy allow cell-proxy >/dev/null
	: >"$work/inside"
	asked from_world 'silent silent' udp:10.77.0.1:5000 tcp:10.77.0.1:5000
	asked from_world silent icmp:10.77.0.1
	# Not from the proxy's address either, but for TCP from the port of its replies.
	in_ns "$world" python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.77.0.2", 8082))
s.sendto(b"cell", ("10.77.0.1", 5000))'
	assertEquals 'what arrived in the cell' '' "$(cat "$work/inside")"
	assertNotContains "$(policy show)" 'inbound: 0 packets'
}

# The way to the proxy narrows behind a router; its router's message must come in.
test_path_mtu_to_the_proxy_works() {
	netns_new && far=$pid
	netns_join "$world" narrow 10.79.0.1/24 "$far" up0 10.79.0.2/24
	in_ns "$far" ip route add default via 10.79.0.1
	in_ns "$world" sysctl -qw net.ipv4.ip_forward=1
	in_ns "$world" ip link set narrow mtu 1200
	in_ns "$far" ip link set up0 mtu 1200
	rm -f "$work/far"
	background nsenter -n -t "$far" python3 "$top/tests/lib/policy_echo.py" "$work/far" tcp:10.79.0.2:8080
	wait_for 10 grep -q ready "$work/far"
	echo 10.79.0.2 >"$work/egress/proxy-ipv4"
	expect 0 policy allow cell-proxy
	assertContains "$out" 'proxy: 10.79.0.2:8080 via eth0'
	# The other side announces a segment size that suits it; a clamp is not what is tested.
	in_ns "$far" ip route change 10.79.0.0/24 dev up0 advmss 1460
	in_ns "$far" ip route change default via 10.79.0.1 advmss 1460
	number=$(in_ns "$cell" nft -a list chain inet cell_egress input | sed -n 's/.*icmp type.*handle //p')
	in_ns "$cell" nft delete rule inet cell_egress input handle "$number"
	assertEquals 'without the rule' 'stalled' "$(transfer)"
	expect 0 policy allow cell-proxy
	assertEquals 'with the rule' '300000' "$(transfer)"
	end_process "$far"
}
transfer() {
	in_ns "$cell" ip route flush cache
	as_user python3 -c 'import socket
s = socket.create_connection(("10.79.0.2", 8080), 3)
s.setblocking(False)
import select, time
sent = got = 0
data, end = bytes(300000), time.monotonic() + 3
while got < len(data) and time.monotonic() < end:
    r, w, _ = select.select([s], [s] if sent < len(data) else [], [], 0.5)
    if w: sent += s.send(data[sent:sent + 65536])
    if r: got += len(s.recv(65536))
print(got if got == len(data) else "stalled")'
}

test_accomplice_with_the_proxys_address_on_another_network_is_out_of_reach() {
	netns_new && other=$pid
	netns_join "$cell" eth1 10.88.0.1/24 "$other" peer1 10.88.0.2/24
	in_ns "$other" ip address add 10.77.0.2/32 dev peer1
	in_ns "$cell" ip neighbour replace 10.77.0.2 \
		lladdr "$(in_ns "$other" ip -o link show peer1 | sed 's/.*ether \([^ ]*\).*/\1/')" dev eth1
	in_ns "$cell" ip route add 10.77.0.2/32 dev eth1 metric 500 table 77
	in_ns "$cell" ip rule add oif eth1 table 77
	background nsenter -n -t "$other" python3 "$top/tests/lib/policy_echo.py" "$work/other" tcp:10.77.0.2:8080
	wait_for 10 grep -q ready "$work/other"
	assertEquals open "$(by_eth1)"
	policy allow cell-proxy >/dev/null
	assertEquals ECONNREFUSED "$(by_eth1)"
	asked as_user open tcp:10.77.0.2:8080
	assertEquals 'connections that the accomplice saw' 1 "$(grep -c tcp "$work/other")"
	end_process "$other"
}
by_eth1() {
	as_user python3 -c 'import errno, socket
s = socket.socket()
s.settimeout(1)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth1\0")
try:
    s.connect(("10.77.0.2", 8080))
    s.send(b"cell")
    print("open" if s.recv(9) == b"cell" else "other")
except OSError as e:
    print(errno.errorcode.get(e.errno, e))'
}

# ---- what counts what ----

# counted CLASS COMMAND...: that counter, and no other but kernel, moves.
counted() {
	counted_class=$1
	shift
	policy --json show | jq -c .counters >"$work/before"
	"$@" >/dev/null 2>&1
	assertEquals "what moved by: $*" "$counted_class" "$(policy --json show | jq -r --slurpfile b "$work/before" \
		'[.counters | to_entries[] | select(.value.packets > $b[0][.key].packets and .key != "kernel") | .key] | join(" ")')"
}
send() { as_root python3 "$top/tests/lib/send_packets.py" "$@"; }

test_each_class_has_its_counter() {
	in_ns "$cell" sysctl -qw net.ipv4.ping_group_range='0 2000'
	policy allow cell-proxy >/dev/null
	counted resolver send udp:127.0.0.11:53:x
	counted tcp send tcp:10.77.0.9:9000
	counted tcp send 'tcp:[fd77::9]:9000'
	counted udp send udp:10.77.0.9:9000:x
	counted udp send 'udp:[fd77::9]:9000:x'
	counted icmp send icmp:10.77.0.9
	counted icmp send 'icmp:[fd77::9]'
	counted other in_ns "$cell" python3 "$top/tests/lib/send_packets.py" raw:10.77.0.9:99
	counted inbound in_ns "$world" python3 "$top/tests/lib/send_packets.py" udp:10.77.0.1:9:x
	counted '' send tcp:10.77.0.2:8080
	# The second lock's own: what the first let pass is redirected.
	in_ns "$cell" nft 'table ip foreign {
		chain out {
			type nat hook output priority -100
			ip daddr 127.0.0.9 dnat to 10.77.0.9
		}
	}'
	in_ns "$cell" sysctl -qw net.ipv4.conf.all.route_localnet=1
	counted late send udp:127.0.0.9:9:x
	# As a router for a sibling.
	in_ns "$cell" sysctl -qw net.ipv4.ip_forward=1
	in_ns "$world" ip route add 10.99.0.0/24 via 10.77.0.1
	in_ns "$cell" ip route add 10.99.0.0/24 via 10.77.0.9
	counted forward in_ns "$world" python3 "$top/tests/lib/send_packets.py" udp:10.99.0.1:9:x
	expect 0 policy check
}

. "$CELL_TEST_SHUNIT2"

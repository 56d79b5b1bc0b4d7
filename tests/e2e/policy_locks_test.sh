#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The two locks of the policy. Packets for "local" addresses are sent from sockets that are told to
# leave by eth0, and are redirected by rules of others: what leaves is counted on the other side.
# needs: root netns nft python3 setpriv

. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/policy_cell.sh"

test_file_setup() {
	cell_new
	# A host that forwards to its loopback, or a cell whose engine does, has this on.
	in_ns "$cell" sysctl -qw net.ipv4.conf.all.route_localnet=1
}

# leaked WHO: how many frames of the attack as WHO (as_user, as_root) leave the cell.
leaked() {
	frames_reset
	"$1" python3 "$top/tests/lib/policy_attack.py" eth0 7777 >"$work/attack"
	leaked=$(frames ' 7777$')
}

# redirect HOOK: a foreign chain that sends what goes to loopback to the world, 10.77.0.9.
redirect() {
	case $1 in
	none) return ;;
	dnat) redirect_rules='ip daddr 127.0.0.0/8 dnat ip to 10.77.0.9
		ip6 daddr ::1 dnat ip6 to fd77::9' redirect_hook='type nat hook output priority -100' ;;
	*) redirect_rules='ip daddr 127.0.0.0/8 ip daddr set 10.77.0.9
		ip6 daddr ::1 ip6 daddr set fd77::9' redirect_hook=$1 ;;
	esac
	in_ns "$cell" nft "table inet foreign {
		chain out {
			$redirect_hook
			$redirect_rules
		}
	}"
}

# locks WHICH: none, both, or only one of them in force.
locks() {
	in_ns "$cell" nft flush ruleset
	case $1 in
	none) return ;;
	# What the hole was found in: an address is "local", so let it go.
	address)
		in_ns "$cell" nft 'table inet seed {
			chain output {
				type filter hook output priority 0; policy drop;
				fib daddr type local accept
			}
		}'
		return
		;;
	esac
	policy allow cell-proxy >/dev/null
	case $1 in
	output) in_ns "$cell" nft delete chain inet cell_egress postrouting ;;
	postrouting) in_ns "$cell" nft delete chain inet cell_egress output ;;
	esac
}

# holds LOCKS REDIRECT, leaks LOCKS REDIRECT: as uid 1000.
holds() {
	locks "$1"
	redirect "$2"
	leaked as_user
	assertEquals "$1 lock(s), redirected by $2: frames that left" 0 "$leaked"
}
leaks() {
	locks "$1"
	redirect "$2"
	leaked as_user
	assertTrue "$1 lock(s), redirected by $2: nothing left, so the attack proves nothing" \
		"[ $leaked -gt 0 ]"
}

test_local_addresses_leave_where_only_addresses_are_judged() {
	for who in as_user as_root; do
		for which in none address; do
			locks $which
			leaked $who
			for target in 'ip 17 127.0.0.1' 'ip 6 127.0.0.1' 'ip 17 127.9.9.9' 'ip6 17 ::1' 'ip6 6 ::1'; do
				assertTrue "$who, $which: $target left" "grep -q '^$target 7777' '$work/frames'"
			done
		done
		locks both
		leaked $who
		assertEquals "$who, both locks" 0 "$leaked"
		assertTrue 'it was tried' "[ $(wc -l <"$work/attack") -gt 60 ]"
	done
}

test_either_lock_alone_holds_where_nothing_redirects() {
	holds output none
	holds postrouting none
}

test_foreign_dnat_needs_the_second_lock() {
	leaks none dnat
	leaks output dnat
	holds postrouting dnat
	holds both dnat
}

test_foreign_daddr_set_needs_the_second_lock() {
	for hook in 'type route hook output priority -150;' 'type route hook output priority 150;'; do
		leaks none "$hook"
		leaks output "$hook"
		holds postrouting "$hook"
		holds both "$hook"
	done
	for hook in 'type filter hook output priority -150;' 'type filter hook postrouting priority 150;'; do
		leaks none "$hook"
		holds both "$hook"
	done
}

# What only the first lock does: resolvers on loopback, and a refusal that is known at once.
test_resolvers_and_resets_need_the_first_lock() {
	background nsenter -n -t "$cell" python3 "$top/tests/lib/policy_echo.py" "$work/echo" \
		udp:127.0.0.11:53 tcp:127.0.0.11:53
	wait_for 10 grep -q ready "$work/echo"
	for which in none postrouting; do
		locks $which
		assertEquals "$which" 'open open' "$(ask_resolver)"
	done
	for which in output both; do
		locks $which
		assertEquals "$which" 'EPERM ECONNREFUSED' "$(ask_resolver)"
	done
}
ask_resolver() {
	as_user python3 "$top/tests/lib/policy_ask.py" udp:127.0.0.11:53 tcp:127.0.0.11:53 |
		sed 's/.* //' | tr '\n' ' ' | sed 's/ $//'
}

. "$CELL_TEST_SHUNIT2"

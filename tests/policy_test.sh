#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cell-policy: verbs, options and exit codes; what check finds and what it only notes.
# needs: root netns nft jq tc setpriv

. "$(dirname "$0")/lib/cell_test.sh"

# The cell: $cell, its eth0 10.77.0.1/24, joined to $world, 10.77.0.2. A fresh pair for each test.
test_setup() {
	netns_new || return 1
	cell=$pid
	netns_new || return 1
	world=$pid
	netns_join "$cell" eth0 10.77.0.1/24 "$world" peer0 10.77.0.2/24
	mkdir -p "$work/egress"
	chmod 0755 "$work" # for those who are not root
	echo 10.77.0.2 >"$work/egress/proxy-ipv4"
	export CELL_EGRESS_DIR="$work/egress"
}

test_teardown() {
	end_process "$cell"
	end_process "$world"
	unset CELL_EGRESS_DIR CELL_PROXY_HOST CELL_PROXY_PORT CELL_TABLE CELL_LOG_GROUP
	unset CELL_POLICY_WAIT
}

policy() { in_ns "$cell" cell-policy "$@"; }
in_cell() { in_ns "$cell" "$@"; }

# mode WANTED: what show says first.
mode() {
	assertEquals "mode" "mode: $1" "$(policy show | head -n 1)"
}

# rejected TEXT ARGUMENT...: called wrongly, and so nothing was touched.
rejected() {
	rejected_text=$1
	shift
	expect_error 100 "$rejected_text" policy "$@"
	assertEquals 'no table was made' '' "$(in_cell nft list tables)"
}

policy_error() { expect_error "$@"; }

test_called_wrongly_is_100() {
	rejected 'no verb'
	rejected 'unknown verb open' open
	rejected 'allow needs a host: cell-proxy' allow
	rejected 'is not the proxy' allow example.org
	rejected 'is not the proxy' allow cell-proxy example.org
	rejected 'host name' allow ''
	rejected 'host name' allow 'cell-proxy;accept'
	rejected 'port 0 is not in' allow cell-proxy:0
	rejected 'port 65536 is not in' allow cell-proxy:65536
	rejected 'port 80x is not in' allow cell-proxy:80x
	rejected 'another port' allow cell-proxy:8080 cell-proxy:8081
	rejected 'takes no operand now' deny-all now
	rejected 'takes no operand' check cell-proxy cell-proxy
	rejected 'does not go with show' --wait 1 show
	rejected 'does not go with deny-all' --generation 4 deny-all
	rejected 'does not go with check' --dry-run check
	rejected 'does not go with rules' --refuse 127.0.0.12 rules
	rejected 'is not an address' --refuse 127.0.0 deny-all
	rejected 'is not a whole number' --log-group five deny-all
	rejected 'is not in 0 to 65535' --log-group 65536 deny-all
	rejected 'table name' --table 'a_b{' deny-all
	rejected 'gost_egress' --table gost_egress deny-all
	rejected 'unknown option --tabl' --tabl cell_egress deny-all
	rejected 'given twice' --table a_a --table a_a deny-all
	rejected 'is not a number of seconds' --wait soon allow cell-proxy
	rejected 'is not in' --generation 4294967296 check
}

test_environment_is_the_default_and_options_win() {
	export CELL_PROXY_HOST=gate CELL_PROXY_PORT=3128 CELL_TABLE=my_cell CELL_LOG_GROUP=9
	expect 0 policy allow GATE
	assertContains "$out" 'proxy: 10.77.0.2:3128 via eth0'
	assertContains "$(in_cell nft list table inet my_cell)" 'group 9 '
	expect 0 policy --table other_cell --log-group none allow gate:99
	assertContains "$out" 'proxy: 10.77.0.2:99 via eth0'
	assertNotContains "$(in_cell nft list table inet other_cell)" 'log '
	CELL_TABLE='' expect_error 100 'CELL_TABLE is empty' policy show
	CELL_TABLE=Bad expect_error 100 'table name Bad' policy show
	CELL_TABLE=Bad expect 0 policy --table my_cell show
	CELL_PROXY_PORT=http expect_error 100 'CELL_PROXY_PORT http' policy show
}

test_modes_follow_each_other_and_show_reads_the_kernel() {
	mode no-policy
	expect 0 policy deny-all
	assertEquals 'ok: everything is refused' "$(head -n 1 "$work/out")"
	mode deny-all
	expect 0 policy allow cell-proxy
	assertEquals 'ok: only the proxy is allowed' "$(head -n 1 "$work/out")"
	mode proxy-only
	expect 0 policy allow Cell-Proxy:8081 cell-proxy:8081
	assertContains "$(policy show)" 'proxy: 10.77.0.2:8081 via eth0'
	expect 0 policy deny-all
	mode deny-all
	expect 0 policy allow-all
	assertEquals 'ok: no policy is in force' "$(head -n 1 "$work/out")"
	mode no-policy
	expect 0 policy allow-all
	expect 0 policy allow cell-proxy
	in_cell nft flush ruleset
	mode no-policy
	expect 1 policy check
	assertContains "$out" 'differs: there is no table inet cell_egress'
	assertEquals 'no: there is no table inet cell_egress: no policy' "$(head -n 1 "$work/out")"
}

# The text that --dry-run prints is the text that is hashed, and it loads.
test_dry_run_prints_what_is_hashed() {
	expect 0 policy --dry-run allow cell-proxy
	cp "$work/out" "$work/dry"
	mode no-policy
	policy allow cell-proxy >/dev/null
	assertContains "$(policy show)" "ruleset_sha256: $(sha256sum <"$work/dry" | cut -d' ' -f1)"
	in_cell nft delete table inet cell_egress
	in_cell nft -f "$work/dry"
	expect 0 policy check
	# As root of nothing, too: it changes nothing, so it needs nothing.
	expect 0 in_cell setpriv --reuid 65534 --regid 65534 --clear-groups \
		cell-policy --dry-run allow cell-proxy
	assertEquals "$(cat "$work/dry")" "$out"
}

test_rules_are_the_kernels_own_and_load_again() {
	policy allow cell-proxy >/dev/null
	expect 0 policy rules
	cp "$work/out" "$work/rules"
	assertContains "$out" 'refuse_subject'
	in_cell nft delete table inet cell_egress
	in_cell nft -f "$work/rules"
	expect 0 policy check
	expect 0 policy --json rules
	assertContains "$(jq -r .rules "$work/out")" 'refuse_subject'
	policy allow-all >/dev/null
	expect 0 policy rules
	assertEquals '' "$out"
}

test_record_has_every_field() {
	policy allow cell-proxy >/dev/null
	expect 0 policy --json check
	assertEquals 1 "$(wc -l <"$work/out")"
	assertEquals 'tool format version time ok exit trial step mode proxy resolvers counters ruleset_sha256 generation differs notes' \
		"$(jq -r 'keys_unsorted | join(" ")' "$work/out")"
	assertEquals '{"device":"eth0","address":"10.77.0.2","port":8080}' "$(jq -c .proxy "$work/out")"
	assertEquals 'resolver tcp udp icmp other late forward inbound kernel' \
		"$(jq -r '.counters | keys_unsorted | join(" ")' "$work/out")"
	assertEquals '["packets","bytes"]' "$(jq -c '.counters.tcp | keys_unsorted' "$work/out")"
	for verb in show rules deny-all 'allow cell-proxy' allow-all; do
		# shellcheck disable=SC2086 # a verb and its operand
		expect 0 policy --json $verb
		assertEquals "$verb" true "$(jq '.ok and .exit == 0 and (.notes | type) == "array"' "$work/out")"
	done
	expect 1 policy --json check
	assertEquals '["no-policy",1,"no"]' "$(jq -c '[.mode, .exit, .error.kind]' "$work/out")"
	run policy --json --quiet allow nobody
	assertEquals '[100,"usage"]' "$(jq -c '[.exit, .error.kind]' "$work/out")"
	assertEquals '' "$err"
}

test_help_and_version_need_nothing() {
	expect 0 cell-policy --help
	assertContains "$out" 'usage: cell-policy'
	expect 0 cell-policy --version
	CELL_TABLE=Bad expect 0 cell-policy --help
	CELL_PROXY_HOST='a b' expect_error 100 'CELL_PROXY_HOST "a b" has a byte' \
		cell-policy --dry-run deny-all
}

# ---- the published address ----

test_missing_or_malformed_address_is_evidence() {
	policy allow cell-proxy >/dev/null
	before=$(in_cell nft -s list ruleset)
	rm "$work/egress/proxy-ipv4"
	expect_error 103 "cannot open $work/egress/proxy-ipv4: No such file" policy allow cell-proxy
	for bad in '' 10.77.0 '10.77.0.2 ' 010.77.0.2 999.1.1.1 127.0.0.1 0.0.0.0 224.0.0.1 fd00::1; do
		printf %s "$bad" >"$work/egress/proxy-ipv4"
		expect_error 103 "cannot use $work/egress/proxy-ipv4" policy allow cell-proxy
	done
	rm "$work/egress/proxy-ipv4"
	ln -s /etc/hostname "$work/egress/proxy-ipv4"
	expect_error 103 'symbolic link' policy allow cell-proxy
	rm "$work/egress/proxy-ipv4"
	mkfifo "$work/egress/proxy-ipv4"
	expect_error 103 'not a regular file' policy allow cell-proxy
	rm "$work/egress/proxy-ipv4"
	CELL_EGRESS_DIR=$work/nowhere expect_error 103 'No such file' policy allow cell-proxy
	assertEquals 'the policy before is whole' "$before" "$(in_cell nft -s list ruleset)"
}

test_address_without_a_way_is_evidence() {
	echo 192.0.2.77 >"$work/egress/proxy-ipv4"
	expect_error 103 'no route' policy allow cell-proxy
	echo 10.77.0.1 >"$work/egress/proxy-ipv4"
	expect_error 103 'address of the policed namespace itself' policy allow cell-proxy
	in_cell ip route add blackhole 192.0.2.0/24
	echo 192.0.2.77 >"$work/egress/proxy-ipv4"
	expect_error 103 'no route' policy allow cell-proxy
}

# Where there was nothing, what fails to open one way out leaves none open.
test_allow_without_address_closes_what_was_open() {
	rm "$work/egress/proxy-ipv4"
	mode no-policy
	expect_error 103 'No such file' policy allow cell-proxy
	mode deny-all
	expect 0 policy check
	expect 103 policy --json allow cell-proxy
	assertEquals '["deny-all","evidence"]' "$(jq -c '[.mode, .error.kind]' "$work/out")"
	# A policy that somebody made a hole in is no policy.
	in_cell nft insert rule inet cell_egress output accept
	expect_error 103 'No such file' policy allow cell-proxy
	expect 0 policy check
}

test_wait_is_closed_until_the_address_is_there() {
	rm "$work/egress/proxy-ipv4"
	background nsenter -n -t "$cell" cell-policy --wait 20 allow cell-proxy
	waiting=$pid
	wait_for 10 policy check
	mode deny-all
	echo 10.77.0.2 >"$work/egress/.new"
	mv "$work/egress/.new" "$work/egress/proxy-ipv4"
	wait "$waiting"
	assertEquals 'exit of the one that waited' 0 $?
	mode proxy-only
}

test_wait_that_ends_is_99() {
	rm "$work/egress/proxy-ipv4"
	expect_error 99 'No such file' policy --wait 0.1 allow cell-proxy
	mode deny-all
	CELL_POLICY_WAIT=0.1 expect_error 99 'No such file' policy allow cell-proxy
	echo nonsense >"$work/egress/proxy-ipv4"
	expect_error 103 'not a canonical IPv4' policy --wait 5 allow cell-proxy
}

test_device_is_the_routes_not_a_name() {
	in_cell ip link set eth0 down
	in_cell ip link set eth0 name uplink7
	in_cell ip link set uplink7 up
	expect 0 policy allow cell-proxy
	assertContains "$out" 'proxy: 10.77.0.2:8080 via uplink7'
	expect 0 policy check
}

test_device_that_no_rule_can_name_is_unsupported() {
	in_cell ip link set eth0 down
	in_cell ip link set eth0 name 'a"{b'
	in_cell ip link set 'a"{b' up
	expect_error 102 'a name that no rule can hold' policy allow cell-proxy
	mode deny-all
}

# ---- gates ----

test_subject_must_be_here() {
	id=$(readlink "/proc/$cell/ns/net")
	other=$(readlink "/proc/$world/ns/net")
	for subject in "$cell" "/proc/$cell/ns/net" "$id" "$(cell_id)"; do
		expect 0 policy --subject "$subject" deny-all
	done
	policy allow-all >/dev/null
	for subject in "$world" "/proc/$world/ns/net" "$other" "$id 1"; do
		for verb in deny-all allow-all check show rules 'allow cell-proxy'; do
			# shellcheck disable=SC2086 # a verb and its operand
			expect 1 policy --subject "$subject" $verb
			assertEquals "stderr of $verb" '' "$err"
			assertContains "$out" "no: this is $id"
			case $subject in "$id 1") ;; *) assertContains "$out" " is $other)" ;; esac
		done
	done
	for subject in nonsense "$work/egress/proxy-ipv4" /nowhere 4194304; do
		expect_error 103 'cannot identify' policy --subject "$subject" deny-all
	done
	# Without /proc it cannot be told where this is; nothing else needs /proc. (But sanitizers do: they
	# read their options there.)
	for call in "--subject $cell deny-all" "--subject net:[1] deny-all"; do
		# shellcheck disable=SC2086 # options and a verb
		expect_error 103 'cannot identify' in_cell unshare --mount sh -c \
			'umount -l /proc && exec "$@"' sh "$top/build/bin/cell-policy" $call
	done
	assertEquals 'nothing was applied' '' "$(in_cell nft list tables)"
	expect 0 in_cell unshare --mount sh -c 'umount -l /proc && exec "$@"' sh \
		"$top/build/bin/cell-policy" deny-all
	assertContains "$out" 'note: legacy iptables tables cannot be looked for'
}
cell_id() { in_cell cell-nsid --cookie; }

# ---- resolvers ----

test_resolvers_are_refused_by_address() {
	printf '%s\n' '# nameserver 127.0.0.90' 'nameserver 127.0.0.53' ' nameserver 127.0.0.91' \
		'nameserver	127.0.0.54 # x' 'nameserver 127.0.0.1' 'nameserver ::1' \
		'nameserver 10.0.0.1' 'nameserver fe80::1%eth0' 'nameserverx 127.0.0.92' \
		'nameserver ::ffff:127.0.0.60' 'nameserver 127.0.0.11' 'options ndots:0' >"$work/resolv.conf"
	expect 0 policy --resolv-conf "$work/resolv.conf" --refuse 10.9.9.9 --refuse fd00::53 \
		--refuse 10.9.9.9 deny-all
	assertContains "$out" 'resolvers: 10.9.9.9 127.0.0.11 127.0.0.53 127.0.0.54 127.0.0.60 fd00::53
'
	expect 0 policy check
	# From then on the kernel's set is the truth: a file that a subject wrote is not read again.
	echo 'nameserver 127.0.0.99' >"$work/resolv.conf"
	expect 0 policy --resolv-conf "$work/resolv.conf" allow cell-proxy
	assertContains "$out" 'resolvers: 10.9.9.9 127.0.0.11 127.0.0.53 127.0.0.54 127.0.0.60 fd00::53
'
	# An option is the caller's own word: one more is taken, none is ever lost.
	expect 0 policy --refuse 127.0.0.77 allow cell-proxy
	assertContains "$out" ' 127.0.0.77 fd00::53'
	assertContains "$out" ' 127.0.0.53 '
	expect 0 policy --refuse 127.0.0.77 check
	expect 1 policy --refuse 127.0.0.78 check
	assertContains "$out" 'differs: chain output lacks'
	echo 'nameserver 127.0.0.99' >"$work/resolv.conf"
	expect 0 policy --resolv-conf "$work/resolv.conf" --dry-run deny-all
	assertContains "$out" 'ip daddr { 127.0.0.11, 127.0.0.99 } goto refuse_resolver'
	expect_error 100 'among the refused resolvers' policy --refuse 10.77.0.2 allow cell-proxy
	expect 0 policy check
	expect_error 103 'cannot read /nowhere' policy --resolv-conf /nowhere deny-all
	expect_error 103 'cannot read' policy --resolv-conf "$work" deny-all
}

# An image's passwd file may hold a user of the name that the rules have a number for.
test_no_user_of_a_name_changes_a_rule() {
	cp /etc/passwd "$work/passwd"
	echo '4294967295:x:1000:1000::/:/bin/sh' >>"$work/passwd"
	# shellcheck disable=SC2016 # for the inner shell
	with_user='mount --bind "$0" /etc/passwd && exec "$@"'
	# Here it would: the very same rule, by nft.
	in_cell nft 'add table inet user; add chain inet user c'
	in_cell unshare -m sh -c "$with_user" "$work/passwd" \
		nft add rule inet user c meta skuid != 4294967295 accept
	assertContains "$(in_cell nft list table inet user)" 'meta skuid != 1000 accept'
	in_cell nft delete table inet user
	expect 0 in_cell unshare -m sh -c "$with_user" "$work/passwd" cell-policy allow cell-proxy
	assertContains "$(policy rules)" 'meta skuid != 4294967295 jump refuse_subject'
	expect 0 policy check
	expect 0 in_cell unshare -m sh -c "$with_user" "$work/passwd" cell-policy check
}

# ---- what check finds ----

# red TEXT COMMAND...: the change makes check say no and name it; the proper policy is then back.
red() {
	red_text=$1
	shift
	expect 0 policy check
	in_cell "$@" || fail "the mutation itself failed: $*"
	expect 1 policy check
	assertEquals "stderr after: $*" '' "$err"
	case $out in
	*"differs: "*"$red_text"*) ;;
	*) fail "check after: $*: no \"differs: ...$red_text\" in [$out]" ;;
	esac
}
t='inet cell_egress'

# healed: applying again repairs it.
healed() {
	expect 0 policy allow cell-proxy
	expect 0 policy check
}

# handle CHAIN TEXT: of the first rule in CHAIN that has TEXT.
handle() {
	in_cell nft -a list chain inet cell_egress "$1" | grep -F "$2" | sed -n '1s/.*# handle //p'
}

# shellcheck disable=SC2086,SC2016 # $t is two words; the texts of rules have no expansions
test_check_finds_every_changed_rule() {
	policy allow cell-proxy >/dev/null
	red 'accept' nft add rule $t output accept && healed
	red 'accept' nft insert rule $t output tcp dport 53 accept && healed
	red 'accept' nft insert rule $t postrouting accept && healed
	red 'accept' nft insert rule $t input accept && healed
	red 'accept' nft insert rule $t forward accept && healed
	red 'return' nft insert rule $t refuse return && healed
	red 'accept' nft insert rule $t refuse_resolver accept && healed
	red '1001' nft insert rule $t refuse_subject meta skuid 1001 accept && healed
	red 'mark' nft insert rule $t output meta mark set 1 && healed
	red 'counter' nft add rule $t postrouting counter && healed
	for chain in output postrouting input forward refuse refuse_subject refuse_resolver; do
		for number in $(in_cell nft -a list chain $t $chain | sed -n 's/.*[^{] # handle //p'); do
			red "chain $chain lacks" nft delete rule $t $chain handle "$number"
			healed
			break
		done
		red "chain $chain lacks" nft flush chain $t $chain && healed
	done
}

# shellcheck disable=SC2086 # $t is two words
test_check_finds_rules_edited_or_in_another_order() {
	policy allow cell-proxy >/dev/null
	red 'oif "eth0" accept' nft replace rule $t output handle "$(handle output 'oif "lo"')" \
		oif eth0 accept && healed
	red 'oifname "lo" accept' nft replace rule $t output handle "$(handle output 'oif "lo"')" \
		oifname lo accept && healed
	red 'fib' nft replace rule $t postrouting handle "$(handle postrouting 'oif "lo"')" \
		fib daddr type local accept && healed
	red 'goto refuse_resolver' nft replace rule $t output handle "$(handle output 127.0.0.11)" \
		ip daddr 127.0.0.12 goto refuse_resolver && healed
	red '!= 0 jump' nft replace rule $t refuse handle "$(handle refuse jump)" \
		meta skuid != 0 jump refuse_subject && healed
	red 'reject' nft replace rule $t refuse_subject handle "$(handle refuse_subject refused_tcp)" \
		meta l4proto tcp counter name refused_tcp reject && healed
	red 'group 6' nft replace rule $t refuse handle "$(handle refuse kernel)" \
		log prefix '"kernel"' group 6 snaplen 256 counter name kernel drop && healed
	red 'another order' sh -c "nft delete rule $t output handle $(handle output 'oif "lo"') &&
		nft insert rule $t output oif lo accept" && healed
	red 'has what we never write: goto refuse' nft add rule $t output goto refuse && healed
}

# shellcheck disable=SC2086 # $t is two words
test_check_finds_changed_chains_sets_and_tables() {
	policy allow cell-proxy >/dev/null
	for chain in output postrouting forward input; do
		red 'policy accept' nft add chain $t $chain '{ policy accept; }' && healed
	done
	red 'priority 2147483645' sh -c "nft delete chain $t postrouting &&
		nft add chain $t postrouting '{ type filter hook postrouting priority 2147483645; policy drop; }'" && healed
	red 'hook prerouting' sh -c "nft delete chain $t input &&
		nft add chain $t input '{ type filter hook prerouting priority 0; policy drop; }'" && healed
	red 'type route' sh -c "nft flush chain $t output && nft delete chain $t output &&
		nft add chain $t output '{ type route hook output priority 0; policy drop; }'" && healed
	red 'chain forward is missing' nft delete chain $t forward && healed
	red 'chain extra is not ours' nft add chain $t extra && healed
	red 'chain early is not ours' nft add chain $t early \
		'{ type filter hook output priority -200; policy accept; }' && healed
	red 'set more is not ours' nft add set $t more '{ type ipv4_addr; }' && healed
	red 'map more is not ours' nft add map $t more '{ type ipv4_addr : verdict; }' && healed
	red 'counter more is not ours' nft add counter $t more && healed
	red 'elements' nft add element $t proxy4 '{ "eth0" . 10.77.0.9 . 8080 }' && healed
	red 'elements' nft add element $t proxy4 '{ "eth0" . 10.77.0.2 . 22 }' && healed
	for other in '"eth0" . 10.77.0.9 . 8080' '"eth1" . 10.77.0.2 . 8080' '"eth0" . 10.77.0.2 . 81'; do
		red "$other" nft "flush set $t proxy4; add element $t proxy4 { $other }" && healed
	done
	policy --refuse 127.0.0.53 allow cell-proxy >/dev/null
	red 'dormant' nft add table $t '{ flags dormant; }'
	mode unknown
	healed
	assertContains "$(policy show)" 'resolvers: 127.0.0.11 127.0.0.53'
	in_cell nft delete table $t
	policy allow cell-proxy >/dev/null
	red 'there is no table' nft delete table $t && healed
	# Somebody else's dormant table is not ours to wake up.
	in_cell nft "delete table $t; add table $t { flags dormant; }"
	expect_error 100 "somebody else's" policy deny-all
	in_cell nft delete table $t
	policy allow cell-proxy >/dev/null
	# In deny-all any element is one too many, and the mode is what the set says.
	policy deny-all >/dev/null
	in_cell nft add element $t proxy4 '{ "eth0" . 10.77.0.9 . 8080 }'
	expect 1 policy check
}

test_check_finds_ways_around_netfilter() {
	policy allow cell-proxy >/dev/null
	red 'chain ip late POST comes at or after' nft 'table ip late {
		chain POST { type filter hook postrouting priority 2147483646; }
	}'
	in_cell nft delete table ip late
	red 'chain inet late POST comes at or after' nft 'table inet late {
		chain POST { type filter hook postrouting priority 2147483647; }
	}'
	in_cell nft delete table inet late
	red 'table netdev around' nft 'table netdev around {
		chain out { type filter hook ingress device "eth0" priority 0; }
	}'
	in_cell nft delete table netdev around
	red 'table netdev around' nft 'add table netdev around'
	in_cell nft delete table netdev around
	red 'hooks a device' nft 'table inet around {
		chain in { type filter hook ingress device "eth0" priority 0; }
	}'
	in_cell nft delete table inet around
	for device in eth0 lo; do
		for kind in clsact ingress; do
			red "device $device has a $kind qdisc" tc qdisc add dev $device $kind
			in_cell tc qdisc del dev $device $kind
		done
	done
	# Filters sit on other qdiscs too; not every kernel has one that takes them.
	if in_cell tc qdisc add dev eth0 root handle 1: htb 2>/dev/null; then
		red 'device eth0 has traffic-control filters' tc filter add dev eth0 parent 1: \
			protocol ip u32 match u32 0 0 flowid 1:1
		in_cell tc qdisc del dev eth0 root
	fi
	red 'has an XDP program' "$top/build/test/lib/attach_program" xdp eth0
	in_cell "$top/build/test/lib/attach_program" off eth0
	for device in eth0 lo; do
		for side in ingress egress; do
			in_cell setpriv --pdeathsig KILL "$top/build/test/lib/attach_program" "tcx-$side" $device &
			holder=$!
			wait_for 10 has_differences "$device has 1 tcx"
			expect 1 policy check
			assertContains "$out" "differs: device $device has 1 tcx or netkit programs"
			kill -KILL $holder
			wait $holder 2>/dev/null
			wait_for 10 policy check
		done
	done
	expect 0 policy check
}
has_differences() { policy show | grep -q "$1"; }

# Where bpf is refused, in a user namespace of its own for one, a note says what was not looked at.
test_check_notes_that_it_cannot_ask_for_programs() {
	run unshare -Urn sh -c 'cell-policy deny-all >/dev/null && cell-policy check'
	assertEquals "$err" 0 "$status"
	assertContains "$out" 'note: tcx programs cannot be asked for here'
}

test_check_finds_a_moved_generation() {
	policy allow cell-proxy >/dev/null
	number=$(policy --json check | jq .generation)
	expect 0 policy --generation "$number" check
	policy show >/dev/null
	policy rules >/dev/null
	in_cell nft list ruleset >/dev/null
	expect 0 policy --generation "$number" check
	in_cell nft add table ip passing
	in_cell nft delete table ip passing
	expect 1 policy --generation "$number" check
	assertContains "$out" "differs: the generation is $((number + 2)), not $number"
	expect 0 policy check
}

test_check_compares_with_what_is_published() {
	policy allow cell-proxy >/dev/null
	echo 10.77.0.3 >"$work/egress/proxy-ipv4"
	expect 1 policy check
	assertContains "$out" 'lacks: elements = { "eth0" . 10.77.0.3 . 8080 }'
	assertContains "$out" 'proxy: 10.77.0.2:8080 via eth0'
	rm "$work/egress/proxy-ipv4"
	expect_error 103 'No such file' policy check
	in_cell nft add rule inet cell_egress output accept
	expect 1 policy check # a no needs no more evidence
	in_cell nft flush ruleset
	echo 10.77.0.2 >"$work/egress/proxy-ipv4"
	policy allow cell-proxy:99 >/dev/null
	expect 1 policy check
	expect 0 policy check cell-proxy:99
	policy deny-all >/dev/null
	rm "$work/egress/proxy-ipv4"
	expect 0 policy check # nothing is allowed, so nothing is compared
}

# ---- others in the namespace ----

test_others_rules_are_noted_and_left_alone() {
	in_cell nft 'table ip docker-dns {
		chain out { type nat hook output priority -100; ip daddr 127.0.0.11 udp dport 53 dnat to 127.0.0.11:40053; }
		chain post { type nat hook postrouting priority 100; }
	}
	table inet accepting {
		chain out { type filter hook output priority 300; accept; }
	}
	table ip6 other {
		set numbers { type inet_service; elements = { 1, 2 }; }
	}'
	in_cell iptables-nft -A OUTPUT -m comment --comment theirs -j ACCEPT 2>/dev/null
	in_cell iptables-legacy -t nat -A OUTPUT -d 127.0.0.11 -p udp --dport 53 -j DNAT --to 127.0.0.11:5 2>/dev/null
	legacy=$(in_cell iptables-legacy-save -t nat | grep '^-A')
	for table in 'ip docker-dns' 'inet accepting' 'ip6 other' 'ip filter'; do
		# shellcheck disable=SC2086 # a family and a name
		in_cell nft list table $table
	done >"$work/before" 2>&1
	expect 0 policy allow cell-proxy
	expect 0 policy check
	assertContains "$out" 'note: foreign chain ip docker-dns out: type nat hook output priority -100'
	assertContains "$out" 'note: foreign chain inet accepting out: type filter hook output priority 300'
	assertContains "$out" 'note: table ip filter holds rules of iptables-nft'
	assertContains "$out" 'note: legacy iptables tables, which nftables does not list: nat'
	policy deny-all >/dev/null
	policy allow-all >/dev/null
	for table in 'ip docker-dns' 'inet accepting' 'ip6 other' 'ip filter'; do
		# shellcheck disable=SC2086 # a family and a name
		in_cell nft list table $table
	done >"$work/after" 2>&1
	assertEquals "$(cat "$work/before")" "$(cat "$work/after")"
	assertEquals "$legacy" "$(in_cell iptables-legacy-save -t nat | grep '^-A')"
}

test_somebody_elses_table_of_our_name_is_not_touched() {
	in_cell nft 'table inet cell_egress {
		chain theirs { type filter hook input priority 0; }
	}'
	before=$(in_cell nft list ruleset)
	mode unknown
	for verb in deny-all allow-all 'allow cell-proxy'; do
		# shellcheck disable=SC2086 # a verb and its operand
		expect_error 100 "somebody else's (chain theirs is not ours)" policy $verb
	done
	expect 1 policy check
	assertContains "$out" 'differs: chain theirs is not ours'
	assertEquals "$before" "$(in_cell nft list ruleset)"
	expect 0 policy --table our_cell deny-all
	expect 0 policy --table our_cell check
	assertContains "$(in_cell nft list ruleset)" 'chain theirs'
	# An ip table of the name is not ours either, and an empty inet one is nobody's.
	in_cell nft 'flush ruleset; add table ip cell_egress; add table inet cell_egress'
	mode unknown
	expect 0 policy deny-all
	expect 0 policy check
}

test_applying_again_changes_nothing() {
	policy allow cell-proxy >/dev/null
	before=$(policy --json show | jq -c '[.generation, .ruleset_sha256]')
	for _ in 1 2 3; do expect 0 policy allow cell-proxy; done
	assertEquals "$before" "$(policy --json show | jq -c '[.generation, .ruleset_sha256]')"
	# A change of mode keeps the counters: it is a change of the set alone.
	in_cell nft add rule inet cell_egress forward drop
	policy allow cell-proxy >/dev/null
	run in_cell python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("10.77.0.2", 9))'
	assertContains "$(policy show)" 'refused_udp: 1 packets'
	policy deny-all >/dev/null
	assertContains "$(policy show)" 'refused_udp: 1 packets'
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns
# A cell on a real Docker engine from nothing, with share/cell/compose/cell.yaml over a user's file:
# what is open before the seal, that the probes can see a leak, and that nothing is open after it.
# The tests stand in the order of a trial's life, each goes on from where the one before left.
. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/docker.sh"
# shellcheck disable=SC2154 # engine, docker_reason come from docker.sh; out, status, work from run

test_file_setup() {
	cat >"$work/user.yaml" <<-'END'
		services:
		  main:
		    image: main
		    command: [sleep, infinity]
		    stop_signal: SIGKILL
		  sibling:
		    image: main
		    command: [python3, -u, /test/docker_sibling.py]
		    volumes: ["${CELL_TEST_LIB}:/test:ro"]
		    stop_signal: SIGKILL
		  # Two subjects that the gate must refuse. This one stayed in a namespace of its own:
		  outsider:
		    image: main
		    command: [sleep, infinity]
		    cap_drop: [NET_RAW]
		    stop_signal: SIGKILL
		    volumes: ["${CELL_TEST_TOOLS}:/opt/cell:ro"]
		  # This one shows empty sets, but the bounding one gives NET_RAW back to a program that asks.
		  bounded:
		    image: main
		    command: [sleep, infinity]
		    network_mode: "service:cell"
		    user: "1000"
		    stop_signal: SIGKILL
		    volumes: ["${CELL_TEST_TOOLS}:/opt/cell:ro"]
	END
	docker_start || return 0
	docker_images
	compose up -d cell sibling >"$work/up" 2>&1
	cell=$(compose_id cell)
	cell_pid=$(container_pid "$cell")
	proxy_address=$(container_address "$(compose_id proxy)")
	sibling_address=$(container_address "$(compose_id sibling)")
	gateway=$(in_cell_namespace ip -o route show default | cut -d ' ' -f 3)
	# A stand-in for the subject, in the same place, before the seal.
	docker run -d --name before --network "container:$cell" --cap-drop NET_RAW \
		-v "$top/tests/lib:/test:ro" main >/dev/null
	# Docker switches IPv6 off in such a network; a seal must not lean on that.
	in_cell_namespace sh -c 'cd /proc/sys/net/ipv6/conf && for knob in accept_dad disable_ipv6; do
		for device in *; do echo 0 >"$device/$knob"; done; done'
	bridge=br-$(docker network inspect -f '{{slice .Id 0 12}}' cell_default)
	mac=$(in_cell_namespace ip -o link show eth0 | sed 's/.*ether \([0-9a-f:]*\) .*/\1/')
}

test_file_teardown() { docker_stop; }

test_setup() {
	[ -z "$docker_reason" ] || skip "$docker_reason"
}

# A test of what a sealed cell does needs one.
need_main() {
	[ -n "${main:-}" ] && return
	fail 'there is no sealed cell to try'
	return 1
}

# Without CELL_BUNDLE: the tools come from the images, through a volume.
compose() {
	host env CELL_TEST_TOOLS="$top/build/bundle/opt/cell" CELL_TEST_LIB="$top/tests/lib" \
		CELL_HEALTH_INTERVAL=1s CELL_ALLOW_PRIVATE=203.0.113.0/24 CELL_TRIAL=0123abcd \
		docker-compose -p cell -f "$work/user.yaml" -f "$top/share/cell/compose/cell.yaml" "$@"
}
compose_id() { container cell "$1"; }
container_pid() { docker inspect -f '{{.State.Pid}}' "$1"; }
container_address() { docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$1"; }
in_cell_namespace() { host nsenter -n -t "$cell_pid" "$@"; }

# attack WORD CONTAINER WAYS [EXEC OPTION...]: those ways ("" is all), one line each in $work/WORD.ways; what the cell's
# device put on the wire meanwhile, but for ARP and TCP to the proxy, in $work/WORD.wire.
attack() {
	attack_word=$1 attack_container=$2 attack_only=$3
	shift 3
	host_background tcpdump -i "$bridge" -Z root -l -n -A -s 200 "ether src $mac and not arp and not
		(tcp and dst host $proxy_address and dst port 8080)" >"$work/$attack_word.wire" 2>"$work/sniffer"
	wait_for 10 grep -q 'listening on' "$work/sniffer"
	docker exec "$@" "$attack_container" python3 /test/docker_adversary.py "$attack_word" \
		gateway="$gateway" sibling="$sibling_address" proxy="$proxy_address" \
		only="$attack_only" >"$work/$attack_word.ways"
	sleep 0.3
	host kill "$host_pid"
	wait_for 5 grep -q 'captured' "$work/sniffer"
}

# The ways that get an answer where nothing forbids it; those that only the outside's log shows; and
# those that only the wire shows.
ways_open='web_tcp web_http web_udp names_udp names_tcp web_icmp gateway_icmp sibling_tcp sibling_udp
	sibling_icmp proxy_icmp resolver_udp resolver_txt resolver_tcp resolver_port_udp resolver_port_tcp
	resolver_mapped resolver_mapped_tcp resolver_from_loopback resolver_connected resolver_libc
	priority record_route mptcp fragments fast_open ipv6_mapped abstract_unix'
ways_logged='device-bound device-unicast-if device-pktinfo'
ways_wire='proxy_udp dont_route broadcast multicast udplite ipv6_multicast ipv6_icmp'

test_before_the_seal_every_way_is_open() {
	run docker exec before curl -sS --noproxy '*' https://world.example/before-direct
	assertEquals "$err" 'the world outside' "$out"
	docker exec -d before python3 -c 'import socket, time
door = socket.socket(socket.AF_UNIX)
door.bind("\0door")
door.listen()
time.sleep(1000)'
	wait_for 5 in_cell_namespace grep -q @door /proc/net/unix
	attack before before ''
	for way in $ways_open; do
		assertContains "$way" "$(cat "$work/before.ways")" "$way open"
	done
	for way in $ways_logged; do
		assertTrue "$way in the log" "world_heard before-$way.world.example"
	done
	for way in $ways_wire; do
		assertTrue "$way on the wire" "grep -q -e before-$way -e before-$(echo "$way" | tr _ -) '$work/before.wire'"
	done
	assertTrue 'IGMP on the wire' "grep -q 'igmp' '$work/before.wire'"
}

# mutant EDIT: the policy, changed, in the cell.
mutant() {
	docker run --rm --network "container:$cell" --cap-add NET_ADMIN -v cell_cell-egress:/opt/cell-egress:ro \
		cell cell-policy --dry-run allow cell-proxy >"$work/policy.nft"
	sed "$1" "$work/policy.nft" >"$work/mutant.nft"
	assertFalse 'the mutant is one' "cmp -s '$work/policy.nft' '$work/mutant.nft'"
	in_cell_namespace nft -f "$work/mutant.nft"
}

test_a_policy_without_the_resolver_rule_leaks() {
	mutant '/goto refuse_resolver/d'
	attack mutant1 before resolver_udp,resolver_port_tcp,web_udp
	assertContains "$(cat "$work/mutant1.ways")" 'resolver_udp open'
	assertContains "$(cat "$work/mutant1.ways")" 'resolver_port_tcp open'
	assertContains "$(cat "$work/mutant1.ways")" 'web_udp refused'
	assertTrue 'by udp' 'world_heard mutant1-resolver-udp.world.example'
	assertTrue 'by tcp' 'world_heard mutant1-resolver-port-tcp.world.example'
	assertEquals 'nothing on the wire: the engine asks from outside' '' "$(grep mutant1 "$work/mutant1.wire")"
	in_cell_namespace nft delete table inet cell_egress
}

test_a_policy_that_trusts_local_addresses_leaks() {
	mutant '/chain postrouting/,/^	}/d; s/oif "lo" accept/fib daddr type local accept/'
	attack mutant2 before resolver_udp,device_bound,device_unicast_if,device_pktinfo
	assertContains "$(cat "$work/mutant2.ways")" 'resolver_udp refused'
	for way in $ways_logged; do
		assertTrue "$way in the log" "world_heard mutant2-$way.world.example"
	done
	in_cell_namespace nft delete table inet cell_egress
}

test_a_seal_that_says_no_starts_no_main() {
	# An administrator's table that could let frames past the policy.
	in_cell_namespace nft add table netdev around
	expect 1 compose up -d main
	assertEquals 1 "$(docker inspect -f '{{.State.ExitCode}}' "$(container cell seal)")"
	assertContains "$(docker logs "$(container cell seal)")" netdev
	# Compose 1 does not make it; Compose 2 makes it and does not start it.
	created=$(container cell main)
	[ -z "$created" ] || assertEquals created "$(docker inspect -f '{{.State.Status}}' "$created")"
	in_cell_namespace nft delete table netdev around
	in_cell_namespace nft delete table inet cell_egress
	docker rm -f before >/dev/null
}

test_sealed() {
	expect 0 compose up -d main outsider bounded
	[ "$status" -eq 0 ] || docker logs "$(container cell seal)" | tail -n 3
	main=$(compose_id main)
	main_pid=$(container_pid "$main")
	seal_log=$(docker logs "$(container cell seal)")
	steps=$(printf '%s\n' "$seal_log" | jq -r 'select(.exit == 0 and .trial == "0123abcd") | .step' | uniq)
	assertContains "$steps" pin
	assertContains "$steps" policy
	assertContains "$steps" check
	docker exec "$main" mkdir /test
	docker cp "$top/tests/lib/docker_adversary.py" "$main:/test/"
}

test_sealed_the_proxy_serves() {
	need_main || return 0
	run docker exec "$main" curl -fsS https://world.example/sealed-https
	assertEquals "$err" 'the world outside' "$out"
	run docker exec -u 1000 "$main" curl -fsS http://world.example/sealed-http
	assertEquals "$err" 'the world outside' "$out"
	run docker exec "$main" curl -fsS --cacert /etc/ssl/certs/ca-certificates.crt https://world.example/
	assertEquals 'not the world itself, but the cell answers for it' 60 "$status"
	assertTrue 'world_heard "GET /sealed-https"'
	docker exec "$(compose_id proxy)" cat /var/lib/cell-publish/hits.jsonl >"$work/hits"
	assertEquals allowed "$(jq -r 'select(.event == "request" and .path == "/sealed-https") | .decision' "$work/hits")"
}

sealed() {
	for way in $ways_open; do
		assertTrue "$way [$(grep "^$way " "$work/$1.ways")]" "grep -q '^$way refused' '$work/$1.ways'"
	done
	assertEquals '' "$(grep -w open "$work/$1.ways")"
	assertEquals 'as many ways as before' "$(wc -l <"$work/before.ways")" "$(wc -l <"$work/$1.ways")"
	assertEquals 'on the wire' '' "$(cat "$work/$1.wire")"
	assertFalse 'outside' "world_heard $1-"
}

test_sealed_nothing_else_leaves_as_root() {
	need_main || return 0
	attack root "$main" ''
	sealed root
}

test_sealed_nothing_else_leaves_as_a_user() {
	need_main || return 0
	attack user "$main" '' -u 1000
	sealed user
}

# What an engine leaves open there differs; what is said of cell-exec is the same for all.
test_the_last_link_closes_the_doors_that_packets_do_not_go_through() {
	need_main || return 0
	doors=vsock,io_uring,request_key,xdp,packet,user_namespace
	docker exec "$main" python3 /test/docker_adversary.py doors only=$doors >"$work/doors"
	assertContains "without it: $(cat "$work/doors")" "$(cat "$work/doors")" ' sent'
	for user in 0 1000; do
		unprivileged=
		[ "$user" = 0 ] || unprivileged=--unprivileged
		# shellcheck disable=SC2086 # one word or none
		run docker exec -u "$user" "$main" /opt/cell/bin/cell-exec --caps keep $unprivileged -- \
			python3 /test/docker_adversary.py doors only=$doors
		assertEquals "uid $user: $out $err" 6 "$(printf '%s\n' "$out" | grep -c ' denied ')"
	done
}

test_refusals_are_counted_and_recorded() {
	need_main || return 0
	docker run --rm --network "container:$cell" --cap-add NET_ADMIN -v cell_cell-egress:/opt/cell-egress:ro \
		cell cell-policy --json show >"$work/policy"
	for class in resolver tcp udp icmp other; do
		assertTrue "$class" "jq -e '.counters.$class.packets > 0' '$work/policy'"
	done
	assertContains "$(docker logs "$cell")" root-resolver-udp.world.example
}

# record CONTAINER TOOL...: one record, and the same exit code in it as docker exec's.
record() {
	run docker exec "$@" --json
	assertEquals "a record of $*: $out" "$status" "$(printf '%s' "$out" | jq -r .exit)"
}

test_the_gate_admits_main_and_refuses_two_others() {
	need_main || return 0
	record "$main" /opt/cell/bin/cell-capcheck
	assertEquals 0 "$status"
	record -u 1000 "$main" /opt/cell/bin/cell-capcheck
	assertEquals 0 "$status"
	expect 0 host cell-capcheck --pid "$main_pid"
	expect 0 host cell-nsid --same "$main_pid" "$cell_pid"
	policed=$(host cell-nsid --pid "$cell_pid" --cookie)
	record "$main" /opt/cell/bin/cell-nsid --same "$policed" /proc/self/ns/net
	assertEquals "$out" 0 "$status"

	outsider=$(compose_id outsider)
	record "$outsider" /opt/cell/bin/cell-capcheck
	assertEquals 0 "$status"
	expect 1 host cell-nsid --same "$(container_pid "$outsider")" "$cell_pid"
	record "$outsider" /opt/cell/bin/cell-nsid --same "$policed" /proc/self/ns/net
	assertEquals "$out" 1 "$status"
	expect 1 in_cell_namespace env CELL_EGRESS_DIR="/proc/$main_pid/root/opt/cell-egress" \
		cell-policy --subject "$(container_pid "$outsider")" check
	expect 0 in_cell_namespace env CELL_EGRESS_DIR="/proc/$main_pid/root/opt/cell-egress" \
		cell-policy --subject "$main_pid" check

	bounded=$(compose_id bounded)
	expect 0 host cell-nsid --same "$(container_pid "$bounded")" "$cell_pid"
	record "$bounded" /opt/cell/bin/cell-capcheck
	assertEquals 1 "$status"
	assertEquals 'bounding cap_net_raw' "$(printf '%s' "$out" | jq -r '.held[] | "\(.set) \(.capability)"')"
	expect 1 host cell-capcheck --pid "$(container_pid "$bounded")"
}

test_the_subject_sees_the_certificate_and_the_address_only() {
	need_main || return 0
	assertEquals 'mitmproxy-ca-cert.pem proxy-ipv4' "$(docker exec "$main" ls -A /opt/cell-egress | xargs)"
	assertEquals "$proxy_address" "$(docker exec "$main" cat /opt/cell-egress/proxy-ipv4)"
	key='BEGIN [A-Z ]*PRIVATE KEY'
	# What to look for is there, where the proxy is.
	assertContains "$(docker exec "$(compose_id proxy)" ls -A /var/lib/cell-publish | xargs)" 'hits.jsonl mitmproxy-ca.pem'
	assertTrue "docker exec $(compose_id proxy) sh -c 'cat /var/lib/cell-publish/*' | grep -q '$key'"
	assertEquals '' "$(docker exec "$main" find / -xdev \( -name hits.jsonl -o -name mitmproxy-ca.pem \))"
	assertEquals '' "$(docker exec "$main" grep -rlE "$key" /opt/cell-egress /opt/cell/share)"
	assertEquals '' "$(docker exec "$main" sh -c 'cat /proc/mounts' | grep cell-state)"
	expect 2 docker exec "$main" sh -c 'echo 198.51.100.1 >/opt/cell-egress/proxy-ipv4'
	assertContains "$err" 'Read-only file system'
}

# policy VERB...: as a harness would, in the namespace.
policy() {
	docker run --rm --network "container:$cell" --cap-add NET_ADMIN -v cell_cell-egress:/opt/cell-egress:ro \
		cell cell-policy "$@"
}

test_deny_all_is_not_answered_with_proxy_access() {
	need_main || return 0
	expect 0 policy deny-all
	expect 7 docker exec "$main" curl -sS --max-time 5 https://world.example/denied
	assertFalse 'world_heard denied'
	# The first allow needs neither a resolver nor a memory of the address.
	expect 0 policy allow cell-proxy
	expect 0 docker exec "$main" curl -fsS https://world.example/allowed
	assertTrue 'world_heard allowed'
	expect 100 policy allow other-proxy
}

test_up_again_seals_again_and_opens_nothing() {
	need_main || return 0
	expect 0 compose up -d main
	assertEquals "$main" "$(compose_id main)"
	steps=$(docker logs "$(compose_id seal)" | jq -r .step | tail -n 9 | uniq | xargs)
	assertEquals 'pin policy kept closed check' "$steps"
	in_cell_namespace python3 "$top/tests/lib/docker_adversary.py" reseal only=resolver_udp,web_udp >/dev/null
	assertFalse 'world_heard reseal-'
	expect 0 docker exec "$main" curl -fsS https://world.example/
}

. "$CELL_TEST_SHUNIT2"

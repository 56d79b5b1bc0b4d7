#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns strace python3 openssl jq
# cell-probe and cell-proxycheck in an image that wants to get into them: they open and connect to
# nothing but what they are told to, and run nobody's code.

# In a network namespace of its own: it has servers at ports that it names.
[ -n "${probe_hostile_inside:-}" ] ||
	exec env probe_hostile_inside=1 unshare --net -- "$0" "$@"

. "$(dirname "$0")/lib/cell_test.sh"
. "$top/tests/lib/hostile_root.sh"

test_file_setup() {
	ip link set lo up
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj '/CN=ours' \
		-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign \
		-keyout "$work/key" -out "$work/ca" 2>"$work/openssl"
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$work/site.key" \
		-subj /CN=site -out "$work/request" 2>"$work/openssl"
	echo subjectAltName=DNS:site.test >"$work/extensions"
	openssl x509 -req -in "$work/request" -CA "$work/ca" -CAkey "$work/key" -CAcreateserial \
		-extfile "$work/extensions" -out "$work/site.crt" 2>"$work/openssl"
	cat "$work/site.key" "$work/site.crt" >"$work/site.pem"
	background /usr/bin/python3 "$top/tests/lib/toy_proxy.py" 127.0.0.1 \
		"tls:8080:$work/site.pem,200" >"$work/ready"
	wait_for 10 grep -q ready "$work/ready" || fail 'no toy proxy'
}

test_setup() {
	hostile_root_new
	mkdir -p "$hostile/opt/cell-egress"
	cp "$work/ca" "$hostile/opt/cell-egress/mitmproxy-ca-cert.pem"
	echo 192.0.2.66 >"$hostile/opt/cell-egress/proxy-ipv4"
}

test_the_probe_opens_what_it_names_and_runs_nothing() {
	# Without a policy somebody may be asked anything; the usual targets are all local here.
	hostile_root_run 'open /opt/cell-egress/proxy-ipv4' 'open /etc/resolv.conf' 'open /etc/hosts' \
		'open /etc/nsswitch.conf' 'connect AF_NETLINK' 'connect inet:127.0.0.1:*' \
		'connect inet:127.0.0.9:53' 'connect inet:127.0.0.11:53' 'connect inet:192.0.2.66:8080' \
		-- "$top/build/bin/cell-probe" --json --timeout 0.3
	assertEquals "exit [$err]" 0 "$status"
	assertEquals unusable "$(jq -r 'select(.target == "tcp://192.0.2.66:8080") | .result' "$work/out")"
	assertEquals open "$(jq -r 'select(.target == "loopback:") | .result' "$work/out")"
	assert_hostile_root_clean cell-probe
	# What nsswitch.conf names first is told, and not asked.
	assertContains "$(jq -r 'select(.target == "name:cell-proxy") | .detail' "$work/out")" \
		'asks others before'
}

test_a_comparison_opens_the_two_files() {
	cell-probe --json loopback: >"$hostile/before"
	hostile_root_run 'open /before' -- "$top/build/bin/cell-probe" --compare /before /before
	assertEquals "exit [$err]" 0 "$status"
	assert_hostile_root_clean cell-probe
}

test_the_check_of_the_proxy_loads_no_configuration() {
	hostile_root_run 'open /opt/cell-egress/mitmproxy-ca-cert.pem' 'connect inet:127.0.0.1:8080' \
		-- "$top/build/bin/cell-proxycheck" --proxy 127.0.0.1:8080 https://site.test/
	assertEquals "exit [$err]" 0 "$status"
	assertEquals audited "$(head -n 1 "$work/out")"
	assert_hostile_root_clean cell-proxycheck
	hostile_root_run 'open /opt/cell-egress/*' 'connect inet:192.0.2.66:8080' \
		-- "$top/build/bin/cell-proxycheck" https://site.test/
	assertContains "$out" unreachable
	assert_hostile_root_clean cell-proxycheck
}

test_the_proxys_name_is_found_in_the_hosts_file_alone() {
	printf '127.0.0.1 localhost\n127.0.0.1 cell-proxy\n' >"$hostile/etc/hosts"
	hostile_root_run 'open /opt/cell-egress/mitmproxy-ca-cert.pem' 'open /etc/hosts' \
		'connect inet:127.0.0.1:8080' -- "$top/build/bin/cell-proxycheck" \
		--proxy cell-proxy:8080 https://site.test/
	assertEquals "exit [$err]" 0 "$status"
	assert_hostile_root_clean cell-proxycheck
	hostile_root_run 'open /opt/cell-egress/*' 'open /etc/hosts' -- "$top/build/bin/cell-proxycheck" \
		--proxy elsewhere:8080 https://site.test/
	assertEquals "exit [$err]" 103 "$status"
	assert_hostile_root_clean cell-proxycheck
}

. "$CELL_TEST_SHUNIT2"

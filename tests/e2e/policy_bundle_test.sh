#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The bundle in an image that is not Debian's: a root of busybox and nothing else, /opt/cell bound
# in, and cell-policy bound in the place of a harness's network-policy script. That script's calls
# are made in its order, at a start before any proxy exists too.
# needs: root netns busybox nft

. "$(dirname "$0")/../lib/cell_test.sh"

bundle=$top/build/bundle/opt/cell

test_setup() {
	netns_new || return 1
	cell=$pid
	netns_new || return 1
	world=$pid
	netns_join "$cell" eth0 10.77.0.1/24 "$world" peer0 10.77.0.2/24
	root=$work/root
	mkdir -p "$root/bin" "$root/proc" "$root/opt/cell" "$root/opt/cell-egress" \
		"$root/usr/local/bin" "$root/usr/lib"
	cp /bin/busybox "$root/bin/busybox"
	for applet in sh grep head cat sleep tail; do ln -sf busybox "$root/bin/$applet"; done
	: >"$root/usr/local/bin/network-policy"
	# The harness's entrypoint, as far as it concerns us: policy first, then wait to be stopped.
	cat >"$root/entrypoint" <<'EOS'
#!/bin/sh
set -e
network-policy $START 2>&1
echo started
EOS
	chmod 0755 "$root/entrypoint"
	rm -f "$root/opt/cell-egress/proxy-ipv4"
}

test_teardown() {
	end_process "$cell"
	end_process "$world"
	rm -rf "$work/root"
}

# image COMMAND...: in the cell's network namespace and that root.
image() {
	# shellcheck disable=SC2016 # for the inner shell
	in_ns "$cell" unshare --mount --propagation private sh -ec '
		root=$1 bundle=$2
		shift 2
		mount --bind "$bundle" "$root/opt/cell"
		mount --bind "$bundle/bin/cell-policy" "$root/usr/local/bin/network-policy"
		mount --rbind /proc "$root/proc"
		exec env -i PATH=/usr/local/bin:/bin CELL_POLICY_WAIT="${CELL_POLICY_WAIT:-0}" \
			START="${START:-}" /usr/sbin/chroot "$root" "$@"' sh "$root" "$bundle" "$@"
}

publish() { echo 10.77.0.2 >"$root/opt/cell-egress/.new" && mv "$root/opt/cell-egress/.new" "$root/opt/cell-egress/proxy-ipv4"; }

test_image_is_not_debians() {
	expect 127 image /bin/sh -c '/usr/bin/nft --version'
	assertFalse 'a C library' "[ -e '$root/lib64' ] || [ -e '$root/lib' ]"
	expect 0 image network-policy --version
	# Without the bundle's libraries it would not run: the loader is the bundle's own.
	assertContains "$(readelf -l "$bundle/bin/cell-policy")" \
		'interpreter: /opt/cell/lib/ld-linux-x86-64.so.2'
}

test_every_tool_runs_there() {
	for tool in "$bundle"/bin/cell-*; do
		expect 0 image "/opt/cell/bin/$(basename "$tool")" --version
		assertContains "$out" "$(basename "$tool") "
	done
}

test_start_calls_are_taken_before_any_proxy() {
	START=allow-all expect 0 image /entrypoint
	assertContains "$out" 'ok: '
	assertContains "$out" 'mode: no-policy'
	expect 0 image network-policy show
	START=deny-all expect 0 image /entrypoint
	assertContains "$out" 'mode: deny-all'
	assertContains "$out" 'proxy: none'
	# Asked to allow what is not there yet, it keeps the namespace closed and says so.
	in_ns "$cell" nft flush ruleset
	START='allow cell-proxy' expect 103 image /entrypoint
	assertNotContains "$out" started
	assertContains "$(image network-policy show)" 'mode: deny-all'
}

test_start_waits_for_the_proxy_and_is_closed_meanwhile() {
	export CELL_POLICY_WAIT=30 START='allow cell-proxy cell-proxy:8080'
	image /entrypoint >"$work/log" 2>&1 &
	starting=$!
	wait_for 10 closed
	assertEquals 'nothing said yet' '' "$(cat "$work/log")"
	publish
	wait $starting
	assertEquals 0 $?
	assertEquals 'ok: only the proxy is allowed' "$(head -n 1 "$work/log")"
	for line in 'mode: proxy-only' 'proxy: 10.77.0.2:8080 via eth0' started; do
		assertTrue "no line: $line" "grep -qx '$line' '$work/log'"
	done
	unset CELL_POLICY_WAIT START
}
closed() { image network-policy show | grep -qx 'mode: deny-all'; }

test_phases_switch_and_refuse_other_hosts() {
	publish
	for call in deny-all 'allow cell-proxy' deny-all 'allow cell-proxy' allow-all 'allow cell-proxy'; do
		# shellcheck disable=SC2086 # a verb and its operands
		expect 0 image network-policy $call
		expect 0 image network-policy show
		expect 0 image network-policy rules
	done
	for hosts in example.org 'cell-proxy example.org' '10.77.0.2'; do
		# shellcheck disable=SC2086 # a list of hosts
		expect 100 image network-policy allow $hosts
	done
	expect 0 image network-policy check
	assertContains "$out" 'mode: proxy-only'
	# What stops the sidecar deletes its own table, which is none of ours.
	in_ns "$cell" nft 'add table inet gost_egress; delete table inet gost_egress'
	expect 0 image network-policy check
}

. "$CELL_TEST_SHUNIT2"

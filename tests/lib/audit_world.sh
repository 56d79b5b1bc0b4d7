# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # for those who source this, behind cell_test.sh
# A world of two networks and one mount namespace: servers outside at a public and at a private
# address, their names in a hosts file of its own, and mitmdump behind cell-publish.
#
#   world_new            the namespaces, names and servers; $ns is a process in the proxy's, $outside
#                        one in that of the servers
#   inside COMMAND...    runs there
#   proxy_start [ARG...] cell-publish -- mitmdump with our audit and ARGs; waits until healthy
#   proxy_stop           ends it; the audit is kept
#   audit                the audit's records, one a line
#
# 1.2.3.4 public.test, 10.9.9.9 private.test; the proxy is 198.18.0.1:8080, and has 5.6.7.8 too,
# own.test, where the same servers answer as at 127.0.0.1.

proxy_url=http://198.18.0.1:8080
proxy_pid=

world_new() {
	mkdir "$work/origin" "$work/dir" || return 1
	chmod 0755 "$work/dir"
	cat >"$work/hosts" <<-END
		127.0.0.1 localhost
		1.2.3.4 public.test
		5.6.7.8 own.test
		10.9.9.9 private.test
		127.0.0.1 loopback.test
		169.254.169.254 metadata.test
	END
	: >"$work/resolv.conf"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-keyout "$work/origin.key" -out "$work/origin.pem" -subj /CN=origin \
		-addext 'subjectAltName=DNS:public.test,DNS:private.test,DNS:hidden.test,IP:1.2.3.4' 2>/dev/null || return 1
	cat "$work/origin.key" "$work/origin.pem" >"$work/origin.both"
	netns_new && outside=$netns_pid || return 1
	netns_new || return 1
	netns_join "$outside" eth0 192.0.2.1/30 "$netns_pid" eth0 192.0.2.2/30 || return 1
	for address in 1.2.3.4 10.9.9.9; do
		in_ns "$outside" ip address add "$address/32" dev lo &&
			in_ns "$netns_pid" ip route add "$address" via 192.0.2.1 || return 1
	done
	in_ns "$outside" ip route add 198.18.0.1 via 192.0.2.2 || return 1
	for address in 5.6.7.8 198.18.0.1; do
		in_ns "$netns_pid" ip address add "$address/32" dev lo || return 1
	done
	# shellcheck disable=SC2016 # expanded by the inner shell
	background nsenter -n -t "$netns_pid" unshare -m --propagation private sh -c \
		'mount --bind "$1/hosts" /etc/hosts && mount --bind "$1/resolv.conf" /etc/resolv.conf &&
		exec sleep infinity' sh "$work"
	ns=$pid
	wait_for 10 sh -c "[ \"\$(cat /proc/$ns/comm)\" = sleep ]" || return 1
	background nsenter -n -t "$outside" "$top/tests/lib/origin.py" 0.0.0.0 "$work/origin.both" \
		"$work/origin"
	wait_for 20 test -e "$work/origin/serving" && rm "$work/origin/serving" || return 1
	background nsenter -n -m -t "$ns" "$top/tests/lib/origin.py" 0.0.0.0 "$work/origin.both" \
		"$work/origin"
	wait_for 20 test -e "$work/origin/serving"
}

inside() {
	nsenter -n -m -t "$ns" -- "$@"
}

# shellcheck disable=SC2120 # others give options
# HOME is elsewhere: nothing of the caller's mitmproxy is read.
proxy_start() {
	background env HOME="$work/home" nsenter -n -m -t "$ns" "$CELL_BIN/cell-publish" \
		--state "$work/state" --dir "$work/dir" --address 198.18.0.1 -- \
		mitmdump -q --listen-host 198.18.0.1 --listen-port 8080 --set "confdir=$work/state" \
		--set "ssl_verify_upstream_trusted_ca=$work/origin.pem" \
		-s "$top/share/cell/mitmproxy/cell_audit.py" "$@" >"$work/proxy.log" 2>&1
	proxy_pid=$pid
	wait_for 60 proxy_healthy || {
		cat "$work/proxy.log"
		return 1
	}
}

proxy_healthy() {
	inside "$CELL_BIN/cell-publish" --check --connect --state "$work/state" --dir "$work/dir"
}

proxy_stop() {
	kill -TERM "$proxy_pid"
	wait "$proxy_pid" 2>/dev/null
	proxy_pid=
}

audit() {
	cat "$work/state/hits.jsonl"
}

# await SECONDS JQ_CONDITION: until some record of the audit fulfils it; 1 if none does.
await() {
	wait_for "$1" audit_has "$2"
}
audit_has() {
	[ -s "$work/state/hits.jsonl" ] &&
		jq -e -s "any(.[]; $1)" "$work/state/hits.jsonl" >/dev/null
}

# how_many JQ_CONDITION: the number of records that fulfil it.
how_many() {
	jq -s "map(select($1)) | length" "$work/state/hits.jsonl"
}

# arrived PATTERN: true if the servers outside saw that.
arrived() {
	[ -e "$work/origin/arrived" ] && grep -q -- "$1" "$work/origin/arrived"
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Sourced after cell_test.sh: a cell to probe. $cell and $world hold two network namespaces joined
# by a veth pair, 10.77.0.1 and fd00:77::1 in the cell, .2 and ::2 outside, the world being the
# cell's default gateway.
#
#   cell_new                    makes both; published address and hosts file name 10.77.0.2
#   serve PID KIND:ADDR:PORT... servers in a namespace (probe_server.py); what they saw: $served
#   subject COMMAND...          runs COMMAND in the cell as uid 1000 without any capability, with
#                               its own /opt/cell-egress and, where they exist in $work, its own
#                               hosts, resolv.conf and nsswitch.conf; the probe is in its PATH
#   seal                        the policy; only TCP to 10.77.0.2:8080 leaves from then on
#   probe ARG...                runs cell-probe --json as the subject; $status, and the records
#   result TARGET               that target's result; detail TARGET, way TARGET NAME likewise

cell_new() {
	netns_new || return 1
	cell=$pid
	netns_new || return 1
	world=$pid
	netns_join "$cell" eth0 10.77.0.1/24 "$world" eth0 10.77.0.2/24
	in_ns "$cell" ip -6 address add fd00:77::1/64 dev eth0 nodad
	in_ns "$world" ip -6 address add fd00:77::2/64 dev eth0 nodad
	in_ns "$cell" ip route add default via 10.77.0.2
	mkdir -p "$work/egress"
	echo 10.77.0.2 >"$work/egress/proxy-ipv4"
	printf '127.0.0.1 localhost\n10.77.0.2 cell-proxy\n' >"$work/hosts"
	printf 'hosts: files dns\n' >"$work/nsswitch.conf"
	: >"$work/resolv.conf"
	# Link-local addresses are only usable some time after the device is up.
	wait_for 10 cell_has_neighbour || fail 'no neighbour'
}
cell_has_neighbour() {
	! in_ns "$cell" ip -6 address show tentative | grep -q . &&
		! in_ns "$world" ip -6 address show tentative | grep -q .
}

serve() {
	serve_pid=$1
	shift
	served=$(mktemp "$work/served.XXXXXX")
	background nsenter -n -t "$serve_pid" -- /usr/bin/python3 "$top/tests/lib/probe_server.py" "$@" \
		>>"$served"
	wait_for 10 grep -q '^ready' "$served" || fail "no servers: $*"
}

subject() {
	# shellcheck disable=SC2016 # the inner shell expands them
	in_ns "$cell" unshare --mount sh -ec '
		work=$1 bin=$2
		shift 2
		mount -t tmpfs none /opt
		mkdir /opt/cell-egress /opt/bin
		cp "$work/egress/"* /opt/cell-egress/
		cp "$bin/cell-probe" /opt/bin/
		chmod -R a+rX /opt
		for file in hosts resolv.conf nsswitch.conf; do
			[ ! -e "$work/$file" ] || mount --bind "$work/$file" "/etc/$file"
		done
		PATH=/opt/bin:$PATH
		exec setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all \
			--bounding-set=-all -- "$@"' sh "$work" "$CELL_BIN" "$@"
}

seal() {
	CELL_EGRESS_DIR=$work/egress in_ns "$cell" "$CELL_BIN/cell-policy" allow cell-proxy \
		>/dev/null || fail 'cannot seal'
}

probe() {
	run subject cell-probe --json "$@"
	records=$work/records
	cp "$work/out" "$records"
}

result() {
	jq -r --arg target "$1" 'select(.target == $target) | .result' "$records"
}

detail() {
	jq -r --arg target "$1" 'select(.target == $target) | .detail' "$records"
}

way() {
	jq -r --arg target "$1" --arg way "$2" 'select(.target == $target) | .ways[] |
		select(.way == $way) | .result + " " + (.errno | tostring)' "$records"
}

# assert_result RESULT TARGET
assert_result() {
	assertEquals "result of $2 [$(detail "$2")]" "$1" "$(result "$2")"
}

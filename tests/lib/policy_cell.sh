# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Sourced by the tests of the policy's effect: a cell, a world that it is joined to, and a sniffer.
#
# cell_new makes: $cell, eth0 10.77.0.1/24 and fd77::1/64, default routes by the world; $world, peer0
# 10.77.0.2 and .9, fd77::2 and ::9; $work/frames, a line for every frame that left the cell;
# CELL_EGRESS_DIR with the proxy's address, 10.77.0.2.
# shellcheck disable=SC2034,SC2154 # cell and world are for those who source this; pid and work are
# of cell_test.sh

cell_new() {
	chmod 0755 "$work" # other users run in it too
	netns_new || return 1
	cell=$pid
	netns_new || return 1
	world=$pid
	netns_join "$cell" eth0 10.77.0.1/24 "$world" peer0 10.77.0.2/24
	in_ns "$cell" ip -6 address add fd77::1/64 dev eth0 nodad
	in_ns "$world" ip address add 10.77.0.9/32 dev peer0
	for cell_address in fd77::2/64 fd77::9/64; do
		in_ns "$world" ip -6 address add "$cell_address" dev peer0 nodad
	done
	in_ns "$cell" ip route add default via 10.77.0.2
	in_ns "$cell" ip -6 route add default via fd77::2
	# Neighbours are given, so that a frame leaves at once whatever its source address.
	cell_mac=$(in_ns "$world" ip -o link show peer0 | sed 's/.*ether \([^ ]*\).*/\1/')
	for cell_address in 10.77.0.2 10.77.0.9 fd77::2 fd77::9; do
		in_ns "$cell" ip neighbour replace "$cell_address" lladdr "$cell_mac" dev eth0
	done
	mkdir -p "$work/egress"
	echo 10.77.0.2 >"$work/egress/proxy-ipv4"
	export CELL_EGRESS_DIR="$work/egress"
	: >"$work/frames"
	background nsenter -n -t "$world" python3 "$top/tests/lib/policy_sniff.py" peer0 "$work/frames"
	cell_sniffer=$pid
	wait_for 10 grep -q ready "$work/frames"
	# The mobile parts of IPv6 (reports, solicitations) have been sent when these are quiet.
	wait_for 10 cell_is_up
}
cell_is_up() { in_ns "$cell" ip -6 route get fd77::2 && in_ns "$cell" ip -6 address show scope link | grep -q fe80; }

cell_end() {
	for cell_one in "$cell_sniffer" "$cell" "$world"; do end_process "$cell_one"; done
}

policy() { in_ns "$cell" cell-policy "$@"; }

# as_user COMMAND...: in the cell as uid 1000 without a capability.
as_user() {
	in_ns "$cell" setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all \
		--bounding-set=-all "$@"
}

# as_root COMMAND...: in the cell as root with all but NET_RAW and NET_ADMIN.
as_root() {
	in_ns "$cell" setpriv --inh-caps=-net_raw,-net_admin --bounding-set=-net_raw,-net_admin "$@"
}

# frames_reset: forget the frames so far. Those under way have arrived: a marker is awaited.
frames_reset() {
	frames_sync
	: >"$work/frames"
}

# frames PATTERN: how many frames that left the cell since then match it.
frames() {
	frames_sync
	grep -c "$1" "$work/frames"
}

# A frame of a protocol that nobody else uses goes by the same queue behind all others.
frames_sync() {
	frames_marks=$(grep -c 'other 0x88b5' "$work/frames")
	in_ns "$cell" python3 -c 'import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
s.send(b"\xff" * 6 + b"\2cell!" + b"\x88\xb5" + bytes(50))'
	wait_for 10 frames_marked
}
frames_marked() { [ "$(grep -c 'other 0x88b5' "$work/frames")" -gt "$frames_marks" ]; }

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A flood of refused packets: cell-watch against ulogd with JSON output, each reading the same group
# in turn. What is lost is what the policy's counters have and the reader never told of.
. "$(dirname "$0")/lib.sh"

: "${BENCH_PACKETS:=1000000}" "${BENCH_FLOODS:=3}"
cc -O2 -o "$work/flood" "$top/tests/e2e/watch_flood.c"
sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv4.ping_group_range='0 2147483647'
ip link add eth0 type veth peer name eth1
ip link set eth0 up
ip link set eth1 up
ip address add 198.18.0.2/30 dev eth0
ip route add default via 198.18.0.1

plugins=$(dirname "$(find /usr/lib -name ulogd_inppkt_NFLOG.so | head -n 1)")
cat >"$work/ulogd.conf" <<EOS
[global]
logfile="/dev/null"
loglevel=5
plugin="$plugins/ulogd_inppkt_NFLOG.so"
plugin="$plugins/ulogd_raw2packet_BASE.so"
plugin="$plugins/ulogd_filter_IFINDEX.so"
plugin="$plugins/ulogd_filter_IP2STR.so"
plugin="$plugins/ulogd_output_JSON.so"
stack=log1:NFLOG,base1:BASE,ifi1:IFINDEX,ip2str1:IP2STR,json1:JSON
[log1]
group=5
netlink_socket_buffer_size=8388608
netlink_socket_buffer_maxsize=8388608
[json1]
file="$work/log"
EOS

reader() {
	case $1 in
	bounded) exec cell-watch --log "$work/log" ;;
	whole) exec cell-watch --log "$work/log" --max-rate 1000000000 --max-bytes 1000000000000 ;;
	ulogd) exec ulogd -c "$work/ulogd.conf" ;;
	nobody) exec sleep 1000 ;;
	esac
}

now() { date +%s%N; }

# flood READER: one line: sender's ns, packets refused, packets told of, reader's CPU ticks, its peak
# memory in kB, bytes of log.
flood() {
	nft flush ruleset
	nft -f "$top/tests/lib/refusing.nft"
	rm -f "$work/log"
	reader "$1" >/dev/null 2>&1 &
	reader_pid=$!
	sleep 0.7
	began=$(now)
	"$work/flood" "$BENCH_PACKETS" >/dev/null
	ended=$(now)
	# Until the reader has caught up, which shows in its CPU time.
	before=none
	while ticks=$(awk '{ print $14 + $15 }' "/proc/$reader_pid/stat") && [ "$ticks" != "$before" ]; do
		before=$ticks
		sleep 0.5
	done
	peak=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$reader_pid/status")
	kill -TERM "$reader_pid"
	wait "$reader_pid" 2>/dev/null || :
	[ -e "$work/log" ] || : >"$work/log"
	refused=$(nft -j list counters | jq '[.nftables[].counter | select(.) | .packets] | add')
	case $1 in
	bounded | whole) told=$(tail -n 1 "$work/log" | jq .packets.received) ;;
	*) told=$(wc -l <"$work/log") ;;
	esac
	echo "$1 $((ended - began)) $refused $told $ticks $peak $(wc -c <"$work/log")" >>"$work/results"
}

for round in $(seq "$BENCH_FLOODS"); do
	for kind in whole ulogd bounded nobody; do flood "$kind"; done
	echo "round $round of $BENCH_FLOODS" >&2
done

title "Watch: a flood of $BENCH_PACKETS refused packets, medians of $BENCH_FLOODS"
jq -R -s -r --arg hertz "$(getconf CLK_TCK)" '
	def median: sort | .[length / 2 | floor];
	def digits($n): . * pow(10; $n) | round / pow(10; $n) | tostring;
	def words: {whole: "cell-watch, every packet a record", bounded: "cell-watch, its bounds as usual",
		ulogd: "ulogd2, JSON output", nobody: "no reader"};
	split("\n") | map(select(. != "") | split(" ") | {kind: .[0], rate: ((.[2] | tonumber) * 1e9 / (.[1] | tonumber)),
		lost: (((.[2] | tonumber) - (.[3] | tonumber)) / (.[2] | tonumber)),
		cost: ((.[4] | tonumber) / ($hertz | tonumber) * 1e6 / (.[3] | if . == "0" then "1" else . end | tonumber)),
		peak: (.[5] | tonumber), bytes: (.[6] | tonumber)})
	| group_by(.kind) | map({(.[0].kind): {rate: (map(.rate) | median), lost: (map(.lost) | median),
		cost: (map(.cost) | median), peak: (map(.peak) | median), bytes: (map(.bytes) | median)}}) | add | . as $all
	| ("whole", "bounded", "ulogd", "nobody") as $kind | $all[$kind]
	| "  \(words[$kind]): " + (if $kind == "nobody" then "" else
		"\(.lost * 100 | digits(2)) % lost, \(.cost | digits(2)) us CPU a packet (ratio \(.cost / $all.whole.cost | digits(2))), \(.peak) kB peak (ratio \(.peak / $all.whole.peak | digits(2))), \(.bytes / 1048576 | digits(1)) MiB of log, " end)
	+ "sender at \(.rate / 1000 | digits(0)) thousand packets/s (ratio \(.rate / $all.whole.rate | digits(2)))"
	' "$work/results"

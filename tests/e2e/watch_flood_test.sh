#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A subject that makes a million refused packets as fast as it can: the watcher's memory and file
# stay small, and records and counts add up to the policy's own counters, class by class.
# needs: root netns nft jq cc
. "$(dirname "$0")/../lib/cell_test.sh"

test_file_setup() {
	cc -O2 -o "$work/flood" "$top/tests/e2e/watch_flood.c"
}

# begin TOOL: a cell, and TOOL as its watcher.
begin() {
	netns_new && outside=$netns_pid && netns_new && cell=$netns_pid
	in_ns "$cell" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 \
		net.ipv4.ping_group_range='0 2147483647'
	netns_join "$cell" eth0 198.18.0.2/30 "$outside" eth0 198.18.0.1/30
	in_ns "$cell" ip route add default via 198.18.0.1
	in_ns "$outside" ip address add 203.0.113.10/32 dev lo
	: >"$work/ready"
	rm -f "$work/log"
	# shellcheck disable=SC2016 # for the inner shell
	background nsenter -n -t "$cell" -- sh -c 'exec "$2" --log "$1" --ready-fd 9 9>>"$0"' \
		"$work/ready" "$work/log" "$1" >/dev/null
	watch=$pid
	wait_for 10 test -s "$work/ready"
}

peak() {
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$watch/status"
}

# end_watch: SIGTERM; then $work/counters is {"tcp": N...} of the policy, $work/summary the log's.
end_watch() {
	kill -TERM "$watch"
	wait "$watch"
	assertEquals 'exit of cell-watch' 0 $?
	cell_pids=$(echo "$cell_pids" | sed "s/ $watch\$//")
	in_ns "$cell" nft -j list counters table inet cell_egress |
		jq -c '[.nftables[].counter | select(.) |
			{(.name | ltrimstr("refused_")): .packets}] | add' >"$work/counters"
	tail -n 1 "$work/log" >"$work/summary"
	jq -c '{packets, classes: (.classes | map_values(select(.total > 0)))}' "$work/summary" |
		sed "s/^/# $(wc -c <"$work/log") bytes of log, /" >&2
}

# assert_sums: the watcher's totals are the policy's counters, class by class; each packet has a
# record or is lost; what is recorded has a line.
assert_sums() {
	assertEquals true "$(jq --slurpfile counters "$work/counters" '
		.classes | length == 9 and (to_entries | all(
			.value.total == $counters[0][.key] and
			.value.recorded + .value.lost == .value.total and
			.value.received >= .value.recorded and
			.value.received <= .value.total))' "$work/summary")"
	assertEquals true "$(jq -n --slurpfile summary "$work/summary" '
		reduce (inputs | select(.record == "packet").class) as $class ({}; .[$class] += 1) |
		. as $lines | $summary[0].classes |
		to_entries | all(.value.recorded == ($lines[.key] // 0))' "$work/log")"
	assertEquals 1 "$(grep -c '"record":"truncated"' "$work/log")"
}

test_a_flood_is_bounded_and_counted_exactly() {
	# The very tool: a sanitizer's build keeps memory back on purpose.
	begin "$top/build/bin/cell-watch"
	# Without the policy the first of them is not refused, which ends the flood at once.
	expect 1 in_ns "$cell" "$work/flood" 5
	in_ns "$cell" nft -f "$top/tests/lib/refusing.nft"
	# A little of everything first, so that what a first packet needs is there.
	expect 0 in_ns "$cell" "$work/flood" 1000
	sleep 1
	before=$(peak)
	expect 0 in_ns "$cell" "$work/flood" 1000000
	cp "$work/out" "$work/sent"
	after=$(peak)
	end_watch
	assertEquals 'what was sent was counted' true "$(jq --slurpfile counters "$work/counters" '
		to_entries | all($counters[0][.key] >= .value)' "$work/sent")"
	assertTrue 'a million' "jq -e 'add == 1000000' '$work/sent'"
	assert_sums
	assertTrue 'each class of the flood has records' "jq -e '.classes |
		all(.tcp, .icmp, .resolver, .udp; .recorded > 0)' '$work/summary'"
	assertTrue "peak memory $before to $after kB" "[ $((after - before)) -lt 1024 ]"
	assertTrue 'the log is within its bound' "[ $(wc -c <"$work/log") -lt 16777216 ]"
}

# A reader that stands still: the kernel's queue overflows, which no copy tells of.
test_what_the_kernel_drops_is_counted_as_lost() {
	begin cell-watch
	in_ns "$cell" nft -f "$top/tests/lib/refusing.nft"
	expect 0 in_ns "$cell" "$work/flood" 2000
	kill -STOP "$watch"
	expect 0 in_ns "$cell" "$work/flood" 200000
	kill -CONT "$watch"
	sleep 1
	expect 0 in_ns "$cell" "$work/flood" 2000
	end_watch
	assertTrue 'the queue has overflowed' \
		"jq -e '.packets | .received < 200000 and .total == 204000' '$work/summary'"
	assert_sums
}

. "$CELL_TEST_SHUNIT2"

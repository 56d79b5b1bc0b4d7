#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cell-watch: what it records of refused packets, its bounds, its log, and how it ends.
# needs: root netns nft jq python3 setpriv strace cc
. "$(dirname "$0")/lib/cell_test.sh"

send=$top/tests/lib/send_packets.py

test_setup() {
	rm -f "$work/log"
}

# new_cell [ipv6]: a namespace with eth0 (198.18.0.2/30, a default route) joined to an outside that
# takes everything; $cell and $outside are processes that hold them. Without IPv6 the kernel has
# nothing of its own to say in between.
new_cell() {
	netns_new && outside=$netns_pid && netns_new && cell=$netns_pid
	[ "${1:-}" = ipv6 ] || in_ns "$cell" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	netns_join "$cell" eth0 198.18.0.2/30 "$outside" eth0 198.18.0.1/30
	in_ns "$cell" ip route add default via 198.18.0.1
	in_ns "$cell" sysctl -qw net.ipv4.ping_group_range='0 2147483647'
	in_ns "$outside" ip address add 203.0.113.10/32 dev lo
	if [ "${1:-}" = ipv6 ]; then
		in_ns "$cell" ip -6 address add 2001:db8::2/64 dev eth0 nodad
		in_ns "$cell" ip -6 route add default via 2001:db8::1
	fi
}

# watch OPTION...: starts cell-watch in $cell with log $work/log and waits until it is ready;
# $watch is its pid.
watch() {
	rm -f "$work/log" "$work/ready"
	watch_again "$@"
}
watch_again() {
	: >"$work/ready"
	# shellcheck disable=SC2016 # for the inner shell
	background nsenter -n -t "$cell" -- sh -c 'exec "$@" 9>>"$0"' "$work/ready" \
		cell-watch --log "$work/log" --ready-fd 9 "$@" >"$work/watch.out" 2>"$work/watch.err"
	watch=$pid
	wait_for 10 test -s "$work/ready" || fail "cell-watch is not ready: $(cat "$work/watch.err")"
}

# end_watch CODE: SIGTERM, and its exit code.
end_watch() {
	kill -TERM "$watch"
	wait "$watch"
	assertEquals "exit of cell-watch [$(cat "$work/watch.err")]" "$1" $?
	cell_pids=$(echo "$cell_pids" | sed "s/ $watch\$//")
}

# log_has FILTER: the number of records that the jq FILTER selects; the whole log must be JSON.
log_has() {
	jq -s "[.[] | select($1)] | length" "$work/log"
}

policy() {
	in_ns "$cell" nft -f "$top/tests/lib/refusing.nft"
}

# counters: the policy's own, as {"refused_tcp": 3, ...}.
counters() {
	in_ns "$cell" nft -j list counters table inet cell_egress |
		jq -c '[.nftables[].counter | select(.) | {(.name): .packets}] | add'
}

# assert_sums: total is the policy's counter and recorded + lost is total, class by class; recorded
# is what the log holds. The kernel may have had something to say since the last count.
assert_sums() {
	counters >"$work/counters"
	assertEquals "sums of $(cat "$work/counters") and $(tail -n 1 "$work/log")" true \
		"$(jq -s --slurpfile counters "$work/counters" '
			. as $log | last | .classes | to_entries | all(
				.key as $class |
				($counters[0]["refused_" + $class] // $counters[0][$class]) as $counter |
				(.value.total == $counter or
					($class == "kernel" and .value.total < $counter)) and
				.value.recorded + .value.lost == .value.total and
				.value.recorded <= .value.received and
				.value.received <= .value.total and
				.value.recorded == ([$log[] | select(.record == "packet" and
					.class == $class)] | length))' "$work/log")"
}

test_nothing_is_recorded_where_nothing_is_refused() {
	new_cell
	watch
	assertEquals 'udp:203.0.113.10:9:x sent' "$(in_ns "$cell" "$send" udp:203.0.113.10:9:x)"
	end_watch 0
	assertEquals 'start summary' "$(jq -rs 'map(.record) | join(" ")' "$work/log")"
	assertEquals null "$(jq -s 'last | .packets.total' "$work/log")"
}

test_each_class_has_its_record() {
	new_cell ipv6
	watch
	policy
	run in_ns "$cell" setpriv --reuid 1000 --clear-groups "$send" \
		dns:127.0.0.11:53:leak.example:16 tcp:203.0.113.10:443 udp:203.0.113.10:9:hello \
		icmp:203.0.113.10 'udp:[2001:db8::99]:9:hello' 'tcp:[2001:db8::99]:443'
	assertEquals 'dns:127.0.0.11:53:leak.example:16 EPERM
tcp:203.0.113.10:443 ECONNREFUSED
udp:203.0.113.10:9:hello EPERM
icmp:203.0.113.10 EPERM
udp:[2001:db8::99]:9:hello EPERM
tcp:[2001:db8::99]:443 ECONNREFUSED' "$out"
	in_ns "$cell" "$send" raw:203.0.113.10:132 >/dev/null
	end_watch 0
	assert_sums
	cp "$work/log" "$work/refused"
	assertEquals '["ipv4","udp","127.0.0.1","127.0.0.11",53,"lo",1000,58,"leak.example","TXT",false]' \
		"$(jq -c 'select(.class == "resolver") | [.family, .protocol, .source, .destination,
			.ports.destination, .device, .uid, .length, .dns.name, .dns.type, .dns.cut]' \
			"$work/refused")"
	assertEquals '["ipv4","tcp","198.18.0.2","203.0.113.10",443,"eth0",1000,60,null]
["ipv6","tcp","2001:db8::2","2001:db8::99",443,"eth0",1000,80,null]' \
		"$(jq -c 'select(.class == "tcp") | [.family, .protocol, .source, .destination,
			.ports.destination, .device, .uid, .length, .dns]' "$work/refused")"
	assertEquals '["ipv4","udp",9,33] ["ipv6","udp",9,53]' \
		"$(jq -rs '[.[] | select(.class == "udp") | [.family, .protocol, .ports.destination,
			.length] | tojson] | join(" ")' "$work/refused")"
	assertEquals '["icmp",null,{"type":8,"code":0}]' \
		"$(jq -c 'select(.class == "icmp") | [.protocol, .ports, .icmp]' "$work/refused")"
	assertEquals '["sctp",0]' \
		"$(jq -c 'select(.class == "other") | [.protocol, .uid]' "$work/refused")"
}

# The real policy, not the small one: its counters and prefixes are the watcher's classes.
test_the_policy_and_the_watcher_agree() {
	new_cell ipv6
	watch
	expect 0 in_ns "$cell" cell-policy --log-group 5 deny-all
	in_ns "$cell" "$send" dns:127.0.0.11:53:leak.example:16 tcp:203.0.113.10:443 \
		udp:203.0.113.10:9:x icmp:203.0.113.10 raw:203.0.113.10:132 \
		'udp:[2001:db8::99]:9:x' >/dev/null
	in_ns "$outside" "$send" udp:198.18.0.2:9:x >/dev/null
	wait_for 10 grep -q '"class":"inbound"' "$work/log"
	end_watch 0
	expect 0 in_ns "$cell" cell-policy --json show
	# The kernel may have said something in between.
	assertEquals "$(echo "$out" | jq -cS '.counters | map_values(.packets) | del(.kernel)')" \
		"$(jq -cS 'select(.record == "summary").classes | map_values(.total) | del(.kernel)' \
			"$work/log")"
	assertEquals '["icmp",1,1,0] ["inbound",1,1,0] ["other",1,1,0] ["resolver",1,1,0] ["tcp",1,1,0] ["udp",2,2,0]' \
		"$(jq -rS 'select(.record == "summary").classes | to_entries | sort_by(.key) |
			map(select(.key != "kernel" and .value.total > 0) |
				[.key, .value.total, .value.recorded, .value.lost] | tojson) | join(" ")' \
			"$work/log")"
	assertEquals 'nothing foreign' 0 "$(log_has '.class == "foreign"')"
}

test_every_record_begins_like_every_other_record() {
	new_cell
	background env CELL_TRIAL=3f9c CELL_STEP=watch nsenter -n -t "$cell" -- \
		cell-watch --log "$work/log"
	watch=$pid
	wait_for 10 test -s "$work/log"
	policy
	in_ns "$cell" "$send" udp:203.0.113.10:9:x >/dev/null
	end_watch 0
	assertEquals 'start change packet summary' \
		"$(jq -rs 'map(.record) | join(" ")' "$work/log")"
	assertEquals true "$(jq -s 'all((keys_unsorted[0:8] == ["tool", "format", "version", "time",
		"ok", "exit", "trial", "step"]) and .tool == "cell-watch" and .trial == "3f9c" and
		.step == "watch" and .ok and .exit == 0)' "$work/log")"
}

# A subject's socket that was connected before the policy: its question travels in a TCP segment.
test_a_dns_question_over_tcp_is_read() {
	new_cell
	background nsenter -n -t "$outside" -- python3 -c 'import socket, time
s = socket.create_server(("203.0.113.10", 53)); c = s.accept(); time.sleep(60)'
	wait_for 10 in_ns "$outside" sh -c 'ss -Hltn | grep -q :53'
	mkfifo "$work/go"
	watch
	nsenter -n -t "$cell" -- python3 -c 'import socket, sys
s = socket.create_connection(("203.0.113.10", 53))
open(sys.argv[1]).read()
name = b"\x04over\x03tcp\x07example\0"
s.send(b"\0\x22\x12\x34\1\0\0\1\0\0\0\0\0\0" + name + b"\0\x1c\0\1")' "$work/go" &
	wait_for 10 in_ns "$outside" sh -c 'ss -Htn state established | grep -q :53'
	policy
	echo >"$work/go"
	wait $!
	end_watch 0
	assertEquals '["tcp",53,"over.tcp.example","AAAA"]' "$(jq -c 'select(.dns) |
		[.class, .ports.destination, .dns.name, .dns.type]' "$work/log" | head -n 1)"
	rm -f "$work/go"
}

test_names_that_are_not_text_stay_one_line() {
	new_cell
	watch
	policy
	in_ns "$cell" "$send" "$(printf 'dns:127.0.0.11:53:a\\b"<\033[2J\303\244.x y:65280')" >/dev/null
	end_watch 0
	# shellcheck disable=SC2016 # the backslashes are JSON's
	assertEquals '{"name":"a\\x5cb\"<\\x1b[2J\\xc3\\xa4.x\\x20y","type":"TYPE65280","cut":false}' \
		"$(jq -c 'select(.dns) | .dns' "$work/log")"
	assertContains "$(cell-watch --follow "$work/log")" \
		'asks for a\x5cb"<\x1b[2J\xc3\xa4.x\x20y TYPE65280'
}

test_the_kernels_own_packets_have_no_uid() {
	new_cell ipv6
	policy
	watch
	in_ns "$cell" python3 -c 'import socket, struct
# An MLD report: joining a group makes the kernel send it.
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
	socket.inet_pton(socket.AF_INET6, "ff02::1234") + struct.pack("@I",
	socket.if_nametoindex("eth0")))'
	wait_for 10 grep -q '"class":"kernel"' "$work/log"
	assertEquals 'a packet of the kernel was recorded' 0 $?
	end_watch 0
	assertEquals '[null]' \
		"$(jq -sc '[.[] | select(.class == "kernel").uid] | unique' "$work/log")"
}

test_ready_is_said_when_the_group_is_bound() {
	new_cell
	policy
	mkfifo "$work/fifo"
	# shellcheck disable=SC2016 # for the inner shell
	background nsenter -n -t "$cell" -- sh -c 'exec cell-watch --log "$0" --ready-fd 9 9>"$1"' \
		"$work/ready.log" "$work/fifo"
	read -r line <"$work/fifo"
	assertEquals '' "$line"
	# At that very moment the second reader is refused and the first record is there.
	run in_ns "$cell" cell-watch
	assertEquals 111 "$status"
	assertEquals start "$(jq -r .record "$work/ready.log")"
	assertEquals "$(in_ns "$cell" cell-nsid --cookie | cut -d' ' -f2)" \
		"$(jq -r .cookie "$work/ready.log")"
	end_process "$pid"
	rm -f "$work/fifo"
}

test_a_second_reader_is_told_from_a_missing_capability() {
	new_cell
	watch
	rm -f "$work/second"
	expect_error 111 'already has a reader' in_ns "$cell" cell-watch --log "$work/second"
	expect_error 111 'CAP_NET_ADMIN' in_ns "$cell" \
		setpriv --bounding-set -net_admin cell-watch --log "$work/second"
	expect 111 in_ns "$cell" cell-watch --json --quiet
	assertEquals '["system","cannot bind log group 5: it already has a reader"]' \
		"$(echo "$out" | jq -c '[.error.kind, .error.message]')"
	assertFalse 'a watch that could not begin leaves no log' "[ -e '$work/second' ]"
	# Another group is free, and the first reader has not been disturbed.
	policy
	in_ns "$cell" "$send" udp:203.0.113.10:9:x >/dev/null
	end_watch 0
	assertEquals 1 "$(log_has '.class == "udp"')"
}

test_what_is_missing_is_told_from_what_is_forbidden() {
	new_cell
	for missing in EPROTONOSUPPORT EAFNOSUPPORT; do
		expect_error 102 'cell-watch: cannot open a netlink socket' in_ns "$cell" \
			strace -o /dev/null -e inject=socket:error=$missing cell-watch
	done
	# An engine's system call filter.
	expect_error 111 'cell-watch: cannot open a netlink socket: Operation not permitted' \
		in_ns "$cell" "$top/build/test/lib/no_netlink" 12 cell-watch
}

test_packets_refused_before_the_watch_count_as_lost() {
	new_cell
	policy
	in_ns "$cell" "$send" -n 5 udp:203.0.113.10:9:x >/dev/null
	watch
	in_ns "$cell" "$send" -n 2 udp:203.0.113.10:9:x >/dev/null
	end_watch 0
	assertEquals '{"total":7,"received":2,"recorded":2,"lost":5}' \
		"$(jq -c 'select(.record == "summary").classes.udp' "$work/log")"
	assertEquals 5 "$(jq -c 'select(.record == "start").classes.udp.total' "$work/log")"
	assert_sums
}

test_the_rate_is_bounded_and_the_counts_stay_exact() {
	new_cell
	policy
	watch --max-rate 10
	in_ns "$cell" "$send" -n 500 udp:203.0.113.10:9:x >/dev/null
	in_ns "$cell" "$send" -n 30 tcp:203.0.113.10:443 >/dev/null
	end_watch 0
	assertEquals 1 "$(log_has '.record == "truncated"')"
	assertEquals '["rate",10]' \
		"$(jq -c 'select(.record == "truncated") | [.bound, .max_rate]' "$work/log")"
	assertEquals '[true,500,500]' "$(jq -c 'select(.record == "summary") |
		[.truncated, .classes.udp.total, .classes.udp.received]' "$work/log")"
	assertTrue 'at most 10 in each second' \
		"[ $(jq -rs '[.[] | select(.record == "packet").time[0:19]] | group_by(.) |
			map(length) | max' "$work/log") -le 20 ]"
	assert_sums
	# What comes later, at a lower rate, has records again: a burst does not blind the watch.
	watch --max-rate 10
	in_ns "$cell" "$send" -n 50 udp:203.0.113.10:9:x >/dev/null
	sleep 1.1
	in_ns "$cell" "$send" dns:203.0.113.10:53:later.example:1 >/dev/null
	end_watch 0
	assertEquals 1 "$(log_has '.dns.name == "later.example"')"
}

test_the_file_is_bounded_and_the_counts_stay_exact() {
	new_cell
	policy
	watch --max-bytes 65536
	in_ns "$cell" "$send" -n 900 udp:203.0.113.10:9:x >/dev/null
	end_watch 0
	assertTrue 'the file is within its bound' "[ $(wc -c <"$work/log") -le 65536 ]"
	assertTrue 'most of the bound is used' "[ $(wc -c <"$work/log") -gt 50000 ]"
	assertEquals '[["bytes",65536]]' \
		"$(jq -sc '[.[] | select(.record == "truncated") | [.bound, .max_bytes]]' "$work/log")"
	assertEquals '[true,900]' \
		"$(jq -c 'select(.record == "summary") | [.truncated, .classes.udp.total]' "$work/log")"
	assert_sums
}

test_totals_come_once_a_minute() {
	new_cell
	policy
	# A minute lasts a second.
	background env LD_PRELOAD="$CELL_TEST_BIN/lib/fast_clock_module.so" \
		ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 nsenter -n -t "$cell" -- \
		cell-watch --log "$work/log" --max-rate 1
	watch=$pid
	wait_for 10 test -s "$work/log"
	in_ns "$cell" "$send" -n 40 udp:203.0.113.10:9:x >/dev/null
	wait_for 10 grep -q '"totals"' "$work/log"
	sleep 2
	assertEquals 'no totals of a quiet minute' 1 "$(log_has '.record == "totals"')"
	in_ns "$cell" "$send" -n 40 udp:203.0.113.10:9:x >/dev/null
	wait_for 10 test 2 -eq "$(log_has '.record == "totals"')"
	end_watch 0
	assertEquals '[40,80]' "$(jq -sc '[.[] | select(.record == "totals").classes.udp.total]' \
		"$work/log")"
	assertEquals 1 "$(log_has '.record == "truncated"')"
}

test_each_change_of_the_ruleset_is_a_record() {
	new_cell
	watch
	policy
	in_ns "$cell" nft 'add chain inet cell_egress late; add rule inet cell_egress late drop;
		add table ip other'
	in_ns "$cell" nft list ruleset >/dev/null
	in_ns "$cell" nft delete table ip other
	end_watch 0
	assertEquals '[["nft",["inet cell_egress"]],["nft",["inet cell_egress","ip other"]],["nft",["ip other"]]]' \
		"$(jq -sc '[.[] | select(.record == "change") | [.program, .tables]]' "$work/log")"
	assertEquals '{"newtable":1,"newchain":1,"newrule":1}' \
		"$(jq -sc '[.[] | select(.record == "change")][1].objects' "$work/log")"
	assertEquals '{"total":3,"received":3,"recorded":3,"lost":0}' \
		"$(jq -c 'select(.record == "summary").changes' "$work/log")"
	assertEquals true "$(jq -s '.[0].generation + 3 == (last | .generation) and
		([.[] | select(.record == "change").generation] | . == sort and length == 3)' \
		"$work/log")"
}

test_changes_that_were_not_heard_of_are_counted() {
	new_cell
	policy
	watch
	kill -STOP "$watch"
	# More than the kernel keeps for a listener.
	{
		echo 'add set inet cell_egress many { type ipv4_addr; }'
		seq 1 60000 | awk '{ printf "%s10.%d.%d.%d", NR == 1 ? "add element inet cell_egress many { " : ", ",
			$1 / 65536, $1 / 256 % 256, $1 % 256 } END { print " }" }'
	} >"$work/many.nft"
	in_ns "$cell" nft -f "$work/many.nft"
	in_ns "$cell" nft add table ip lost
	kill -CONT "$watch"
	sleep 0.5
	in_ns "$cell" nft add table ip heard
	wait_for 10 grep -q heard "$work/log"
	end_watch 0
	assertEquals '{"total":3,"received":1,"recorded":1,"lost":2}' \
		"$(jq -c 'select(.record == "summary").changes' "$work/log")"
	assertEquals '[2]' "$(jq -sc '[.[] | select(.record == "change").missed]' "$work/log")"
}

test_counts_outlive_the_table() {
	new_cell
	watch
	policy
	in_ns "$cell" "$send" -n 3 udp:203.0.113.10:9:x >/dev/null
	in_ns "$cell" nft delete table inet cell_egress
	wait_for 10 grep -q deltable "$work/log"
	policy
	in_ns "$cell" "$send" -n 2 udp:203.0.113.10:9:x >/dev/null
	end_watch 0
	assertEquals '{"total":5,"received":5,"recorded":5,"lost":0}' \
		"$(jq -c 'select(.record == "summary").classes.udp' "$work/log")"
}

test_packets_of_foreign_rules_are_told_apart() {
	new_cell
	watch
	policy
	in_ns "$cell" nft 'table ip other { chain output { type filter hook output priority -1;
		udp dport 7 log prefix "mine: " group 5; }; }'
	in_ns "$cell" "$send" udp:203.0.113.10:7:x >/dev/null
	end_watch 0
	assertEquals 'foreign udp' \
		"$(jq -rs '[.[] | select(.protocol == "udp").class] | join(" ")' "$work/log")"
	assertEquals '{"total":null,"received":1,"recorded":1,"lost":null}' \
		"$(jq -c 'select(.record == "summary").classes.foreign' "$work/log")"
	assertEquals 1 "$(jq -c 'select(.record == "summary").packets.recorded' "$work/log")"
}

test_another_table_and_group_can_be_named() {
	new_cell
	sed 's/cell_egress/my_table/; s/group 5/group 77/' "$top/tests/lib/refusing.nft" >"$work/my_table.nft"
	watch --group 77 --table my_table
	in_ns "$cell" nft -f "$work/my_table.nft"
	in_ns "$cell" "$send" udp:203.0.113.10:9:x >/dev/null
	end_watch 0
	assertEquals 1 "$(jq -c 'select(.record == "summary").classes.udp.total' "$work/log")"
	background env CELL_LOG_GROUP=77 CELL_TABLE=my_table nsenter -n -t "$cell" -- \
		cell-watch --log "$work/named.log"
	watch=$pid
	wait_for 10 test -s "$work/named.log"
	end_watch 0
	assertEquals '[77,"my_table",1]' \
		"$(jq -sc '.[0] | [.group, .table, .classes.udp.total]' "$work/named.log")"
}

test_each_signal_that_ends_it_gives_a_summary() {
	new_cell
	for signal in TERM INT HUP; do
		watch
		kill -"$signal" "$watch"
		wait "$watch"
		assertEquals "exit after $signal" 0 $?
		assertEquals 'start summary' "$(jq -rs 'map(.record) | join(" ")' "$work/log")"
	done
}

test_the_closing_report() {
	new_cell
	policy
	watch --json
	in_ns "$cell" "$send" udp:203.0.113.10:9:x >/dev/null
	end_watch 0
	assertEquals '{"total":1,"received":1,"recorded":1,"lost":0}' \
		"$(jq -c .classes.udp "$work/watch.out")"
	watch
	end_watch 0
	assertEquals complete "$(head -n 1 "$work/watch.out")"
	assertContains "$(cat "$work/watch.out")" 'classes.udp.total 1'
	assertEquals '' "$(cat "$work/watch.err")"
}

test_without_a_log_records_go_to_standard_output() {
	new_cell
	policy
	background nsenter -n -t "$cell" -- cell-watch >"$work/stdout"
	watch=$pid
	wait_for 10 test -s "$work/stdout"
	in_ns "$cell" "$send" udp:203.0.113.10:9:x >/dev/null
	end_watch 0
	assertEquals 'start packet summary' "$(jq -rs 'map(.record) |
		join(" ")' "$work/stdout")"
	expect_error 111 'standard output' in_ns "$cell" sh -c 'exec cell-watch >/dev/full'
}

test_the_log_is_appended_to_and_never_cut() {
	new_cell
	watch
	end_watch 0
	printf '{"half":' >>"$work/log"
	before=$(cat "$work/log")
	watch_again
	end_watch 0
	assertEquals "$before" "$(head -n 3 "$work/log")"
	assertEquals 'start summary' "$(tail -n +4 "$work/log" | jq -rs 'map(.record) | join(" ")')"
	assertEquals 600 "$(stat -c %a "$work/log")"
}

test_a_log_that_is_no_file_is_refused() {
	new_cell
	mkdir -p "$work/dir"
	echo precious >"$work/target"
	ln -sf "$work/target" "$work/link"
	mkfifo "$work/pipe"
	expect_error 111 "$work/link: it is a symbolic link" in_ns "$cell" timeout 5 cell-watch --log "$work/link"
	expect_error 111 "$work/pipe: it is not a regular file" in_ns "$cell" timeout 5 cell-watch --log "$work/pipe"
	expect_error 111 "$work/dir" in_ns "$cell" timeout 5 cell-watch --log "$work/dir"
	expect_error 111 "$work/no/log" in_ns "$cell" timeout 5 cell-watch --log "$work/no/log"
	assertEquals precious "$(cat "$work/target")"
	rm -f "$work/pipe"
}

# A small file system fills up and has room again later.
test_a_full_disk_is_said_and_counting_goes_on() {
	new_cell
	policy
	mkdir -p "$work/disk"
	# shellcheck disable=SC2016 # for the inner shell
	background unshare -m sh -c 'mount -t tmpfs -o size=64k tmpfs "$2" &&
		head -c 57000 /dev/zero >"$2/filler" &&
		exec nsenter -n -t "$1" -- cell-watch --log "$2/log"' sh "$cell" "$work/disk" \
		2>"$work/watch.err"
	watch=$pid
	disk=/proc/$watch/root$work/disk
	wait_for 10 test -s "$disk/log"
	in_ns "$cell" "$send" -n 100 udp:203.0.113.10:9:x >/dev/null
	wait_for 10 test -s "$work/watch.err"
	assertContains "$(cat "$work/watch.err")" 'No space left on device'
	assertTrue 'every line is whole' "jq -e -s 'length > 5' '$disk/log'"
	rm "$disk/filler"
	sleep 1.5
	in_ns "$cell" "$send" dns:203.0.113.10:53:later.example:1 >/dev/null
	wait_for 10 grep -q later.example "$disk/log"
	# The mount goes with the process.
	nsenter -m -t "$watch" -- tail -n +1 -f "$work/disk/log" >"$work/log" &
	tail=$!
	wait_for 10 test -s "$work/log"
	kill -TERM "$watch"
	wait "$watch"
	assertEquals 'exit after a lost record' 111 $?
	wait_for 10 grep -q '"summary"' "$work/log"
	kill "$tail"
	assertEquals '[111,false,101]' "$(jq -c 'select(.record == "summary") |
		[.exit, .ok, .classes.udp.received]' "$work/log")"
	assertTrue 'every line is whole' "jq -e -s 'length > 5' '$work/log'"
	assertEquals true "$(jq -s 'last.classes.udp | .total == 101 and
		.recorded + .lost == .total and .recorded < 101 and .recorded > 5' "$work/log")"
}

test_a_file_size_limit_is_like_a_full_disk() {
	new_cell
	policy
	# shellcheck disable=SC2016 # for the inner shell
	background nsenter -n -t "$cell" -- sh -c 'ulimit -f 16; exec cell-watch --log "$0"' \
		"$work/log" 2>"$work/watch.err"
	watch=$pid
	wait_for 10 test -s "$work/log"
	in_ns "$cell" "$send" -n 100 udp:203.0.113.10:9:x >/dev/null
	kill -TERM "$watch"
	wait "$watch"
	assertEquals 111 $?
	assertContains "$(cat "$work/watch.err")" 'File too large'
	assertTrue 'every line is whole' "jq -e -s 'length > 5' '$work/log'"
}

test_it_outlives_the_subject_and_its_device() {
	new_cell
	policy
	watch
	in_ns "$cell" "$send" udp:203.0.113.10:9:x >/dev/null
	end_process "$cell"
	# The watch holds the namespace now.
	cell=$watch
	in_ns "$cell" ip link delete eth0
	in_ns "$cell" ip link add eth0 type veth peer name eth1
	in_ns "$cell" ip link set eth0 up
	in_ns "$cell" ip address add 198.18.0.6/30 dev eth0
	in_ns "$cell" ip route add default via 198.18.0.5
	in_ns "$cell" "$send" udp:203.0.113.10:9:x >/dev/null
	end_watch 0
	assertEquals 2 "$(log_has '.class == "udp"')"
}

test_it_gives_up_what_it_does_not_need() {
	new_cell
	# A sanitizer's build has no system call filter.
	background nsenter -n -t "$cell" -- "$top/build/bin/cell-watch" --log "$work/log"
	watch=$pid
	wait_for 10 test -s "$work/log"
	assertEquals 'CapInh:0000000000000000 CapPrm:0000000000001000 CapEff:0000000000001000 CapBnd:0000000000001000 CapAmb:0000000000000000 NoNewPrivs:1 Seccomp:2' \
		"$(sed -nE '/^(Cap|NoNewPrivs|Seccomp:)/s/\t//p' "/proc/$watch/status" | paste -sd' ')"
	end_watch 0
}

test_follow_prints_records_for_people() {
	new_cell
	policy
	watch --max-rate 2
	background cell-watch --follow "$work/log" >"$work/followed"
	follow=$pid
	in_ns "$cell" setpriv --reuid 1000 --clear-groups "$send" dns:127.0.0.11:53:leak.example:16 \
		>/dev/null
	wait_for 10 grep -q leak.example "$work/followed"
	assertEquals 'it follows' 0 $?
	in_ns "$cell" "$send" -n 5 udp:203.0.113.10:9:x >/dev/null
	in_ns "$cell" nft add table ip other
	end_watch 0
	wait "$follow"
	assertEquals 'exit of --follow after the summary' 0 $?
	sed 's/^..:..:..\.... //; s/127.0.0.1:[0-9]* /127.0.0.1:* /; s/\.2:[0-9]* /.2:* /
		s/pid [0-9]*/pid */; s/generation [0-9]*/generation */' "$work/followed" >"$work/lines"
	assertEquals 'start    group 5 is bound
resolver udp 127.0.0.1:* > 127.0.0.11:53 uid 1000 58 bytes asks for leak.example TXT' \
		"$(head -n 2 "$work/lines")"
	assertContains "$(cat "$work/lines")" \
		'udp      198.18.0.2:* > 203.0.113.10:9 uid 0 29 bytes'
	assertContains "$(cat "$work/lines")" \
		'ruleset  changed by nft (pid *), generation *, ip other'
	assertContains "$(cat "$work/lines")" \
		'bound    the rate bound is reached: not every packet has a line now'
	assertContains "$(tail -n 1 "$work/lines")" ': 1 resolver, 5 udp'
}

test_follow_says_which_line_is_no_record() {
	printf '%s\n' '{"record":"start","group":5,"time":"x"}' 'nonsense' '[]' '{"record":7}' \
		'{"record":"packet","class":"\u001b[2J"}' '{"record":"summary"}' >"$work/odd"
	expect 0 cell-watch --follow "$work/odd"
	assertEquals 6 "$(wc -l <"$work/out")"
	assertContains "$out" 'line 2 is no record'
	assertContains "$out" 'line 3 is no record'
	assertContains "$out" '\x1b[2J'
	expect_error 111 "$work/absent" cell-watch --follow "$work/absent"
	expect_error 111 "$work" cell-watch --follow "$work"
}

test_usage_errors() {
	for bad in '--group 65536' '--group x' '--max-bytes 65535' '--max-rate 0' '--ready-fd 2' \
		'--ready-fd 77' '--log' '--table' '--follow' '--follow x --log y' 'operand' '--nope' \
		'--group 5 --group 6' '--table X' '--table gost_egress'; do
		# shellcheck disable=SC2086 # words
		expect_error 100 '' timeout 5 cell-watch $bad
	done
	expect_error 100 'CELL_LOG_GROUP' env CELL_LOG_GROUP= cell-watch
	expect_error 100 'log group' env CELL_LOG_GROUP=x cell-watch
	expect_error 100 'table name Bad' env CELL_TABLE=Bad timeout 5 cell-watch
	expect 100 timeout 5 cell-watch --follow "$work/x" --json
	assertEquals usage "$(jq -r .error.kind "$work/out")"
	expect 0 cell-watch --help
	expect 0 cell-watch --version
}

. "$CELL_TEST_SHUNIT2"

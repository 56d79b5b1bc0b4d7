#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns
# Readers beside 1,000 publishes that change address and certificate each time: whoever follows the
# rule (address, certificate, address) never has a pair that is none.
. "$(dirname "$0")/../lib/cell_test.sh"

reader=$top/tests/lib/publish_reader.py

test_file_setup() {
	netns_new || exit 1
	net=$netns_pid
	i=2
	while [ "$i" -lt 202 ]; do
		echo "address add 10.6.0.$i/32 dev lo"
		i=$((i + 1))
	done >"$work/batch"
	in_ns "$net" ip -batch "$work/batch" || exit 1
	for run in even odd; do
		mkdir "$work/$run.dir"
		publish "$run" 10.6.0.2 "$work/$run.dir" || exit 1
	done
}

publish() {
	nsenter -n -t "$net" "$CELL_BIN/cell-publish" --state "$work/$1" --address "$2" --dir "$3" \
		>/dev/null
}

# readers: two of them, until $work/stop is there; their lines are in $work/seen.N
start_readers() {
	rm -f "$work/stop"
	readers=
	for i in 1 2; do
		background "$reader" "$work/dir" "$work/even.dir/mitmproxy-ca-cert.pem" \
			"$work/odd.dir/mitmproxy-ca-cert.pem" "$work/stop" >"$work/seen.$i"
		readers="$readers $pid"
	done
}
stop_readers() {
	: >"$work/stop"
	for i in $readers; do wait "$i" || fail 'a reader failed'; done
	cat "$work/seen.1" "$work/seen.2" | awk '{ for (i = 1; i <= 6; i++) n[i] += $i }
		END { print n[1], n[2], n[3], n[4], n[5], n[6] }' >"$work/seen"
	read -r reads complete mixed unruly partial absent <"$work/seen"
	echo "reads $reads complete $complete mixed $mixed without-the-rule $unruly partial $partial absent $absent"
}

test_a_publisher_without_the_order_is_caught() {
	mkdir -p "$work/dir"
	start_readers
	i=0
	while [ "$i" -lt 400 ]; do
		n=$((i % 200 + 2))
		echo "10.6.0.$n" >"$work/dir/.a"
		if [ $((n % 2)) -eq 0 ]; then from=even; else from=odd; fi
		cp "$work/$from.dir/mitmproxy-ca-cert.pem" "$work/dir/.c"
		mv "$work/dir/.a" "$work/dir/proxy-ipv4"
		mv "$work/dir/.c" "$work/dir/mitmproxy-ca-cert.pem"
		i=$((i + 1))
	done
	stop_readers
	assertTrue 'the readers see nothing, so the next test would prove nothing' "[ $mixed -gt 0 ]"
	rm -rf "$work/dir"
}

test_readers_of_1000_publishes_never_get_a_mixed_pair() {
	mkdir "$work/dir"
	start_readers
	i=0
	while [ "$i" -lt 1000 ]; do
		n=$((i % 200 + 2))
		if [ $((n % 2)) -eq 0 ]; then from=even; else from=odd; fi
		publish "$from" "10.6.0.$n" "$work/dir" || fail "publish $i"
		i=$((i + 1))
	done
	stop_readers
	assertEquals 'mixed pairs' 0 "$mixed"
	assertEquals 'partial files' 0 "$partial"
	assertTrue "only $reads reads" "[ $reads -ge 10000 ]"
	assertTrue "only $complete complete pairs" "[ $complete -ge 1000 ]"
}

. "$CELL_TEST_SHUNIT2"

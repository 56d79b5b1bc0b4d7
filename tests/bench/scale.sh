#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How many cells at once: the seal alone in N namespaces, and whole trials with their proxies.
# environment: BENCH_SEALS (default "1 16 128 512"), BENCH_TRIALS (default "1 16 64")
. "$(dirname "$0")/lib.sh"
: "${BENCH_SEALS:=1 16 128 512}" "${BENCH_TRIALS:=1 16 64}"
now() { date +%s%N; }
free_kib() { sed -n 's/^MemAvailable: *\([0-9]*\).*/\1/p' /proc/meminfo; }

# One cell without a proxy process: namespace, veth pair, pin, policy, check, gates, a subject.
cat >"$work/seal" <<'EOS'
#!/bin/sh
set -e
i=$1 work=$2
mkdir "$work/s$i"
echo "198.18.$((i / 64)).$((i % 64 * 4 + 1))" >"$work/s$i/proxy-ipv4"
printf '127.0.0.1 localhost\n' >"$work/s$i/hosts"
export CELL_EGRESS_DIR="$work/s$i"
exec unshare -n sh -ec '
	ip link set lo up
	ip link add eth0 type veth peer name far
	ip address add "198.18.$(($1 / 64)).$(($1 % 64 * 4 + 2))/30" dev eth0
	ip link set far up
	ip link set eth0 up
	cell-pinhost --hosts "$2/hosts" --from "$2/proxy-ipv4" cell-proxy
	cell-policy allow cell-proxy
	cell-policy check
	cell-exec --user 65534:65534 -- cell-capcheck
	cell-exec --user 65534:65534 -- true
	: >"$2/sealed"
	sleep 1000 & sleep_pid=$!
	echo $sleep_pid >"$2/pid"
	wait || :' sh "$i" "$work/s$i" >"$work/s$i/log" 2>&1
EOS
chmod +x "$work/seal"
title 'Cells sealed in parallel, without proxies: a cell is a namespace with a veth pair, pin, policy,
check, gate and subject. Columns: cells, failures, seconds for all, ms a cell, KiB a cell, left over.'
for count in $BENCH_SEALS; do
	before=$(free_kib) began=$(now)
	for i in $(seq 0 $((count - 1))); do "$work/seal" "$i" "$work" & done
	while :; do
		sealed=$(find "$work" -maxdepth 2 -name pid | wc -l)
		[ "$sealed" -lt "$count" ] || break
		[ $((($(now) - began) / 1000000000)) -lt 300 ] || break
		sleep 0.05
	done
	spent=$((($(now) - began) / 1000000)) after=$(free_kib)
	for file in "$work"/s*/pid; do kill "$(cat "$file")"; done
	wait
	sleep 0.5
	failures=$((count - $(find "$work" -name sealed | wc -l)))
	printf '  %5d cells  %3d failures  %7d.%03d s  %7d ms a cell  %6d KiB a cell  %d left\n' "$count" \
		"$failures" $((spent / 1000)) $((spent % 1000)) $((spent / count)) \
		$(((before - after) / count)) "$(ip -o link show type veth | wc -l)"
	rm -rf "$work"/s[0-9]*
done

title 'Whole trials in parallel (run_trial -- true; each starts a mitmdump of its own):'
for count in $BENCH_TRIALS; do
	began=$(now)
	: >"$work/jobs"
	for i in $(seq "$count"); do
		(
			status=0
			run_trial -q -o "$work/t$i" --setup-timeout 600 -- true >/dev/null 2>&1 || status=$?
			echo "$status" >>"$work/jobs"
		) &
	done
	lowest=$(free_kib) first=$lowest
	while [ "$(wc -l <"$work/jobs")" -lt "$count" ]; do
		available=$(free_kib)
		[ "$available" -ge "$lowest" ] || lowest=$available
		sleep 0.2
	done
	wait
	spent=$((($(now) - began) / 1000000))
	failures=$(grep -cv '^0$' "$work/jobs" || :)
	sleep 0.5
	printf '  %5d trials %3d failures  %7d.%03d s  %7d ms a trial %6d KiB a trial  %d left\n' "$count" \
		"$failures" $((spent / 1000)) $((spent % 1000)) $((spent / count)) \
		$(((first - lowest) / count)) "$(ip -o link show type veth | wc -l)"
	rm -rf "$work"/t[0-9]*
done

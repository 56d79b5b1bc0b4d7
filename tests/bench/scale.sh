#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How many cells at once: the seal alone in N namespaces, and whole trials with their proxies.
# environment: BENCH_SEALS (default "1 16 128 512"), BENCH_TRIALS (default "1 16 128"; all of them at
#              once), BENCH_BATCH and BENCH_BATCH_AT_ONCE (default 512 and 128; 0: none)
. "$(dirname "$0")/lib.sh"
: "${BENCH_SEALS:=1 16 128 512}" "${BENCH_TRIALS:=1 16 128}"
: "${BENCH_BATCH:=512}" "${BENCH_BATCH_AT_ONCE:=128}"
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

# One HTTP origin for all trials, in this namespace, at an address of its own.
origin=203.0.113.80:8000
ip address add 203.0.113.80/32 dev lo
cat >"$work/origin.py" <<'EOS'
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")
    def log_message(self, *_):
        print(self.path, flush=True)
http.server.ThreadingHTTPServer.request_queue_size = 1024
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Answer).serve_forever()
EOS
setpriv --pdeathsig KILL python3 -I "$work/origin.py" "${origin%:*}" "${origin#*:}" >"$work/requests" 2>&1 &

# one trial: its exit code, one line in $work/jobs
cat >"$work/trial" <<'EOS'
#!/bin/sh
status=0
run_trial -q -o "$2/t$1" --setup-timeout 900 --open "http://$3/trial-$1" \
	--proxy-arg --set --proxy-arg "cell_allow_private=${3%:*}/32" -- true >/dev/null 2>&1 || status=$?
echo "$status" >>"$2/jobs"
# 512 directories of evidence are not what is measured here; what failed stays.
[ "$status" -ne 0 ] || rm -rf "$2/t$1"
EOS
chmod +x "$work/trial"

# things: how many processes, mounts, interfaces and files in shared memory there are in these
# namespaces: what is more of them after the trials than before, they left behind.
mount -t tmpfs bench /dev/shm
things() {
	set -- /proc/[0-9]* /sys/class/net/* /dev/shm/*
	echo $(($# + $(wc -l </proc/self/mountinfo)))
}

# trials COUNT AT_ONCE: runs them, prints one line.
trials() {
	before=$(things)
	began=$(now)
	: >"$work/jobs"
	: >"$work/requests"
	seq "$1" | xargs -P "$2" -I{} "$work/trial" {} "$work" "$origin" &
	running=$!
	first=$(free_kib)
	lowest=$first
	while kill -0 "$running" 2>/dev/null; do
		available=$(free_kib)
		[ "$available" -ge "$lowest" ] || lowest=$available
		sleep 0.2
	done
	wait "$running" || :
	spent=$((($(now) - began) / 1000000))
	failures=$(($1 - $(grep -c '^0$' "$work/jobs" || :)))
	# What was killed last has its time to be gone.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.5
		[ "$(things)" -gt "$before" ] || break
	done
	printf '  %5d trials %4d at once %3d failures %4d requests %5d.%03d s %5d ms a trial %6d KiB a trial  %d left\n' \
		"$1" "$2" "$failures" "$(grep -c '^/trial-' "$work/requests")" $((spent / 1000)) $((spent % 1000)) \
		$((spent / $1)) $(((first - lowest) / $2)) \
		$(($(things) - before))
	[ "$failures" -eq 0 ] || jq -c .cause "$work"/t*/summary.json
	rm -rf "$work"/t[0-9]*
}

title 'Whole trials in parallel (run_trial -- true): each starts a mitmdump of its own, and passes one
request through it to one origin that all share. Memory is what was taken at the worst moment, for
each that ran at once: 512 of them at once would not fit into 24 GiB, so a harness runs some at a time.'
for count in $BENCH_TRIALS; do trials "$count" "$count"; done
[ "$BENCH_BATCH" -eq 0 ] || trials "$BENCH_BATCH" "$BENCH_BATCH_AT_ONCE"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the policy costs the traffic that it lets through, through a real proxy, to a proxy's address
# and over loopback: without a policy; with it; with a thousand more elements in its set; and with
# three chains that do nothing but accept, which is what netfilter takes for being asked at all.
# environment: BENCH_ROUNDS
. "$(dirname "$0")/lib.sh"

hold && world=$pid
for side in free cell crowd asked; do
	hold
	eval "$side=\$pid"
done
join "$free" 101
join "$cell" 102
join "$crowd" 103
join "$asked" 104
mkdir "$work/egress"
echo 10.77.0.2 >"$work/egress/proxy-ipv4"
export CELL_EGRESS_DIR="$work/egress"
inside "$cell" cell-policy allow cell-proxy >/dev/null
inside "$crowd" cell-policy allow cell-proxy >/dev/null
inside "$crowd" sh -c '{ printf "add element inet cell_egress proxy4 { "
	for third in 78 79 80 81; do seq -f "\"eth0\" . 10.$third.%g.1 . 8080, " 1 250; done
	echo "\"eth0\" . 10.82.0.1 . 8080 }"; } | tr -d "\n" | nft -f -'
inside "$asked" nft -f - <<'EOS'
table inet asked {
	chain output {
		type filter hook output priority 0; policy drop;
		accept
	}
	chain postrouting {
		type filter hook postrouting priority 2147483646; policy drop;
		accept
	}
	chain input {
		type filter hook input priority 0; policy drop;
		accept
	}
}
EOS
set -- "no policy=$free" "the policy=$cell" "the policy, 1,002 elements=$crowd" \
	"three chains of nothing but accept=$asked"

# The proxy itself, and an origin behind it.
cat >"$work/origin.py" <<'EOS'
import http.server, socketserver
class Origin(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"x" * 1000)
    def log_message(self, *args):
        pass
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
Server(("10.77.0.2", 9000), Origin).serve_forever()
EOS
nsenter -n -t "$world" /usr/bin/python3 "$work/origin.py" &
origin=$!
nsenter -n -t "$world" mitmdump --quiet --set "confdir=$work/mitmproxy" --listen-host 10.77.0.2 \
	--listen-port 8080 --set cell_allow_private=10.77.0.2/32 \
	-s "$top/share/cell/mitmproxy/cell_audit.py" >"$work/proxy.log" 2>&1 &
proxy=$!
tries=0
until inside "$free" curl -sfx http://10.77.0.2:8080 -o "$work/body" http://10.77.0.2:9000/; do
	tries=$((tries + 1))
	[ "$tries" -lt 150 ]
	sleep 0.2
done
title 'Traffic through the proxy: a connection to mitmdump and a request to an origin behind it'
traffic $((BENCH_ROUNDS * 40)) http 10.77.0.2 8080 - "$@"
kill "$proxy" "$origin"
wait "$proxy" "$origin" || :

for kind in bytes connections requests; do
	case $kind in
	bytes) label='4 MiB, two processes' rounds=$((BENCH_ROUNDS * 10)) ;;
	connections) label='16 connections, two processes' rounds=$((BENCH_ROUNDS * 20)) ;;
	requests) label='a request and its answer, two processes' rounds=$((BENCH_ROUNDS * 20)) ;;
	esac
	title "Traffic to the proxy's address: $label"
	traffic "$rounds" $kind 10.77.0.2 8080 "$world" "$@"
	title "Traffic over loopback: $label"
	traffic "$rounds" $kind 127.0.0.1 7000 0 "$@"
done
for kind in kernel-bytes kernel-connections; do
	case $kind in
	kernel-bytes) label='1 MiB, nothing but the kernel' ;;
	*) label='8 connections, nothing but the kernel' ;;
	esac
	title "Traffic to the proxy's address: $label"
	traffic $((BENCH_ROUNDS * 50)) $kind 10.77.0.2 8080 "$world" "$@"
	title "Traffic over loopback: $label"
	traffic $((BENCH_ROUNDS * 50)) $kind 127.0.0.1 7000 0 "$@"
done
# shellcheck disable=SC2086 # process ids
kill $free $cell $crowd $asked $world

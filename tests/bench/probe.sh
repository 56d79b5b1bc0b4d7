#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A list of probes, all at once, against the script that people write: curl, dig and nc, in turn.
. "$(dirname "$0")/lib.sh"

proxy_beyond

cat >"$work/script" <<'EOS'
#!/bin/sh
# Succeeds when everything is closed.
for port in 22 53 80 443; do
	nc -z -w 1 198.18.0.1 "$port" && exit 1
done
dig +time=1 +tries=1 @198.18.0.1 example.com >/dev/null && exit 1
dig +time=1 +tries=1 @127.0.0.11 example.com >/dev/null && exit 1
dig +tcp +time=1 +tries=1 @127.0.0.11 example.com >/dev/null && exit 1
curl -s -m 1 http://198.18.0.1:8081/ && exit 1
exit 0
EOS
cat >"$work/ours" <<'EOS'
#!/bin/sh
exec cell-probe --timeout 1 tcp://198.18.0.1:22 tcp://198.18.0.1:53 tcp://198.18.0.1:80 \
	tcp://198.18.0.1:443 dns://198.18.0.1:53/example.com dns://127.0.0.11:53/example.com \
	dns+tcp://127.0.0.11:53/example.com tcp://198.18.0.1:8081
EOS
chmod +x "$work/script" "$work/ours"
cell-policy allow cell-proxy >/dev/null
title 'Probe: eight ways, all refused by the policy'
alternate -n "$BENCH_ROUNDS" 'cell-probe, all at once' "$work/ours" :: \
	'nc, dig, curl, in turn' "$work/script"
nft delete table inet cell_egress
nsenter -n -t "$world" nft 'table inet silent { chain in { type filter hook input priority 0; policy drop; }; }'
title 'Probe: the same eight, and nobody answers'
alternate -n 5 'cell-probe, all at once' "$work/ours" :: 'nc, dig, curl, in turn' "$work/script"
kill "$world"

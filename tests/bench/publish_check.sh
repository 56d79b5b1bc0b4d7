#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A proxy's health check against the one line of Python that images use for it.
. "$(dirname "$0")/lib.sh"
ip address add 198.18.0.1/32 dev lo
mkdir -m 0755 "$work/state" "$work/dir"
export CELL_EGRESS_DIR="$work/dir"
cell-publish --state "$work/state" --address 198.18.0.1 >/dev/null
/usr/bin/python3 -c '
import socket
s = socket.create_server(("198.18.0.1", 8080))
while True:
    s.accept()[0].close()' &
server=$!
n=0
until cell-publish --check --connect --state "$work/state" >/dev/null; do
	n=$((n + 1))
	[ "$n" -lt 1000 ]
done

title 'Health: is the proxy up?'
alternate -n "$BENCH_ROUNDS" \
	'cell-publish --check --connect (certificate, key, address, port)' \
	cell-publish --check --connect --state "$work/state" :: \
	'python3 -c (the port alone)' /usr/bin/python3 -c '
import socket
socket.create_connection(("198.18.0.1", 8080), 2).close()' :: \
	'python3 -c (the port at the published address)' /usr/bin/python3 -c '
import os, socket
d = os.environ["CELL_EGRESS_DIR"]
assert os.path.getsize(d + "/mitmproxy-ca-cert.pem")
socket.create_connection((open(d + "/proxy-ipv4").read().strip(), 8080), 2).close()' :: \
	'true (starting a process)' /bin/true
title 'Publish: nothing to do, and everything new'
alternate -n "$BENCH_ROUNDS" \
	'cell-publish (all is right already)' cell-publish --state "$work/state" --address 198.18.0.1 :: \
	'cell-publish --renew' cell-publish --state "$work/state" --address 198.18.0.1 --renew :: \
	'openssl req -x509 (the certificate alone)' sh -c 'exec 2>/dev/null
exec openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1/k" -out "$1/c" -subj /CN=x' sh "$work"
kill "$server"

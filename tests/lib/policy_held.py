#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens connections, uses them, waits, and uses them again: what becomes of those opened before.

usage: policy_held.py READY GO TARGET...
TARGET as for policy_ask.py: udp: (connected) or tcp:. Each is asked once and must answer; then the
file READY is made, the file GO awaited, and each is used for up to two seconds. A line each: TARGET,
"open" or an errno's name or "silent", and the milliseconds from the first send to knowing that.
"""
import errno
import os
import socket
import sys
import time


def open_one(target):
    kind, rest = target.split(":", 1)
    address, port = rest.rsplit(":", 1)
    family = socket.AF_INET6 if address.startswith("[") else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    sock.settimeout(2)
    sock.connect((address.strip("[]"), int(port)))
    return sock


def use(sock):
    sock.send(b"cell")
    return "open" if sock.recv(64) == b"cell" else "EOF"


def main():
    ready, go, *targets = sys.argv[1:]
    socks = [(target, open_one(target)) for target in targets]
    for target, sock in socks:
        if use(sock) != "open":
            sys.exit(f"{target} does not answer")
    with open(ready, "w", encoding="ascii"):
        pass
    while not os.path.exists(go):
        time.sleep(0.01)
    for target, sock in socks:
        start = time.monotonic()
        try:
            result = use(sock)
        except TimeoutError:
            result = "silent"
        except OSError as error:
            result = errno.errorcode.get(error.errno, str(error))
        print(target, result, f"{(time.monotonic() - start) * 1000:.1f}")


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks echo servers; says of each whether it answered, or what was met.

usage: policy_ask.py TARGET...
TARGET: udp:ADDRESS:PORT, tcp:ADDRESS:PORT or icmp:ADDRESS; IPv6 in brackets. One line each: TARGET
and "open" (the same bytes came back), "silent" (nothing within half a second) or an errno's name.
"""
import errno
import os
import socket
import struct
import sys


def ask(target):
    kind, rest = target.split(":", 1)
    address, port = (rest, 0) if kind == "icmp" else rest.rsplit(":", 1)
    family = socket.AF_INET6 if address.startswith("[") else socket.AF_INET
    peer = (address.strip("[]"), int(port))
    nonce = os.urandom(16)
    types = {"udp": (socket.SOCK_DGRAM, 0), "tcp": (socket.SOCK_STREAM, 0)}
    if kind == "icmp":
        v6 = family == socket.AF_INET6
        types["icmp"] = (socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP)
        nonce = struct.pack("!BBHHH", 128 if v6 else 8, 0, 0, 1, 1) + nonce
    with socket.socket(family, *types[kind]) as sock:
        sock.settimeout(0.5)
        sock.connect(peer)
        sock.send(nonce)
        data = sock.recv(4096)
        return "open" if data[-16:] == nonce[-16:] else "other"


for name in sys.argv[1:]:
    try:
        result = ask(name)
    except TimeoutError:
        result = "silent"
    except OSError as error:
        result = errno.errorcode.get(error.errno, str(error))
    print(name, result)

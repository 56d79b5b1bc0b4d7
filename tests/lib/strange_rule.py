#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Replaces a rule by `oif lo last accept`, whose middle nftables before 1.0.8 cannot show.

usage: strange_rule.py TABLE CHAIN HANDLE      (an inet table)
"""
import socket
import struct
import sys

NEWRULE, BATCH_BEGIN, BATCH_END, INET = 10 << 8 | 6, 16, 17, 1
REQUEST, REPLACE_ACK = 1, 1 | 4 | 0x100


def message(kind, flags, sequence, family, subsystem, body=b""):
    payload = struct.pack("!BBH", family, 0, subsystem) + body
    return struct.pack("=IHHII", 16 + len(payload), kind, flags, sequence, 0) + payload


def attribute(kind, value):
    data = struct.pack("=HH", 4 + len(value), kind) + value
    return data + bytes(-len(data) % 4)


def nested(kind, *parts):
    return attribute(kind | 0x8000, b"".join(parts))


def number(kind, value):
    return attribute(kind, struct.pack("!I", value))


def expression(name, *data):
    return nested(1, attribute(1, name + b"\0"), nested(2, *data))


def main():
    table, chain, handle = sys.argv[1:]
    expressions = nested(
        4,
        expression(b"meta", number(1, 1), number(2, 5)),  # register 1 = oif
        expression(b"cmp", number(1, 1), number(2, 0), nested(3, attribute(1, struct.pack("=I", 1)))),
        expression(b"last"),
        expression(b"immediate", number(1, 0), nested(2, nested(2, number(1, 1)))))  # accept
    body = (attribute(1, table.encode() + b"\0") + attribute(2, chain.encode() + b"\0") +
            attribute(3, struct.pack("!Q", int(handle))) + expressions)
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
    sock.settimeout(5)
    sock.send(message(BATCH_BEGIN, REQUEST, 0, 0, 10) +
              message(NEWRULE, REPLACE_ACK, 1, INET, 0, body) +
              message(BATCH_END, REQUEST, 2, 0, 10))
    sys.exit(-struct.unpack("=i", sock.recv(4096)[16:20])[0])


main()

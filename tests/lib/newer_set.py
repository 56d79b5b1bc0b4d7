#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a plain named set as nftables 1.1.3 does, in table inet TABLE: 1.0.6 crashes on those.

usage: newer_set.py TABLE      (the table must exist)

The message is `add set inet TABLE foo { type ipv4_addr; }`; what is new is its user data, which
describes the key as an expression.
"""
import socket
import struct
import sys

NEWSET, BATCH_BEGIN, BATCH_END, INET = 10 << 8 | 9, 16, 17, 1


def message(kind, flags, sequence, family, subsystem, body=b""):
    payload = struct.pack("!BBH", family, 0, subsystem) + body
    return struct.pack("=IHHII", 16 + len(payload), kind, flags, sequence, 0) + payload


def attribute(kind, value):
    data = struct.pack("=HH", 4 + len(value), kind) + value
    return data + bytes(-len(data) % 4)


def main():
    number = lambda value: struct.pack("!I", value)
    user_data = bytes.fromhex("00040200000003080004040000000100")
    body = (attribute(1, sys.argv[1].encode() + b"\0") + attribute(2, b"foo\0") +
            attribute(3, number(0)) + attribute(4, number(7)) + attribute(5, number(4)) +
            attribute(10, number(1)) + attribute(13, user_data))
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
    sock.settimeout(5)
    sock.send(message(BATCH_BEGIN, 1, 0, 0, 10) + message(NEWSET, 0x405, 1, INET, 0, body) +
              message(BATCH_END, 1, 2, 0, 10))
    answer = sock.recv(4096)
    sys.exit(-struct.unpack("=i", answer[16:20])[0])


main()

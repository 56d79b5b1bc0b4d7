#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends packets that a policy is expected to refuse, and says what each send met.

usage: send_packets.py [-n COUNT] TARGET...
TARGET: udp:ADDRESS:PORT[:TEXT]   the payload is TEXT
        dns:ADDRESS:PORT:NAME:TYPE  a DNS question over UDP; TYPE is a number
        tcp:ADDRESS:PORT          a connect
        icmp:ADDRESS              an echo request of a ping socket
        raw:ADDRESS:PROTOCOL      an empty packet of that protocol; needs NET_RAW
An IPv6 address stands in brackets. One line a target: TARGET and "sent" or the error's name.
"""
import errno
import os
import re
import socket
import struct
import sys


def question(name, kind):
    labels = b"".join(bytes([len(label)]) + label for label in os.fsencode(name).split(b"."))
    return struct.pack("!6H", 0x1234, 0x0100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1)


def send(target, count):
    kind, address, rest = re.fullmatch(r"(\w+):(\[[^]]*\]|[^:]*):?(.*)", target).groups()
    address = address.strip("[]")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    rest = rest.split(":")
    if kind == "tcp":
        for _ in range(count):
            with socket.socket(family, socket.SOCK_STREAM) as sock:
                sock.settimeout(1)
                sock.connect((address, int(rest[0])))
        return
    if kind == "icmp":
        protocol = socket.IPPROTO_ICMPV6 if family == socket.AF_INET6 else socket.IPPROTO_ICMP
        sock = socket.socket(family, socket.SOCK_DGRAM, protocol)
        payload, port = struct.pack("!BBHHH", 128 if ":" in address else 8, 0, 0, 1, 1), 0
    elif kind == "raw":
        sock = socket.socket(family, socket.SOCK_RAW, int(rest[0]))
        payload, port = b"", 0
    else:
        sock = socket.socket(family, socket.SOCK_DGRAM)
        port = int(rest[0])
        payload = question(rest[1], int(rest[2])) if kind == "dns" else os.fsencode("".join(rest[1:]))
    failure = None
    with sock:
        for _ in range(count):
            try:
                sock.sendto(payload, (address, port))
            except OSError as error:  # each of them is refused, and each is to be sent
                failure = error
    if failure:
        raise failure


def main():
    arguments, count = sys.argv[1:], 1
    if arguments[:1] == ["-n"]:
        count, arguments = int(arguments[1]), arguments[2:]
    for target in arguments:
        try:
            send(target, count)
            print(target, "sent")
        except OSError as error:
            print(target, errno.errorcode.get(error.errno, str(error)))


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes down every frame that arrives on a device: FAMILY PROTOCOL DESTINATION PORT, a line each.

usage: policy_sniff.py DEVICE FILE

The first line is "ready". ARP is written as "arp", IPv6 neighbour discovery, router solicitations
and multicast reports as "icmpv6 TYPE"; ports only where the frame has them.
"""
import socket
import struct
import sys


def ports(protocol, rest):
    return struct.unpack("!H", rest[2:4])[0] if protocol in (6, 17) and len(rest) >= 4 else 0


def describe(frame):
    kind, packet = struct.unpack("!H", frame[12:14])[0], frame[14:]
    if kind == 0x0806:
        return "arp"
    if kind == 0x0800:
        rest = packet[(packet[0] & 15) * 4:]
        return f"ip {packet[9]} {socket.inet_ntoa(packet[16:20])} {ports(packet[9], rest)}"
    if kind == 0x86DD:
        protocol, rest = packet[6], packet[40:]
        if protocol == 0:  # hop-by-hop options stand before multicast reports
            protocol, rest = rest[0], rest[(rest[1] + 1) * 8:]
        if protocol == 58 and 130 <= rest[0] <= 143 and rest[0] not in (138, 139, 140):
            return f"icmpv6 {rest[0]}"
        return f"ip6 {protocol} {socket.inet_ntop(socket.AF_INET6, packet[24:40])} {ports(protocol, rest)}"
    return f"other {kind:#x}"


def main():
    device, name = sys.argv[1:]
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    sock.bind((device, 0))
    with open(name, "a", buffering=1, encoding="ascii") as out:
        print("ready", file=out)
        while True:
            frame, address = sock.recvfrom(65536)
            if address[2] != socket.PACKET_OUTGOING:
                print(describe(frame), file=out)


main()

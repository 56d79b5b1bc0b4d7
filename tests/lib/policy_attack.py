#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tries to get packets for loopback addresses out of a network namespace by one of its devices.

usage: policy_attack.py DEVICE PORT

To addresses that are "local" it sends from sockets that are told to leave by DEVICE: all the ways
to tell a socket that without a capability, for TCP and UDP, IPv4 and IPv6, connected or not. One
line an attempt, NAME RESULT; every packet goes to PORT. Always exits 0: what matters is what is
seen on the wire.
"""
import errno
import socket
import struct
import sys

IP_UNICAST_IF, IP_PKTINFO = 50, 8
IPV6_UNICAST_IF, IPV6_PKTINFO = 76, 50
LOCAL4 = ("127.0.0.1", "127.0.0.53", "127.9.9.9", "127.0.0.11")
LOCAL6 = ("::1", "::ffff:127.0.0.1")


def bind_device(sock, device, _index):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode() + b"\0")


def plainly(_sock, _device, _index):
    """No device at all: stays on lo, unless somebody redirects it."""


def unicast_if(sock, _device, index):
    if sock.family == socket.AF_INET:
        sock.setsockopt(socket.IPPROTO_IP, IP_UNICAST_IF, struct.pack("!I", index))
    else:
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_UNICAST_IF, struct.pack("!I", index))
        sock.setsockopt(socket.IPPROTO_IP, IP_UNICAST_IF, struct.pack("!I", index))


def sticky_pktinfo(sock, _device, index):
    sock.setsockopt(socket.IPPROTO_IPV6, IPV6_PKTINFO, struct.pack("16sI", bytes(16), index))


def pktinfo(sock, index, target):
    if sock.family == socket.AF_INET:
        info = (socket.IPPROTO_IP, IP_PKTINFO, struct.pack("i4s4s", index, bytes(4), bytes(4)))
    else:
        info = (socket.IPPROTO_IPV6, IPV6_PKTINFO, struct.pack("16sI", bytes(16), index))
    sock.sendmsg([b"cell"], [info], 0, target)


def connect(sock, target):
    sock.settimeout(0.02)
    sock.connect(target)


def tries(device, index):
    for family, addresses in ((socket.AF_INET, LOCAL4), (socket.AF_INET6, LOCAL6)):
        for address in addresses:
            for kind, label in ((socket.SOCK_STREAM, "tcp"), (socket.SOCK_DGRAM, "udp")):
                for how in (plainly, bind_device, unicast_if, sticky_pktinfo):
                    if how is sticky_pktinfo and family == socket.AF_INET:
                        continue
                    yield f"{label}-{address}-{how.__name__}", family, kind, address, how
            yield f"udp-{address}-pktinfo", family, socket.SOCK_DGRAM, address, None


def main():
    device, port = sys.argv[1], int(sys.argv[2])
    index = socket.if_nametoindex(device)
    for name, family, kind, address, how in tries(device, index):
        for connected in (False, True):
            if kind == socket.SOCK_STREAM and not connected:
                continue
            scope = (0, index) if family == socket.AF_INET6 else ()
            target = (address, port) + scope
            try:
                with socket.socket(family, kind) as sock:
                    if family == socket.AF_INET6:
                        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                    if how is not None:
                        how(sock, device, index)
                    if how is None:
                        pktinfo(sock, index, target)
                    elif kind == socket.SOCK_DGRAM and not connected:
                        sock.sendto(b"cell", target)
                    else:
                        connect(sock, target)
                        sock.send(b"cell")
                print(name, "sent")
            except OSError as error:
                print(name, errno.errorcode.get(error.errno, str(error)))


main()

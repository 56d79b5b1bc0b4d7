#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends as fast as it can until it is told to stop, and counts what became of it.

usage: policy_hammer.py STOP KIND TARGET...
KIND: forbidden  every TARGET (udp:A:P or tcp:A:P, tried without waiting) is to be refused each time
      loopback   every udp TARGET echoes each datagram; a lost one is counted
      stream     one connection to the first tcp TARGET, always in use; a break is counted
      connects   connections to the first tcp TARGET, each used once; a failure is counted

Ends when the file STOP exists: prints "KIND TRIED BAD", where BAD are those that were not as they
should be (for forbidden: those that were not refused at once).
"""
import errno
import os
import socket
import sys

REFUSALS = (errno.EPERM, errno.ECONNREFUSED)


def parse(target):
    kind, rest = target.split(":", 1)
    address, port = rest.rsplit(":", 1)
    family = socket.AF_INET6 if address.startswith("[") else socket.AF_INET
    return kind, family, (address.strip("[]"), int(port))


def forbidden(targets, stopped):
    tried = bad = 0
    udp = {f: socket.socket(f, socket.SOCK_DGRAM) for f in (socket.AF_INET, socket.AF_INET6)}
    while not stopped():
        for kind, family, peer in targets:
            tried += 1
            try:
                if kind == "udp":
                    udp[family].sendto(b"cell", peer)
                else:
                    with socket.socket(family, socket.SOCK_STREAM) as sock:
                        sock.settimeout(5)
                        sock.connect(peer)
                bad += 1
            except OSError as error:
                bad += error.errno not in REFUSALS
    return tried, bad


def loopback(targets, stopped):
    tried = bad = 0
    socks = []
    for _, family, peer in targets:
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.settimeout(5)
        sock.connect(peer)
        socks.append(sock)
    while not stopped():
        for sock in socks:
            tried += 1
            try:
                sock.send(b"cell")
                bad += sock.recv(64) != b"cell"
            except OSError:
                bad += 1
    return tried, bad


def stream(targets, stopped):
    tried = bad = 0
    with socket.create_connection(targets[0][2], 5) as sock:
        while not stopped():
            tried += 1
            try:
                sock.sendall(b"x" * 1000)
                left = 1000
                while left > 0:
                    got = len(sock.recv(left))
                    if got == 0:
                        raise ConnectionError
                    left -= got
            except OSError:
                return tried, bad + 1
    return tried, bad


def connects(targets, stopped):
    tried = bad = 0
    while not stopped():
        tried += 1
        try:
            with socket.create_connection(targets[0][2], 5) as sock:
                sock.sendall(b"cell")
                bad += sock.recv(64) != b"cell"
        except OSError:
            bad += 1
    return tried, bad


def main():
    stop, kind, *targets = sys.argv[1:]
    count = 0

    def stopped():
        nonlocal count
        count += 1
        return count % 64 == 0 and os.path.exists(stop)

    work = {"forbidden": forbidden, "loopback": loopback, "stream": stream, "connects": connects}
    print(kind, *work[kind]([parse(target) for target in targets], stopped))


main()

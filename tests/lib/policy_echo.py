#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers whatever it is sent with the same, over UDP and TCP.

usage: policy_echo.py READY LISTENER...
LISTENER: udp:ADDRESS:PORT or tcp:ADDRESS:PORT; an IPv6 address stands in brackets. Writes "ready"
to the file READY once all of them listen, then a line for every datagram and connection.
"""
import selectors
import socket
import sys


def main():
    ready, *listeners = sys.argv[1:]
    watch = selectors.DefaultSelector()
    log = open(ready, "a", buffering=1, encoding="ascii")
    for text in listeners:
        kind, rest = text.split(":", 1)
        address, port = rest.rsplit(":", 1)
        family = socket.AF_INET6 if address.startswith("[") else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address.strip("[]"), int(port)))
        if kind == "tcp":
            sock.listen(1024)
        watch.register(sock, selectors.EVENT_READ, kind)
    print("ready", file=log)
    while True:
        for key, _ in watch.select():
            try:
                if key.data == "udp":
                    data, peer = key.fileobj.recvfrom(65536)
                    print("udp", peer[0], file=log)
                    key.fileobj.sendto(data, peer)
                elif key.data == "tcp":
                    client, peer = key.fileobj.accept()
                    print("tcp", peer[0], file=log)
                    watch.register(client, selectors.EVENT_READ, "client")
                else:
                    data = key.fileobj.recv(65536)
                    if not data:
                        raise ConnectionError
                    key.fileobj.sendall(data)
            except OSError:
                if key.data == "client":
                    watch.unregister(key.fileobj)
                    key.fileobj.close()


main()

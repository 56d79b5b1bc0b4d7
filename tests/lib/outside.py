#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A process outside the cell, for the tests: answers "outside" on Unix sockets, holds a descriptor.

usage: outside.py READY SOCKET...     a SOCKET that begins with @ is an abstract one

Makes the file READY once it listens on all of them. Descriptor 9 is a file that says "secret", and
so does its memory at the address that stands in READY.
"""
import ctypes
import os
import selectors
import socket
import sys


def main():
    ready, *names = sys.argv[1:]
    watch = selectors.DefaultSelector()
    for name in names:
        server = socket.socket(socket.AF_UNIX)
        if name.startswith("@"):
            server.bind("\0" + name[1:])
        else:
            os.makedirs(os.path.dirname(name), exist_ok=True)
            server.bind(name)
            os.chmod(name, 0o666)
        server.listen()
        watch.register(server, selectors.EVENT_READ)
    secret = os.memfd_create("secret")
    os.write(secret, b"secret")
    os.dup2(secret, 9)
    memory = ctypes.create_string_buffer(b"secret")
    with open(ready + ".new", "w", encoding="ascii") as file:
        file.write(str(ctypes.addressof(memory)))
    os.rename(ready + ".new", ready)
    while True:
        for key, _ in watch.select():
            client, _ = key.fileobj.accept()
            client.sendall(b"outside")
            client.close()


main()

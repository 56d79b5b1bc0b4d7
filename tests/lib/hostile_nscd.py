#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A name service cache daemon that only writes down that it was asked.

usage: hostile_nscd.py SOCKET FILE
"""
import socket
import sys

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
while True:
    connection, _ = listener.accept()
    with open(sys.argv[2], "ab") as asked:
        asked.write(connection.recv(4096) + b"\n")
    connection.close()

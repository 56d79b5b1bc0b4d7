#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A name service cache daemon that only writes down that it was asked.

usage: hostile_nscd.py SOCKET FILE
"""
import os
import socket
import sys

# By its last name alone: an address holds 108 bytes.
asked_file = os.path.abspath(sys.argv[2])
os.chdir(os.path.dirname(sys.argv[1]))
listener = socket.socket(socket.AF_UNIX)
listener.bind(os.path.basename(sys.argv[1]))
listener.listen()
while True:
    connection, _ = listener.accept()
    with open(asked_file, "ab") as asked:
        asked.write(connection.recv(4096) + b"\n")
    connection.close()

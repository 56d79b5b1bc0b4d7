#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A client that says to the proxy what no library would say. Prints what came back, as text.

usage: audit_client.py connect HOST:PORT [BYTES [BYTES...]]   a tunnel, then each BYTES after a pause
       audit_client.py send BYTES...                          straight to the proxy
       audit_client.py websocket HOST:PORT MESSAGE...         a WebSocket through a tunnel
       audit_client.py tls HOST:PORT CA BYTES...              TLS inside a tunnel, then BYTES
       audit_client.py many COUNT THREADS URL                 requests, each on its own connection
BYTES may hold escapes such as \\r\\n and \\x00.
"""

import base64
import concurrent.futures
import os
import socket
import ssl
import sys
import time

PROXY = ("198.18.0.1", 8080)


def unescape(text):
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")


def drain(connection, seconds=2.0):
    """Everything until the other side closes, or nothing comes for SECONDS."""
    connection.settimeout(seconds)
    data = b""
    try:
        while more := connection.recv(65536):
            data += more
        data += b"[closed]"
    except socket.timeout:
        data += b"[silent]"
    except OSError as error:
        data += b"[%s]" % type(error).__name__.encode()
    return data


def tunnel(target):
    connection = socket.create_connection(PROXY, 20)
    connection.sendall(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % ((target.encode(),) * 2))
    head = b""
    while b"\r\n\r\n" not in head:
        more = connection.recv(1)
        if not more:
            break
        head += more
    print(head.split(b"\r\n")[0].decode())
    if head[9:12] != b"200":
        sys.exit(0)
    return connection


def say(connection, words):
    try:
        for word in words:
            connection.sendall(unescape(word))
            time.sleep(0.2)
    except OSError:
        pass
    sys.stdout.write(drain(connection).decode("latin-1") + "\n")


def frame(data):
    mask = os.urandom(4)
    return bytes([0x81, 0x80 | len(data)]) + mask + bytes(
        c ^ mask[i % 4] for i, c in enumerate(data))


def websocket(target, messages):
    connection = tunnel(target)
    key = base64.b64encode(os.urandom(16))
    connection.sendall(b"GET /websocket HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
                       b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       b"Sec-WebSocket-Key: %s\r\n\r\n" % (target.encode(), key))
    stream = connection.makefile("rb")
    print(stream.readline().strip().decode())
    while stream.readline().strip():
        pass
    for message in messages:
        connection.sendall(frame(message.encode()))
        head = stream.read(2)
        print("echo " + stream.read(head[1]).decode())
    connection.sendall(bytes([0x88, 0x80]) + os.urandom(4))
    stream.read(2)


def one(url):
    with socket.create_connection(PROXY, 30) as connection:
        host = url.split("/")[2]
        connection.sendall(b"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
                           % (url.encode(), host.encode()))
        return drain(connection, 30).split(b" ")[1:2] == [b"200"]


def main():
    kind, words = sys.argv[1], sys.argv[2:]
    if kind == "connect":
        say(tunnel(words[0]), words[1:])
    elif kind == "send":
        say(socket.create_connection(PROXY, 20), words)
    elif kind == "websocket":
        websocket(words[0], words[1:])
    elif kind == "tls":
        context = ssl.create_default_context(cafile=words[1])
        host = words[0].rsplit(":", 1)[0]
        say(context.wrap_socket(tunnel(words[0]), server_hostname=host), words[2:])
    else:
        with concurrent.futures.ThreadPoolExecutor(int(words[1])) as pool:
            print(sum(pool.map(one, (words[2] + str(i) for i in range(int(words[0]))))))


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers for the tests of the probes, in one process: probe_server.py KIND:ADDRESS:PORT...

A kind is what it does: echo (udp and tcp), silent-udp, chatter (udp, other bytes), elsewhere
(udp: echoes from 10.77.0.4), accept (tcp, says nothing), close (tcp,
accepts and closes), banner (tcp, speaks first), http-CODE (tcp), garbage (tcp), dns-CODE (udp and
tcp: answers every question with that response code; dns-CODE-udp and dns-CODE-tcp: by one alone;
dns-CODE-txt: questions for TXT alone).
IPv6 addresses stand in brackets. A line is printed for every DNS question ("dns NAME TYPE") and
every HTTP request ("http LINE"); "ready" once all of them listen.
"""
import re
import select
import socket
import struct
import sys


def say(*words):
    print(*words, flush=True)


def open_socket(host, port, kind):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, kind)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind((host, port))
    if kind == socket.SOCK_STREAM:
        sock.listen(64)
    return sock


def dns_answer(question, kind):
    """The answer to a question, or nothing."""
    if len(question) < 17 or question[4:6] != b"\0\1":
        return b""
    code = int(kind.split("-")[1])
    end = 12
    labels = []
    while question[end] != 0:
        labels.append(question[end + 1:end + 1 + question[end]].decode())
        end += 1 + question[end]
    number = struct.unpack("!H", question[end + 1:end + 3])[0]
    say("dns", ".".join(labels), {1: "A", 28: "AAAA", 16: "TXT"}.get(number, number))
    if kind.endswith("-txt") and number != 16:
        return b""
    return question[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, 0, 0, 0) + question[12:end + 5]


def serve_udp(kind, sock):
    data, peer = sock.recvfrom(4096)
    if kind == "echo":
        sock.sendto(data, peer)
    elif kind == "elsewhere":
        say("elsewhere")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind(("10.77.0.4", 0))
            other.sendto(data, peer)
    elif kind == "chatter":
        sock.sendto(b"and what is that to me", peer)
    elif kind.startswith("dns-"):
        answer = dns_answer(data, kind)
        if answer:
            sock.sendto(answer, peer)


def serve_tcp(kind, sock):
    data = sock.recv(4096)
    if not data:
        return False
    if kind == "echo":
        sock.sendall(data)
    elif kind == "garbage":
        sock.sendall(b"\x00\x01rubbish\r\n")
    elif kind.startswith("http-"):
        say("http", data.split(b"\r\n")[0].decode())
        code = kind.split("-")[1]
        sock.sendall(f"HTTP/1.1 {code} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        return False
    elif kind.startswith("dns-"):
        answer = dns_answer(data[2:], kind)
        if answer:
            sock.sendall(struct.pack("!H", len(answer)) + answer)
    return True


def main():
    udp, listeners, connections = {}, {}, {}
    for word in sys.argv[1:]:
        kind, host, port = re.fullmatch(r"([a-z0-9-]+):(\[[^]]*\]|[^:]*):(\d+)", word).groups()
        host = host.strip("[]")
        if kind in ("echo", "silent-udp", "chatter", "elsewhere") or kind.startswith("dns-") and not kind.endswith("tcp"):
            udp[open_socket(host, int(port), socket.SOCK_DGRAM)] = kind
        if kind not in ("silent-udp", "chatter", "elsewhere") and not kind.endswith("-udp"):
            listeners[open_socket(host, int(port), socket.SOCK_STREAM)] = kind
    say("ready")
    while True:
        for sock in select.select([*udp, *listeners, *connections], [], [])[0]:
            if sock in udp:
                serve_udp(udp[sock], sock)
            elif sock in listeners:
                connection, _ = sock.accept()
                if listeners[sock] == "close":
                    connection.close()
                    continue
                if listeners[sock] == "banner":
                    connection.sendall(b"220 hello\r\n")
                connections[connection] = listeners[sock]
            else:
                try:
                    more = serve_tcp(connections[sock], sock)
                except OSError:
                    more = False
                if not more:
                    del connections[sock]
                    sock.close()


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A far end for the probes of the netns engine.

Answers on the given addresses by TCP and UDP echo and as a name server that knows no name, on
ports that the kernel chooses. Prints one "target TARGET closed" line a way out, then "end", and
serves until it is killed, at most two minutes. It only ever holds the probes' own bytes.
"""
import selectors
import socket
import sys
import time

LIFETIME = 120  # seconds
LIMIT = 65536  # bytes of one message


def answer_dns(query: bytes) -> bytes:
    """NXDOMAIN for any question: id and question come back, which is all that a probe asks for."""
    if len(query) < 12:
        return b""
    return query[:2] + b"\x81\x83" + query[4:6] + b"\0\0\0\0\0\0" + query[12:]


def answer_dns_tcp(data: bytes) -> bytes:
    """As answer_dns, with the two length octets of RFC 1035, 4.2.2."""
    if len(data) < 2 or len(data) < 2 + int.from_bytes(data[:2], "big"):
        return b""
    reply = answer_dns(data[2 : 2 + int.from_bytes(data[:2], "big")])
    return len(reply).to_bytes(2, "big") + reply


def echo(data: bytes) -> bytes:
    """What came."""
    return data


def listen(kind: int, address: str) -> socket.socket:
    """A non-blocking socket at a port of the kernel's choice."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, kind)
    sock.bind((address, 0))
    if kind == socket.SOCK_STREAM:
        sock.listen(64)
    sock.setblocking(False)
    return sock


def serve_once(selector: selectors.BaseSelector, sock: socket.socket, role: tuple) -> None:
    """Handles one event: a datagram, a new connection, or bytes on one."""
    kind, reply = role
    try:
        if kind == "udp":
            data, peer = sock.recvfrom(LIMIT)
            sock.sendto(reply(data), peer)
        elif kind == "tcp":
            connection, _ = sock.accept()
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ, ("stream", reply))
        else:
            data = sock.recv(LIMIT)
            if data:
                sock.send(reply(data))
            else:
                selector.unregister(sock)
                sock.close()
    except BlockingIOError:
        pass
    except OSError:
        if kind == "stream":
            selector.unregister(sock)
            sock.close()


def main(addresses: list) -> None:
    """Serves ADDRESSES until killed."""
    selector = selectors.DefaultSelector()
    for address in addresses:
        host = f"[{address}]" if ":" in address else address
        for scheme, kind, reply in (
            ("udp", socket.SOCK_DGRAM, echo),
            ("tcp", socket.SOCK_STREAM, echo),
            ("dns", socket.SOCK_DGRAM, answer_dns),
            ("dns+tcp", socket.SOCK_STREAM, answer_dns_tcp),
        ):
            sock = listen(kind, address)
            port = sock.getsockname()[1]
            role = "udp" if kind == socket.SOCK_DGRAM else "tcp"
            selector.register(sock, selectors.EVENT_READ, (role, reply))
            name = "/cell-probe.test" if scheme.startswith("dns") else ""
            print(f"target {scheme}://{host}:{port}{name} closed")
            if scheme == "udp":
                print(f"target {scheme}://{host}:{port}?dev=eth0 closed")
    print("end", flush=True)
    end = time.monotonic() + LIFETIME
    while time.monotonic() < end:
        for key, _ in selector.select(1):
            serve_once(selector, key.fileobj, key.data)


if __name__ == "__main__":
    main(sys.argv[1:])

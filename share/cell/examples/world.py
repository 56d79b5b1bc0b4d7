#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The outside, for the demo: services that answer, and a log of everything that arrives.

usage: world.py ROLE LOG [ARG...]
  origin LOG CERTIFICATE KEY   HTTPS at 203.0.113.10:443, TCP and UDP echo at port 7, IPv6 too
  host LOG SOCKET              the engine's host: 127.0.0.1:5353, a name service socket, and every
                               frame of type 0x88b5 that comes in by any device
  resolver LOG                 what Docker plants in a container: a resolver at 127.0.0.11, on a
                               port that the kernel chooses and nftables redirects port 53 to
  holder LOG                   a connection to the origin that was opened early; 127.0.0.1:4007
                               passes bytes on to it
Prints "ready" when everything listens, and serves until it is killed.
"""
import os
import socket
import ssl
import subprocess
import sys
import threading

ORIGIN = "203.0.113.10"
ORIGIN6 = "fd00:203:113::10"


class World:
    """Threads that serve sockets and one log."""

    def __init__(self, log: str):
        self.log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def note(self, where: str, data: bytes) -> None:
        """One line for what arrived."""
        os.write(self.log, f"{where} {data!r}\n".encode())

    def udp(self, where: str, address: str, port: int, answer=lambda data: data) -> socket.socket:
        """A datagram service."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.bind((address, port))

        def serve() -> None:
            while True:
                data, peer = sock.recvfrom(4096)
                self.note(where, data)
                try:
                    sock.sendto(answer(data), peer)
                except OSError:
                    pass

        threading.Thread(target=serve, daemon=True).start()
        return sock

    def stream(self, where: str, server: socket.socket, answer) -> None:
        """A connection service: ANSWER(connection, first bytes) for each."""

        def one(connection: socket.socket) -> None:
            try:
                with connection:
                    data = connection.recv(4096)
                    self.note(where, data)
                    answer(connection, data)
            except OSError:
                pass

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    continue
                threading.Thread(target=one, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()

    def frames(self) -> None:
        """Frames of the type for local experiments that come in by any device (packet(7))."""
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5))

        def serve() -> None:
            while True:
                self.note("frame", sock.recv(4096)[14:])

        threading.Thread(target=serve, daemon=True).start()


def echo(connection: socket.socket, data: bytes) -> None:
    """What came goes back, until the other side is done."""
    while data:
        connection.sendall(data)
        data = connection.recv(4096)


def web(connection: socket.socket, data: bytes) -> None:
    """A page that names the path that was asked for."""
    path = data.split(b" ")[1] if b" " in data else b"/"
    body = b"hello from the origin: " + path + b"\n"
    connection.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: "
        + str(len(body)).encode()
        + b"\r\n\r\n"
        + body
    )


def text_answer(query: bytes) -> bytes:
    """The question with one TXT record behind it, so that a channel in both directions is seen."""
    text = b"TXT:into-the-cell"
    return (
        query[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + query[12:]
        + b"\xc0\x0c\0\x10\0\1\0\0\0\0" + (len(text) + 1).to_bytes(2, "big")
        + bytes([len(text)]) + text
    )


def origin(world: World, certificate: str, key: str) -> None:
    """The server that the subject may reach through the proxy."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    plain = socket.create_server((ORIGIN, 443))
    world.stream("https", context.wrap_socket(plain, server_side=True), web)
    for address in (ORIGIN, ORIGIN6):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        world.udp("udp", address, 7)
        world.stream("tcp", socket.create_server((address, 7), family=family), echo)


def host(world: World, path: str) -> None:
    """The machine that the cell stands on."""
    world.udp("host-loopback", "127.0.0.1", 5353)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path)
    os.chmod(path, 0o666)
    server.listen(16)
    world.stream("name-service", server, echo)
    world.frames()


def resolver(world: World) -> None:
    """As Docker does it: the redirect to the real port comes before any filter hook."""
    sock = world.udp("resolver", "127.0.0.11", 0, text_answer)
    port = sock.getsockname()[1]
    rules = (
        "table ip docker_like { chain output { type nat hook output priority -100; "
        f"ip daddr 127.0.0.11 udp dport 53 dnat to 127.0.0.11:{port}; }}; }}"
    )
    subprocess.run(["nft", rules], check=True)


def holder(world: World) -> None:
    """Opened before anybody thought of a policy."""
    upstream = socket.create_connection((ORIGIN, 7), 5)

    def pass_on(connection: socket.socket, data: bytes) -> None:
        upstream.settimeout(3)
        upstream.sendall(data)
        connection.sendall(upstream.recv(4096))

    world.stream("holder", socket.create_server(("127.0.0.1", 4007)), pass_on)


def main() -> None:
    """Starts the role and waits."""
    roles = {"origin": origin, "host": host, "resolver": resolver, "holder": holder}
    roles[sys.argv[1]](World(sys.argv[2]), *sys.argv[3:])
    print("ready", flush=True)
    threading.Event().wait()


main()

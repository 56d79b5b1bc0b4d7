# SPDX-License-Identifier: GPL-2.0-or-later
"""The outside of a Docker test: everything here is what an attacker would run, and it keeps a log.

usage: docker_world.py DIRECTORY
DIRECTORY/log gets one line for every byte sequence that arrived: KIND SOURCE WHAT.
DIRECTORY/ca.pem is the certificate authority of the web server; a proxy has to trust it.
DIRECTORY/ready exists when everything listens.

    203.0.113.10    tcp 80, 443 (TLS): HTTP     tcp 7, udp 7: echo
    198.51.100.53   udp 53, tcp 53: a name server that answers every question
"""

import os
import socket
import socketserver
import ssl
import subprocess
import sys
import threading

WEB, NAMES = "203.0.113.10", "198.51.100.53"
directory = sys.argv[1]
lock = threading.Lock()
log = open(os.path.join(directory, "log"), "a", buffering=1)


def note(kind, source, what):
    with lock:
        log.write(f"{kind} {source[0]} {what!r}\n")


def answer(query):
    """A reply to any DNS question: A is the web server, TXT a word, the rest empty."""
    labels, at = [], 12
    while at < len(query) and query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    kind = int.from_bytes(query[at + 1 : at + 3], "big")
    question = query[12 : at + 5]
    data = {1: socket.inet_aton(WEB), 16: b"\x05world"}.get(kind)
    record = b""
    if data is not None:
        record = b"\xc0\x0c" + kind.to_bytes(2, "big") + b"\0\1\0\0\0\0" + len(data).to_bytes(2, "big") + data
    head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if record else b"\0\0") + b"\0\0\0\0"
    return ".".join(labels), kind, head + question + record


class Web(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            data = self.request.recv(4096)
            note("web", self.client_address, data.split(b"\r\n")[0])
            body = b"the world outside\n"
            self.request.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body)
            )
        except OSError:
            pass


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            while data := self.request.recv(4096):
                note("tcp", self.client_address, data)
                self.request.sendall(data)
        except OSError:
            pass


class EchoDatagram(socketserver.BaseRequestHandler):
    def handle(self):
        data, server = self.request
        note("udp", self.client_address, data)
        server.sendto(data, self.client_address)


class Names(socketserver.BaseRequestHandler):
    def handle(self):
        data, server = self.request
        name, kind, reply = answer(data)
        note("dns", self.client_address, f"{name} {kind}")
        server.sendto(reply, self.client_address)


class NamesStream(socketserver.StreamRequestHandler):
    def handle(self):
        while len(head := self.rfile.read(2)) == 2:
            name, kind, reply = answer(self.rfile.read(int.from_bytes(head, "big")))
            note("dns+tcp", self.client_address, f"{name} {kind}")
            self.wfile.write(len(reply).to_bytes(2, "big") + reply)


class Stream(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    context = None

    def get_request(self):
        connection, peer = self.socket.accept()
        connection.settimeout(20)
        if self.context:
            connection = self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, peer


class Datagram(socketserver.ThreadingUDPServer):
    daemon_threads = True


def certificates():
    """A CA, and a certificate of it for every name under world.example."""
    path = {name: os.path.join(directory, name) for name in ("ca.pem", "ca.key", "web.pem", "web.key", "web.csr", "ext")}
    run = lambda *words: subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    run("req", "-x509", *curve, "-subj", "/CN=world", "-days", "2", "-keyout", path["ca.key"], "-out", path["ca.pem"])
    run("req", *curve, "-subj", "/CN=world.example", "-keyout", path["web.key"], "-out", path["web.csr"])
    with open(path["ext"], "w") as file:
        file.write(f"subjectAltName=DNS:world.example,DNS:*.world.example,IP:{WEB}\n")
    run("x509", "-req", "-in", path["web.csr"], "-CA", path["ca.pem"], "-CAkey", path["ca.key"],
        "-set_serial", "2", "-days", "2", "-extfile", path["ext"], "-out", path["web.pem"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path["web.pem"], path["web.key"])
    return context


secure = Stream((WEB, 443), Web)
secure.context = certificates()
servers = [
    secure,
    Stream((WEB, 80), Web),
    Stream((WEB, 7), Echo),
    Datagram((WEB, 7), EchoDatagram),
    Datagram((NAMES, 53), Names),
    Stream((NAMES, 53), NamesStream),
]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
open(os.path.join(directory, "ready"), "w").close()
threading.Event().wait()

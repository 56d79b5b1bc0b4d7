#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The servers outside: HTTP on 80, HTTPS on 443, and two that speak neither (25 greets, 7 echoes).

usage: origin.py ADDRESS CERTIFICATE DIRECTORY
Serves the files of DIRECTORY/www. Whatever arrives is logged, one line each, in DIRECTORY/arrived:
"http METHOD PATH BYTES", "raw PORT HEX". DIRECTORY/serving appears when all ports listen.
Paths with a meaning: /websocket echoes frames, /upgrade switches to a protocol of its own,
/large/N answers N bytes, /drop closes without an answer, /hello tells where it was asked.
"""

import base64
import hashlib
import http.server
import os
import socket
import ssl
import sys
import threading

address, certificate, directory = sys.argv[1:4]
log_lock = threading.Lock()


def log(line):
    with log_lock, open(directory + "/arrived", "a", encoding="ascii",
                              errors="backslashreplace") as stream:
        stream.write(line + "\n")


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=directory + "/www")

    def log_message(self, *arguments):
        pass

    def body_bytes(self):
        """Reads the body and keeps nothing of it."""
        count = 0
        if self.headers.get("transfer-encoding") == "chunked":
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                left = size
                while left:
                    left -= len(self.rfile.read(min(left, 65536)))
                count += size
                self.rfile.readline()
                if not size:
                    return count
        left = int(self.headers.get("content-length", "0"))
        count = left
        while left:
            data = self.rfile.read(min(left, 65536))
            if not data:
                return count - left
            left -= len(data)
        return count

    def answer(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        count = self.body_bytes()
        log("http %s %s %d" % (self.command, self.path, count))
        self.answer(b"got %d\n" % count)

    do_PUT = do_POST

    def do_GET(self):
        log("http %s %s 0" % (self.command, self.path))
        if self.path == "/websocket":
            self.websocket()
        elif self.path == "/upgrade":
            self.send_response(101)
            self.send_header("Upgrade", "own-protocol")
            self.send_header("Connection", "Upgrade")
            self.end_headers()
            self.wfile.write(b"SECRET-BEHIND-THE-UPGRADE")
            self.close_connection = True
            try:
                log("raw upgrade " + self.rfile.read1(100).hex())
            except ConnectionError:
                pass
        elif self.path == "/drop":
            self.close_connection = True
        elif self.path.startswith("/large/"):
            left = int(self.path[7:])
            self.send_response(200)
            self.send_header("Content-Length", str(left))
            self.end_headers()
            while left:
                data = b"x" * min(left, 65536)
                self.wfile.write(data)
                left -= len(data)
        elif self.path.startswith("/hello"):
            self.answer(b"hello from %s at %s\n" % (
                self.headers["host"].encode(), self.connection.getsockname()[0].encode()))
        else:
            super().do_GET()

    def frame(self):
        head = self.rfile.read(2)
        if len(head) < 2:
            return 8, b""
        length = head[1] & 127
        if length == 126:
            length = int.from_bytes(self.rfile.read(2), "big")
        elif length == 127:
            length = int.from_bytes(self.rfile.read(8), "big")
        mask = self.rfile.read(4)
        data = self.rfile.read(length)
        return head[0] & 15, bytes(c ^ mask[i % 4] for i, c in enumerate(data))

    def websocket(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept",
                         base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        self.close_connection = True
        while True:
            opcode, data = self.frame()
            self.wfile.write(bytes([128 | opcode, len(data)]) + data)
            if opcode == 8:
                return


def raw(port):
    server = socket.create_server((address, port))

    def one(connection):
        if port == 25:
            connection.sendall(b"220 SECRET-GREETING\r\n")
        while data := connection.recv(1000):
            log("raw %d %s" % (port, data.hex()))
            connection.sendall(data)
        connection.close()

    def serve():
        while True:
            threading.Thread(target=one, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


def main():
    servers = [http.server.ThreadingHTTPServer((address, port), Handler) for port in (80, 443)]
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    servers[1].socket = context.wrap_socket(servers[1].socket, server_side=True,
                                            do_handshake_on_connect=False)
    raw(25)
    raw(7)
    threading.Thread(target=servers[0].serve_forever, daemon=True).start()
    open(directory + "/serving", "w", encoding="ascii").close()
    servers[1].serve_forever()


os.makedirs(directory + "/www", exist_ok=True)
main()

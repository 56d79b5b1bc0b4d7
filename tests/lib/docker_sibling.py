# SPDX-License-Identifier: GPL-2.0-or-later
"""A neighbour in the same network that answers everybody: tcp 8080 and udp 7 echo what they get."""

import socketserver
import threading


class Stream(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(4096):
            self.request.sendall(data)


class Datagram(socketserver.BaseRequestHandler):
    def handle(self):
        self.request[1].sendto(self.request[0], self.client_address)


socketserver.ThreadingTCPServer.allow_reuse_address = True
threading.Thread(target=socketserver.ThreadingTCPServer(("", 8080), Stream).serve_forever).start()
socketserver.ThreadingUDPServer(("", 7), Datagram).serve_forever()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Proxies that each misbehave in one way, for the tests of cell-proxycheck.

toy_proxy.py ADDRESS MODE:PORT[:ARGUMENT]... prints "ready" once all listen. A mode is what a proxy
does with CONNECT:
  status:PORT:CODE    answers that status          close     closes at once
  garbage             answers no HTTP              silent    takes the request and says nothing
  endless             answers a head without end   half      closes within the head
  headless            ends the head before it says a status
  tunnel:PORT:PORT2   opens it, to ADDRESS:PORT2   plain     opens it, and then there is no TLS
  mute                opens it, then says nothing  shut      opens it, then closes
  tls:PORT:PEM,WHAT   opens it and answers TLS with that key and certificate; within it, WHAT: a
                      status, "garbage", "nothing" or "silence"
  server:PORT:PEM     no proxy: an https server that answers 200
"""
import socket
import ssl
import sys
import threading
import time

OK = b"HTTP/1.1 200 Connection established\r\n\r\n"


def read_head(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(4096)
        if not more:
            break
        data += more
    return data


def answer(code):
    return f"HTTP/1.1 {code} X\r\nContent-Length: 0\r\n\r\n".encode()


def serve_tls(connection, pem, what):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    with context.wrap_socket(connection, server_side=True) as tls:
        if not read_head(tls):
            return
        if what == "garbage":
            tls.sendall(b"rubbish rubbish rubbish\r\n")
        elif what == "silence":
            time.sleep(60)
        elif what != "nothing":
            tls.sendall(answer(what))


def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    finally:
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def handle(connection, address, mode, argument):
    if mode == "close":
        return
    if mode == "server":
        serve_tls(connection, argument, "200")
        return
    read_head(connection)
    if mode == "status":
        connection.sendall(answer(argument))
    elif mode == "garbage":
        connection.sendall(b"\x16\x03\x01 who is there\r\n\r\n")
    elif mode == "headless":
        connection.sendall(b"HTTP/1.\r\n\r\n")
    elif mode == "half":
        connection.sendall(b"HTTP/1.1 200 Conn")
    elif mode == "silent":
        time.sleep(60)
    elif mode == "endless":
        connection.sendall(b"HTTP/1.1 200 X\r\n" + b"X-Y: z\r\n" * 4000)
        time.sleep(60)
    elif mode == "plain":
        connection.sendall(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        connection.recv(4096)
    elif mode == "mute":
        connection.sendall(OK)
        time.sleep(60)
    elif mode == "shut":
        connection.sendall(OK)
    elif mode == "tunnel":
        upstream = socket.create_connection((address, int(argument)))
        connection.sendall(OK)
        threading.Thread(target=copy, args=(upstream, connection), daemon=True).start()
        copy(connection, upstream)
    elif mode == "tls":
        connection.sendall(OK)
        serve_tls(connection, *argument.rsplit(",", 1))


def safely(connection, *rest):
    try:
        with connection:
            handle(connection, *rest)
    except OSError:
        pass


def listen(listener, *rest):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=safely, args=(connection, *rest), daemon=True).start()


def main():
    address = sys.argv[1]
    for word in sys.argv[2:]:
        mode, port, *argument = word.split(":", 2)
        listener = socket.create_server((address, int(port)))
        threading.Thread(target=listen, daemon=True,
                         args=(listener, address, mode, "".join(argument))).start()
    print("ready", flush=True)
    time.sleep(3600)


main()

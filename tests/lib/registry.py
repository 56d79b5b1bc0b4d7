#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A package registry of one npm package, on loopback, for the tests.

usage: registry.py PORT NAME VERSION ARCHIVE
"""
import base64
import hashlib
import http.server
import json
import sys


def main():
    port, name, version, archive = sys.argv[1:]
    with open(archive, "rb") as file:
        content = file.read()
    with open("package/package.json", encoding="utf-8") as file:
        manifest = json.load(file)
    manifest["dist"] = {
        "tarball": f"http://127.0.0.1:{port}/{name}/-/{name}-{version}.tgz",
        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode(),
    }
    document = json.dumps({"name": name, "dist-tags": {"latest": version},
                           "versions": {version: manifest}}).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = content if self.path.endswith(".tgz") else document
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


main()

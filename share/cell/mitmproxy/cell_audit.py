# SPDX-License-Identifier: GPL-2.0-or-later
"""The proxy's audit: a mitmproxy addon that records every request and refuses private destinations.

Run it as   mitmdump --set confdir=STATE -s cell_audit.py   (mitmproxy 8 and later, regular mode).

Options (--set NAME=VALUE):
  cell_audit_file       where the records go; default hits.jsonl in confdir
  cell_audit_max_bytes  bound of that file in bytes; default 67108864 (64 MiB)
  cell_audit_query      what is kept of a query string: full, hash (its SHA-256) or off; default full
  cell_allow_private    networks that may be reached although they are private, as CIDR[,CIDR]...

What it does. One JSON object a line is appended before anything of the request leaves. Every
destination is resolved here, once, and the connection is made to the very addresses that were
judged: a name that changes its mind in between gains nothing. Bytes that are neither TLS nor HTTP
are never relayed. Bodies are streamed. Whatever goes wrong in here, the request is not forwarded
(503), and so it is when a record can't be written: then no name is looked up either until one can,
and audit_lost comes first. If that can't be written to the end, mitmdump exits with 111.

Not bounded here: mitmproxy keeps one WebSocket message, and the head of one request, in memory
while it passes. Limit the proxy's memory where that matters; a proxy that dies voids its trial.

It also gives the certificates that older mitmproxy makes the key identifiers that strict clients
want.

Records. All have: format (1), time (RFC 3339, UTC), trial (CELL_TRIAL), event, decision, rule.
  event    connect          a CONNECT request: client method scheme host port path id addresses
           request          any other request: the same, and http, query or query_sha256, and where
                            they differ from host: host_header, sni; websocket if it asks for one
           raw_tunnel       a tunnel or upgrade that carried neither TLS nor HTTP; it was closed
           malformed        a connection to the proxy itself that did not carry HTTP
           server           a connection that was refused or failed after its request was allowed
           tls              a TLS handshake that failed: side (client or server), reason
           failure          an allowed request that came to nothing: id, reason
           websocket_end    id, messages and bytes in each direction
           audit_start      the proxy started, with its options
           audit_truncated  the file reached its bound: from here on only audit_totals
           audit_lost       lost records came to nothing before this one: no room
           audit_totals     what was counted since the last one: counts{event{decision}}, hosts{name}
  decision allowed | refused | failed
  rule     public, allowed-private; loopback link-local private shared multicast unspecified
           reserved own; not-http, upgrade; unresolvable, invalid, error
The records of a request are its one line with event request or connect; `server`, `failure` and
`tls` add to a line that is there already (same id or client).
"""

import asyncio
import collections
import contextvars
import datetime
import functools
import hashlib
import ipaddress
import json
import os
import re
import socket
import sys
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from mitmproxy import certs, ctx, exceptions, http
from mitmproxy.proxy import commands, layer, layers
from mitmproxy.proxy.layers.http import HTTPMode

QUERY_FORMS = ("full", "hash", "off")
MAX_TEXT = 8192  # characters kept of a path or a query
MAX_ADDRESSES = 8  # addresses listed in a record
MAX_HOSTS = 64  # hosts named in one audit_totals record; the rest is "other"
TOTALS_EVERY = 60.0  # seconds between audit_totals records
KEEP_NAME = 5.0  # seconds a resolved name is used again
MAX_NAMES = 1024
RESOLVE_TIMEOUT = 30.0
SMALL_BODY = 1 << 20  # a refused request with a larger body is cut off instead of answered

# Never a proxy's business, whatever the resolver says. The first match names the rule; what is in
# none of them must still be global to Python's ipaddress.
REFUSED = [
    (rule, [ipaddress.ip_network(network) for network in networks])
    for rule, networks in (
        ("loopback", ("127.0.0.0/8", "::1/128")),
        ("link-local", ("169.254.0.0/16", "fe80::/10")),
        ("private", ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15",
                     "fc00::/7", "fec0::/10")),
        ("shared", ("100.64.0.0/10",)),
        ("multicast", ("224.0.0.0/4", "ff00::/8")),
        ("unspecified", ("0.0.0.0/8", "::/128")),
        ("reserved", ("240.0.0.0/4", "192.0.0.0/24", "100::/64")),
    )
]
NAT64 = ipaddress.ip_network("64:ff9b::/96")

# A request line of HTTP/1, or the preface of HTTP/2.
REQUEST_LINE = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32} [^ \r\n]+ HTTP/\d\.\d\r?\n")
TOKEN_START = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}(?: [^\r\n]*)?\Z")

# The addresses that the connection being opened in this task was judged by.
judged = contextvars.ContextVar("cell_judged", default=None)


class Refused(Exception):
    """A request that must not go out: decision and rule say why."""

    def __init__(self, decision, rule, reason):
        super().__init__(reason)
        self.decision = decision
        self.rule = rule


def plain_address(text):
    """The address that is really meant: IPv4 in IPv6 clothes is judged as IPv4."""
    address = ipaddress.ip_address(text.split("%", 1)[0])
    if address.version == 6:
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is None and 1 < int(address) < 1 << 32:
            inner = ipaddress.IPv4Address(int(address))
        if inner is None and address.teredo is not None:
            inner = address.teredo[1]
        address = inner or address
    return address


def is_own(address):
    """
    Whether it is this host's own, however public: what listens there relies on firewalls that stand
    between it and the world, not between it and us. Sends nothing: connecting a datagram socket
    only asks for a route, and to one's own address that starts there.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asked:
            asked.connect((str(address), 9))
            return ipaddress.ip_address(asked.getsockname()[0]) == address
    except OSError:
        return False


def judge_address(text, allowed):
    """(True, rule) if connecting to this address is allowed, else (False, rule)."""
    address = plain_address(text)
    for network in allowed:
        if address.version == network.version and address in network:
            return True, "allowed-private"
    for rule, networks in REFUSED:
        for network in networks:
            if address.version == network.version and address in network:
                return False, rule
    if not address.is_global:
        return False, "reserved"
    if is_own(address):
        return False, "own"
    return True, "public"


def printable(text):
    """Valid UTF-8, at most MAX_TEXT characters; other bytes as \\xHH."""
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogateescape")
    return text.decode("utf-8", "backslashreplace")[:MAX_TEXT]


def utc_now():
    now = datetime.datetime.now(datetime.timezone.utc)
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (now.microsecond // 1000)


class AuditFile:
    """Appends records up to a bound, then counts. Raises OSError where a record is lost."""

    def __init__(self, path, max_bytes):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self.path = path
        self.max_bytes = max_bytes
        self.fd = os.open(path, flags, 0o600)
        self.size = os.fstat(self.fd).st_size
        self.torn = self.ends_torn()
        self.truncated = self.size >= max_bytes  # an earlier run said so already
        self.lost = 0
        self.counts = collections.Counter()
        self.hosts = collections.Counter()
        self.last_totals = time.monotonic()

    def ends_torn(self):
        """True if a killed run left half a line: the next record must begin a new one."""
        if self.size == 0:
            return False
        with open(self.path, "rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) != b"\n"

    def close(self):
        os.close(self.fd)

    def append(self, record):
        line = (json.dumps(record, separators=(",", ":")) + "\n").encode("ascii")
        if self.torn:
            line = b"\n" + line
        written = os.write(self.fd, line)
        self.size += written
        self.torn = written != len(line)
        if self.torn:
            raise OSError("short write")

    def make_good(self):
        """Says how many records were lost, before anything else may happen."""
        if self.lost:
            self.append(dict(head("audit_lost", "failed", "error"), lost=self.lost))
            self.lost = 0

    def write(self, record):
        if self.truncated:
            self.count(record)
            return
        try:
            self.make_good()
            self.append(record)
        except OSError:
            self.lost += 1
            raise
        if self.size >= self.max_bytes:
            self.truncated = True
            self.append(dict(head("audit_truncated", "allowed", "bound"), bytes=self.size))

    def count(self, record):
        host = record.get("host", "")
        self.counts[record["event"], record["decision"]] += 1
        if host and (host in self.hosts or len(self.hosts) < 16 * MAX_HOSTS):
            self.hosts[host] += 1
        if time.monotonic() - self.last_totals >= TOTALS_EVERY:
            self.write_totals()

    def write_totals(self):
        """What was counted since the last time; all of them together are the totals."""
        if not self.counts:
            return
        counts = {}
        for (event, decision), number in sorted(self.counts.items()):
            counts.setdefault(event, {})[decision] = number
        named = self.hosts.most_common(MAX_HOSTS)
        other = sum(self.counts.values()) - sum(number for _, number in named)
        self.append(dict(head("audit_totals", "allowed", "bound"), counts=counts,
                         hosts=dict(named), other=other))
        self.counts.clear()
        self.hosts.clear()
        self.last_totals = time.monotonic()


def head(event, decision, rule):
    """The fields that every record begins with."""
    return {
        "format": 1,
        "time": utc_now(),
        "trial": os.environ.get("CELL_TRIAL"),
        "event": event,
        "decision": decision,
        "rule": rule,
    }


class ClosedTunnel(layer.Layer):
    """The layer for what is neither TLS nor HTTP: closes both ends, relays nothing."""

    def _handle_event(self, event):
        if not getattr(self, "closed", False):
            self.closed = True
            if self.context.server.connected:
                yield commands.CloseConnection(self.context.server)
            yield commands.CloseConnection(self.context.client)


def with_key_identifiers(make):
    """
    mitmproxy before 10.1.2 makes certificates without an authority key identifier, which strict
    clients (every Python from 3.13 on) refuse. Signs such a one again with what is missing.
    """

    @functools.wraps(make)
    def dummy_cert(privkey, cacert, *words, **named):
        made = make(privkey, cacert, *words, **named)
        try:
            plain = x509.load_pem_x509_certificate(made.to_pem())
            present = {extension.oid for extension in plain.extensions}
            if x509.AuthorityKeyIdentifier.oid in present:
                return made
            issuer = cacert.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
            builder = x509.CertificateBuilder(
                issuer_name=plain.issuer, subject_name=plain.subject,
                public_key=plain.public_key(), serial_number=plain.serial_number,
                not_valid_before=plain.not_valid_before, not_valid_after=plain.not_valid_after)
            for extension in plain.extensions:
                builder = builder.add_extension(extension.value, extension.critical)
            builder = builder.add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(issuer), False)
            if x509.SubjectKeyIdentifier.oid not in present:
                builder = builder.add_extension(
                    x509.SubjectKeyIdentifier.from_public_key(plain.public_key()), False)
            return type(made)(builder.sign(privkey, hashes.SHA256()))
        except Exception as error:  # pylint: disable=broad-except
            CellAudit.complain("certificate without key identifier: %r" % error)
            return made

    return dummy_cert


def guarded(hook):
    """A hook that must not fail open: mitmproxy only logs an exception and then goes on."""

    @functools.wraps(hook)
    async def run(self, flow):
        try:
            await hook(self, flow)
        except Exception as error:  # pylint: disable=broad-except
            self.complain("%s: %r" % (hook.__name__, error))
            self.record_invalid(flow, "error", "the audit failed: %r" % error)
            self.stop_flow(flow, 503, "the audit failed")

    return run


class CellAudit:
    def __init__(self):
        self.file = None
        self.allowed = []
        self.query = "full"
        self.names = collections.OrderedDict()  # (host, port): (expires, infos, rule)
        self.clients = {}  # client id: what its first bytes promised and nothing kept yet
        self.recorded = collections.OrderedDict()  # flow id: decision of its line
        self.loop = None

    # ---- options ----

    def load(self, loader):
        certs.dummy_cert = with_key_identifiers(certs.dummy_cert)
        loader.add_option("cell_audit_file", str, "", "Audit file (default: confdir/hits.jsonl).")
        loader.add_option("cell_audit_max_bytes", int, 64 << 20, "Bound of the audit file in bytes.")
        loader.add_option("cell_audit_query", str, "full", "What is kept of a query string.",
                          choices=QUERY_FORMS)
        loader.add_option("cell_allow_private", str, "",
                          "Private networks that may be reached, CIDR[,CIDR]...")

    def configure(self, updated):
        self.query = ctx.options.cell_audit_query
        if self.query not in QUERY_FORMS:
            raise exceptions.OptionsError("cell_audit_query is one of " + ", ".join(QUERY_FORMS))
        if "cell_allow_private" in updated:
            try:
                self.allowed = [ipaddress.ip_network(text.strip())
                                for text in ctx.options.cell_allow_private.split(",")
                                if text.strip()]
            except ValueError as error:
                raise exceptions.OptionsError("cell_allow_private: %s" % error) from error
        for name in ("ignore_hosts", "allow_hosts", "tcp_hosts", "udp_hosts"):
            if getattr(ctx.options, name, None):
                raise exceptions.OptionsError("the audit can't see through the option " + name)
        if self.file is None or updated & {"cell_audit_file", "cell_audit_max_bytes", "confdir"}:
            self.open_file()
        # The second lock on raw tunnels: an upgrade to anything but a WebSocket is closed.
        if getattr(ctx.options, "rawtcp", False):
            ctx.options.update(rawtcp=False)

    def open_file(self):
        path = os.path.expanduser(ctx.options.cell_audit_file
                                  or os.path.join(ctx.options.confdir, "hits.jsonl"))
        if self.file is not None:
            self.file.close()
            self.file = None
        try:
            self.file = AuditFile(path, ctx.options.cell_audit_max_bytes)
            self.file.write(dict(head("audit_start", "allowed", "start"),
                                 allow_private=[str(network) for network in self.allowed],
                                 query=self.query, max_bytes=self.file.max_bytes))
        except OSError as error:
            raise exceptions.OptionsError("cannot write the audit to %s: %s"
                                          % (path, error.strerror or error)) from error

    def running(self):
        """From here on, a connection is made to the addresses it was judged by."""
        if self.loop is not None:
            return
        loop = asyncio.get_running_loop()
        resolve = loop.getaddrinfo

        async def getaddrinfo(host, port, **wishes):
            pinned = judged.get()
            if pinned is not None and pinned[0] == (host, port):
                return pinned[1]
            return await resolve(host, port, **wishes)

        loop.getaddrinfo = getaddrinfo
        self.loop = loop

    def done(self):
        if self.file is not None:
            try:
                self.file.make_good()
                self.file.write_totals()
            except OSError as error:
                self.complain("cannot write totals: %s" % error)
                os._exit(111)  # nothing of mitmproxy's may make it a success

    # ---- judging ----

    @staticmethod
    def complain(message):
        print("cell_audit: " + message, file=sys.stderr, flush=True)

    async def resolve(self, host, port):
        """The addresses of HOST that may be connected to, and the rule; else Refused."""
        known = self.names.get((host, port))
        if known is not None and known[0] > time.monotonic():
            return known[1], known[2]
        if self.loop is None:
            raise RuntimeError("addresses can't be pinned yet")
        try:
            infos = await asyncio.wait_for(
                self.loop.getaddrinfo(host, port, type=socket.SOCK_STREAM), RESOLVE_TIMEOUT)
        except (OSError, UnicodeError, ValueError, OverflowError, asyncio.TimeoutError) as error:
            raise Refused("failed", "unresolvable", "cannot resolve the name") from error
        kept, rules, refusals = [], [], []
        for info in infos:
            allowed, rule = judge_address(info[4][0], self.allowed)
            if allowed:
                kept.append(info)
                rules.append(rule)
            else:
                refusals.append((rule, info[4][0]))
        if not kept:
            rule, address = refusals[0] if refusals else ("unresolvable", "nothing")
            raise Refused("refused" if refusals else "failed", rule,
                          "the destination is %s (%s)" % (address, rule))
        rule = "allowed-private" if "allowed-private" in rules else "public"
        self.names[host, port] = (time.monotonic() + KEEP_NAME, kept, rule)
        while len(self.names) > MAX_NAMES:
            self.names.popitem(last=False)
        return kept, rule

    async def judge(self, flow):
        """(decision, rule, reason, addresses) for a request or CONNECT."""
        request = flow.request
        try:
            infos, rule = await self.resolve(request.host, request.port)
            addresses = list(dict.fromkeys(info[4][0] for info in infos))
            peer = flow.server_conn.peername
            if flow.server_conn.connected and peer and flow.server_conn.address == (
                    request.host, request.port):
                addresses = [peer[0]]
                allowed, rule = judge_address(peer[0], self.allowed)
                if not allowed:
                    raise Refused("refused", rule, "the connection is to %s (%s)" % (peer[0], rule))
            return "allowed", rule, None, addresses[:MAX_ADDRESSES]
        except Refused as refused:
            return refused.decision, refused.rule, str(refused), []

    # ---- records ----

    def describe(self, record, flow):
        """The fields of a request, in their order."""
        request = flow.request
        peer = flow.client_conn.peername
        path, mark, query = (request.path or "").partition("?")
        record["id"] = flow.id
        record["client"] = "%s:%s" % (peer[0], peer[1]) if peer else None
        record["method"] = printable(request.method)
        record["scheme"] = "connect" if request.method == "CONNECT" else request.scheme
        record["host"] = printable(request.host)
        record["port"] = request.port
        record["path"] = printable(path)
        record["http"] = printable(request.http_version)
        if mark and self.query == "full":
            record["query"] = printable(query)
        elif mark and self.query == "hash":
            record["query_sha256"] = hashlib.sha256(
                query.encode("utf-8", "surrogateescape")).hexdigest()
        if len(path) > MAX_TEXT or len(query) > MAX_TEXT:
            record["cut"] = True
        header = request.host_header
        name = request.authority or header
        if name and re.sub(r":\d+\Z", "", name).strip("[]").lower() != request.host.lower():
            record["host_header"] = printable(name)
        sni = flow.client_conn.sni
        if sni and sni.lower() != request.host.lower():
            record["sni"] = printable(sni)
        if request.headers.get("upgrade", "").lower() == "websocket":
            record["websocket"] = True

    def record_flow(self, flow, decision, rule, reason, addresses):
        """The one line of a request. Raises OSError if it can't be written."""
        event = "connect" if flow.request.method == "CONNECT" else "request"
        record = head(event, decision, rule)
        self.describe(record, flow)
        record["addresses"] = addresses
        if reason:
            record["reason"] = reason
        self.file.write(record)
        self.recorded[flow.id] = decision
        while len(self.recorded) > 65536:
            self.recorded.popitem(last=False)

    def note(self, event, decision, rule, **fields):
        """A line that adds to one that is there already; lost, it is complained about."""
        try:
            self.file.write(dict(head(event, decision, rule), **fields))
        except Exception as error:  # pylint: disable=broad-except
            self.complain("cannot record %s: %r" % (event, error))

    @staticmethod
    def who(client):
        peer = client.peername
        return "%s:%s" % (peer[0], peer[1]) if peer else None

    # ---- HTTP ----

    def stop_flow(self, flow, status, reason):
        """No byte goes to the destination: an answer of ours, or the connection is cut."""
        headers = flow.request.headers
        length = headers.get("content-length", "")
        chunked = "transfer-encoding" in headers
        http1 = flow.request.http_version.startswith("HTTP/1")
        # The whole body would be kept in memory before an answer goes out.
        if (chunked or (length and not (length.isdigit() and int(length) <= SMALL_BODY))
                or (not http1 and not length and flow.request.method not in ("GET", "HEAD",
                                                                             "CONNECT"))):
            flow.kill()
            return
        flow.response = http.Response.make(
            status, ("cell: %s\n" % reason).encode("ascii", "backslashreplace"),
            {"Content-Type": "text/plain", "Connection": "close"} if http1
            else {"Content-Type": "text/plain"})

    async def ask(self, flow):
        """Judges, records, and stops what may not go out. True if it may."""
        self.clients.pop(flow.client_conn.id, None)
        self.file.make_good()  # a name is looked up only where it can be recorded
        decision, rule, reason, addresses = await self.judge(flow)
        self.record_flow(flow, decision, rule, reason, addresses)
        if decision == "allowed":
            return True
        self.stop_flow(flow, 403 if decision == "refused" else 502, reason)
        return False

    @guarded
    async def http_connect(self, flow):
        await self.ask(flow)

    @guarded
    async def requestheaders(self, flow):
        headers = flow.request.headers
        if flow.error is not None:  # newer mitmproxy shows what it is about to refuse
            self.record_invalid(flow, "invalid", str(flow.error))
            return
        if not await self.ask(flow):
            return
        if (not flow.request.http_version.startswith("HTTP/1") or "transfer-encoding" in headers
                or headers.get("content-length", "0") != "0"):
            flow.request.stream = True

    def responseheaders(self, flow):
        if flow.id in self.recorded and flow.response is not None:
            flow.response.stream = flow.server_conn.timestamp_start is not None

    def response(self, flow):
        """A request that mitmproxy answered itself, because it was invalid, has no line yet."""
        self.record_invalid(flow, "invalid", "answered by the proxy itself")
        response = flow.response
        if response is None:
            return
        if response.status_code == 101 and flow.websocket is None:
            self.note("raw_tunnel", "refused", "upgrade", id=flow.id,
                      client=self.who(flow.client_conn), host=printable(flow.request.host),
                      port=flow.request.port, upgrade=printable(response.headers.get("upgrade", "")))
        if flow.request.method == "CONNECT" and response.status_code >= 400:
            self.note_failure(flow, response.get_text(strict=False) or "no connection")

    def http_connect_error(self, flow):
        self.note_failure(flow, str(flow.error or "no connection"))

    def error(self, flow):
        self.record_invalid(flow, "invalid", str(flow.error))
        if flow.error is not None and flow.error.msg != flow.error.KILLED_MESSAGE:
            self.note_failure(flow, flow.error.msg)

    def note_failure(self, flow, reason):
        """Once, and only for what was allowed to go out."""
        if self.recorded.get(flow.id) == "allowed":
            self.recorded[flow.id] = "failed"
            self.note("failure", "failed", "error", id=flow.id, host=printable(flow.request.host),
                      port=flow.request.port, reason=printable(reason))

    def record_invalid(self, flow, rule, reason):
        """The line of a request that was never judged."""
        if flow.id in self.recorded:
            return
        try:
            self.record_flow(flow, "failed", rule, printable(reason), [])
        except Exception as error:  # pylint: disable=broad-except
            self.complain("cannot record a request: %r" % error)

    # ---- connections ----

    async def server_connect(self, data):
        """The authoritative place: what is judged here is what is connected to."""
        server = data.server
        judged.set(None)
        try:
            host, port = server.address[0], server.address[1]
            infos, _ = await self.resolve(host, port)
            judged.set(((host, port), infos))
        except Refused as refused:
            server.error = str(refused)
            self.note("server", refused.decision, refused.rule, client=self.who(data.client),
                      host=printable(host), port=port, reason=str(refused))
        except Exception as error:  # pylint: disable=broad-except
            server.error = "the audit failed"
            self.complain("server_connect: %r" % error)

    def next_layer(self, nextlayer):
        """Before mitmproxy's own choice: what is neither TLS nor HTTP goes no further."""
        try:
            self.choose_layer(nextlayer)
        except Exception as error:  # pylint: disable=broad-except
            self.complain("next_layer: %r" % error)
            nextlayer.layer = ClosedTunnel(nextlayer.context)

    def choose_layer(self, nextlayer):
        context, client = nextlayer.context, nextlayer.context.client
        data, greeting = nextlayer.data_client(), nextlayer.data_server()
        if not context.layers or client.alpn == b"h2" or not (data or greeting):
            return
        if data[:1] == b"\x16" and (len(data) < 2 or data[1] == 3):
            return  # TLS; if it turns out not to be, the tls line says so
        tunnel = any(isinstance(above, layers.HttpLayer) for above in context.layers)
        is_http = (REQUEST_LINE if b"\n" in data else TOKEN_START).match(data)
        if not is_http or (tunnel and greeting):
            self.record_raw(client, tunnel, context.server.address, data[:64])
            nextlayer.layer = ClosedTunnel(context)
            return
        # The rest of the line may still belie it: then no request follows.
        self.clients.setdefault(client.id, (tunnel, context.server.address))
        if tunnel and nextlayer.layer is None:
            nextlayer.layer = layers.HttpLayer(context, HTTPMode.transparent)

    def record_raw(self, client, tunnel, address, data):
        self.clients.pop(client.id, None)
        self.note("raw_tunnel" if tunnel else "malformed", "refused", "not-http",
                  client=self.who(client), host=printable(address[0]) if address else None,
                  port=address[1] if address else None, tls=bool(client.tls_established),
                  sni=printable(client.sni) if client.sni else None, bytes=data.hex())

    def client_disconnected(self, client):
        promised = self.clients.pop(client.id, None)
        if promised is not None:
            self.record_raw(client, promised[0], promised[1], b"")

    def tcp_start(self, flow):
        """The last lock: no layer of this kind should ever be made."""
        self.note("raw_tunnel", "refused", "not-http", client=self.who(flow.client_conn),
                  host=None, port=None)
        if flow.killable:
            flow.kill()

    udp_start = dns_request = tcp_start

    def tcp_message(self, flow):
        flow.messages[-1].content = b""
        del flow.messages[:-1]

    udp_message = tcp_message

    def tls_failed_client(self, data):
        self.note_tls(data, "client", data.context.client)

    def tls_failed_server(self, data):
        self.note_tls(data, "server", data.context.server)

    def note_tls(self, data, side, connection):
        address = data.context.server.address
        self.note("tls", "failed", "error", side=side, client=self.who(data.context.client),
                  host=printable(address[0]) if address else None,
                  port=address[1] if address else None,
                  sni=printable(connection.sni) if connection.sni else None,
                  reason=printable(str(connection.error)))

    # ---- WebSocket ----

    def websocket_start(self, flow):
        flow.metadata["cell_messages"] = {"client": [0, 0], "server": [0, 0]}

    def websocket_message(self, flow):
        """Counts; only the message in flight is kept in memory."""
        message = flow.websocket.messages[-1]
        count = flow.metadata["cell_messages"]["client" if message.from_client else "server"]
        count[0] += 1
        count[1] += len(message.content)
        del flow.websocket.messages[:-1]

    def websocket_end(self, flow):
        counts = flow.metadata.get("cell_messages", {})
        self.note("websocket_end", "allowed", "end", id=flow.id, host=printable(flow.request.host),
                  messages={side: count[0] for side, count in counts.items()},
                  bytes={side: count[1] for side, count in counts.items()})


addons = [CellAudit()]

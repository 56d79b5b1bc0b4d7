#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a trial's directory as run_trial leaves it, for tests of what reads one.

usage: make_trial.py DIR [hostile] [not-started|void|timed-out] [flood] [empty]
hostile: every string that a subject or a server chooses is a piece of HTML or a control character.
"""
import datetime
import hashlib
import json
import os
import sys

WORDS = set(sys.argv[2:])
HOSTILE = "hostile" in WORDS
OUTCOME = next((word for word in ("not-started", "void", "timed-out") if word in WORDS), "exited")
START = datetime.datetime(2026, 11, 29, 13, 15, 2, 0, datetime.timezone.utc)
SUBJECT = 1.9  # seconds from START to the subject's
SECONDS = 411.6
TRIAL = "3f9c2a7e"


def evil(text):
    return "</td></script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u202e\x1b[2J&" + text \
        if HOSTILE else text


def at(seconds):
    moment = START + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (moment.microsecond // 1000)


def record(tool, seconds, step, code=0, **fields):
    return dict({"tool": tool, "format": 1, "version": "1.0", "time": at(seconds), "ok": code == 0,
                 "exit": code, "trial": TRIAL, "step": step}, **fields)


CHANNELS = [
    ("udp://198.18.12.1:57218", "open", "blocked"),
    ("udp://198.18.12.1:57218?dev=eth0", "open", "blocked"),
    ("tcp://198.18.12.1:56199", "open", "blocked"),
    ("dns://198.18.12.1:44908/cell-probe.test", "open", "blocked"),
    ("dns+tcp://198.18.12.1:44785/cell-probe.test", "open", "blocked"),
    ("udp://[fd63:656c:6c00:158::1]:34159", "open", "blocked"),
    ("tcp://[fd63:656c:6c00:158::1]:40211", "open", "blocked"),
    ("dns://127.0.0.11:53/example.com", "open", "blocked"),
    ("icmp://198.18.12.1", "open", "blocked"),
    ("loopback:", "open", "open"), ("name:cell-proxy", "open", "open"),
    ("tcp://198.18.12.1:8080", "open", "open"),
    ("tcp://169.254.169.254:80", "unusable", "unusable"), ("family:packet", "denied", "denied"),
    ("family:vsock", "denied", "denied"), ("call:bpf", "denied", "denied"),
    ("unix:/run/docker.sock", "unusable", "unusable"),
]


def verdict(before, after):
    if before == "open":
        return "kept" if after == "open" else "closed"
    return "absent"


def evidence():
    sets = {name: "0000000000000000" for name in
            ("inheritable", "permitted", "effective", "bounding", "ambient")}
    digest = "9c0a4a26d5b9f2b7f0c7a1f6c52d77f3c1f7a6a3e9d7f4f0b4a1a1a2b3c4d5e6"
    policy = {"mode": "proxy-only", "proxy": {"device": "eth0", "address": "198.18.12.1", "port": 8080},
              "resolvers": ["127.0.0.11"], "counters": {}, "ruleset_sha256": digest, "generation": 2,
              "differs": [], "notes": []}
    pin = {"host": "cell-proxy", "address": "198.18.12.1", "file": "/etc/hosts", "changed": False}
    same = {"handles": [{"operand": "/proc/self/ns/net", "identity": "net:[4026532751]",
                         "cookie": "5957"}]}
    targets = [{"verdict": verdict(before, after), "target": evil(target), "before": before,
                "after": after, "detail": ""} for target, before, after in CHANNELS]
    if OUTCOME == "not-started":
        targets[7]["after"], targets[7]["verdict"] = "open", "still-open"
    yield record("cell-publish", 0.7, "proxy", address="198.18.12.1", port=8080,
                 certificate={"sha256": "5b1e" * 15 + "9a90", "not_before": at(0),
                              "not_after": "2036-11-26T13:15:02Z"}, directory="/opt/cell-egress")
    yield record("cell-nsid", 0.8, "identity", identity="net:[4026532751]", cookie="5957")
    yield record("cell-pinhost", 0.8, "pin", **pin)
    for gate in ("gate", "again"):
        later = 0.9 if gate == "gate" else 1.7
        yield record("cell-capcheck", later, gate + ".capabilities", pid=2, comm=evil("cell-capcheck"),
                     uid=65534, no_new_privs=True, sets=sets, held=[], denied=["cap_net_raw"])
        yield record("cell-nsid", later, gate + ".namespace", **same)
        yield record("cell-pinhost", later, gate + ".pin", **pin)
        if gate == "gate":
            yield record("cell-policy", 1.3, "policy", **policy)
            yield record("cell-policy", 1.3, "policy.check", **policy)
            code = 1 if OUTCOME == "not-started" else 0
            count = {kind: sum(t["verdict"] == kind.replace("_", "-") for t in targets) for kind in
                     ("closed", "still_open", "kept", "lost", "absent", "vacuous")}
            error = {"error": {"kind": "no", "message": "still open: dns://127.0.0.11:53/example.com"}}
            yield record("cell-probe", 1.6, "probe.compare", code, targets=targets, **count,
                         **(error if code else {}))
            if code:
                return
    yield record("cell-policy", 1.8, "again.policy", **policy)
    end = SUBJECT + SECONDS
    yield record("cell-policy", end, "end.policy", **policy)
    yield record("cell-policy", end, "end.counters", **policy)
    yield record("cell-nsid", end, "end.namespace", **same)


CLASSES = ("resolver", "tcp", "udp", "icmp", "other", "late", "forward", "inbound", "kernel")


def packets():
    """(seconds, class, protocol, destination, port, dns name)"""
    for i in range(9):
        yield 1.5 + i / 100, "udp", "udp", "198.18.12.1", 57218, None  # the probe's
    if OUTCOME == "not-started":
        return
    for i in range(4):
        yield SUBJECT + 3 + i * 0.3, "resolver", "udp", "127.0.0.11", 53, evil("pypi.org")
    for i in range(11):
        yield SUBJECT + 40 + i * 17.3, "tcp", "tcp", "93.184.216.34", 443, None
    yield SUBJECT + 200, "udp", "udp", "8.8.8.8", 53, evil("c2VjcmV0LWRhdGE.exfil.example")
    yield SUBJECT + 201, "udp", "udp", "8.8.8.8", 53, evil("c2VjcmV0LWRhdGF.exfil.example")
    if "flood" in WORDS:
        for i in range(3000):
            yield SUBJECT + 300 + i / 1000, "udp", "udp", "203.0.113.%d" % (i % 250), i % 65536, \
                evil("n%d.flood.example" % i)


def refused():
    count = {name: 0 for name in CLASSES}

    def tally(total):
        def counts(number):
            extra = 1997000 if total and "flood" in WORDS and number > 100 else 0
            return {"total": number + extra if total else None, "received": number, "recorded": number,
                    "lost": extra if total else None}
        return {"packets": counts(sum(count.values())),
                "classes": {name: counts(count[name]) for name in CLASSES},
                "changes": {"total": 1, "received": 1, "recorded": 1, "lost": 0}, "generation": 2}

    yield record("cell-watch", 1.2, "watch", record="start", group=5, table="cell_egress",
                 cookie="5957", **tally(False))
    yield record("cell-watch", 1.3, "watch", record="change", generation=2,
                 tables=["inet cell_egress"], objects={"newtable": 1}, process=4711,
                 program=evil("cell-policy"))
    for seconds, kind, protocol, destination, port, name in packets():
        count[kind] += 1
        fields = {"class": kind, "family": "ipv4", "protocol": protocol, "source": "198.18.12.2",
                  "destination": destination, "ports": {"source": 40000 + int(seconds), "destination": port},
                  "device": "eth0", "uid": 65534, "length": 60}
        if name:
            fields["dns"] = {"name": name, "type": "TXT" if "exfil" in name else "A", "cut": False}
        yield record("cell-watch", seconds, "watch", record="packet", **fields)
    if "flood" in WORDS:
        yield record("cell-watch", SUBJECT + 301, "watch", record="truncated", bound="rate",
                     max_rate=1000, max_bytes=16777216)
    yield record("cell-watch", SUBJECT + SECONDS, "watch", record="summary", group=5,
                 truncated="flood" in WORDS, **tally(True))


SITES = [("api.example.com", "/v1/answers", "POST"), ("pypi.org", "/simple/numpy/", "GET"),
         ("files.pythonhosted.org", "/packages/numpy.whl", "GET"), ("github.com", "/org/repo.git/info/refs", "GET")]


def hits():
    def line(seconds, event, decision, rule, **fields):
        return dict({"format": 1, "time": at(seconds), "trial": TRIAL, "event": event,
                     "decision": decision, "rule": rule}, **fields)
    yield line(0.6, "audit_start", "allowed", "start", allow_private=[], query="full", max_bytes=67108864)
    if OUTCOME == "not-started":
        return
    for i in range(60):
        host, path, method = SITES[0 if i % 4 else i // 4 % 4]
        seconds = SUBJECT + 5 + i * 6.6
        common = {"client": "198.18.12.2:%d" % (40000 + i), "host": evil(host), "port": 443,
                  "http": "HTTP/1.1", "addresses": ["104.18.0.%d" % i], "id": str(i)}
        yield line(seconds, "connect", "allowed", "public", method="CONNECT", scheme="connect",
                   path="", **common)
        yield line(seconds + 0.1, "request", "allowed", "public", method=evil(method), scheme="https",
                   path=evil(path), query="q=1", **common)
    for host, rule, decision in (("169.254.169.254", "link-local", "refused"), ("10.0.0.1", "private", "refused"),
                                 ("no-such-name.example", "unresolvable", "failed")):
        yield line(SUBJECT + 120, "request", decision, rule, client="198.18.12.2:50000", method="GET",
                   scheme="http", host=evil(host), port=80, path=evil("/latest/meta-data"), http="HTTP/1.1",
                   addresses=[], reason=evil("the destination is " + rule))
    yield line(SUBJECT + 250, "raw_tunnel", "refused", "not-http", client="198.18.12.2:50001",
               host=evil("shell.example"), port=443)


RULES = """table inet cell_egress {
	set proxy4 {
		type ifname . ipv4_addr . inet_service
		elements = { "eth0" . 198.18.12.1 . 8080 }
	}
	chain output {
		type filter hook output priority 0; policy drop;
		ip daddr 127.0.0.11 goto refuse_resolver
		oif "lo" accept
		oifname . ip daddr . tcp dport @proxy4 accept
		goto refuse
	}
}
"""


def summary(files):
    started = OUTCOME != "not-started"
    end = SUBJECT + (600 if OUTCOME == "timed-out" else SECONDS)
    cause = {
        "not-started": {"step": "probe.compare", "tool": "cell-probe", "exit": 1,
                        "message": evil("still open: dns://127.0.0.11:53/example.com")},
        "void": {"step": "proxy", "tool": "mitmdump", "exit": 137,
                 "message": evil("the proxy ended while the subject ran")}}.get(OUTCOME)
    steps = [("proxy", 0.742, 0), ("identity", 0.001, 0), ("pin", 0.002, 0), ("gate.capabilities", 0.001, 0),
             ("gate.namespace", 0.001, 0), ("gate.pin", 0.002, 0), ("probe.before", 0.31, 0),
             ("policy", 0.012, 0), ("policy.check", 0.004, 0), ("probe.after", 0.32, 0),
             ("probe.compare", 0.003, 1 if not started else 0)]
    if started:
        steps += [("again.capabilities", 0.001, 0), ("again.namespace", 0.001, 0), ("again.pin", 0.002, 0),
                  ("again.policy", 0.004, 0), ("end.policy", 0.005, 0), ("end.counters", 0.004, 0),
                  ("end.namespace", 0.001, 0)]
    flood = 1997000 + 3000 if "flood" in WORDS else 0
    return {
        "format": 1, "tool": "run_trial", "version": "1.0", "trial": TRIAL, "engine": "netns",
        "outcome": OUTCOME, "exit": {"exited": 0, "timed-out": 124, "void": 122, "not-started": 125}[OUTCOME],
        "sealed": OUTCOME in ("exited", "timed-out"), "cause": cause,
        "subject": {"started": started, "argv": [evil("./agent"), "--task", evil("7")], "user": evil("nobody"),
                    "uid": 65534, "environment": ["API_KEY", "HOME", evil("PATH")],
                    "started_at": at(SUBJECT) if started else None, "ended_at": at(end) if started else None,
                    "seconds": round(end - SUBJECT, 3) if started else None,
                    "exit": 0 if OUTCOME == "exited" else 143 if started else None,
                    "signal": None if OUTCOME == "exited" or not started else 15,
                    "timed_out": OUTCOME == "timed-out", "captured": True,
                    "stdout": {"bytes": 20144, "truncated": False}, "stderr": {"bytes": 311, "truncated": False}},
        "namespace": {"identity": "net:[4026532751]", "cookie": "5957", "same_at_end": started},
        "gate": {"held": [], "sets": {"bounding": "0000000000000000"}},
        "proxy": {"host": "cell-proxy", "address": "198.18.12.1", "port": 8080,
                  "certificate_sha256": "5b1e" * 15 + "9a90", "requests": 63 if started else 0,
                  "blocked": 3 if started else 0, "raw_tunnels": 1 if started else 0,
                  "alive_at_end": OUTCOME != "void"},
        "policy": {"mode": "proxy-only", "ruleset_sha256": "9c0a" * 16, "unchanged": started,
                   "counters": {"resolver": {"packets": 4, "bytes": 240}, "tcp": {"packets": 11, "bytes": 660},
                                "udp": {"packets": 11 + flood, "bytes": 660}}},
        "probe": {"closed": 9, "kept": 3, "still_open": 0, "lost": 0, "absent": 5, "vacuous": 0},
        "refused": {"packets": 26 + flood, "recorded": 26, "lost": 0, "truncated": bool(flood)},
        "tampering": ["hosts"] if HOSTILE else [], "after": None,
        "steps": [{"step": step, "seconds": seconds, "exit": code} for step, seconds, code in steps],
        "files": files,
        "versions": {"kernel": "6.18.44", "nftables": "1.0.6", "mitmproxy": "8.1.1", "cell": "1.0"}}


def write(directory, name, text):
    with open(os.path.join(directory, name), "w", encoding="utf-8", newline="") as stream:
        stream.write(text)


def main():
    directory = sys.argv[1]
    os.makedirs(directory)
    if "empty" in WORDS:
        return
    lines = {"evidence.jsonl": evidence(), "refused.jsonl": refused(), "hits.jsonl": hits(),
             "probe-before.jsonl": (record("cell-probe", 1.0, "before", target=t, result=b) for t, b, _ in CHANNELS),
             "probe-after.jsonl": (record("cell-probe", 1.5, "after", target=t, result=a) for t, _, a in CHANNELS)}
    for name, records in lines.items():
        write(directory, name, "".join(json.dumps(r, separators=(",", ":")) + "\n" for r in records))
    write(directory, "ruleset.nft", RULES + ("\t# " + evil("") + "\n" if HOSTILE else ""))
    write(directory, "ruleset-end.nft", RULES)
    files = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as stream:
            content = stream.read()
        files[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    write(directory, "summary.json", json.dumps(summary(files)) + "\n")


main()

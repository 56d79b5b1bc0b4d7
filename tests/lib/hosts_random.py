#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Random hosts files, pinned, and judged by what two C libraries read in them before and after.

usage: hosts_random.py SEED COUNT TOOL LOOKUP...    in an empty directory

Each LOOKUP is a hosts_lookup of one C library: the second reading, independent of the tool's own.
After the pin HOST must have exactly the new address, and after the removal none; every other name
must answer as before; only bytes of HOST's own may differ; a second run must change nothing. One line
for each fault, then the count.
"""
import os
import random
import subprocess
import sys

HOST, NEW = "proxy", "172.18.0.2"
OTHERS = ["db", "cache", "x-proxy", "proxy.", "proxy-2", "a.proxy", "prox", "10.0.0.9", "last"]
ADDRESSES = [
    "10.0.0.1", "10.0.0.2", NEW, "10.0.0.3", "10.1", "0x0a000004", "010.0.0.5", "fd00::1", "fd00::2",
    "::ffff:10.0.0.6", "::1", "127.0.0.1", "fe80::1%lo", "0", "256.0.0.1", "1.2.3.4.5", "bad", "10.0.0",
    "10.0.0.1.", "1e3", "::", "fd00::1::2", HOST]
SPACES = [" ", " ", "\t", "  ", "\v", "\f", "\r", " \t "]
NAMES = [HOST, HOST, "Proxy", "PROXY"] + OTHERS


def line(rng):
    kind = rng.random()
    if kind < 0.08:
        return " " * rng.choice([0, 1, 21, 21, 21, 22])
    if kind < 0.14:
        return "#" + rng.choice(["", " ", "72.18.0.2      proxy", "10.0.0.9 proxy"])
    words = [rng.choice(ADDRESSES)]
    words += [rng.choice(NAMES) for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3]))]
    if rng.random() < 0.04:
        words.insert(rng.randrange(len(words) + 1), "z" * rng.choice([480, 495, 505, 511, 600]))
    text = rng.choice(["", "", "", "", " ", "\t"]) + words[0]
    for word in words[1:]:
        text += rng.choice(SPACES) + word
    if rng.random() < 0.15:
        text += rng.choice(["#", " # ", "#x "]) + rng.choice(NAMES)
    if rng.random() < 0.03:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + "\0" + text[at:]
    return text + rng.choice(["", "", "", "", " ", "\r"])


def make(rng):
    lines = [line(rng) for _ in range(rng.choice([0, 1, 2, 5, 9, 30]))]
    return ("\n".join(lines) + rng.choice(["\n", "\n", ""])).encode()


def own_bytes(text):
    """The offsets that may change: HOST's names, lines with no other name, and fitting blank lines."""
    own = set()
    start = 0
    for content in text.split(b"\n"):
        entry = content.split(b"#")[0]
        names = entry.replace(b"\0", b" ").split()[1:]
        if names and all(name.lower() == HOST.encode() for name in names):
            own.update(range(start, start + len(entry)))
        if content == b" " * 21:
            own.update(range(start, start + 21))
        at = 0
        while (at := content.lower().find(HOST.encode(), at)) >= 0:
            own.update(range(start + at, start + at + len(HOST)))
            at += 1
        start += len(content) + 1
    return own


def answers(lookup, directory):
    files = sorted(os.listdir(directory))
    result = {}
    for at in range(0, len(files), 500):
        batch = [f"{directory}/{name}" for name in files[at:at + 500]]
        out = subprocess.run([lookup, HOST, *OTHERS, "--", *batch], check=True, capture_output=True)
        for row in out.stdout.decode().splitlines():
            path, name, *now = row.split("\t")
            result[os.path.basename(path), name] = now
    return result


def pin(tool, path, *operands):
    return subprocess.run([tool, "--hosts", path, *operands, HOST], capture_output=True)


def prepare(rng, count, tool, fault):
    """Makes COUNT files in each of three directories: before, pinned, removed."""
    texts = []
    for number in range(count):
        text = make(rng)
        texts.append(text)
        for directory in ("before", "pinned", "removed"):
            os.makedirs(directory, exist_ok=True)
            with open(f"{directory}/{number}", "wb") as file:
                file.write(text)
        for path, operands in (f"pinned/{number}", ["--address", NEW]), (f"removed/{number}", ["--remove"]):
            if pin(tool, path, *operands).returncode != 0:
                fault(path, "did not end well")
            with open(path, "rb") as file:
                after = file.read()
            again = pin(tool, path, *operands)
            with open(path, "rb") as file:
                if file.read() != after or b"changed no" not in again.stdout:
                    fault(path, "a second run changed it")
            own = own_bytes(text)
            if len(after) < len(text) or len(after) > len(text) + 23 or any(
                    i not in own and after[i] != byte for i, byte in enumerate(text)):
                fault(path, "a byte of another's changed")
        if pin(tool, f"pinned/{number}", "--check", "--address", NEW).returncode != 0:
            fault(f"pinned/{number}", "the check says no")
    return texts


def judge(lookup, texts, fault):
    before, pinned, removed = (answers(lookup, d) for d in ("before", "pinned", "removed"))
    for number, text in enumerate(texts):
        number = str(number)
        if pinned[number, HOST] != [NEW, NEW]:
            fault(f"pinned/{number}", f"{HOST} is {pinned[number, HOST]} to {lookup}")
        if removed[number, HOST] != ["-", "-"]:
            fault(f"removed/{number}", f"{HOST} is {removed[number, HOST]} to {lookup}")
        last = text.split(b"\n")[-1].decode()
        for name in OTHERS:
            was = before[number, name]
            if removed[number, name] != was:
                fault(f"removed/{number}", f"{name} was {was}, is {removed[number, name]} to {lookup}")
            # The newline that the pin adds makes the last name known to musl, and to glibc if the
            # line begins with a blank.
            if pinned[number, name] != was and not last.endswith(name):
                fault(f"pinned/{number}", f"{name} was {was}, is {pinned[number, name]} to {lookup}")
    return before


def main():
    seed, count, tool, *lookups = sys.argv[1:]
    faults = []

    def fault(path, text):
        faults.append(path)
        print(f"seed {seed}: {path}: {text}")

    texts = prepare(random.Random(int(seed)), int(count), tool, fault)
    known = 0
    for lookup in lookups:
        before = judge(lookup, texts, fault)
        known += sum(1 for (_, name), now in before.items() if name == HOST and now[0] not in ("-", NEW))
    print(f"{len(texts)} files, {known} wrong answers before, {len(faults)} faults")
    return 1 if faults or known < len(texts) // 2 else 0


sys.exit(main())

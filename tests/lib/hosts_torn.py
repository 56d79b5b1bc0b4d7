#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every reading of a hosts file that a reader in pieces can come to while it is patched.

usage: hosts_torn.py pieces|during DIRECTORY TOOL [OPERAND...] -- START...   ("{}" stands for a file)

Runs TOOL under strace on a copy of each START, learns its writes, and makes each state in between, with
every write also cut after each of its bytes. "pieces": a reader with a buffer of 1 KiB or 4 KiB takes
each piece from a state not older than that of the piece before. "during": one reads in one piece but
during one of the writes, so that it has bytes of before up to any place and newer ones from there.
Every different text that can result is written to a file in DIRECTORY/START, beside "before" and
"after".
"""
import hashlib
import os
import re
import subprocess
import sys

WRITE = re.compile(r'^p?write(?:64)?\((\d+), "((?:\\x[0-9a-f]{2})*)", \d+(?:, (\d+))?\) += (\d+)')
CUT = re.compile(r"^ftruncate\(\d+, (\d+)\) += 0")


def writes(trace):
    """(offset or None for the end, bytes) for each write, (size, None) for each cut, in order."""
    with open(trace, encoding="ascii") as lines:
        for line in lines:
            write, cut = WRITE.match(line), CUT.match(line)
            if write and int(write.group(1)) > 2:
                data = bytes.fromhex(write.group(2).replace("\\x", ""))[: int(write.group(4))]
                yield write.group(3) and int(write.group(3)), data
            elif cut:
                yield int(cut.group(1)), None


def states(text, changes):
    """A list for each change: what stands there before it, after each of its bytes, and after it."""
    for offset, data in changes:
        if data is None:
            cuts = [text, text[:offset]]
        else:
            if offset is None:
                offset = len(text)
            cuts = [text[:offset] + data[:end] + text[offset + end:] for end in range(len(data) + 1)]
        yield cuts
        text = cuts[-1]


def torn(cuts):
    """What one read during one write can give: it may overtake the write, or be overtaken."""
    done = set()
    for earlier, old in enumerate(cuts):
        for new in cuts[earlier + 1:]:
            at = next((i for i, pair in enumerate(zip(old, new)) if pair[0] != pair[1]), len(old))
            while at < len(old) and old[at:] != new[at:]:
                done.add(old[:at] + new[at:])
                at += 1
    return done


def readings(all_states, piece):
    """What a reader with a buffer of PIECE bytes can have read at its end of file."""
    # What has been read so far, and the earliest state that can have given its last piece: a text
    # that an earlier state gives can be gone on with from every later one as well.
    front = {b"": 0}
    done = set()
    while front:
        following = {}
        for read, earliest in front.items():
            for number in range(earliest, len(all_states)):
                more = all_states[number][len(read):len(read) + piece]
                if not more:
                    done.add(read)
                    continue
                text = read + more
                if text not in following or following[text] > number:
                    following[text] = number
        front = following
    return done


def judge(mode, directory, start, command):
    """Fills DIRECTORY with the readings of START; how many there are."""
    os.makedirs(directory)
    copy, trace = directory + "/after", directory + ".trace"
    with open(start, "rb") as file:
        text = file.read()
    for name in ("before", "after"):
        with open(f"{directory}/{name}", "wb") as file:
            file.write(text)
    subprocess.run(
        ["strace", "-o", trace, "-e", "trace=write,pwrite64,ftruncate", "-xx", "-s", "65536"]
        + [word.replace("{}", copy) for word in command],
        check=True, stdout=subprocess.DEVNULL)
    changes = list(states(text, writes(trace)))
    os.unlink(trace)
    every = list(dict.fromkeys([text] + [cut for cuts in changes for cut in cuts]))
    with open(copy, "rb") as file:
        assert every[-1] == file.read(), "the trace does not tell all"
    if mode == "pieces":
        found = readings(every, 1024) | readings(every, 4096)
    else:
        found = set().union(*(torn(cuts) for cuts in changes))
    for reading in found:
        with open(f"{directory}/{hashlib.sha256(reading).hexdigest()[:16]}", "wb") as file:
            file.write(reading)
    return len(found)


def main():
    mode, directory, *rest = sys.argv[1:]
    at = rest.index("--")
    found = sum(judge(mode, f"{directory}/{start}", start, rest[:at]) for start in rest[at + 1:])
    print(f"{found} readings of {len(rest) - at - 1} files")


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A tool that runs short of memory, at each of its allocations in turn.

usage: no_memory.py MODULE STEP BEFORE COMMAND...

The shell command BEFORE is run before each run of COMMAND; every STEP-th allocation fails, once
alone and once with all behind it (MODULE is no_memory_module.so). Each run must answer as a run with
memory does, or with 111, a line on stderr, and on stdout nothing or whole records of which the last
says so. Prints what does not, and last how many shortages there were; 1 if one was answered otherwise.

environment: CELL_SHORT_CODE=N  another code for it than 111"""
import json
import os
import re
import subprocess
import sys
import tempfile

wanted = int(os.environ.get("CELL_SHORT_CODE", 111))
module, step, before, command = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
# What two good runs differ in.
VARYING = re.compile(rb'"time":"[^"]*"|"ms":[0-9.]*|[0-9a-f]{64}|20\d\d-\d\d-\d\dT[0-9:.]*Z')


def run(**variables):
    if before:
        subprocess.run(["sh", "-c", before], check=True)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          env={**os.environ, **variables})
    return done.returncode, VARYING.sub(b"", done.stdout), done.stdout, done.stderr


def says_so(code, stdout, stderr):
    if code not in (111, wanted) or not stderr.strip():
        return False
    if not stdout:
        return True
    try:
        return [json.loads(line) for line in stdout.splitlines()][-1]["exit"] == code
    except ValueError:
        return False


good = run()
shortages = wrong = 0
for on in "01":
    at = 1
    while True:
        with tempfile.TemporaryDirectory() as directory:
            note = directory + "/note"
            code, plain, stdout, stderr = run(LD_PRELOAD=module, CELL_FAIL_AT=str(at),
                                              CELL_FAIL_ON=on, CELL_FAIL_NOTE=note)
            if not os.path.exists(note):
                break
        shortages += 1
        if (code, plain) != good[:2] and not says_so(code, stdout, stderr):
            wrong += 1
            if wrong > 5:
                continue
            print("at", at, "and on" if on == "1" else "alone", code, stdout[:200], stderr[:200])
        at += step
print(shortages)
sys.exit(wrong != 0)

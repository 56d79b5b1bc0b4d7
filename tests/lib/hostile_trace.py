#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints what a traced tool opened, connected to and ran beyond what it was allowed, one a line.

usage: hostile_trace.py ROOT TRACE ALLOW
TRACE is strace's; what counts begins with the execve of /tool. ALLOW holds shell patterns, one a
line, on "open PATH", "connect unix:PATH", "connect inet:ADDRESS:PORT" and "exec PATH".
"""
import fnmatch
import os
import re
import sys

root, trace, allow = sys.argv[1:]
root = os.path.realpath(root)
patterns = open(allow, encoding="utf-8").read().splitlines()

CALL = re.compile(r"^\d+ +(\w+)\((.*)")
OPENAT = re.compile(r'^(AT_FDCWD|\d+)(?:<(.*?)>)?, "((?:[^"\\]|\\.)*)"')
OPEN = re.compile(r'^"((?:[^"\\]|\\.)*)"')
UNIX = re.compile(r'sa_family=AF_UNIX, sun_path=(@?)"((?:[^"\\]|\\.)*)"')
INET = re.compile(r'sin_port=htons\((\d+)\), sin_addr=inet_addr\("([^"]*)"\)')
INET6 = re.compile(r'sin6_port=htons\((\d+)\).*?inet_pton\(AF_INET6, "([^"]*)"')


def absolute(directory, path):
    """PATH as the tool meant it, seen from its own root."""
    if path.startswith("/"):
        return path
    directory = directory or root
    if directory == root or directory.startswith(root + "/"):
        directory = directory[len(root):]
    return directory + "/" + path


def event(name, arguments):
    """What the call touches, or None if it names nothing."""
    if name == "execve":
        return "exec " + OPEN.match(arguments).group(1)
    if name == "open":
        return "open " + absolute(None, OPEN.match(arguments).group(1))
    if name in ("openat", "openat2"):
        found = OPENAT.match(arguments)
        return "open " + absolute(found.group(2), found.group(3))
    for pattern, form in ((UNIX, "unix:{0}{1}"), (INET, "inet:{1}:{0}"), (INET6, "inet:[{1}]:{0}")):
        found = pattern.search(arguments)
        if found:
            return "connect " + form.format(*found.groups())
    found = re.search(r"sa_family=(\w+)", arguments)
    return "connect " + found.group(1) if found else None


started = False
broken = []
for line in open(trace, encoding="utf-8", errors="backslashreplace"):
    call = CALL.match(line)
    if not call:
        continue
    what = event(call.group(1), call.group(2))
    if not started:
        started = what == "exec /tool" and line.rstrip().endswith(" = 0")
    elif what and not any(fnmatch.fnmatchcase(what, pattern) for pattern in patterns):
        broken.append(what)
if not started:
    sys.exit("the tool was never started")
print("\n".join(broken))

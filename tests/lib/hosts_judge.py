#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges what C libraries answered from many states of one hosts file while a name was pinned.

usage: hosts_judge.py HOST NEW LOOKUP...

Each LOOKUP is the output of hosts_lookup of one library, for files in one or more directories; in
each, "before" and "after" are the states before and after the pin. Every other name must answer in
each state as it did before (or, where only the added newline made it known, as after); HOST must have
its old addresses, all of them unless it also has NEW, and nothing else. NEW is "-" for a removal. One
line for each fault, then the count.
"""
import os.path
import sys


def read(path):
    answers = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            state, name, everything, four = line.rstrip("\n").split("\t")
            answers.setdefault(state, {})[name] = (everything, four)
    return answers


def addresses(text):
    return set() if text == "-" else set(text.split(","))


def judge_host(now, before, new):
    """What is wrong with HOST's answers NOW, or None."""
    old = addresses(before)
    if new == "-":
        return None if addresses(now) <= old else "more than before"
    if not addresses(now) <= old | {new}:
        return "an address of nobody"
    if not (addresses(now) >= old or new in addresses(now)):
        return "neither all old addresses nor the new one"
    return None


def judge_state(names, before, after, host, new):
    """What is wrong with the answers for NAMES, one pair (name, fault) for each."""
    for name, now in names.items():
        was, becomes = before[name], after[name]
        if name == host:
            fault = judge_host(now[0], was[0], new) or judge_host(now[1], was[1], new)
        elif was != becomes and was[0] != "-":
            fault = "another entry answers differently in the end"
        else:
            fault = None if now in (was, becomes) else "another entry answers differently"
        if fault:
            yield name, f"{fault}: {now} (before: {was})"


def main():
    host, new, *lookups = sys.argv[1:]
    faults = states = 0
    for path in lookups:
        answers = read(path)
        for state, names in answers.items():
            directory = os.path.dirname(state)
            before, after = answers[directory + "/before"], answers[directory + "/after"]
            found = list(judge_state(names, before, after, host, new))
            if names is after and new != "-" and any(a != new for a in after[host]):
                found.append((host, f"in the end it is {after[host]}"))
            for name, fault in found:
                print(f"{path}: {state}: {name}: {fault}")
            faults += len(found)
            states += 1
    print(f"{states} answers judged")
    return 1 if faults or not states else 0


sys.exit(main())

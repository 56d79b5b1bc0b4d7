#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of the published pair that follows the rule (address, certificate, address).

usage: publish_reader.py DIRECTORY EVEN.pem ODD.pem STOP_FILE
The even addresses belong to the first certificate, the odd ones to the second. Prints one line:
READS COMPLETE MIXED UNRULY PARTIAL ABSENT
  mixed    the rule was followed, and the pair is not one
  unruly   the same for a reader that reads the address once: how often the rule was needed
  partial  a file that was not whole
"""

import os
import sys
import time

directory, even, odd, stop = sys.argv[1:5]
owners = {open(even, "rb").read(): 0, open(odd, "rb").read(): 1}


def read(name):
    try:
        with open(os.path.join(directory, name), "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None


reads = complete = mixed = unruly = partial = absent = 0
while not os.path.exists(stop):
    reads += 1
    time.sleep(0.0001)  # the publisher needs the processor too
    before = read("proxy-ipv4")
    certificate = read("mitmproxy-ca-cert.pem")
    after = read("proxy-ipv4")
    if certificate is not None and certificate not in owners:
        partial += 1
    for address in (before, after):
        if address is not None and not (address.endswith(b"\n") and address.count(b".") == 3):
            partial += 1
    if before is None or certificate not in owners:
        absent += 1
        continue
    wrong = int(before.split(b".")[3]) % 2 != owners[certificate]
    unruly += wrong
    if before != after:
        continue
    complete += 1
    mixed += wrong
print(reads, complete, mixed, unruly, partial, absent)

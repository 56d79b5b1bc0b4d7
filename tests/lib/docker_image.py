# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files of this machine make a container image, for a machine without a registry.

usage: docker_image.py STAGE PACKAGE...
Prints, NUL-separated and relative to /, every file of the installed packages and of all they depend
on, each path once and with the directories of a merged /usr, for `tar --null --no-recursion -T -`.
What is in the tree STAGE is left out: it goes into the image from there.
"""

import os
import re
import sys

LEFT_OUT = re.compile(
    r"^/(boot|dev|home|media|mnt|opt|proc|root|run|srv|sys|tmp)/"
    r"|^/usr/share/(doc|man|info|locale|lintian|bug|i18n|zoneinfo|icons|fonts)/"
    r"|^/usr/lib/[^/]*-linux-gnu/(gconv|perl)/"
)
MERGED = re.compile(r"^/(bin|sbin|lib|lib32|lib64|libx32)(/|$)")


def installed():
    """Package to the alternatives it needs, and virtual names to the packages that provide them."""
    needs, provides = {}, {}
    with open("/var/lib/dpkg/status", encoding="utf-8") as file:
        for paragraph in file.read().split("\n\n"):
            field = dict(re.findall(r"^(Package|Status|Depends|Pre-Depends|Provides): (.*)$", paragraph, re.M))
            if not field.get("Status", "").endswith(" installed"):
                continue
            wanted = ", ".join(filter(None, (field.get("Depends"), field.get("Pre-Depends"))))
            needs[field["Package"]] = [[name(part) for part in one.split("|")] for one in wanted.split(",") if one.strip()]
            for one in filter(None, field.get("Provides", "").split(",")):
                provides.setdefault(name(one), []).append(field["Package"])
    return needs, provides


def name(text):
    return re.match(r"\s*([^\s:(]*)", text)[1]


def closure(wanted):
    needs, provides = installed()
    chosen, queue = set(), list(wanted)
    while queue:
        package = queue.pop()
        if package in chosen:
            continue
        if package not in needs:
            sys.exit(f"docker_image: {package} is not installed")
        chosen.add(package)
        for alternatives in needs[package]:
            for one in alternatives:
                if real := one if one in needs else next(iter(provides.get(one, [])), None):
                    queue.append(real)
                    break
    return chosen


def files(package):
    info = "/var/lib/dpkg/info/"
    for path in (f"{info}{package}.list", f"{info}{package}:amd64.list", f"{info}{package}:arm64.list"):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read().split("\n")
    return []


paths = set()
stage = sys.argv[1]
for package in closure(sys.argv[2:]):
    for path in files(package):
        path = MERGED.sub(r"/usr/\1\2", path)
        if len(path) < 2 or LEFT_OUT.search(path + "/") or not os.path.lexists(path):
            continue
        paths.add(path)
        if path.endswith(".py"):  # compiled by the package's script, in no list, and ten times faster
            directory, file = os.path.split(path)
            compiled = f"{directory}/__pycache__/{file[:-3]}.cpython-{sys.version_info[0]}{sys.version_info[1]}.pyc"
            if os.path.exists(compiled):
                paths.add(compiled)
sys.stdout.write("".join(f"{path[1:]}\0" for path in sorted(paths) if not os.path.lexists(stage + path)))

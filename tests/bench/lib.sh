# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Sourced by every tests/bench/*.sh: where things are, a private network namespace, and "alternate",
# which times commands in turn. A line is: label, median (quartiles), peak memory, ratio to the first.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
: "${CELL_BIN:=$top/build/bin}"
PATH=$CELL_BIN:$top/build/bench:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH top CELL_BIN
: "${BENCH_ROUNDS:=40}"

# Everything below runs in namespaces of its own, which end with it.
if [ -z "${BENCH_INSIDE:-}" ]; then
	BENCH_INSIDE=1 exec setpriv --pdeathsig KILL \
		unshare --fork --kill-child=KILL --net --mount --pid --mount-proc "$0" "$@"
fi
work=$(mktemp -d)
chmod 0711 "$work"
trap 'rm -rf "$work"' EXIT
ip link set lo up

# title TEXT: heads a group of lines.
title() { printf '\n%s\n' "$1"; }

# side_by_side ROUNDS LABEL COMMAND... :: LABEL COMMAND...
side_by_side() {
	side_rounds=$1
	shift
	alternate -n "$side_rounds" "$@"
}

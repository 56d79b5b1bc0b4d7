# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Sourced by every tests/bench/*.sh: where things are, a private network namespace, and "alternate",
# which times commands in turn. A line is: label, median (quartiles), peak memory, ratio to the first.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
: "${CELL_BIN:=$top/build/bin}" "${BENCH_BIN:=$top/build/bench}"
PATH=$CELL_BIN:$BENCH_BIN:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
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

# hold: a namespace with lo up; $pid holds it.
hold() {
	unshare --net sh -c 'ip link set lo up && exec sleep 100000' &
	pid=$!
	until [ "$(cat "/proc/$pid/comm")" = sleep ]; do sleep 0.01; done
}

# inside PID COMMAND...: in that process's network namespace.
inside() {
	inside_pid=$1
	shift
	nsenter -n -t "$inside_pid" "$@"
}

# join PID NUMBER: gives it a device eth0, 10.77.0.NUMBER, to $world, which is 10.77.0.2.
join() {
	ip link add "b$1" netns "$world" type veth peer name eth0 netns "$1"
	inside "$world" sh -c "ip link set b$1 up && ip address replace 10.77.0.2/32 dev b$1 &&
		ip route replace 10.77.0.$2/32 dev b$1"
	inside "$1" sh -c "ip link set eth0 up && ip address add 10.77.0.$2/32 dev eth0 &&
		ip route add 10.77.0.2/32 dev eth0"
}

# proxy_beyond: this namespace's eth0, 198.18.0.2, leads to the published proxy, 198.18.0.1 in $world.
proxy_beyond() {
	mkdir "$work/egress"
	echo 198.18.0.1 >"$work/egress/proxy-ipv4"
	export CELL_EGRESS_DIR="$work/egress"
	hold && world=$pid
	ip link add eth0 type veth peer name far netns "$world"
	ip address add 198.18.0.2/30 dev eth0
	ip link set eth0 up
	inside "$world" sh -c 'ip address add 198.18.0.1/30 dev far && ip link set far up'
}

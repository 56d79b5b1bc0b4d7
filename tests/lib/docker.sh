# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # work, top, pid, CELL_BIN come from cell_test.sh
# Sourced after cell_test.sh: a Docker engine of the test's own, and images without a registry.
#
# docker_start makes the engine and a world outside it (see docker_engine); $engine is its directory.
# It ends with the test, also when the test is killed: all of it lives in one pid namespace.
# Where an engine cannot run, docker_start returns 1 and $docker_reason says why.
#
# environment: CELL_TEST_DOCKER_PATH    directories of another engine and Compose, to be found first
#              CELL_TEST_DOCKER_CONFIG  its DOCKER_CONFIG, where the docker client finds plugins

docker_here=$top/tests/lib
docker_path=${CELL_TEST_DOCKER_PATH:+$CELL_TEST_DOCKER_PATH:}/usr/sbin:/usr/bin:/sbin:/bin
engine=
docker_reason=

# docker_start: the engine answers when this returns 0.
docker_start() {
	engine=$work/engine
	mkdir -p "$engine/world" "$engine/exec" "$engine/data"
	docker_sweep
	echo "/cell-engine.$$" >"$engine/cgroup"
	for docker_need in /usr/bin/docker /usr/sbin/dockerd /usr/bin/docker-compose dnsmasq; do
		command -v "$docker_need" >/dev/null ||
			{ docker_reason="no $docker_need"; return 1; }
	done
	background env PATH="$docker_path" unshare --fork --kill-child=KILL --pid --mount --mount-proc --net --ipc -- \
		"$docker_here/docker_engine" "$engine"
	docker_unshare=$pid
	if ! wait_for 60 docker_answers; then
		docker_reason="the engine does not start: $(grep -v level=info "$engine/engine.log" | tail -n 3)"
		return 1
	fi
}

# The engine and the world are up; their first process is $docker_init then.
docker_answers() {
	docker_init=$(tr -d ' ' <"/proc/$docker_unshare/task/$docker_unshare/children") &&
		[ -n "$docker_init" ] && [ -e "$engine/world/ready" ] && [ -S "$engine/docker.sock" ] &&
		host docker version
}

# host COMMAND...: runs it where the engine runs: its processes, mounts, network. A test that talks
# of pids must use this, since they are those of the engine's pid namespace.
host() {
	nsenter -t "$docker_init" --pid --mount --net --ipc -- env DOCKER_HOST="unix://$engine/docker.sock" \
		PATH="$CELL_BIN:$docker_path" COMPOSE_IGNORE_ORPHANS=1 \
		DOCKER_CONFIG="${CELL_TEST_DOCKER_CONFIG:-$engine/config}" "$@"
}

docker() { host docker "$@"; }

# container PROJECT SERVICE: its id, running or not; names differ between versions of Compose.
container() {
	docker ps -a -q --no-trunc --filter "label=com.docker.compose.project=$1" \
		--filter "label=com.docker.compose.service=$2"
}

# host_background COMMAND...: the same, in the background; $host_pid is its pid, for host kill.
host_background() {
	rm -f "$work/host.pid"
	# shellcheck disable=SC2016 # for the other shell
	host sh -c 'echo $$ >"$0"; exec "$@"' "$work/host.pid" "$@" &
	wait_for 10 test -s "$work/host.pid"
	host_pid=$(cat "$work/host.pid")
}

# world COMMAND...: runs it outside the engine, where the attacker is.
world() {
	host nsenter -n -t "$(cat "$engine/world.pid")" -- "$@"
}

# world_heard TEXT: a line of the world's log holds TEXT.
world_heard() {
	grep -qF -e "$1" "$engine/world/log"
}

# docker_stop: everything ends, and nothing is left. Called by the test's teardown; a killed test
# leaves empty cgroup directories, which the next docker_start removes.
docker_stop() {
	[ -n "$engine" ] || return 0
	[ -z "${docker_unshare:-}" ] || end_process "$docker_unshare"
	# Its last processes may still be ending.
	wait_for 5 docker_cgroups "$(cat "$engine/cgroup" 2>/dev/null)"
	rm -rf "$engine"
}

# docker_cgroups NAME: removes the engine's cgroups; 1 if one is in use.
docker_cgroups() {
	[ -n "$1" ] || return 0
	docker_left=0
	for docker_cgroup in /sys/fs/cgroup"$1" /sys/fs/cgroup/*"$1"; do
		[ -d "$docker_cgroup" ] || continue
		find "$docker_cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
		[ ! -d "$docker_cgroup" ] || docker_left=1
	done
	return "$docker_left"
}

docker_sweep() {
	for docker_cgroup in /sys/fs/cgroup/cell-engine.* /sys/fs/cgroup/*/cell-engine.*; do
		[ -d "$docker_cgroup" ] || continue
		kill -0 "${docker_cgroup##*.}" 2>/dev/null || docker_cgroups "/${docker_cgroup##*/}"
	done
}

# docker_images: `main` (a subject's: bash, curl, python), `cell` (busybox and our tools), `cell-proxy`
# (mitmproxy and our tools). All trust the world's certificate authority and no other.
docker_images() {
	docker_bundle=$top/build/bundle/opt/cell
	for docker_stage in main cell cell-proxy; do
		mkdir -p "$work/$docker_stage/etc/ssl/certs" "$work/$docker_stage/opt"
		cp "$engine/world/ca.pem" "$work/$docker_stage/etc/ssl/certs/ca-certificates.crt"
		[ "$docker_stage" = main ] || cp -R "$docker_bundle" "$work/$docker_stage/opt/"
	done
	docker_skeleton "$work/cell"
	cp /bin/busybox "$work/cell/usr/bin/"
	chroot "$work/cell" /usr/bin/busybox --install -s /usr/bin
	tar -c -C "$work/cell" . | docker_import cell &
	docker_job=$!
	docker_image cell-proxy "$work/cell-proxy" mitmproxy dash coreutils &
	docker_job="$docker_job $!"
	docker_image main "$work/main" dash bash coreutils curl ca-certificates python3 util-linux procps grep sed findutils
	for docker_pid in $docker_job; do wait "$docker_pid"; done
	docker image inspect main cell cell-proxy >/dev/null || {
		cat "$work"/*.import
		return 1
	}
	rm -rf "$work/main" "$work/cell" "$work/cell-proxy"
}

# docker_image NAME STAGE PACKAGE...: an image of the files that these installed packages and their
# dependencies have, with the tree STAGE over them.
docker_image() {
	docker_name=$1 docker_stage=$2
	shift 2
	docker_skeleton "$docker_stage"
	/usr/bin/python3 "$docker_here/docker_image.py" "$docker_stage" "$@" >"$work/$docker_name.files" &&
		tar -c -C / --null --no-recursion --xattrs -T "$work/$docker_name.files" \
			--no-null --recursion -C "$docker_stage" . | docker_import "$docker_name"
}

# docker_import NAME: an image of the tar archive on stdin.
docker_import() {
	docker import -c 'ENV PATH=/opt/cell/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
		-c 'CMD ["sleep","infinity"]' - "$1" >"$work/$1.import" 2>&1
}

# What no package lists but a program wants to find.
docker_skeleton() {
	mkdir -p "$1/etc" "$1/tmp" "$1/var/tmp" "$1/root" "$1/proc" "$1/sys" "$1/dev" "$1/run" \
		"$1/usr/bin" "$1/usr/sbin" "$1/usr/lib" "$1/usr/lib64" "$1/opt" "$1/home/user"
	chmod 1777 "$1/tmp" "$1/var/tmp"
	for docker_link in bin sbin lib lib64; do ln -s "usr/$docker_link" "$1/$docker_link"; done
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n' \
		>"$1/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\nuser:x:1000:\n' >"$1/etc/group"
	printf 'hosts: files dns\n' >"$1/etc/nsswitch.conf"
}

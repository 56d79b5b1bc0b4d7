#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns jq
# cell-exec in containers of a real engine, in an image that holds nothing but static programs: as the
# entrypoint, under exec, as another user; and the kept profile given to the engine.
. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/docker.sh"
# shellcheck disable=SC2154 # engine, docker_reason come from docker.sh; out, work from run

doors='call:request_key call:pidfd_getfd call:bpf call:io_uring call:unshare'

test_file_setup() {
	docker_start || return 0
	mkdir "$work/tiny"
	# The static builds, also where the tools under test are others.
	cp /bin/busybox "$top/build/bin/cell-exec" "$top/build/bin/cell-probe" \
		"$top/build/bin/cell-capcheck" "$work/tiny"
	tar -c -C "$work/tiny" . | docker_import tiny && docker run -d --name subject \
		--cap-drop NET_RAW tiny /busybox sleep 1000000 >"$work/run" 2>&1
}

test_file_teardown() { docker_stop; }

test_setup() {
	[ -z "$docker_reason" ] || skip "$docker_reason"
}

container() { docker run --rm "$@"; }
held() { printf '%s\n' "$out" | sed -n "s/^$1:[[:space:]]*//p"; }

test_kept_profile_loads_and_shuts_what_an_unconfined_container_has() {
	# With sys_admin, or the kernel itself would refuse bpf and a namespace.
	# shellcheck disable=SC2086 # targets
	expect 0 container --cap-add SYS_ADMIN --security-opt seccomp=unconfined tiny \
		/cell-probe --expect open $doors family:vsock
	# shellcheck disable=SC2086 # targets
	expect 0 container --cap-add SYS_ADMIN --security-opt "seccomp=$top/share/cell/seccomp.json" tiny \
		/cell-probe --expect closed $doors
	expect 103 container --security-opt "seccomp=$top/share/cell/seccomp.json" tiny \
		/cell-probe --expect closed family:vsock
	assertContains 'as if the kernel had none' "$out" 'unusable family:vsock'
	# One name opened: the engine reads our list and not one of its own.
	cell-exec --print-filter json --allow vsock --allow keyctl >"$work/vsock.json"
	expect 0 container --security-opt "seccomp=$work/vsock.json" tiny \
		/cell-probe --expect open family:vsock
	# And what a container does all day.
	expect 0 container --security-opt "seccomp=$top/share/cell/seccomp.json" tiny /busybox sh -c '
		/busybox touch /f && /busybox chown 1000 /f && /busybox ls -n /f | /busybox tr -s " " | /busybox cut -d " " -f 3
		/busybox ip link show lo >/dev/null && /busybox nslookup localhost 127.0.0.1 >/dev/null 2>&1
		/busybox id -u'
	assertEquals '1000
0' "$out"
}

# The engine's and ours together: the entrypoint is process 1 and keeps root's capabilities.
test_entrypoint_keeps_roots_capabilities_but_those_that_get_past() {
	expect 0 container tiny /busybox cat /proc/self/status
	assertEquals 'the control holds net_raw' 00000000a80425fb "$(held CapBnd)"
	expect 0 container --entrypoint /cell-exec tiny --caps keep -- /busybox sh -c \
		'echo "Pid: $$"; /busybox touch /f; /busybox chown 1000 /f && exec /busybox cat /proc/self/status'
	assertContains "$out" 'Pid: 1'
	for set in CapBnd CapEff CapPrm; do
		assertEquals $set 00000000a80405fb "$(held $set)"
	done
	assertEquals 'the filter needed it' 1 "$(held NoNewPrivs)"
	expect 0 container --entrypoint /cell-exec tiny --caps keep -- /cell-capcheck
	expect 1 container tiny /cell-capcheck
	expect 0 container --entrypoint /cell-exec tiny --user 1000:1000 -- /busybox cat /proc/self/status
	assertEquals 0000000000000000 "$(held CapBnd)"
	assertEquals '1000	1000	1000	1000' "$(held Uid)"
}

test_under_exec_the_exit_code_is_the_programs() {
	# shellcheck disable=SC2086 # targets
	expect 0 docker exec subject /cell-exec --caps keep -- /cell-probe --expect closed $doors
	expect 3 docker exec subject /cell-exec --caps keep -- /busybox sh -c 'exit 3'
	expect 137 docker exec subject /cell-exec --caps keep -- /busybox sh -c 'kill -9 $$'
	expect 127 docker exec subject /cell-exec --caps keep -- /nothing
	expect 126 docker exec subject /cell-exec --caps keep -- /etc
	expect 100 docker exec subject /cell-exec --caps keep
	# One session looks after the processes of another.
	expect 0 docker exec subject /cell-exec --caps keep -- /busybox sh -c \
		'/busybox sleep 1000 & echo $! >/sleeper'
	expect 0 docker exec subject /cell-exec --caps keep -- /busybox sh -c 'kill $(/busybox cat /sleeper)'
}

test_another_user_has_nothing_to_take_out_where_the_engine_dropped_it() {
	expect 0 docker exec -u 1000:1000 subject /cell-exec --caps keep -- /busybox cat /proc/self/status
	assertEquals 0000000000000000 "$(held CapEff)"
	expect 0 docker exec -u 1000:1000 subject /cell-exec --caps keep -- /cell-capcheck
	# Nobody but root empties a bounding set: said, not done by halves.
	expect 111 docker exec -u 1000:1000 subject /cell-exec -- /busybox true
	assertContains "$out$err" 'cannot empty the bounding set'
	expect 0 docker exec -u 1000:1000 subject /cell-exec --unprivileged -- /busybox true
	expect 111 container -u 1000:1000 tiny /cell-exec --caps keep -- /busybox true
}

# As --privileged, less the one capability that not every machine's root has.
all_powerful() {
	container --cap-add SYS_ADMIN --cap-add NET_ADMIN --cap-add SYS_MODULE --cap-add SYS_RAWIO \
		--cap-add DAC_READ_SEARCH --security-opt seccomp=unconfined tiny "$@"
}
test_container_with_everything_is_cut_down() {
	expect 0 all_powerful /cell-exec --caps keep -- /busybox cat /proc/self/status
	assertEquals 00000000a80405fb "$(held CapEff)"
	assertEquals 00000000a80405fb "$(held CapBnd)"
	assertEquals 'sys_admin was there: the filter did not need it' 0 "$(held NoNewPrivs)"
	expect 1 all_powerful /cell-capcheck
	expect 0 all_powerful /cell-exec --caps keep -- /cell-capcheck
	# shellcheck disable=SC2086 # targets
	expect 0 all_powerful /cell-exec --caps keep -- /cell-probe --expect closed $doors
}

. "$CELL_TEST_SHUNIT2"

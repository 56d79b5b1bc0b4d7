#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns bwrap nsenter setpriv python3 setcap ping
# The doors that packets don't go through, each tried twice: by an unconfined process of the same
# user, for whom it is open, and by the subject behind bwrap and cell-exec, for whom it is shut.
# "Alone" is cell-exec without bwrap, where that is enough.
#
# All of it happens in mount, pid and network namespaces of this file's own, with an empty /run: they
# are the "host" here.
if [ -z "${CELL_TEST_INSIDE:-}" ]; then
	CELL_TEST_INSIDE=1 exec setpriv --pdeathsig KILL \
		unshare --mount --net --pid --fork --kill-child=KILL --mount-proc "$0" "$@"
fi
. "$(dirname "$0")/../lib/cell_test.sh"

uid=777777
# Everything that the subject needs is on a file system of this file's own: another user can reach it.
shared=/mnt/shared
door=/mnt/door.py
PATH=/mnt/bin:$PATH

test_file_setup() {
	mount -t tmpfs tmpfs /run || return 1
	mount -t tmpfs -o mode=0755 tmpfs /mnt && mkdir /mnt/bin && mkdir -m 1777 $shared || return 1
	mount --bind "$CELL_BIN" /mnt/bin && cp "$top/tests/lib/door.py" "$top/tests/lib/outside.py" /mnt
	chown $uid /run && ip link set lo up
	netns_new || return 1
	cell=$netns_pid
	# A host's process: its sockets, its descriptor 9, its memory and its environment.
	CELL_SECRET=1 background setpriv --reuid $uid --regid $uid --clear-groups \
		/mnt/outside.py "$shared/host" /run/nscd/socket \
		/run/dbus/system_bus_socket /run/docker.sock @cell-test-host
	host=$pid
	# And a sidecar: in the cell's own network namespace.
	background nsenter -n -t "$cell" setpriv --reuid $uid --regid $uid --clear-groups \
		/mnt/outside.py "$shared/sidecar" @cell-test-sidecar
	wait_for 10 test -e "$shared/host" && wait_for 10 test -e "$shared/sidecar"
}

# plain COMMAND...: the same user in the host's namespaces. in_cell: in the cell's network.
plain() { setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"; }
in_cell() { in_ns "$cell" setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"; }

# subject COMMAND...: as run_trial starts it. alone: cell-exec and nothing else.
behind() { # ARGUMENT-OF-BWRAP... : the mounts and namespaces, without the last link
	in_ns "$cell" bwrap --unshare-pid --unshare-ipc --unshare-uts --cap-add ALL --die-with-parent \
		--ro-bind / / --tmpfs /tmp --tmpfs /run --proc /proc --dev /dev \
		--ro-bind /proc/sys /proc/sys --bind $shared $shared "$@"
}
subject() { behind cell-exec --user "$uid:$uid" -- "$@"; }
opens_root() { behind cell-exec --caps keep --allow packet -- "$door" "$@"; }
root_subject() { behind cell-exec --caps keep -- "$door" "$@"; }
alone() { cell-exec --user "$uid:$uid" -- "$@"; }

opens() { # HOW DOOR...
	opens_how=$1
	shift
	expect 0 "$opens_how" "$door" "$@"
	assertEquals "$opens_how: $*" open "$out"
}
shut() { # ERRNO HOW DOOR...
	shut_answer=$1 shut_how=$2
	shift 2
	expect 1 "$shut_how" "$door" "$@"
	assertEquals "$shut_how: $*" "$shut_answer" "$out"
}

# walled ERRNO HOW DOOR...: shut where the kernel has Landlock with scopes, else open, as documented.
walled() {
	if plain "$door" wall >/dev/null; then
		shut "$@"
	else
		shift
		opens "$@"
	fi
}

test_path_name_sockets_of_the_host() {
	for path in /run/nscd/socket /var/run/nscd/socket /run/dbus/system_bus_socket \
		/run/docker.sock /var/run/docker.sock; do
		opens plain unix $path
		opens in_cell unix $path # a network namespace does not hide them
		shut ENOENT subject unix $path
	done
}

test_abstract_sockets_of_the_host_and_of_the_sidecar() {
	opens plain unix @cell-test-host
	shut ECONNREFUSED subject unix @cell-test-host
	opens in_cell unix @cell-test-sidecar
	walled EPERM subject unix @cell-test-sidecar
	walled EPERM alone unix @cell-test-host
	# The wall is the cause: without it, the filter alone lets them through.
	expect 0 cell-exec --user $uid:$uid --allow other-processes "$door" unix @cell-test-host
}

test_other_processes_descriptors_memory_and_secrets() {
	opens plain pidfd_getfd "$host"
	opens plain memory "$host" "$shared/host"
	opens plain ptrace "$host"
	opens plain proc_memory "$host" "$shared/host"
	opens plain proc_environ "$host"
	opens plain proc_root "$host" /etc
	opens plain kill "$host"
	shut ENOENT subject proc_environ "$host"
	shut ENOENT subject proc_root "$host" /etc
	shut ENOENT subject proc_memory "$host" "$shared/host"
	shut ESRCH subject kill "$host"
	shut ESRCH subject ptrace "$host"
	# In one pid namespace it is the filter for the two calls, and the wall for the others.
	shut EPERM alone pidfd_getfd "$host"
	shut EPERM alone memory "$host" "$shared/host"
	walled EPERM alone ptrace "$host"
	walled EACCES alone proc_memory "$host" "$shared/host"
	walled EACCES alone proc_environ "$host"
	walled EACCES alone proc_root "$host" /etc
	walled EPERM alone kill "$host"
	# bwrap's own first process is the only other one that the subject sees.
	walled EACCES subject proc_root 1 /etc
	walled EACCES subject proc_environ 1
}

test_calls_into_the_kernel_and_the_host() {
	for name in key bpf io_uring setns open_by_handle_at mount perf_event_open userfaultfd \
		user_namespace 'clone_namespace clone'; do
		# shellcheck disable=SC2086 # a name and its argument
		opens plain $name
		# shellcheck disable=SC2086 # a name and its argument
		shut EPERM subject $name
		# shellcheck disable=SC2086 # a name and its argument
		shut EPERM alone $name
	done
	# Since Linux 6.18 a namespace has a handle that its own members can open.
	run plain "$door" handle
	assertContains ' open EOPNOTSUPP ' " $out "
	shut EPERM subject handle
	opens plain clone_namespace clone3
	shut ENOSYS subject clone_namespace clone3
}

# Only created, never bound or connected.
test_socket_families() {
	opens plain family 40 1 # vsock
	shut EAFNOSUPPORT subject family 40 1
	opens plain family 16 3 12 # netlink: nftables
	shut EPROTONOSUPPORT subject family 16 3 12
	# packet and xdp take NET_RAW: had by whoever makes a namespace of his own.
	cat >"$shared/raw" <<EOS
"$door" family 17 3 && "$door" family 44 3
EOS
	expect 0 plain unshare --user --map-root-user --net sh "$shared/raw"
	assertEquals 'open
open' "$out"
	shut EAFNOSUPPORT subject family 17 3
	shut EAFNOSUPPORT subject family 44 3
	# Families that this kernel may lack: the answer is the same to whoever has them.
	for family in 3 4 5 9 15 19 21 24 26 28 29 30 31 33 35 37 38 39 41 42 43 45; do
		shut EAFNOSUPPORT subject family $family 2
	done
	for family in '1 1' '2 1' '2 2' '10 1' '10 2' '16 3 0'; do
		# shellcheck disable=SC2086 # numbers
		opens subject family $family
	done
}

# root's subject in a container: the families hold for it too.
test_families_for_root_that_keeps_its_capabilities() {
	expect 1 opens_root family 17 3
	assertEquals 'the family is open, the capability is gone' EPERM "$out"
	expect 1 root_subject family 17 3
	assertEquals EAFNOSUPPORT "$out"
	expect 0 root_subject family 16 3 0
	expect 1 root_subject family 16 3 12
	assertEquals EPROTONOSUPPORT "$out"
}

# A socket of another network namespace than the one its user is in.
give() { unshare --net python3 "$shared/give" "$@"; }
test_inherited_descriptors() {
	cat >"$shared/give" <<'EOS'
import os, socket, subprocess, sys
subprocess.run(["ip", "address", "add", "198.18.7.7/32", "dev", "lo"], check=True)
foreign = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
foreign.bind(("198.18.7.7", 0))
os.dup2(foreign.fileno(), 9)
os.execvp(sys.argv[1], sys.argv[1:])
EOS
	expect 0 give nsenter -n -t "$cell" setpriv --reuid $uid --clear-groups "$door" inherited
	assertEquals open "$out"
	expect 1 give nsenter -n -t "$cell" cell-exec --user $uid:$uid "$door" inherited
	assertEquals EBADF "$out"
	# bwrap alone hands them on.
	expect 0 give nsenter -n -t "$cell" bwrap --dev-bind / / "$door" inherited
	assertEquals open "$out"
	expect 1 give nsenter -n -t "$cell" bwrap --dev-bind / / --cap-add ALL \
		cell-exec --user $uid:$uid "$door" inherited
	assertEquals EBADF "$out"
}

test_proc_sys_net_is_not_written() {
	file=/proc/sys/net/ipv4/ip_default_ttl
	# root without NET_ADMIN can, where it is mounted writable.
	expect 0 in_ns "$cell" setpriv --bounding-set -net_admin -- "$door" write $file 63
	assertEquals open "$out"
	expect 0 in_ns "$cell" cell-exec --caps keep "$door" write $file 62
	expect 1 behind cell-exec --caps keep "$door" write $file 61
	assertEquals EROFS "$out"
	shut EROFS subject write $file 61
	assertEquals 62 "$(in_ns "$cell" cat $file)"
}

test_setuid_programs_and_file_capabilities() {
	cp "$(command -v id)" "$shared/setuid-id"
	chmod 4755 "$shared/setuid-id"
	cp "$(command -v ping)" "$shared/ping"
	setcap cap_net_raw+ep "$shared/ping"
	in_ns "$cell" sh -c 'echo 1 0 >/proc/sys/net/ipv4/ping_group_range'
	expect 0 in_cell "$shared/setuid-id" -u
	assertEquals 0 "$out"
	expect 0 subject "$shared/setuid-id" -u
	assertEquals $uid "$out"
	expect 0 alone "$shared/setuid-id" -u
	assertEquals $uid "$out"
	# Where both are wanted: another user, and still no capability.
	expect 0 cell-exec --user $uid:$uid --allow new-privileges "$shared/setuid-id" -u
	assertEquals 0 "$out"
	expect 0 in_cell "$shared/ping" -c 1 127.0.0.1
	# bwrap's mounts are nosuid, so it starts without its capability; elsewhere the empty bounding set
	# forbids to start it at all.
	expect 2 subject "$shared/ping" -c 1 127.0.0.1
	assertContains "$err" 'Operation not permitted'
	expect 126 in_ns "$cell" cell-exec --user $uid:$uid "$shared/ping" -c 1 127.0.0.1
	assertContains "$err" 'Operation not permitted'
	expect 126 in_ns "$cell" cell-exec --user $uid:$uid --allow new-privileges \
		"$shared/ping" -c 1 127.0.0.1
}

test_remounting_what_is_read_only() {
	expect 0 unshare --mount sh -c 'mount -o remount,bind,ro /mnt && mount -o remount,bind,rw /mnt'
	# root in its own user namespace, which one name opens, and then the filter alone stops it.
	expect 0 plain unshare --user --map-root-user --mount mount -t tmpfs none /mnt
	expect 1 cell-exec --user $uid:$uid --allow unshare -- \
		unshare --user --map-root-user --mount mount -t tmpfs none /mnt
	assertContains "$err" 'unshare'
	expect 0 cell-exec --user $uid:$uid --allow unshare --allow mount -- \
		unshare --user --map-root-user --mount mount -t tmpfs none /mnt
}

test_typing_into_a_kept_terminal() {
	cat >"$shared/terminal" <<'EOS'
import os, pty, sys
child, master = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
said = b""
try:
    while piece := os.read(master, 1024):
        said += piece
except OSError:
    pass
sys.stdout.write(said.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
EOS
	# Root may type whatever dev.tty.legacy_tiocsti says: the control does not lean on it.
	expect 0 python3 "$shared/terminal" "$door" tiocsti
	expect 1 python3 "$shared/terminal" cell-exec --keep-session "$door" tiocsti
	assertContains "$out" EPERM
	expect 1 python3 "$shared/terminal" cell-exec --keep-session --user $uid:$uid "$door" tiocsti
	assertContains "$out" EPERM
	expect 1 python3 "$shared/terminal" cell-exec "$door" tiocsti
	assertContains "$out" EPERM
}

test_gate_finds_nothing_in_the_subject() {
	expect 1 plain cell-capcheck
	assertContains "$out" cap_net_raw
	expect 0 subject cell-capcheck
	expect 0 alone cell-capcheck
	expect 0 behind cell-exec --caps keep cell-capcheck
}

. "$CELL_TEST_SHUNIT2"

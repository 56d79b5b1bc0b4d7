#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What confinement costs: at a start, against a bare one and against setpriv, and while it runs.
. "$(dirname "$0")/lib.sh"
uid=777779

title 'Start of a program that does nothing'
alternate -n "$((BENCH_ROUNDS * 5))" \
	'true' true :: \
	'setpriv (the same, without a filter)' setpriv --reuid $uid --regid $uid \
	--clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs true :: \
	'cell-exec' cell-exec --user $uid:$uid true :: \
	'cell-exec --caps keep' cell-exec --caps keep true

title 'The same behind the namespaces and mounts that run_trial makes'
set -- bwrap --unshare-pid --unshare-ipc --unshare-uts --unshare-net --cap-add ALL --ro-bind / / \
	--dev /dev --proc /proc --ro-bind /proc/sys /proc/sys --perms 1777 --tmpfs /dev/shm \
	--perms 1777 --tmpfs /tmp --perms 0755 --tmpfs /run --ro-bind "$CELL_BIN" /run/cell
alternate -n "$BENCH_ROUNDS" 'bwrap, true' "$@" true :: \
	'bwrap, setpriv, true' "$@" setpriv --reuid $uid --regid $uid --clear-groups \
	--bounding-set=-all --inh-caps=-all --no-new-privs true :: \
	'bwrap, cell-exec, true' "$@" /run/cell/cell-exec --user $uid:$uid true

title 'While it runs: 400,000 reads and writes of one byte'
alternate -n "$((BENCH_ROUNDS / 8 + 2))" \
	'dd' dd if=/dev/zero of=/dev/null bs=1 count=200000 status=none :: \
	'cell-exec dd' cell-exec --user $uid:$uid dd if=/dev/zero of=/dev/null bs=1 count=200000 \
	status=none

title 'While it runs: 20,000 sockets, whose families the filter reads'
cat >"$work/sockets.py" <<'EOS'
import socket
for _ in range(20000):
    socket.socket().close()
EOS
chmod 0644 "$work/sockets.py"
alternate -n "$((BENCH_ROUNDS / 8 + 2))" \
	'python3' python3 "$work/sockets.py" :: \
	'cell-exec python3' cell-exec --user $uid:$uid python3 "$work/sockets.py"

title 'While it runs: 200 programs started by a shell'
cat >"$work/starts" <<'EOS'
i=0
while [ $i -lt 200 ]; do /bin/true; i=$((i + 1)); done
EOS
chmod 0644 "$work/starts"
alternate -n "$((BENCH_ROUNDS / 8 + 2))" \
	'sh' sh "$work/starts" :: \
	'cell-exec sh' cell-exec --user $uid:$uid sh "$work/starts"

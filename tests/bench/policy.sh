#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The policy against nft -f of the very same ruleset and against a shell script of the kind that it
# replaces, in one cell and in many. BENCH_CELLS="1 100" sets how many.
. "$(dirname "$0")/lib.sh"
: "${BENCH_CELLS:=1 100}"

hold && world=$pid
hold && cell=$pid
join "$cell" 101
mkdir "$work/egress"
echo 10.77.0.2 >"$work/egress/proxy-ipv4"
export CELL_EGRESS_DIR="$work/egress"

inside "$cell" cell-policy --dry-run deny-all >"$work/closed.nft"
inside "$cell" cell-policy --dry-run allow cell-proxy >"$work/allowed.nft"
for mode in closed allowed; do
	{
		echo 'add table inet cell_egress'
		echo 'delete table inet cell_egress'
		cat "$work/$mode.nft"
	} >"$work/replace-$mode.nft"
done
cat >"$work/switch.nft" <<'EOS'
flush set inet cell_egress proxy4
add element inet cell_egress proxy4 { "eth0" . 10.77.0.2 . 8080 }
EOS
# One rule a call, and the whole of it for every change: how such scripts are written.
cat >"$work/script" <<'EOS'
#!/bin/sh
set -eu
address=$(cat "$CELL_EGRESS_DIR/proxy-ipv4")
nft list table inet cell_egress >/dev/null 2>&1 && nft delete table inet cell_egress
nft add table inet cell_egress
nft add chain inet cell_egress output '{ type filter hook output priority 0; policy drop; }'
nft add rule inet cell_egress output ip daddr 127.0.0.11 reject
nft add rule inet cell_egress output oif lo accept
[ "$1" = deny-all ] || nft add rule inet cell_egress output ip daddr "$address" tcp dport 8080 accept
nft add rule inet cell_egress output reject with icmpx type admin-prohibited
EOS
chmod +x "$work/script"

alternate_in_cell() { inside "$cell" alternate "$@"; }
bare='nft delete table inet cell_egress 2>/dev/null || :'

title 'Policy: the first one, deny-all'
alternate_in_cell -n "$BENCH_ROUNDS" -r "$bare" \
	'cell-policy deny-all (applied and read back)' cell-policy deny-all :: \
	'nft -f of the same ruleset' nft -f "$work/closed.nft" :: \
	'a script of nft calls, six rules' "$work/script" deny-all

title 'Policy: from deny-all to allow'
alternate_in_cell -n "$BENCH_ROUNDS" -r 'cell-policy deny-all >/dev/null' \
	'cell-policy allow (read, changed, read back)' cell-policy allow cell-proxy :: \
	'nft -f of the change of the set' nft -f "$work/switch.nft" :: \
	'nft -f, the table deleted and made' nft -f "$work/replace-allowed.nft" :: \
	'a script of nft calls, with a gap' "$work/script" allow

title 'Policy: the whole table replaced'
alternate_in_cell -n "$BENCH_ROUNDS" -r 'cell-policy --log-group 6 deny-all >/dev/null' \
	'cell-policy --log-group 5 deny-all' cell-policy --log-group 5 deny-all :: \
	'nft -f, the table deleted and made' nft -f "$work/replace-closed.nft"

title 'Policy: nothing to change; asking'
alternate_in_cell -n "$BENCH_ROUNDS" -r 'cell-policy allow cell-proxy >/dev/null' \
	'cell-policy check' cell-policy check :: \
	'cell-policy show' cell-policy show :: \
	'cell-policy allow, in force already' cell-policy allow cell-proxy :: \
	'nft list table' nft list table inet cell_egress :: \
	'nft -j list table' nft -j list table inet cell_egress

# Many cells, each in a namespace of its own.
cat >"$work/each" <<'EOS'
#!/bin/sh
# usage: each AT_ONCE COMMAND...: COMMAND in every namespace of $PIDS, so many at once.
at_once=$1
shift
printf '%s\n' $PIDS | xargs -P "$at_once" -I PID nsenter -n -t PID "$@" >/dev/null
EOS
chmod +x "$work/each"
PIDS=
for count in $BENCH_CELLS; do
	held=$(printf '%s' "$PIDS" | wc -w)
	while [ "$held" -lt "$count" ]; do
		hold
		PIDS="$PIDS $pid" held=$((held + 1))
	done
	export PIDS
	for at_once in 1 "$(nproc)"; do
		title "Policy: deny-all in $count cells, $at_once at a time"
		alternate -n $((BENCH_ROUNDS / 8 + 1)) -r "$work/each 8 sh -c '$bare'" \
			'cell-policy deny-all' "$work/each" "$at_once" cell-policy deny-all :: \
			'nft -f of the same ruleset' "$work/each" "$at_once" nft -f "$work/closed.nft" :: \
			'a script of nft calls' "$work/each" "$at_once" "$work/script" deny-all
	done
done
# shellcheck disable=SC2086 # a list of process ids
kill $PIDS "$cell" "$world"

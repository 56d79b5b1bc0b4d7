#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The two gates against what a script would use.
. "$(dirname "$0")/lib.sh"
sleep 1000 &
pid=$!

title 'Gate: does a process hold NET_RAW or NET_ADMIN?'
cat >"$work/sed_gate" <<'EOS'
#!/bin/sh
for set in Inh Prm Eff Bnd Amb; do
	mask=$(sed -n "s/^Cap$set:[[:space:]]*//p" "/proc/$1/status")
	[ $((0x$mask & 0x3000)) -ge 0 ] || exit 1
done
EOS
chmod +x "$work/sed_gate"
alternate -n "$BENCH_ROUNDS" \
	'cell-capcheck (five sets, every thread)' cell-capcheck --allow net_raw --allow net_admin \
	--allow sys_admin --allow sys_module --allow sys_rawio --allow dac_read_search --allow bpf --pid "$pid" :: \
	'sed in sh (five sets, one thread)' "$work/sed_gate" "$pid" :: \
	'getpcaps' getpcaps "$pid" :: \
	'capsh --decode' capsh --decode=0000000000003000

title 'Gate: are two processes in one network namespace?'
alternate -n "$BENCH_ROUNDS" \
	'cell-nsid --same' cell-nsid --same "$pid" $$ :: \
	'readlink twice in sh' sh -c '[ "$(readlink /proc/$1/ns/net)" = "$(readlink /proc/$2/ns/net)" ]' sh "$pid" $$ :: \
	'lsns' lsns -t net -n -o NS -p "$pid"
kill "$pid"

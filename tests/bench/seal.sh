#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole seal, gate + pin + policy + both gates again, as a tree of processes: ours against a
# shell chain of the kind that people write, against the least that it could be, and bare starts.
. "$(dirname "$0")/lib.sh"

proxy_beyond
printf '127.0.0.1 localhost\n' >"$work/hosts"
pid=$$

cat >"$work/ours" <<EOS
#!/bin/sh
set -e
cell-capcheck --allow net_raw --allow net_admin --allow sys_admin --allow sys_module --allow sys_rawio --allow dac_read_search --allow bpf --pid $pid
cell-nsid --same $pid /proc/self/ns/net
cell-pinhost --hosts $work/hosts --from $work/egress/proxy-ipv4 cell-proxy
cell-policy allow cell-proxy
cell-capcheck --allow net_raw --allow net_admin --allow sys_admin --allow sys_module --allow sys_rawio --allow dac_read_search --allow bpf --pid $pid
cell-nsid --same $pid /proc/self/ns/net
EOS
# What a relay in shell does: sed over the status file, readlink, awk over the hosts file, nft.
cat >"$work/chain" <<EOS
#!/bin/sh
set -e
gate() {
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		mask=\$(sed -n "s/^\$set:[[:space:]]*//p" /proc/$pid/status)
		printf '%s\n' "\$mask" | grep -Eq '^[0-9a-f]{16}\$'
		[ \$((0x\$mask & 0x3000)) -ge 0 ]
	done
	[ "\$(readlink /proc/$pid/ns/net)" = "\$(readlink /proc/self/ns/net)" ]
}
gate
address=\$(cat $work/egress/proxy-ipv4)
printf '%s\n' "\$address" | grep -Eq '^([0-9]{1,3}\.){3}[0-9]{1,3}\$'
awk -v host=cell-proxy '{ for (i = 2; i <= NF; i++) if (\$i == host) next; print }' $work/hosts >$work/hosts.new
printf '%s %s\n' "\$address" cell-proxy >>$work/hosts.new
cat $work/hosts.new >$work/hosts
nft list table inet chain_egress >/dev/null 2>&1 && nft delete table inet chain_egress
nft add table inet chain_egress
nft add chain inet chain_egress output '{ type filter hook output priority 0; policy drop; }'
nft add rule inet chain_egress output ip daddr 127.0.0.11 reject
nft add rule inet chain_egress output oif lo accept
nft add rule inet chain_egress output ip daddr "\$address" tcp dport 8080 accept
nft add rule inet chain_egress output reject
gate
EOS
# The same six programs, doing nothing but start and end.
cat >"$work/starts" <<EOS
#!/bin/sh
set -e
cell-capcheck --version
cell-nsid --version
cell-pinhost --version
cell-policy --version
cell-capcheck --version
cell-nsid --version
EOS
# The least that could be: five starts, and nft with the very ruleset in place of cell-policy.
cell-policy --dry-run allow cell-proxy >"$work/allowed.nft"
sed "s,^cell-policy .*,nft -f $work/allowed.nft," "$work/starts" >"$work/least"
# Each run begins where a new cell does: no table, no pin.
cat >"$work/fresh" <<EOS
#!/bin/sh
nft delete table inet cell_egress 2>/dev/null
nft delete table inet chain_egress 2>/dev/null
printf '127.0.0.1 localhost\n' >$work/hosts
EOS
chmod +x "$work/ours" "$work/chain" "$work/starts" "$work/least" "$work/fresh"
title 'The whole seal: gate, pin, policy, gate'
alternate -n "$BENCH_ROUNDS" -r "$work/fresh" \
	'five starts and nft -f of the ruleset' "$work/least" :: \
	'cell tools' "$work/ours" :: \
	'shell chain (sed, readlink, awk, nft)' "$work/chain" :: \
	'the six starts alone' "$work/starts"
kill "$world"

title 'Size and memory of each tool: bytes on disk, peak KiB of --version'
for tool in "$CELL_BIN"/cell-*; do
	printf '  %-20s %9s bytes' "$(basename "$tool")" "$(stat -Lc %s "$tool")"
	alternate -n 3 '' "$tool" --version | awk '{ for (i = 1; i < NF; i++) if ($(i + 1) == "KiB") print "  " $i " KiB" }'
done

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The pin against the usual awk-and-cat script, on a container's hosts file and on a merged block list.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

cat >awk_pin <<'EOS'
#!/bin/sh
# usage: awk_pin FILE ADDRESS HOST
new=$(mktemp) && awk -v host="$3" '{
	out = $1
	for (i = 2; i <= NF; i++) if ($i != host) out = out " " $i
	if (NF == 0 || out != $1) print (NF == 0 ? "" : out)
}' "$1" >"$new" && echo "$2 $3" >>"$new" && cat "$new" >"$1"
rm -f "$new"
EOS
# Each run pins another address than the last: none finds its work done.
cat >next <<'EOS'
#!/bin/sh
read -r n <counter
echo $(((n + 1) % 250)) >counter
EOS
for pin in tool script; do
	cat >"pin_$pin" <<-EOS
		#!/bin/sh
		read -r n <$work/counter
		case $pin in
		tool) exec cell-pinhost --hosts "\$1" --address "172.18.0.\$n" cell-proxy ;;
		*) exec $work/awk_pin "\$1" "172.18.0.\$n" cell-proxy ;;
		esac
	EOS
done
chmod +x awk_pin next pin_tool pin_script
echo 1 >counter

printf '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n172.18.0.5\tmain\n10.0.0.9\tcell-proxy\n' >small
cp small small2
title "Pin: a container's hosts file of $(wc -l <small) lines, another address each time"
alternate -n "$BENCH_ROUNDS" -r "cd $work && ./next" \
	'cell-pinhost' ./pin_tool "$work/small" :: \
	'awk and cat' ./pin_script "$work/small2"

seq -f '0.0.0.0 h%06g.example' 250000 >large
cp large large2
title "Pin: a hosts file of $(wc -l <large) lines, another address each time"
alternate -n "$((BENCH_ROUNDS / 4 + 1))" -r "cd $work && ./next" \
	'cell-pinhost' ./pin_tool "$work/large" :: \
	'awk and cat' ./pin_script "$work/large2"

title 'Check: is the pin there?'
cell-pinhost --hosts small --address 172.18.0.2 cell-proxy >/dev/null
printf 'hosts: files\n' >nsswitch
mount --bind nsswitch /etc/nsswitch.conf
mount --bind small /etc/hosts
alternate -n "$BENCH_ROUNDS" \
	'cell-pinhost --check' cell-pinhost --check --address 172.18.0.2 cell-proxy :: \
	'getent ahosts and grep' sh -c 'getent ahosts cell-proxy | grep -q "^172.18.0.2 "'

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The examples of every man page are run as written, and the ruleset that cell-policy(1) explains is
# the one that is applied.
#
# The examples of a page are its blocks between .EX and .EE. They run in order, each by sh -eu, in
# one directory, one network namespace and one file system view a page: lo is up, eth0 (198.18.0.2)
# leads to a neighbour 198.18.0.1, which is published as the proxy, and a policy that allows it is in
# force. "$@" is true(1). run_trial(1) makes a cell of its own; its examples begin in a namespace
# without the internet, so what names example.com is answered by the proxy with 502. Those of
# cell-compose(7) need an engine, images and a project: the tests of the compose engine run such
# commands, here they are only read by sh -n.
# needs: root netns groff nft jq bwrap mitmdump openssl
. "$(dirname "$0")/../lib/cell_test.sh"
. "$(dirname "$0")/../lib/trial_world.sh"

# examples PAGE: its examples as $work/NAME/1, 2 ...; how many is in $count.
examples() {
	rm -rf "$work/examples"
	mkdir -p "$work/examples"
	awk -v directory="$work/examples" '
		/^\.EX/ { file = directory "/" ++count; next }
		/^\.EE/ { close(file); file = ""; next }
		file != "" {
			gsub(/\\-/, "-"); gsub(/\\\(dq/, "\""); gsub(/\\\(aq/, "\047")
			gsub(/\\&/, ""); gsub(/\\e/, "\\")
			print >file
		}' "$1"
	count=$(find "$work/examples" -type f | wc -l)
}

# What the examples of a page find when they begin. Arguments: their directory and that of the tools.
cat >"$work/stage" <<'EOS'
set -eu
ip link set lo up
ip link add eth0 type veth peer name far
ip address add 198.18.0.2/30 dev eth0
ip link set eth0 up
ip link set far up
ip route add default via 198.18.0.1
mkdir egress
echo 198.18.0.1 >egress/proxy-ipv4
cp /etc/hosts hosts.here
mount --bind hosts.here /etc/hosts
mount --bind "$2" /usr/local/bin # for examples that hide the tree behind a new /tmp
export CELL_EGRESS_DIR="$PWD/egress" CELL_PROXY_HOST=cell-proxy CELL_PROXY_PORT=8080
cell-policy allow cell-proxy >/dev/null
for example in $(ls "$1" | sort -n); do
	status=0
	sh -eu "$1/$example" true >"$example.out" 2>&1 </dev/null || status=$?
	[ "$status" -eq 0 ] || { echo "example $example exits $status:"; cat "$1/$example" "$example.out"; }
done
EOS

test_examples_of_the_pages_run_as_written() {
	for page in "$top"/share/man/man[17]/*.[17]; do
		name=$(basename "$page")
		case $name in run_trial.1 | cell-compose.7) continue ;; esac
		examples "$page"
		assertTrue "$name has examples" "[ $count -gt 0 ]"
		mkdir "$work/$name" && chmod 0711 "$work/$name"
		(cd "$work/$name" && unshare --net --mount --pid --fork --kill-child --mount-proc \
			sh "$work/stage" "$work/examples" "$CELL_BIN") >"$work/said" 2>&1
		assertEquals "$name" '' "$(cat "$work/said")"
	done
}

test_examples_show_what_their_page_says() {
	assertContains "$(cat "$work/cell-capcheck.1/1.out")" 'holds no denied capability'
	assertContains "$(cat "$work/cell-capcheck.1/2.out")" 'refused (1): process '
	assertContains "$(cat "$work/cell-exec.1/2.out")" sealed
	assertContains "$(cat "$work/cell-nsid.1/2.out")" 'different (1)'
	assertContains "$(cat "$work/cell-policy.1/4.out")" 'ok: '
	assertContains "$(cat "$work/cell-watch.1/1.out")" complete
}

test_examples_of_run_trial_run_as_written() {
	world_start
	chmod 0711 "$work"
	mkdir -m 0777 "$work/trials"
	examples "$top/share/man/man1/run_trial.1"
	assertTrue 'it has examples' "[ $count -gt 0 ]"
	for example in $(seq "$count"); do
		(cd "$work/trials" && in_ns "$caller" sh -u "$work/examples/$example") \
			>"$work/out" 2>"$work/err"
		assertEquals "$(cat "$work/examples/$example" "$work/err")" 0 $?
		assertContains "$(cat "$work/err")" 'end      sealed'
		cat "$work/out"
	done >"$work/all"
	assertContains "$(cat "$work/all")" 'hello from the cell'
	assertContains "$(cat "$work/all")" '"exited"'
}

test_readme_harness_reads_a_trial_as_written() {
	awk '/^How a harness reads it/ { f = 1 } f && /^```sh/ { p = 1; next } p && /^```/ { exit } p' \
		"$top/README.md" >"$work/reading"
	cd "$work/trials" || return
	printf '#!/bin/sh\necho done; exit 3\n' >agent
	chmod 0755 agent
	d=$work/trials/read expect 0 in_ns "$caller" sh -u "$work/reading"
	assertEquals "$(printf 'done\nexited\ttrue\ttrue\t3')" "$out"
	cd "$top" || return
}

test_examples_of_the_compose_page_are_shell() {
	examples "$top/share/man/man7/cell-compose.7"
	for example in "$work"/examples/*; do
		[ ! -e "$example" ] || expect 0 sh -n "$example"
	done
}

# The rules that the page explains, as "CHAIN: RULE", against those that the kernel lists.
test_ruleset_of_the_page_is_the_one_applied() {
	sed -n '/^\.SH "\{0,1\}THE RULESET/,/^\.SH "\{0,1\}WHAT CHECK/p' "$top/share/man/man1/cell-policy.1" |
		sed 's/\\(dq/"/g; s/\\-/-/g' |
		awk '/^\.SS "chain / {
				gsub(/[(),"]/, ""); chain = $3
				printf "%s: type %s hook %s priority %s; policy %s;\n", chain, $4, chain, $6, $8
			}
			/^\.SS "chains / { chain = "refuse" }
			/^\.SS "(set|IPv6)/ { chain = "" }
			item && chain != "" { sub(/^\.B /, ""); print chain ": " $0 }
			{ item = /^\.TP/ }' | sort >"$work/page"
	mkdir -p "$work/egress"
	echo 198.18.0.1 >"$work/egress/proxy-ipv4"
	netns_new
	netns_join "$pid" eth0 198.18.0.2/30 "$pid" far 198.18.0.5/30
	CELL_EGRESS_DIR=$work/egress expect 0 in_ns "$pid" cell-policy allow cell-proxy
	in_ns "$pid" nft list table inet cell_egress |
		awk '$1 == "chain" { chain = $2; next }
			chain == "" || $1 ~ /^(}|set)$/ || NF == 0 { next }
			/ counter name / && !/skuid/ { next } # what is not accepted is counted, and logged
			/refuse_resolver comment/ { sub(/127.0.0.11/, "{ 127.0.0.11, ... }"); sub(/ comment.*/, "") }
			chain ~ /^refuse_/ || /postrouting|accept$/ && chain == "postrouting" && !/type/ { next }
			{ sub(/^[\t ]*/, ""); sub(/priority filter;/, "priority 0;"); print chain ": " $0 }' |
		sort >"$work/kernel"
	assertEquals 'more than the four hooks' 4 "$(grep -c ': type filter hook' "$work/kernel")"
	assertEquals "$(cat "$work/page")" "$(cat "$work/kernel")"
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory that runs short at any of a tool's own allocations: it answers as ever, or 111; never a yes
# or a no that it did not find out, never a half answer. CELL_TEST_LONG=1 tries every allocation.
# needs: root netns python3 jq
. "$(dirname "$0")/../lib/cell_test.sh"

module=$top/build/test/lib/no_memory_module.so
# A sanitizer's build has an allocator of its own.
tools=$top/build/test

test_file_setup() {
	netns_new
	net=$netns_pid
	in_ns "$net" ip address add 10.7.0.1/32 dev lo
	mkdir "$work/egress" "$work/dir"
	echo 10.77.0.2 >"$work/egress/proxy-ipv4"
	printf '127.0.0.1 localhost\n10.0.0.1 cell-proxy\n' >"$work/hosts.old"
	cp "$work/hosts.old" "$work/hosts"
	cat /proc/self/status >"$work/status"
	export CELL_EGRESS_DIR="$work/egress"
}

# short LEAST STEP BEFORE TOOL ARG...: the tool, in the namespace; it must make LEAST allocations.
short() {
	least=$1 step=$2 before=$3 tool=$4
	shift 4
	[ -z "${CELL_TEST_LONG:-}" ] || step=1
	expect 0 in_ns "$net" "$top/tests/lib/no_memory.py" "$module" "$step" "$before" "$tools/$tool" "$@"
	assertTrue "$tool $*: enough was tried: $out" "[ '${out##*
}' -ge $((least / step)) ]"
}

test_identity() {
	short 50 1 '' cell-nsid --cookie
	short 80 1 '' cell-nsid --same $$ "$net" --json
}

test_capabilities() {
	short 500 5 '' cell-capcheck --status "$work/status"
	# A process that cannot be looked at, whatever the reason, is evidence that is missing.
	CELL_SHORT_CODE=103
	export CELL_SHORT_CODE
	short 500 5 '' cell-capcheck --pid $$ --json
	unset CELL_SHORT_CODE
}

test_pin() {
	short 40 1 "cp '$work/hosts.old' '$work/hosts'" cell-pinhost --hosts "$work/hosts" cell-proxy
	cp "$work/hosts.old" "$work/hosts"
	short 40 1 '' cell-pinhost --hosts "$work/hosts" --check cell-proxy --json
}

test_comparison_of_probes() {
	in_ns "$net" "$tools/cell-probe" --json family:packet loopback: >"$work/before"
	short 400 5 '' cell-probe --compare "$work/before" "$work/before"
	short 400 9 '' cell-probe --json --compare "$work/before" "$work/before"
}

test_probe() {
	short 10 1 '' cell-probe family:vsock unix:/nowhere --json
}

test_publication() {
	publish="--state $work/state --dir $work/dir --address 10.7.0.1"
	# shellcheck disable=SC2086 # words
	expect 0 in_ns "$net" "$tools/cell-publish" $publish
	# shellcheck disable=SC2086 # words
	short 2000 97 '' cell-publish $publish
	short 2000 97 '' cell-publish --state "$work/state" --dir "$work/dir" --check --json
	# shellcheck disable=SC2086 # words
	short 2000 199 "rm -rf '$work/state' '$work/dir' && mkdir '$work/dir'" cell-publish --json $publish
}

test_ruleset_of_a_dry_run() {
	short 20 1 '' cell-policy deny-all --dry-run --json
}

. "$CELL_TEST_SHUNIT2"

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Sourced after cell_test.sh: a root directory whose every file tries to get into the tools that run
# in it, and a run under strace that fails on any open or connect outside what was allowed.
#
#   hostile_root_new                 a new one at $hostile, its nscd socket answered
#   hostile_root_run [ALLOW...] -- TOOL [ARG...]
#       runs TOOL (copied in) there, with /proc and a hostile environment; then $status, $out and
#       $err hold, and $hostile_broken is what it did beyond ALLOW, "" if nothing.
#       ALLOW are shell patterns on lines such as
#           open /proc/self/ns/net       connect unix:/run/x       connect inet:127.0.0.1:53
#   assert_hostile_root_clean TOOL   $hostile_broken is empty
#
# Only a static tool can run there: give $top/build/bin/TOOL, whatever CELL_BIN is.

hostile_root_new() {
	hostile=$(mktemp -d "$work/hostile.XXXXXX")
	chmod 0755 "$hostile"
	hostile_lib=$hostile/usr/lib/x86_64-linux-gnu
	hostile_module=$top/build/test/lib/hostile_module.so
	mkdir -p "$hostile/etc/ssl" "$hostile/etc/pki/tls" "$hostile/proc" "$hostile/dev" \
		"$hostile/tmp" "$hostile/run/nscd" "$hostile/var" "$hostile/usr/lib/ssl" \
		"$hostile/usr/local/ssl" "$hostile_lib/gconv" "$hostile_lib/ossl-modules" \
		"$hostile/usr/lib/locale/C.utf8" "$hostile/usr/share/zoneinfo" "$hostile/lib64"
	ln -s usr/lib "$hostile/lib"
	ln -s ../run "$hostile/var/run"
	# The loader and the C library are what a static program's dlopen needs.
	for hostile_name in "$hostile_lib/libnss_hostile.so.2" "$hostile_lib/gconv/HOSTILE.so" \
		"$hostile_lib/ossl-modules/hostile.so" "$hostile/hostile.so"; do
		cp "$hostile_module" "$hostile_name"
	done
	cp /lib/x86_64-linux-gnu/libc.so.6 "$hostile_lib/"
	cp /lib64/ld-linux-x86-64.so.2 "$hostile/lib64/"
	cp /lib64/ld-linux-x86-64.so.2 "$hostile_lib/"
	for hostile_name in passwd group shadow hosts networks services protocols ethers gshadow; do
		echo "$hostile_name: hostile files"
	done >"$hostile/etc/nsswitch.conf"
	echo /hostile.so >"$hostile/etc/ld.so.preload"
	printf '%s\n' 'openssl_conf = init' '[init]' 'providers = list' 'engines = engines' \
		'[list]' 'hostile = hostile' '[hostile]' 'activate = 1' 'module = /hostile.so' \
		'[engines]' 'hostile = engine' '[engine]' 'dynamic_path = /hostile.so' 'init = 1' \
		>"$hostile/etc/ssl/openssl.cnf"
	for hostile_name in usr/lib/ssl usr/local/ssl etc/pki/tls; do
		cp "$hostile/etc/ssl/openssl.cnf" "$hostile/$hostile_name/"
	done
	printf 'module INTERNAL HOSTILE// HOSTILE 1\nmodule HOSTILE// INTERNAL HOSTILE 1\n' \
		>"$hostile_lib/gconv/gconv-modules"
	printf 'nameserver 127.0.0.9\n' >"$hostile/etc/resolv.conf"
	printf '127.0.0.1 localhost\n192.0.2.66 cell-proxy\n' >"$hostile/etc/hosts"
	# Whoever opens one of these to read it waits for ever.
	mkfifo "$hostile/etc/localtime" "$hostile/usr/share/zoneinfo/UTC" "$hostile/dev/urandom" \
		"$hostile/dev/random"
	background python3 "$top/tests/lib/hostile_nscd.py" "$hostile/run/nscd/socket" \
		"$hostile/ASKED"
	wait_for 10 test -S "$hostile/run/nscd/socket" || fail 'no nscd socket'
	[ -e /usr/bin/strace ] || fail 'no strace'
}

hostile_root_run() {
	: >"$work/hostile.allow"
	while [ "$1" != -- ]; do
		printf '%s\n' "$1" >>"$work/hostile.allow"
		shift
	done
	shift
	rm -rf "$hostile/MARKER" "$hostile/ASKED"
	cp "$1" "$hostile/tool" && shift
	# shellcheck disable=SC2016 # the inner shell expands them
	run timeout -k 1 20 unshare --mount sh -c 'mount -t proc proc "$2/proc" && trace=$1.trace && root=$2 && enter=$3 && shift 3 &&
		exec strace -f -y -s 4096 -o "$trace" -e signal=none \
			-e trace=open,openat,openat2,connect,sendto,sendmsg,sendmmsg,execve \
			-- "$enter" "$root" "$@"' \
		sh "$work/hostile" "$hostile" "$top/build/test/lib/hostile_enter_static" "$@"
	hostile_broken=$(/usr/bin/python3 "$top/tests/lib/hostile_trace.py" "$hostile" \
		"$work/hostile.trace" "$work/hostile.allow" 2>&1) ||
		hostile_broken="no verdict: $hostile_broken"
	[ ! -e "$hostile/MARKER" ] || hostile_broken="$hostile_broken hostile code was loaded"
	[ ! -e "$hostile/ASKED" ] || hostile_broken="$hostile_broken the nscd socket was asked"
}

assert_hostile_root_clean() {
	assertEquals "what $1 touched beyond what it was told to" '' "$hostile_broken"
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The tree builds with gcc and clang at -O0 and -O3, every warning an error; its C is musl's too; and
# a build leaves nothing but build/.
#
# What musl can show here is limited: Debian has the libraries (jansson, libseccomp, OpenSSL,
# libmnl, libnftables) for glibc alone. So every file is compiled by musl-gcc against those
# libraries' headers, and what needs none of them is linked and run: its unit tests. published_dir.c
# is left out: it asks statx(2), which musl has since 1.2.5.
# needs: gcc clang musl-gcc make
. "$(dirname "$0")/../lib/cell_test.sh"

test_gcc_and_clang_build_at_any_optimisation_and_leave_nothing() {
	mkdir "$work/tree"
	tar -C "$top" --exclude=./build --exclude=./trials --exclude=./.git --exclude=__pycache__ \
		-cf - . | tar -C "$work/tree" -xf -
	find "$work/tree" | sort >"$work/before"
	for compiler in gcc clang; do
		for level in -O0 -O3; do
			expect 0 make -s -j2 -C "$work/tree" CC=$compiler OPT=$level all
			expect 0 "$work/tree/build/bin/cell-nsid"
			rm -rf "$work/tree/build"
		done
	done
	find "$work/tree" | sort >"$work/after"
	assertEquals "$(cat "$work/before")" "$(cat "$work/after")"
}

test_a_warning_is_an_error() {
	mkdir -p "$work/warned/cmd" "$work/warned/common"
	cp "$top/Makefile" "$work/warned/"
	echo 'int planted(void);int planted(void) { int unused; return 0; }' >"$work/warned/common/planted.c"
	for compiler in gcc clang; do
		expect 2 make -s -C "$work/warned" CC=$compiler build/obj/common/planted.o
		assertContains "$compiler: $err" "$err" 'unused'
	done
}

# The headers of Linux and of the libraries, behind musl's own.
musl_headers() {
	multiarch=$(gcc -print-multiarch)
	mkdir -p "$work/musl/sys" "$work/musl/openssl"
	for header in linux asm-generic jansson.h jansson_config.h libmnl seccomp.h seccomp-syscalls.h \
		nftables libnetfilter_log libnfnetlink sys/capability.h; do
		ln -s "/usr/include/$header" "$work/musl/$header"
	done
	for header in /usr/include/openssl/* "/usr/include/$multiarch"/openssl/*; do
		ln -s "$header" "$work/musl/openssl/"
	done
	ln -s "/usr/include/$multiarch/asm" "$work/musl/asm"
}

test_musl_compiles_every_file() {
	musl_headers
	for file in "$top"/cmd/*.c "$top"/common/*.c; do
		[ "${file##*/}" != published_dir.c ] || continue
		printf '%s\n' "$file"
	done | xargs -P 2 -n 8 musl-gcc -fsyntax-only -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE \
		-DCELL_VERSION='"musl"' -I"$top/common" -idirafter "$work/musl" >"$work/out" 2>&1
	assertEquals "$(cat "$work/out")" 0 $?
}

test_musl_runs_what_needs_no_library() {
	hosts=host_name,hosts_file,hosts_lookup,hosts_patch,ipv4_address,nsswitch,patched_file,shared_file
	for unit in address:ipv4_address,host_name hosts_file:$hosts; do
		# shellcheck disable=SC2046 # a list of files
		expect 0 musl-gcc -static -std=gnu11 -Wall -Wextra -Werror -O1 -D_GNU_SOURCE \
			-I"$top/common" -I"$top/tests/unit" -idirafter "$work/musl" -o "$work/unit" \
			"$top/tests/unit/${unit%%:*}_test.c" \
			$(printf '%s\n' "${unit#*:}" | tr , '\n' | sed "s,.*,$top/common/&.c,")
		expect 0 "$work/unit"
	done
}

. "$CELL_TEST_SHUNIT2"

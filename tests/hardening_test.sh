#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the tools do for themselves: no privilege by set-uid, none kept that is not needed, nothing
# taken from an environment that somebody else made.
# needs: root netns strace setcap
. "$(dirname "$0")/lib/cell_test.sh"

tools=$(sed -n 's/^\(STATIC\|DYNAMIC\) *:= *//p' "$top/Makefile")
built=$top/build/bin # sanitizers look into files of their own when a program is set-uid

test_file_setup() { chmod 0711 "$work"; }

# copy_of TOOL: a plain copy that everybody may run; its name is in $copy.
copy_of() {
	copy=$work/$1
	rm -f "$copy"
	cp "$built/$1" "$copy"
	chmod 0755 "$copy"
}

nobody() { setpriv --reuid 1000 --regid 1000 --clear-groups "$@"; }

test_set_uid_set_gid_and_file_capabilities_are_refused() {
	for tool in $tools; do
		copy_of "$tool"
		expect 0 nobody "$copy" --version
		for how in 'chmod 4755' 'chmod 2755' 'setcap cap_net_admin+ep'; do
			copy_of "$tool"
			$how "$copy"
			expect 100 nobody "$copy" --version
			assertEquals "$how $tool" '' "$out"
			assertEquals "$how $tool" \
				"$tool: refuses to run set-uid, set-gid or with file capabilities" "$err"
		done
	done
}

# gives_up TOOL SETS ARGUMENT...: it sets no_new_privs; with SETS = none it then empties its sets.
gives_up() {
	gives_tool=$1 gives_sets=$2
	shift 2
	strace -f -o "$work/trace" -e trace=prctl,capset "$built/$gives_tool" "$@" >"$work/out" 2>&1 ||
		:
	grep -q 'prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) = 0' "$work/trace"
	assertEquals "$gives_tool $*: no_new_privs; $(cat "$work/out")" 0 $?
	[ "$gives_sets" = none ] || return 0
	grep -q 'capset(.*effective=0, permitted=0, inheritable=0.*) = 0' "$work/trace"
	assertEquals "$gives_tool $*: capabilities" 0 $?
}

test_tools_that_run_nothing_set_no_new_privs() {
	mkdir "$work/egress"
	cp "$top/tests/lib/cell_test.sh" "$work/plain"
	gives_up cell-capcheck none
	gives_up cell-nsid some
	gives_up cell-pinhost some --hosts "$work/hosts" --address 198.51.100.7 cell-proxy
	gives_up cell-probe some loopback:
	gives_up cell-publish some --check --dir "$work/egress"
	gives_up cell-policy some --dry-run deny-all
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca \
		-keyout "$work/key" -out "$work/egress/mitmproxy-ca-cert.pem" 2>/dev/null
	export CELL_EGRESS_DIR="$work/egress"
	gives_up cell-proxycheck none --proxy 127.0.0.1:9 https://origin.test/
	unset CELL_EGRESS_DIR
	assertContains "$(cat "$work/out")" 'refused'
}

test_no_new_privs_of_the_caller_is_what_capcheck_says() {
	assertContains "$(cell-capcheck)" 'no_new_privs no'
	assertContains "$(setpriv --no-new-privs cell-capcheck)" 'no_new_privs yes'
}

# Variables by which libraries are made to read, load or print something else.
test_environment_of_the_libraries_changes_nothing() {
	for tool in $tools; do
		"$built/$tool" --json --no-such >"$work/plain" 2>"$work/plain.err"
		strace -f -o "$work/trace" -e trace=file env \
			OPENSSL_CONF="$work/evil" OPENSSL_MODULES="$work/evil" OPENSSL_ENGINES="$work/evil" \
			SSL_CERT_FILE="$work/evil" SSL_CERT_DIR="$work/evil" SSLKEYLOGFILE="$work/evil" \
			LOCPATH="$work/evil" NLSPATH="$work/evil/%N" GCONV_PATH="$work/evil" \
			RES_OPTIONS=debug HOSTALIASES="$work/evil" LOCALDOMAIN=evil TZ="$work/evil" \
			TZDIR="$work/evil" LC_ALL=xx_XX.UTF-8 LANGUAGE=xx POSIXLY_CORRECT=1 \
			"$built/$tool" --json --no-such >"$work/there" 2>"$work/there.err"
		sed '1,/execve(.*cell-/d' "$work/trace" | grep "$work/evil" >"$work/opened"
		assertEquals "$tool" '' "$(cat "$work/opened")"
		for file in plain there; do sed -i 's/"time":"[^"]*"//; s/"time": "[^"]*"//' "$work/$file"; done
		assertEquals "$tool" "$(cat "$work/plain" "$work/plain.err")" \
			"$(cat "$work/there" "$work/there.err")"
	done
}

. "$CELL_TEST_SHUNIT2"

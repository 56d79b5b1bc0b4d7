#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root strace
# Every system call of cell-exec fails once, and those that give something up claim to have worked
# and do nothing. Whatever happens, the program either does not run, or it is confined.
. "$(dirname "$0")/../lib/cell_test.sh"

uid=61235
options="--user $uid:$uid"
cell_exec=$top/build/bin/cell-exec

# The program says what it is left with; a confined one says exactly this.
confined="Uid: $uid $uid $uid $uid
Gid: $uid $uid $uid $uid
Groups:
CapInh: 0000000000000000
CapPrm: 0000000000000000
CapEff: 0000000000000000
CapBnd: 0000000000000000
CapAmb: 0000000000000000
NoNewPrivs: 1
Seccomp: 2
Seccomp_filters: 2"

test_file_setup() {
	cat >"$work/program" <<'EOS'
#!/bin/sh
echo ran
grep -E '^(Uid|Gid|Groups|Cap...|NoNewPrivs|Seccomp.*):' /proc/self/status | tr -s '\t ' ' ' | sed 's/ $//'
[ ! -e /proc/self/fd/9 ] || echo 'descriptor 9'
[ "$(cut -d ' ' -f 6 /proc/self/stat)" != "$SESSION" ] || echo 'same session'
EOS
	chmod 0755 "$work" "$work/program"
	SESSION=$(cut -d ' ' -f 6 /proc/self/stat)
	export SESSION
}

# with_fault INJECTION...: cell-exec, which inherits a descriptor and groups. Sets $out; $ran.
with_fault() {
	status=0
	# shellcheck disable=SC2086 # options are words
	setpriv --groups 4,5 strace -o "$work/trace" -e signal=none \
		${1:+-e "trace=${1%%:*}" -e "inject=$1"} "$cell_exec" $options -- "$work/program" \
		9<"$top/Makefile" >"$work/out" 2>"$work/err" || status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
}

judge() { # INJECTION
	case $out in
	'') # It did not run: with one of our codes, or the loader's own (a C library that cannot start).
		[ "$status" -ne 0 ] || fail "$1: nothing ran, and yet 0"
		refused=$((refused + 1))
		;;
	"ran
$confined") passed=$((passed + 1)) ;;
	*) fail "$1: ran with [$out]" ;;
	esac
}

# The calls up to the program's start: NAME COUNT lines.
calls() {
	setpriv --groups 4,5 strace -o "$work/all" "$cell_exec" --user "$uid:$uid" -- "$work/program" \
		9<"$top/Makefile" >/dev/null
	sed -n -e '1d' -e '/^execve(/q' -e 's/^\([a-z0-9_]*\)(.*/\1/p' "$work/all" | sort | uniq -c |
		while read -r count name; do echo "$name $count"; done
}

test_without_a_fault_it_runs_confined_and_unconfined_it_would_show() {
	with_fault ''
	assertEquals "ran
$confined" "$out"
	# The control: what the program says where cell-exec was not there.
	out=$(setpriv --groups 4,5 "$work/program" 9<"$top/Makefile")
	assertContains "$out" 'Groups: 4 5'
	assertContains "$out" 'Seccomp: 0'
	assertContains "$out" 'descriptor 9'
	assertContains "$out" 'same session'
	assertNotContains "$out" 'CapBnd: 0000000000000000'
}

test_a_kernel_that_lacks_something_is_102() {
	with_fault close_range:error=ENOSYS
	assertEquals "$err" 102 "$status"
	assertContains "$err" 'cannot close the inherited descriptors: Function not implemented'
	with_fault prctl:error=EINVAL:when=4
	assertEquals "$err" 102 "$status"
	assertContains "$err" 'cannot install the filter'
	# Landlock may be missing: namespaces stand behind it.
	for error in ENOSYS EOPNOTSUPP; do
		with_fault landlock_create_ruleset:error=$error
		assertEquals "ran
$confined" "$out"
	done
	with_fault landlock_create_ruleset:error=EPERM
	assertEquals "$err" 111 "$status"
	assertContains "$err" 'cannot wall off other processes'
}

# next: $when moves on. prctl is called some two hundred times, nearly all to read a bit of a set: the
# first and some of these, or with CELL_TEST_LONG all.
next() {
	[ "$when" -lt 10 ] || [ -n "${CELL_TEST_LONG:-}" ] || when=$((when + 16))
	when=$((when + 1))
}

test_no_failing_call_leaves_a_subject_less_confined() {
	refused=0 passed=0
	calls >"$work/calls"
	assertTrue 'the calls were found' "[ $(wc -l <"$work/calls") -gt 20 ]"
	while read -r name count; do
		for error in EPERM ENOSYS EINVAL; do
			when=1
			while [ "$when" -le "$count" ]; do
				with_fault "$name:error=$error:when=$when"
				judge "$name $when $error"
				next
			done
		done
	done <"$work/calls"
	assertTrue "most faults end it: $refused ended, $passed went on" "[ $refused -gt 60 ]"
	assertTrue 'and some do not matter' "[ $passed -gt 5 ]"
	echo "faults: $refused ended it, $passed made no difference"
}

# prctl numbers the drops and the reads together; each one of them claims once to have worked.
test_no_lying_call_leaves_a_subject_less_confined() {
	refused=0 passed=0
	for name in capset setresuid setresgid setgroups seccomp; do
		for when in 1 2 3 4 5 6 7 8 9 10; do
			with_fault "$name:retval=0:when=$when"
			judge "$name $when claims to have worked"
		done
	done
	count=$(sed -n 's/^prctl //p' "$work/calls")
	when=1
	while [ "$when" -le "$count" ]; do
		with_fault "prctl:retval=0:when=$when"
		judge "prctl $when claims to have worked"
		next
	done
	for name in setresuid setresgid setgroups capset; do
		# A change of user empties the sets by itself: capset shows alone.
		[ $name != capset ] || options=
		with_fault "$name:retval=0"
		assertEquals "$name" 111 "$status"
		assertContains "$err" 'still shows'
	done
}

. "$CELL_TEST_SHUNIT2"

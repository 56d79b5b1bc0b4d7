# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Sourced first by every *_test.sh: where things are, how a tool is run and judged, private network
# namespaces, and one result line a test. The file ends with: . "$CELL_TEST_SHUNIT2"
#
# A file may define test_file_setup, test_file_teardown, test_setup, test_teardown.
# Everything made here ends with this shell, however it ends: processes by pdeathsig, namespaces
# because they have no name, files because the runner removes $work.

set -u
top=$(cd "$(dirname "$0")" && while [ ! -e Makefile ] && [ "$PWD" != / ]; do cd ..; done && pwd)
: "${CELL_BIN:=$top/build/bin}" "${CELL_TEST_BIN:=$top/build/test}"
: "${CELL_TEST_SHUNIT2:=/usr/share/shunit2/shunit2}"
export PATH="$CELL_BIN:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
unset CELL_EGRESS_DIR CELL_PROXY_HOST CELL_PROXY_PORT CELL_TABLE CELL_LOG_GROUP CELL_TRIAL CELL_STEP
export LC_ALL=C
work=$(mktemp -d "${TMPDIR:-/tmp}/cell-test.XXXXXX")
cell_pids=

# run COMMAND...: runs it; then $status, $work/out, $work/err and $out (stdout as text) hold.
run() {
	status=0
	"$@" >"$work/out" 2>"$work/err" || status=$?
	out=$(cat "$work/out")
	err=$(cat "$work/err")
}

# expect CODE COMMAND...: runs it and asserts its exit code.
expect() {
	expect_code=$1
	shift
	run "$@"
	assertEquals "exit of: $* [stdout: $out] [stderr: $err]" "$expect_code" "$status"
}

# expect_error CODE TEXT COMMAND...: exit code, nothing on stdout, exactly one line on stderr that
# begins with the tool's name and holds TEXT.
expect_error() {
	expect_code=$1 expect_text=$2
	shift 2
	expect "$expect_code" "$@"
	assertEquals "stdout of: $*" '' "$out"
	assertEquals "lines on stderr of: $* [$err]" 1 "$(wc -l <"$work/err")"
	assertContains "stderr of: $*" "$err" "$expect_text"
	expect_tool=$(basename "$1")
	case $expect_tool in
	cell-* | run_trial) assertContains "stderr of: $*" "$err" "$expect_tool: " ;;
	esac
}

# background COMMAND...: starts it so that it dies with this shell; its pid is in $pid.
background() {
	setpriv --pdeathsig KILL "$@" &
	pid=$!
	cell_pids="$cell_pids $pid"
}

# kill_own PID: kills it if it is this shell's child: one that has ended may have left its number to
# somebody else's process.
kill_own() {
	grep -q "^PPid:[[:space:]]*$$\$" "/proc/$1/status" 2>/dev/null && kill -KILL "$1" 2>/dev/null
	:
}

# end_process PID: ends a process that background started, and waits for it.
end_process() {
	kill_own "$1"
	wait "$1" 2>/dev/null
	:
}

# zombie_new: $zombie has ended, and its parent, $pid, does not wait for it.
zombie_new() {
	background python3 -c '
import os, time
child = os.fork() or os._exit(0)
print(child, flush=True)
time.sleep(300)' >"$work/zombie"
	wait_for 10 test -s "$work/zombie"
	zombie=$(cat "$work/zombie")
	wait_for 10 grep -q 'State:.Z' "/proc/$zombie/status"
}

# wait_for SECONDS COMMAND...: until COMMAND succeeds; 1 if it never does.
wait_for() {
	wait_end=$(($(date +%s) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$wait_end" ] || return 1
		sleep 0.02
	done
}

# netns_new: a network namespace without a name, lo up; $pid is a process that holds it.
netns_new() {
	netns_before=$(readlink /proc/self/ns/net)
	background unshare --net sleep infinity
	netns_pid=$pid
	wait_for 10 netns_moved || return 1
	nsenter -n -t "$netns_pid" -- ip link set lo up
}
netns_moved() {
	netns_now=$(readlink "/proc/$netns_pid/ns/net") && [ "$netns_now" != "$netns_before" ] &&
		[ "$(cat "/proc/$netns_pid/comm")" = sleep ]
}

# in_ns PID COMMAND...: COMMAND in that process's network namespace.
in_ns() {
	in_ns_pid=$1
	shift
	nsenter -n -t "$in_ns_pid" -- "$@"
}

# netns_join PID_A DEVICE_A CIDR_A PID_B DEVICE_B CIDR_B: a veth pair between two namespaces, both
# ends up, with one IPv4 address each.
netns_join() {
	ip link add "ct$$a" netns "$1" type veth peer name "ct$$b" netns "$4" &&
		in_ns "$1" ip link set "ct$$a" name "$2" up &&
		in_ns "$4" ip link set "ct$$b" name "$5" up &&
		in_ns "$1" ip address add "$3" dev "$2" &&
		in_ns "$4" ip address add "$6" dev "$5"
}

# skip REASON: the rest of this test is not run. In CI (CELL_TEST_FAIL_ON_SKIP=1) it is a failure.
skip() {
	cell_skip=$1
	startSkipping
}

# hash_tree DIRECTORY: names, types, modes and contents, to show that nothing was changed.
hash_tree() {
	(cd "$1" && find . -printf '%p %y %m %u %g\n' -type f -exec sha256sum {} + | sort)
}

# Every function of the file whose name begins with test is a test, but for the four above.
suite() {
	for cell_name in $(sed -n 's/^\(test[A-Za-z0-9_]*\) *().*/\1/p' "$0"); do
		case $cell_name in
		test_file_setup | test_file_teardown | test_setup | test_teardown) ;;
		*) suite_addTest "$cell_name" ;;
		esac
	done
}

# The first command that fails in a file's set-up, or an assertion in it, ends the file: what its
# tests would show of a half-made world proves nothing. (Not in an && or || list, for there the
# shell does not count failures.)
oneTimeSetUp() {
	cell_failed=0
	command -v test_file_setup >/dev/null || return 0
	cell_setting_up=1
	set -e
	test_file_setup
	set +e
	cell_setting_up=
	# shellcheck disable=SC2154 # shunit2's own counter
	[ "$__shunit_assertsFailed" -eq 0 ] || cell_say_failed test_file_setup
}

oneTimeTearDown() {
	[ -z "${cell_torn_down:-}" ] || return 0 # shunit2 calls it again from its EXIT trap
	cell_torn_down=1
	set +e
	[ -z "${cell_setting_up:-}" ] || cell_say_failed test_file_setup
	cell_before=$__shunit_assertsFailed
	command -v test_file_teardown >/dev/null && test_file_teardown
	for cell_pid in $cell_pids; do kill_own "$cell_pid"; done
	rm -rf "$work"
	[ "$__shunit_assertsFailed" -eq "$cell_before" ] || cell_say_failed test_file_teardown
	return 0
}

# shunit2 itself counts only what fails in a test. cell_say_failed NAME: 1, for the caller to return.
cell_say_failed() {
	echo "$1 failed" >&2
	echo "fail $1 " >>"${CELL_TEST_RESULTS:-/dev/null}"
	return 1
}

setUp() {
	cell_skip=
	# shellcheck disable=SC2154 # shunit2's own counter
	cell_failed=$__shunit_assertsFailed
	! command -v test_setup >/dev/null || test_setup || fail 'test_setup failed'
	return 0
}

tearDown() {
	[ -n "${_shunit_test_:-}" ] || return 0
	command -v test_teardown >/dev/null && test_teardown
	if [ "$__shunit_assertsFailed" -ne "$cell_failed" ]; then
		cell_result=fail
	elif [ -n "$cell_skip" ]; then
		cell_result=skip
	else
		cell_result=pass
	fi
	printf '%s %s %s\n' "$cell_result" "$_shunit_test_" "$cell_skip" \
		>>"${CELL_TEST_RESULTS:-/dev/null}"
	return 0
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What fails beneath cell-policy: libnftables ends, crashes, lies or is refused; netlink is refused;
# system calls fail; processes are killed. Each has its code and its line, none looks like success,
# and the policy that was in force stays, whole.
# needs: root netns nft strace setpriv jq

. "$(dirname "$0")/../lib/cell_test.sh"

lib=$top/build/test/lib
# A sanitizer would turn the crashes that are made here into exits of its own.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_abort=0"

test_setup() {
	netns_new || return 1
	cell=$pid
	netns_new || return 1
	world=$pid
	netns_join "$cell" eth0 10.77.0.1/24 "$world" peer0 10.77.0.2/24
	in_ns "$cell" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 # nothing but ours is counted
	mkdir -p "$work/egress"
	echo 10.77.0.2 >"$work/egress/proxy-ipv4"
	export CELL_EGRESS_DIR="$work/egress"
}

test_teardown() {
	end_process "$cell"
	end_process "$world"
}

policy() { in_ns "$cell" cell-policy "$@"; }
ruleset() { in_ns "$cell" nft -s list ruleset; }

# faulty FAULT ON ARGUMENT...: cell-policy with that fault in its library.
faulty() {
	faulty_fault=$1 faulty_on=$2
	shift 2
	in_ns "$cell" env NFT_FAULT="$faulty_fault" NFT_FAULT_ON="$faulty_on" \
		LD_PRELOAD="$lib/nft_fault_module.so" cell-policy "$@"
}

# fails CODE TEXT FAULT ON ARGUMENT...: and the ruleset is as it was.
fails() {
	fails_before=$(ruleset)
	fails_code=$1 fails_text=$2
	shift 2
	run faulty "$@"
	assertEquals "exit with $1 on $2 [$err]" "$fails_code" "$status"
	assertEquals "stdout with $1 on $2" '' "$out"
	assertEquals "lines on stderr with $1 on $2 [$err]" 1 "$(wc -l <"$work/err")"
	assertContains "stderr with $1 on $2" "$err" "$fails_text"
	assertEquals "ruleset after $1 on $2" "$fails_before" "$(ruleset)"
}

all_faults() {
	for verb in "$@"; do
		# shellcheck disable=SC2086 # a verb and its operand
		{
			fails 111 'libnftables ended its process with code 0' exit0 apply $verb
			fails 111 'libnftables ended its process with code 1: cannot set up netlink' exit1 apply $verb
			fails 102 'libnftables crashed (signal 11, Segmentation fault)' segv apply $verb
			fails 102 'libnftables crashed (signal 6, Aborted)' abort apply $verb
			fails 102 'this kernel or libnftables does not take it' syntax apply $verb
			fails 102 'No such file or directory in "meta skuid != 4294967295 jump refuse_subject"' \
				unknown apply $verb
			fails 111 'Operation not permitted' eperm apply $verb
			fails 111 'No buffer space available; nothing was changed' enobufs apply $verb
			fails 102 'no reason given' silent apply $verb
			fails 111 'something else keeps changing it' lie apply $verb
			fails 99 'no answer' hang apply $verb
		}
	done
}

test_no_fault_of_the_library_looks_like_success_at_first() {
	all_faults deny-all 'allow cell-proxy'
	assertEquals '' "$(ruleset)"
}

test_no_fault_of_the_library_harms_the_policy_before() {
	policy deny-all >/dev/null
	all_faults 'allow cell-proxy' '--log-group 7 allow cell-proxy'
	expect 0 policy check
	assertContains "$out" 'mode: deny-all'
}

test_no_fault_of_the_library_removes_the_policy() {
	policy deny-all >/dev/null
	for fault in exit0 exit1 segv abort eperm enobufs; do
		run faulty $fault apply allow-all
		assertTrue "exit $status" "[ $status = 111 ] || [ $status = 102 ]"
	done
	fails 111 'something else keeps making it' lie apply allow-all
	expect 0 policy check
}

test_no_fault_of_the_library_passes_for_a_listing() {
	policy allow cell-proxy >/dev/null
	for verb in check show rules deny-all 'allow cell-proxy' allow-all; do
		# shellcheck disable=SC2086 # a verb and its operand
		{
			fails 111 'ended its process with code 0' exit0 list $verb
			fails 102 'crashed (signal 11' segv list $verb
			fails 111 'Operation not permitted' eperm list $verb
			fails 102 'the answer is not understood' garbage list $verb
			fails 102 'the answer is not understood' empty list $verb
			fails 102 'the answer is not understood' cut list $verb
		}
	done
	# It lists everything that we want to see, but says that there is something it cannot show.
	expect 1 faulty complain list check
	assertContains "$out" "differs: it cannot be read wholly: Unknown expression 'strange'"
	expect 0 faulty complain list show
	assertEquals 'mode: unknown' "$(head -n 1 "$work/out")"
}

# The real thing: what the library lists is our rule, word by word, but not all of the rule.
test_rule_that_the_library_cannot_show_is_found() {
	policy deny-all >/dev/null
	number=$(in_ns "$cell" nft -a list chain inet cell_egress output |
		sed -n 's/.*oif "lo".* handle //p')
	expect 0 in_ns "$cell" python3 "$top/tests/lib/strange_rule.py" cell_egress output "$number"
	expect 1 policy check
	assertContains "$out" 'differs: '
	expect 0 policy show
	assertEquals 'mode: unknown' "$(head -n 1 "$work/out")"
	expect 0 policy deny-all
	expect 0 policy check
}

# The real thing, where the installed library is one that does.
test_set_of_a_newer_nftables_is_survived() {
	policy deny-all >/dev/null
	in_ns "$cell" nft add table inet newer
	in_ns "$cell" python3 "$top/tests/lib/newer_set.py" newer
	before=$(policy --json show | jq -c '[.mode, .ruleset_sha256, .generation]')
	assertContains "$before" deny-all
	run policy allow cell-proxy
	if [ "$status" -eq 0 ]; then # a library that is not shaken by it
		expect 0 policy check
		return
	fi
	assertEquals "$err" 102 "$status"
	assertContains "$err" 'libnftables crashed (signal 11'
	assertEquals "$before" "$(policy --json show | jq -c '[.mode, .ruleset_sha256, .generation]')"
	expect 0 policy check
}

test_missing_capability_is_told_from_a_namespace_of_others() {
	policy deny-all >/dev/null
	before=$(ruleset)
	for verb in show rules check deny-all allow-all 'allow cell-proxy'; do
		# shellcheck disable=SC2086 # a verb and its operand
		{
			expect_error 111 'lacks the capability NET_ADMIN' in_ns "$cell" setpriv \
				--inh-caps=-net_admin --bounding-set=-net_admin "$CELL_BIN/cell-policy" $verb
			expect_error 111 'lacks the capability NET_ADMIN' in_ns "$cell" setpriv \
				--reuid 65534 --clear-groups "$CELL_BIN/cell-policy" $verb
			expect_error 111 'belongs to another user namespace' in_ns "$cell" \
				unshare -Ur "$CELL_BIN/cell-policy" $verb
		}
	done
	assertEquals "$before" "$(ruleset)"
	# In a user namespace that owns its network namespace it works.
	expect 0 unshare -Urn cell-policy deny-all
}

test_refused_netlink_is_told() {
	policy deny-all >/dev/null
	before=$(ruleset)
	for verb in show rules check 'allow cell-proxy'; do
		# shellcheck disable=SC2086 # a verb and its operand
		expect_error 111 'a seccomp filter or a security module refuses it' \
			in_ns "$cell" "$lib/no_netlink" 12 "$CELL_BIN/cell-policy" $verb
	done
	for verb in deny-all 'allow cell-proxy'; do
		# shellcheck disable=SC2086 # a verb and its operand
		expect_error 111 'cannot list the devices: Operation not permitted' \
			in_ns "$cell" "$lib/no_netlink" 0 "$CELL_BIN/cell-policy" $verb
	done
	for verb in show check; do
		expect 111 in_ns "$cell" "$lib/no_netlink" 0 "$CELL_BIN/cell-policy" $verb
	done
	assertEquals "$before" "$(ruleset)"
}

test_hosts_with_hardware_are_not_policed() {
	hardware() {
		in_ns "$cell" env IFLA_FAULT=hardware LD_PRELOAD="$lib/nft_fault_module.so" cell-policy "$@"
	}
	for verb in deny-all 'allow cell-proxy'; do
		# shellcheck disable=SC2086 # a verb and its operand
		run hardware $verb
		assertEquals "$err" 100 "$status"
		assertContains "$err" 'is hardware (noqueue)'
		assertContains "$err" '--allow-hardware'
	done
	assertEquals '' "$(ruleset)"
	expect 0 hardware --dry-run deny-all
	expect 0 hardware --allow-hardware deny-all
	expect 0 hardware check
	expect 0 hardware allow-all
	expect 0 policy deny-all # and without that device it is nobody's host
}

# injected FAULT CALL N: one system call of the tool or of its child fails.
test_failing_system_calls_leave_the_policy() {
	policy deny-all >/dev/null
	before=$(ruleset)
	for fault in sendmsg:error=ENOBUFS sendmsg:error=EPERM recvmsg:error=ENOBUFS socket:error=EMFILE \
		sendto:error=ENOMEM memfd_create:error=EMFILE clone:error=EAGAIN capset:error=EPERM \
		pwrite64:error=ENOSPC wait4:error=ECHILD; do
		for when in 1 2 3 5; do
			run in_ns "$cell" strace -f -qq -o /dev/null -e "inject=$fault:when=$when" \
				"$CELL_BIN/cell-policy" allow cell-proxy
			case $status in
			0) # it came later than the transaction, or never
				expect 0 policy check
				policy deny-all >/dev/null
				;;
			102 | 111)
				assertEquals "lines after $fault:$when: $err" 1 "$(wc -l <"$work/err")"
				case $(policy show | head -n 1) in
				'mode: deny-all') assertEquals "after $fault:$when" "$before" "$(ruleset)" ;;
				'mode: proxy-only') policy deny-all >/dev/null ;; # what failed came after it
				*) fail "neither mode after $fault:$when: $(policy show)" ;;
				esac
				;;
			*) fail "exit $status after $fault:$when: $err" ;;
			esac
		done
	done
}

# Killed at each message that it or its child sends: the old policy or the new one, whole.
test_killed_between_messages_leaves_one_whole_policy() {
	olds=0 news=0
	for call in sendmsg sendto; do
		for when in 1 2 3 4 5 6 7 8 9; do
			for log in 5 6; do # 5: the set alone changes; 6: the table is replaced
				policy deny-all >/dev/null
				in_ns "$cell" strace -f -qq -o /dev/null \
					-e "inject=$call:signal=SIGKILL:when=$when" "$CELL_BIN/cell-policy" \
					--log-group $log allow cell-proxy >/dev/null 2>&1
				case $(policy --log-group $log show | head -n 1) in
				'mode: deny-all')
					expect 0 policy check
					olds=$((olds + 1))
					;;
				'mode: proxy-only')
					expect 0 policy --log-group $log check
					news=$((news + 1))
					;;
				*) fail "neither policy after $call $when" ;;
				esac
			done
		done
	done
	assertTrue "never the old one" "[ $olds -gt 0 ]"
	assertTrue "never the new one" "[ $news -gt 0 ]"
}

test_killed_at_the_first_apply_leaves_nothing_or_all() {
	for when in 1 2 3 4 5 6 7; do
		in_ns "$cell" nft flush ruleset
		in_ns "$cell" strace -f -qq -o /dev/null -e "inject=sendmsg:signal=SIGKILL:when=$when" \
			"$CELL_BIN/cell-policy" deny-all >/dev/null 2>&1
		case $(policy show | head -n 1) in
		'mode: no-policy') ;;
		'mode: deny-all') expect 0 policy check ;;
		*) fail "half a policy after sendmsg $when" ;;
		esac
	done
	expect 0 policy deny-all
	expect 0 policy check
}

test_lost_output_is_111_and_the_step_is_done() {
	run in_ns "$cell" sh -c 'cell-policy deny-all >/dev/full'
	assertEquals 111 "$status"
	expect 0 policy check
	run in_ns "$cell" sh -c 'cell-policy check >&-'
	assertEquals 111 "$status"
}

test_inherited_descriptors_and_signals_do_not_matter() {
	expect 0 in_ns "$cell" sh -c 'exec cell-policy deny-all <&-'
	# An ignored SIGCHLD is inherited through exec; a child's end would be lost with it.
	expect 0 in_ns "$cell" sh -c 'trap "" CHLD; exec cell-policy allow cell-proxy'
	expect 0 in_ns "$cell" env --ignore-signal=CHLD cell-policy check
	run in_ns "$cell" env --ignore-signal=ALRM NFT_FAULT=hang LD_PRELOAD="$lib/nft_fault_module.so" \
		cell-policy check
	assertEquals "$err" 99 "$status"
	run in_ns "$cell" env --block-signal=ALRM NFT_FAULT=hang LD_PRELOAD="$lib/nft_fault_module.so" \
		cell-policy check
	assertEquals "$err" 99 "$status"
	expect 0 in_ns "$cell" bash -c 'exec 3</dev/null 4</dev/null 60</dev/null; exec cell-policy check'
}

# The child holds its result's file and no other, and no capability but the one that it needs.
test_the_child_holds_no_more_than_it_needs() {
	strace_out=$work/strace
	in_ns "$cell" strace -f -o "$strace_out" -e trace=capset,close_range,prctl,dup2 -qq \
		"$CELL_BIN/cell-policy" deny-all >/dev/null
	assertContains "$(cat "$strace_out")" 'effective=1<<CAP_NET_ADMIN, permitted=1<<CAP_NET_ADMIN, inheritable=0'
	assertTrue 'descriptors are closed' "grep -q 'close_range(4, 4294967295, 0) *= 0' '$strace_out'"
	assertContains "$(cat "$strace_out")" 'PR_SET_NO_NEW_PRIVS, 1'
	assertContains "$(cat "$strace_out")" 'PR_SET_PDEATHSIG, SIGKILL'
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns jq strace nft python3
# cell-capcheck: which processes it refuses, and that it refuses to guess.
. "$(dirname "$0")/lib/cell_test.sh"
. "$top/tests/lib/hostile_root.sh"

empty='--clear-groups --inh-caps -all --ambient-caps -all --bounding-set -all --pdeathsig KILL'
zero=0000000000000000

# as UID COMMAND...: with that uid and five empty sets; background_as likewise.
as() {
	as_uid=$1
	shift
	# shellcheck disable=SC2086 # a list of words
	setpriv --reuid "$as_uid" --regid "$as_uid" $empty "$@"
}
background_as() {
	as_uid=$1
	shift
	# shellcheck disable=SC2086 # a list of words
	background setpriv --reuid "$as_uid" --regid "$as_uid" $empty "$@"
}

# status [SED-EXPRESSION]: status text of a clean process, changed.
status_text() {
	printf '%s\n' 'Name:	agent' 'Umask:	0022' 'State:	S (sleeping)' 'Tgid:	4711' \
		'Pid:	4711' 'Uid:	1000	1000	1000	1000' "CapInh:	$zero" "CapPrm:	$zero" \
		"CapEff:	$zero" "CapBnd:	$zero" "CapAmb:	$zero" 'NoNewPrivs:	0' 'Seccomp:	0' |
		sed "${1:-}"
}

# judge CODE [SED-EXPRESSION] [OPTION...]: the text through standard input.
judge() {
	judge_code=$1
	status_text "${2:-}" >"$work/status"
	shift
	[ $# -eq 0 ] || shift
	# shellcheck disable=SC2016 # the inner shell expands them
	expect "$judge_code" sh -c 'file=$1; shift; exec "$@" <"$file"' sh "$work/status" \
		cell-capcheck --status - "$@"
}

# judge_malformed TEXT SED-EXPRESSION: 103 with one line that holds TEXT.
judge_malformed() {
	judge 103 "$2"
	assertEquals "stdout of $2" '' "$out"
	assertContains "stderr of $2" "$err" "$1"
	assertEquals "lines on stderr of $2" 1 "$(wc -l <"$work/err")"
}

# The process itself

test_a_process_with_empty_sets_is_accepted() {
	expect 0 as 1000 cell-capcheck
	assertEquals 'the first line is the answer' "holds no denied capability" \
		"$(sed -n '1s/.*) //p' "$work/out")"
	expect 0 as 0 cell-capcheck
}

test_a_full_process_is_refused_with_names_sets_and_numbers() {
	expect 1 cell-capcheck --json
	assertEquals '' "$err"
	for capability in net_raw net_admin sys_admin sys_module sys_rawio dac_read_search bpf; do
		assertEquals "$capability is held in three sets" 'bounding effective permitted' \
			"$(jq -r --arg c "cap_$capability" \
				'[.held[] | select(.capability == $c).set] | sort | join(" ")' \
				"$work/out")"
	done
	assertEquals 13 "$(jq '.held[] | select(.capability == "cap_net_raw" and
		.set == "bounding").bit' "$work/out")"
	assertEquals no "$(jq -r .error.kind "$work/out")"
	assertContains 'message' "$(jq -r .error.message "$work/out")" \
		'cap_net_raw (permitted, effective, bounding)'
}

test_the_record_has_its_fields_in_order() {
	expect 0 as 1000 cell-capcheck --json
	assertEquals 'tool format version time ok exit trial step pid comm uid no_new_privs sets held denied userns netns_userns ownership threads' \
		"$(jq -r 'keys_unsorted | join(" ")' "$work/out")"
	assertEquals "inheritable $zero permitted $zero effective $zero bounding $zero ambient $zero" \
		"$(jq -r '[.sets | to_entries[] | .key, .value] | join(" ")' "$work/out")"
	assertEquals '1000 false 1 cell-capcheck' \
		"$(jq -r '[.uid, .no_new_privs, .threads, .comm] | map(tostring) | join(" ")' "$work/out")"
	assertEquals "$(readlink /proc/self/ns/user)" "$(jq -r .userns "$work/out")"
	assertEquals "$(readlink /proc/self/ns/user)" "$(jq -r .netns_userns "$work/out")"
	expect 0 as 1000 --no-new-privs cell-capcheck --json
	assertEquals true "$(jq .no_new_privs "$work/out")"
}

test_the_engines_default_set_less_net_raw_is_accepted() {
	engine=+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service
	engine=$engine,+sys_chroot,+mknod,+audit_write,+setfcap
	expect 0 setpriv --inh-caps -all --bounding-set "-all,$engine" cell-capcheck
	expect 1 setpriv --inh-caps -all --bounding-set "-all,$engine,+net_raw" cell-capcheck
	assertContains "$out" 'holds cap_net_raw (permitted, effective, bounding)'
}

test_every_default_capability_is_refused_in_the_bounding_set_alone() {
	for capability in net_raw net_admin sys_admin sys_module sys_rawio dac_read_search bpf; do
		expect 1 setpriv --reuid 1000 --clear-groups --inh-caps -all --no-new-privs \
			--bounding-set "-all,+$capability" cell-capcheck
		assertContains "$out" "holds cap_$capability (bounding)"
	done
	for capability in sys_ptrace sys_boot perfmon checkpoint_restore syslog mknod; do
		set -- setpriv --reuid 1000 --clear-groups --inh-caps -all \
			--bounding-set "-all,+$capability" cell-capcheck
		expect 0 "$@"
		expect 1 "$@" --deny all-bypass
		assertContains "$out" "holds cap_$capability (bounding)"
	done
}

test_an_inheritable_capability_is_refused_though_effective_is_empty() {
	expect 1 setpriv --inh-caps -all,+net_raw,+net_admin \
		setpriv --reuid 1000 --clear-groups --bounding-set -all cell-capcheck --json
	assertEquals "$zero" "$(jq -r .sets.effective "$work/out")"
	assertEquals 'inheritable cap_net_admin,inheritable cap_net_raw' \
		"$(jq -r '[.held[] | .set + " " + .capability] | join(",")' "$work/out")"
}

test_an_ambient_capability_is_refused() {
	expect 1 setpriv --reuid 1000 --clear-groups --inh-caps +net_raw --ambient-caps +net_raw \
		cell-capcheck --json
	assertEquals 0000000000002000 "$(jq -r .sets.ambient "$work/out")"
}

# Another process, and all of its threads

test_the_answer_is_about_the_process_asked() {
	background_as 1000 sleep 300
	clean=$pid
	background setpriv --inh-caps -all --bounding-set -all,+net_raw --pdeathsig KILL sleep 300
	wait_for 10 sh -c "grep -q sleep /proc/$clean/comm && grep -q sleep /proc/$pid/comm"
	expect 0 cell-capcheck --pid "$clean"
	assertContains "$out" "process $clean (sleep, uid 1000) holds no denied capability"
	expect 1 cell-capcheck --pid "$pid"
	assertContains "$out" "process $pid (sleep, uid 0) holds cap_net_raw"
	end_process "$clean"
	end_process "$pid"
}

# As in a container whose first process is clean while an exec into it is not.
test_a_clean_first_process_says_nothing_of_a_second_one() {
	# shellcheck disable=SC2016 # the inner shell expands them
	expect 0 unshare --pid --fork --kill-child --mount-proc sh -c '
		setpriv --reuid 1000 --clear-groups --inh-caps -all --bounding-set -all sleep 60 & one=$!
		setpriv --reuid 1000 --clear-groups --inh-caps -all --bounding-set -all,+net_raw sleep 60 &
		two=$!
		until grep -q sleep /proc/$one/comm && grep -q sleep /proc/$two/comm; do sleep 0.02; done
		cell-capcheck --pid $one; first=$?
		cell-capcheck --pid $two; second=$?
		[ "$first $second" = "0 1" ]'
}

# thread NUMBER SET: starts the helper; $process and $thread.
thread() {
	background "$top/build/test/lib/thread_keeps_capability" "$@" >"$work/thread"
	wait_for 10 test -s "$work/thread" || fail 'the helper did not start'
	read -r process thread <"$work/thread"
	wait_for 10 grep -q "CapBnd:	$zero" "/proc/$process/status"
}

test_another_thread_without_capabilities_is_accepted() {
	thread -1 permitted
	expect 0 cell-capcheck --pid "$process" --json
	assertEquals 2 "$(jq .threads "$work/out")"
	end_process "$process"
}

test_a_capability_in_another_thread_is_refused() {
	for set in permitted bounding; do
		thread 13 "$set"
		assertEquals 'the main thread is clean' 5 "$(grep -c "^Cap.*$zero" "/proc/$process/status")"
		expect 1 cell-capcheck --pid "$process" --json
		assertEquals "$set cap_net_raw $thread" \
			"$(jq -r '.held[] | [.set, .capability, .thread] | join(" ")' "$work/out" \
				2>/dev/null || jq -r '.held[] | "\(.set) \(.capability) \(.thread)"' "$work/out")"
		assertEquals 'sets are those of all threads' 0000000000002000 \
			"$(jq -r --arg s "$set" '.sets[$s]' "$work/out")"
		end_process "$process"
	done
}

# The main thread is a zombie then, of which the kernel shows no namespaces.
test_a_process_whose_main_thread_has_ended_is_judged_by_the_others() {
	for number in -1 13; do
		thread "$number" permitted alone
		wait_for 10 grep -q 'State:.Z' "/proc/$process/status"
		expect "$((number > 0))" cell-capcheck --pid "$process" --json
		assertEquals 1 "$(jq .threads "$work/out")"
		end_process "$process"
	done
}

test_a_missing_process_is_evidence() {
	background true
	wait "$pid"
	expect_error 103 "cannot judge process $pid: /proc shows no such process" \
		cell-capcheck --pid "$pid"
	expect 103 cell-capcheck --pid "$pid" --json --quiet
	assertEquals '' "$err"
	assertEquals 'evidence' "$(jq -r .error.kind "$work/out")"
}

test_a_zombie_is_evidence() {
	zombie_new
	expect_error 103 "process $zombie: it has ended" cell-capcheck --pid "$zombie"
	end_process "$pid"
}

# The tool is stopped behind each of its openings in turn, and the process ends there.
test_a_process_that_ends_meanwhile_is_evidence() {
	for opening in 1 2 3 4 5 6 7; do
		background_as 1000 sleep 300
		subject=$pid
		wait_for 10 grep -q sleep "/proc/$subject/comm"
		rm -f "$work/trace"
		background strace -f -o "$work/trace" -e trace=openat \
			-e "inject=openat:signal=STOP:when=$opening" \
			"$top/build/bin/cell-capcheck" --pid "$subject" >"$work/out" 2>"$work/err"
		wait_for 10 grep -q 'stopped by SIGSTOP' "$work/trace" || fail "no stop at $opening"
		end_process "$subject"
		kill -CONT "$(sed -n '1s/ .*//p' "$work/trace")"
		wait "$pid"
		assertEquals "ended behind opening $opening" 103 $?
		assertContains "opening $opening" "$(cat "$work/err")" "cannot judge process $subject"
	done
}

test_not_allowed_to_look_is_evidence() {
	background sleep 300
	expect_error 103 'cannot open its network namespace: Permission denied' \
		as 1000 "$CELL_BIN/cell-capcheck" --pid "$pid"
	end_process "$pid"
}

test_the_processs_name_cannot_write_to_the_terminal() {
	background_as 1000 python3 -c '
import time
open("/proc/self/comm", "wb").write(b"\x1b[2J\xff\"\n\\n")
print("ready", flush=True)
time.sleep(300)' >"$work/ready"
	wait_for 10 test -s "$work/ready"
	expect 0 cell-capcheck --pid "$pid"
	printf '%s\n' 'comm \x1b[2J\xff"\n\\n' >"$work/expected"
	assertTrue 'the name is escaped' "grep -qxFf '$work/expected' '$work/out'"
	assertEquals 'no control character' 0 "$(tr -d '\n' <"$work/out" | tr -dc '\000-\037\177' | wc -c)"
	expect 0 cell-capcheck --pid "$pid" --json
	assertEquals '1' "$(jq -s length "$work/out")"
	end_process "$pid"
}

# Status text

test_clean_text_is_accepted_in_any_order() {
	judge 0
	assertContains "$out" 'status text of process 4711 (agent, uid 1000) holds no denied capability'
	status_text | sort -r >"$work/reversed"
	expect 0 cell-capcheck --status "$work/reversed"
	expect 0 cell-capcheck --status /proc/thread-self/status --allow all-bypass
}

test_all_ones_are_refused_and_unknown_bits_have_numbers() {
	judge 1 's/^\(Cap...:.\).*/\1ffffffffffffffff/' --json
	assertEquals 'cap_net_raw and cap_net_admin in five sets' 10 \
		"$(jq '[.held[] | select(.capability == "cap_net_raw" or .capability == "cap_net_admin")] |
			length' "$work/out")"
	assertEquals "$(seq -s ' ' 41 63)" \
		"$(jq -r '[.held[] | select(.set == "bounding" and .bit > 40).capability] | join(" ")' \
			"$work/out")"
}

test_a_bit_that_no_kernel_has_is_shown_and_refused_on_demand() {
	judge 0 's/^\(CapPrm:.\).*/\10000200000000000/'
	assertContains "$out" 'held permitted 45 45'
	judge 1 's/^\(CapPrm:.\).*/\10000200000000000/' --deny +unknown
	assertContains "$out" 'holds 45 (permitted)'
	judge 1 's/^\(CapPrm:.\).*/\10000200000000000/' --deny 45
	judge 0 's/^\(CapPrm:.\).*/\10000200000000000/' --deny 46
}

test_each_set_is_judged() {
	for set in Inh:inheritable Prm:permitted Eff:effective Bnd:bounding Amb:ambient; do
		judge 1 "s/^\\(Cap${set%:*}:.\\).*/\\10000000000002000/"
		assertContains "$out" "holds cap_net_raw (${set#*:})"
	done
}

test_a_missing_set_is_evidence() {
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		judge_malformed "$set is missing" "/^$set/d"
	done
	judge_malformed 'CapInh is missing' 'd'
}

test_a_set_that_stands_twice_is_evidence() {
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		judge_malformed "$set stands twice" "/^$set/p"
	done
	judge_malformed 'Uid stands twice' '/^Uid/p'
	judge_malformed 'Name stands twice' '/^Name/p'
}

test_malformed_hexadecimal_is_evidence_never_zero() {
	for value in '' 0 000000000000000 00000000000000000 0x00000000000000 \
		000000000000000g 0000000000000000. '0000000000000000 ' '0000000000000000 0' \
		'00000000 00000000' 00000000FFFFFFFF -000000000000000 +000000000000000; do
		judge_malformed 'CapEff is not 16 hexadecimal digits' "s/^\\(CapEff:.\\).*/\\1$value/"
	done
	judge_malformed 'CapInh is not 16 hexadecimal digits' 's/^Cap.*/&\r/'
	judge_malformed 'is malformed' 's/$/\r/'
	judge_malformed 'CapEff is missing' 's/^CapEff/ CapEff/'
	judge_malformed 'CapEff is missing' 's/^CapEff/capeff/'
	judge_malformed 'CapEff is missing' 's/^CapEff:/CapEff/'
}

test_other_lines_are_judged_where_they_stand() {
	judge_malformed 'Uid is malformed' 's/^Uid.*/Uid:	1000/'
	judge_malformed 'Uid is malformed' 's/^\(Uid:.*\)/\1	1000/'
	judge_malformed 'Uid is malformed' 's/^Uid.*/Uid:	0	99999999999	0	0/'
	judge_malformed 'NoNewPrivs is malformed' 's/^NoNew.*/NoNewPrivs:	2/'
	judge_malformed 'Pid is malformed' 's/^Pid.*/Pid:	x/'
	judge 0 '/^Uid/d;/^Name/d;/^Pid/d;/^NoNewPrivs/d' --json
	assertEquals 'null null null ' "$(jq -r '"\(.pid) \(.uid) \(.no_new_privs) \(.comm)"' "$work/out")"
}

test_text_cut_anywhere_is_evidence() {
	status_text '/^Seccomp/d;/^NoNew/d' >"$work/whole"
	expect 0 cell-capcheck --status "$work/whole"
	size=$(wc -c <"$work/whole")
	for length in 0 1 50 $((size - 100)) $((size - 25)) $((size - 24)) $((size - 23)) \
		$((size - 2)) $((size - 1)); do
		head -c "$length" "$work/whole" >"$work/cut"
		expect 103 cell-capcheck --status "$work/cut"
	done
	assertContains "$err" 'the text is cut in the middle of a line'
	{ cat "$work/whole" && printf 'x\0\n'; } >"$work/nul"
	expect_error 103 'the text holds a NUL byte' cell-capcheck --status "$work/nul"
	{ cat "$work/whole" && head -c 70000 /dev/zero | tr '\0' x; } >"$work/large"
	expect_error 103 'larger than 64 KiB' cell-capcheck --status "$work/large"
}

test_a_status_file_that_is_none_is_evidence() {
	expect_error 103 'No such file or directory' cell-capcheck --status "$work/none"
	expect_error 103 'not a regular file' cell-capcheck --status "$work"
	mkfifo "$work/fifo"
	expect_error 103 'not a regular file' cell-capcheck --status "$work/fifo"
	ln -s /proc/self/status "$work/link"
	expect_error 103 'a symbolic link' cell-capcheck --status "$work/link"
	expect_error 103 'cannot read standard input: Bad file descriptor' \
		sh -c 'exec "$@" <&-' sh "$CELL_BIN/cell-capcheck" --status -
}

test_a_file_mounted_over_the_status_is_judged_too() {
	background_as 1000 sleep 300
	wait_for 10 grep -q sleep "/proc/$pid/comm"
	expect 0 cell-capcheck --pid "$pid"
	for change in 's/^\(Cap...:.\).*/\1ffffffffffffffff/ 1' '/^CapEff/d 103' 's/$/\r/ 103' \
		's/^Pid:.*/Pid:	4711/ 103'; do
		status_text "s/^Pid:.*/Pid:	$pid/;${change% *}" >"$work/status"
		# shellcheck disable=SC2016 # the inner shell expands them
		expect "${change##* }" unshare --mount sh -c \
			'mount --bind "$1" "/proc/$2/status" && exec cell-capcheck --pid "$2"' \
			sh "$work/status" "$pid"
	done
	assertContains "$err" "process $pid: its status is not its own: Pid is 4711"
	end_process "$pid"
}

# Lists

test_a_deny_list_replaces_adds_and_widens() {
	chown='s/^\(CapBnd:.\).*/\10000000000000001/'
	admin='s/^\(CapBnd:.\).*/\10000000000001000/'
	judge 0 "$chown"
	judge 1 "$chown" --deny chown
	judge 1 "$chown" --deny +chown
	judge 1 "$chown" --deny net_raw,CAP_CHOWN,kill
	judge 0 "$chown" --deny net_raw,net_admin
	judge 1 "$admin"
	judge 0 "$admin" --deny chown
	judge 1 "$admin" --deny +chown
	judge 1 "$admin" --deny +chown,+kill
	judge 1 "$admin" --deny all-bypass
	judge 0 "$admin" --deny chown --json
	assertEquals cap_chown "$(jq -r '.denied | join(" ")' "$work/out")"
	judge 0 '' --deny all-bypass --json
	assertEquals 13 "$(jq '.denied | length' "$work/out")"
}

test_allow_takes_out_of_the_deny_list() {
	admin='s/^\(CapBnd:.\).*/\10000000000001000/'
	judge 0 "$admin" --allow net_admin
	judge 0 "$admin" --allow CAP_NET_ADMIN --allow sys_admin --json
	assertEquals 'cap_dac_read_search cap_net_raw cap_sys_module cap_sys_rawio cap_bpf' \
		"$(jq -r '.denied | join(" ")' "$work/out")"
	judge 1 "$admin" --allow net_raw
}

test_usage_errors() {
	for list in net_row '' ',' 'net_raw,' ,net_raw net_raw,,kill net_raw,+kill + '+,' 64 041 -1 cap_ all \
		'net_raw kill'; do
		expect 100 cell-capcheck --deny "$list"
	done
	expect_error 100 "names no capability: 'net_row'" cell-capcheck --deny kill,net_row
	expect_error 100 "names no capability: 'net_raw,kill'" cell-capcheck --allow net_raw,kill
	expect_error 100 'only one of' cell-capcheck --pid 1 --status -
	expect_error 100 'unexpected operand' cell-capcheck 1
	expect_error 100 'is given twice' cell-capcheck --pid 1 --pid 2
	for pid in 0 -1 1x 4194305 99999999999999999999; do
		expect 100 cell-capcheck --pid "$pid"
	done
}

test_a_lost_answer_is_a_system_failure() {
	expect 111 sh -c 'exec "$@" >/dev/full' sh "$CELL_BIN/cell-capcheck"
	expect 111 sh -c 'exec "$@" >/dev/full' sh "$CELL_BIN/cell-capcheck" --json
	expect 111 sh -c 'exec "$@" >&-' sh "$CELL_BIN/cell-capcheck"
}

test_help_and_version() {
	expect 0 cell-capcheck --help
	assertContains "$out" '--deny LIST'
	expect 0 cell-capcheck --version
	assertContains "$out" 'cell-capcheck '
}

test_inside_the_seccomp_filter_of_a_subject_it_answers_the_same() {
	expect 0 cell-exec --user 1000:1000 -- "$CELL_BIN/cell-capcheck" --json
	assertEquals "true $(readlink /proc/self/ns/user)" \
		"$(jq -r '"\(.no_new_privs) \(.netns_userns)"' "$work/out")"
}

# What a root image offers, and roots that lack everything

test_nothing_of_a_hostile_image_is_touched() {
	hostile_root_new
	for format in --quiet --json; do
		hostile_root_run 'open /proc/self*' 'open /proc/[0-9]*' -- \
			"$top/build/bin/cell-capcheck" "$format" --allow all-bypass
		assertEquals "$err" 0 "$status"
		assert_hostile_root_clean cell-capcheck
	done
	hostile_root_run -- "$top/build/bin/cell-capcheck" --status - </dev/null
	assertEquals 103 "$status"
	assert_hostile_root_clean cell-capcheck
}

test_a_directory_that_only_looks_like_proc_is_evidence() {
	mkdir -p "$work/root/proc/self/task/1/ns"
	cp "$top/build/bin/cell-capcheck" "$work/root/"
	status_text >"$work/root/proc/self/status"
	status_text >"$work/root/proc/self/task/1/status"
	expect 103 chroot "$work/root" /cell-capcheck
	assertContains "$err" '/proc is not a proc file system'
	rm -r "$work/root/proc"
	for call in /cell-capcheck '/cell-capcheck --pid 1'; do
		# shellcheck disable=SC2086 # a list of words
		expect 103 chroot "$work/root" $call
		assertContains "$err" '/proc is not a proc file system'
	done
}

. "$CELL_TEST_SHUNIT2"

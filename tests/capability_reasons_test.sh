#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns nft python3
# Why each capability is on cell-capcheck's lists, by experiment: the same attempt of the same user
# is refused without the capability and succeeds with it alone.
. "$(dirname "$0")/lib/cell_test.sh"

# A cell whose policy lets nothing out, a neighbour that writes down what arrives, and two programs:
# "with CAPABILITY COMMAND..." runs it as uid 1000 with that one alone, "without COMMAND..." with
# none.
test_file_setup() {
	mkdir "$work/bin"
	cat >"$work/bin/with" <<-'EOS'
		#!/bin/sh
		one=$1
		shift
		exec setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps "-all,+$one" \
			--ambient-caps "+$one" --bounding-set "-all,+$one" "$@"
	EOS
	cat >"$work/bin/without" <<-'EOS'
		#!/bin/sh
		exec setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps -all \
			--bounding-set -all "$@"
	EOS
	cp "$top/tests/lib/capability_trial.py" "$work/bin/trial"
	chmod 0755 "$work" "$work/bin" "$work/bin"/*
	PATH=$work/bin:$PATH
	netns_new || return 1
	cell=$pid
	netns_new || return 1
	outside=$pid
	netns_join "$cell" eth0 10.9.0.2/24 "$outside" eth0 10.9.0.1/24
	background nsenter -n -t "$outside" trial receive "$work/arrived"
	wait_for 10 grep -q ready "$work/arrived"
}

# judged CAPABILITY LIST: what the gate says of it; "default" is in all-bypass too.
judged() {
	expect 0 without cell-capcheck --deny all-bypass
	expect 1 with "$1" cell-capcheck --deny all-bypass
	assertContains "$out" "holds cap_$1 (inheritable, permitted, effective, bounding, ambient)"
	case $2 in
	default) expect 1 with "$1" cell-capcheck ;;
	all-bypass) expect 0 with "$1" cell-capcheck ;;
	esac
}

# shown CAPABILITY LIST TRIAL [ARGUMENT...]: refused without it, done with it.
shown() {
	shown_one=$1 shown_list=$2
	shift 2
	expect 1 without trial "$@"
	expect 0 with "$shown_one" trial "$@"
	judged "$shown_one" "$shown_list"
}

# shown_if_there: as shown; but where this kernel lacks what would be misused, the gate's word is all
# that can be tried.
shown_if_there() {
	run with "$1" trial "$3" ${4:+"$4"}
	if [ "$status" -eq 3 ]; then judged "$1" "$2"; else shown "$@"; fi
}

# seal: a policy in the cell that stops all, shown to do so for what passed before.
seal() {
	in_ns "$cell" nft flush ruleset
	in_ns "$cell" without trial udp 10.9.0.1 "open-$1" || fail "not open before: $1"
	arrives "open-$1"
	in_ns "$cell" nft 'table inet seal { chain output { type filter hook output priority 0
		policy drop
		}
		}' || fail 'no policy'
	expect 1 in_ns "$cell" without trial udp 10.9.0.1 "sealed-$1"
}

arrives() {
	wait_for 5 grep -qx "$1" "$work/arrived" || fail "$1 did not arrive"
}

# What was sent later has arrived, so what was sent before and is not there was stopped.
never_arrived() {
	in_ns "$outside" trial udp 10.9.0.1 "behind-$1"
	arrives "behind-$1"
	assertFalse "$1 arrived" "grep -qx '$1' '$work/arrived'"
}

test_net_raw_sends_frames_that_the_policy_does_not_see() {
	seal raw
	expect 1 in_ns "$cell" without trial net_raw eth0 10.9.0.2 10.9.0.1 frame-without
	expect 0 in_ns "$cell" with net_raw trial net_raw eth0 10.9.0.2 10.9.0.1 frame-with
	arrives frame-with
	never_arrived frame-without
	never_arrived sealed-raw
	judged net_raw default
}

test_net_admin_takes_the_policy_away() {
	seal admin
	expect 1 in_ns "$cell" without trial net_admin
	expect 1 in_ns "$cell" without trial udp 10.9.0.1 still-sealed
	expect 0 in_ns "$cell" with net_admin trial net_admin
	expect 0 in_ns "$cell" without trial udp 10.9.0.1 unsealed
	arrives unsealed
	never_arrived still-sealed
	judged net_admin default
}

test_sys_admin_enters_another_namespace() {
	seal enter
	: >"$work/handle"
	for who in without 'with sys_admin'; do
		# shellcheck disable=SC2086 # two words
		run unshare --mount sh -c 'mount --bind "/proc/$1/ns/net" "$2" && shift 2 &&
			exec nsenter -n -t "$@"' sh "$outside" "$work/handle" "$cell" \
			$who trial sys_admin_enter "$work/handle" 10.9.0.1 "entered-${who%% *}"
		assertEquals "$who [$err]" "$([ "$who" = without ] && echo 1 || echo 0)" "$status"
	done
	arrives entered-with
	never_arrived entered-without
	judged sys_admin default
}

test_sys_admin_makes_a_read_only_volume_writable() {
	mkdir "$work/volume"
	echo 172.18.0.2 >"$work/volume/proxy-ipv4"
	chown -R 1000 "$work/volume"
	for who in without 'with net_raw' 'with sys_admin'; do
		# shellcheck disable=SC2086 # two words
		run unshare --mount sh -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" &&
			shift && exec "$@"' sh "$work/volume" $who \
			trial sys_admin_remount "$work/volume" 192.0.2.66
		case $who in
		*sys_admin)
			assertEquals "$who [$err]" 0 "$status"
			assertEquals 192.0.2.66 "$(cat "$work/volume/proxy-ipv4")"
			;;
		*)
			assertEquals "$who [$err]" 1 "$status"
			assertEquals 172.18.0.2 "$(cat "$work/volume/proxy-ipv4")"
			;;
		esac
	done
}

test_dac_read_search_reads_a_file_that_no_path_leads_to() {
	mkdir -m 0700 "$work/state"
	printf secret >"$work/state/mitmproxy-ca.pem"
	chmod 0600 "$work/state/mitmproxy-ca.pem"
	handle=$(trial file_handle "$work/state/mitmproxy-ca.pem") || fail 'no handle'
	# With the directory covered, nothing is left of the file but its handle.
	for who in without 'with dac_read_search'; do
		# shellcheck disable=SC2086 # words
		run unshare --mount sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' sh \
			"$work/state" $who trial dac_read_search "$work" $handle secret
		assertEquals "$who [$err]" "$([ "$who" = without ] && echo 1 || echo 0)" "$status"
	done
	judged dac_read_search default
}

test_bpf_loads_programs_into_the_kernel() {
	shown bpf default bpf
}

test_sys_module_is_asked_for_when_code_is_loaded() {
	shown_if_there sys_module default sys_module
}

test_sys_rawio_opens_the_machines_memory() {
	# Of file permissions nothing stands in the way.
	mknod -m 0666 "$work/mem" c 1 1
	shown_if_there sys_rawio default sys_rawio "$work/mem"
}

test_sys_ptrace_takes_a_socket_of_a_process_outside() {
	seal take
	background nsenter -n -t "$outside" trial hold_socket 10.9.0.1 "$work/holder"
	wait_for 10 test -s "$work/holder"
	read -r holder descriptor <"$work/holder"
	expect 1 in_ns "$cell" without trial sys_ptrace "$holder" "$descriptor" taken-without
	expect 0 in_ns "$cell" with sys_ptrace trial sys_ptrace "$holder" "$descriptor" taken-with
	arrives taken-with
	never_arrived taken-without
	judged sys_ptrace all-bypass
	end_process "$pid"
}

test_sys_boot_ends_every_process_of_its_pid_namespace() {
	for who in without 'with sys_boot'; do
		# shellcheck disable=SC2086 # two words
		run unshare --pid --fork --kill-child --mount-proc sh -c \
			'"$@"; echo "still here, $?"' sh $who trial sys_boot
		case $who in
		without) assertEquals 'still here, 1' "$out" ;;
		*) assertEquals '' "$out" ;;
		esac
	done
	judged sys_boot all-bypass
}

test_perfmon_watches_the_kernel() {
	# Below 2 everybody may watch the kernel.
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]; then
		judged perfmon all-bypass
		return
	fi
	shown perfmon all-bypass perfmon
}

test_checkpoint_restore_opens_what_a_process_has_mapped() {
	shown checkpoint_restore all-bypass checkpoint_restore
}

test_syslog_reads_the_kernels_log_and_addresses() {
	shown syslog all-bypass syslog
}

test_mknod_makes_device_nodes() {
	mkdir -m 0777 "$work/nodes"
	shown mknod all-bypass mknod "$work/nodes/device"
}

. "$CELL_TEST_SHUNIT2"

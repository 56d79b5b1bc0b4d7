#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns jq strace nft setpriv
# cell-capcheck: power over a network namespace by owning a user namespace, with all sets empty.
# Each time a real policy shows whether the power is there.
. "$(dirname "$0")/lib/cell_test.sh"

empty='--clear-groups --inh-caps -all --ambient-caps -all --bounding-set -all --pdeathsig KILL'

# as UID COMMAND...: with that uid and five empty sets.
as() {
	as_uid=$1
	shift
	# shellcheck disable=SC2086 # a list of words
	setpriv --reuid "$as_uid" --regid "$as_uid" $empty "$@"
}

# holder UID COMMAND...: a process of that uid which becomes COMMAND, and in it a sleep; $pid.
holder() {
	holder_uid=$1
	shift
	background setpriv --reuid "$holder_uid" --regid "$holder_uid" --clear-groups \
		--pdeathsig KILL "$@"
	wait_for 10 grep -q sleep "/proc/$pid/comm" || fail "no holder: $*"
}

# policy HOLDER: a real table in the holder's network namespace.
policy() {
	in_ns "$1" nft 'table inet seal { chain output { type filter hook output priority 0
		policy drop
		}
		}' || fail 'no policy'
}

# can_delete HOLDER COMMAND...: what COMMAND nft delete does to it; 0 if the policy is gone.
can_delete() {
	can_delete_holder=$1
	shift
	"$@" nft delete table inet seal 2>"$work/nft"
	! in_ns "$can_delete_holder" nft list table inet seal >/dev/null 2>&1
}

# in_ns_as HOLDER UID COMMAND...: in that network namespace, user namespace unchanged.
in_ns_as() {
	in_ns_holder=$1 in_ns_uid=$2
	shift 2
	# shellcheck disable=SC2086 # a list of words
	nsenter -n -t "$in_ns_holder" setpriv --reuid "$in_ns_uid" --regid "$in_ns_uid" $empty "$@"
}

test_the_owner_of_the_user_namespace_below_is_refused() {
	holder 1000 unshare --user --net --map-root-user sleep 300
	policy "$pid"
	user_namespace=$(readlink "/proc/$pid/ns/user")
	expect 1 in_ns_as "$pid" 1000 cell-capcheck --json
	assertEquals 'all sets are empty' 5 "$(jq '[.sets[] | select(. == "0000000000000000")] | length' \
		"$work/out")"
	assertEquals '[]' "$(jq -c .held "$work/out")"
	assertEquals "$user_namespace" "$(jq -r .netns_userns "$work/out")"
	assertEquals "$(readlink /proc/self/ns/user)" "$(jq -r .userns "$work/out")"
	assertEquals "$user_namespace 1000 uid" \
		"$(jq -r '.ownership | "\(.userns) \(.uid) \(.by)"' "$work/out")"
	assertContains 'reason' "$(jq -r .error.message "$work/out")" \
		"owns $user_namespace, and with it every capability over its network namespace"
	assertTrue 'and does delete the policy' "can_delete $pid in_ns_as $pid 1000"
	end_process "$pid"
}

test_another_uid_in_the_same_place_is_accepted_and_has_no_power() {
	holder 1000 unshare --user --net --map-root-user sleep 300
	policy "$pid"
	expect 0 in_ns_as "$pid" 1001 cell-capcheck
	assertFalse 'cannot delete' "can_delete $pid in_ns_as $pid 1001"
	assertContains "$(cat "$work/nft")" 'Operation not permitted'
	end_process "$pid"
}

test_the_same_uid_in_a_namespace_of_its_own_level_is_accepted_and_has_no_power() {
	netns_new
	policy "$pid"
	expect 0 in_ns_as "$pid" 1000 cell-capcheck --json
	assertEquals "$(readlink /proc/self/ns/user)" "$(jq -r .netns_userns "$work/out")"
	assertFalse 'cannot delete' "can_delete $pid in_ns_as $pid 1000"
	end_process "$pid"
}

test_another_process_is_judged_like_oneself() {
	holder 1000 unshare --user --net --map-root-user sleep 300
	owner=$pid
	# shellcheck disable=SC2086 # a list of words
	background nsenter -n -t "$owner" setpriv --reuid 1000 --regid 1000 $empty sleep 300
	wait_for 10 grep -q sleep "/proc/$pid/comm"
	expect 1 cell-capcheck --pid "$pid"
	assertContains "$out" "process $pid (sleep, uid 1000) owns user:["
	end_process "$pid"
	# shellcheck disable=SC2086 # a list of words
	background nsenter -n -t "$owner" setpriv --reuid 1001 --regid 1001 $empty sleep 300
	wait_for 10 grep -q sleep "/proc/$pid/comm"
	expect 0 cell-capcheck --pid "$pid"
	end_process "$pid"
	end_process "$owner"
}

# The owner's uid is only the real or the saved one: the process makes it the effective one.
test_a_process_that_can_take_the_owners_uid_up_again_is_refused() {
	holder 1000 unshare --user --net --map-root-user sleep 300
	owner=$pid
	# shellcheck disable=SC2086 # a list of words
	background nsenter -n -t "$owner" setpriv --ruid 1000 --euid 1001 --rgid 1001 --egid 1001 \
		$empty /usr/bin/python3 -c '
import os, subprocess, sys, time
delete = ["nft", "delete", "table", "inet", "seal"]
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.02)
other = subprocess.run(delete, preexec_fn=lambda: os.setresuid(1001, 1001, 1001))
print(other.returncode, flush=True)
os.setresuid(-1, 1000, -1)
print(subprocess.run(delete).returncode, flush=True)
time.sleep(300)' "$work/go" >"$work/ready" 2>"$work/nft"
	wait_for 10 grep -q ready "$work/ready" || fail 'not ready'
	policy "$owner"
	assertEquals '1000 1001' "$(awk '/^Uid/ {print $2, $3}' "/proc/$pid/status")"
	expect 1 cell-capcheck --pid "$pid"
	assertContains "$out" "owns $(readlink "/proc/$owner/ns/user")"
	chmod 0755 "$work"
	: >"$work/go"
	wait_for 10 grep -q '^0$' "$work/ready"
	assertEquals 'refused as uid 1001, then done' 'ready 1 0' "$(tr '\n' ' ' <"$work/ready" | sed 's/ $//')"
	assertFalse 'the policy is gone' "in_ns $owner nft list table inet seal 2>/dev/null"
	end_process "$pid"
	end_process "$owner"
}

test_a_process_above_with_a_capability_to_become_the_owner_is_refused() {
	holder 1000 unshare --user --net --map-root-user sleep 300
	policy "$pid"
	user_namespace=$(readlink "/proc/$pid/ns/user")
	set -- nsenter -n -t "$pid" setpriv --clear-groups --inh-caps -all
	expect 0 "$@" --bounding-set -all cell-capcheck
	assertFalse 'cannot delete' "can_delete $pid $* --bounding-set -all"
	expect 1 "$@" --bounding-set -all,+setuid cell-capcheck --json
	assertEquals '[]' "$(jq -c .held "$work/out")"
	assertEquals "$user_namespace 1000 capability" \
		"$(jq -r '.ownership | "\(.userns) \(.uid) \(.by)"' "$work/out")"
	assertContains "$(jq -r .error.message "$work/out")" "can become the owner of $user_namespace"
	assertTrue 'and does delete the policy' \
		"can_delete $pid $* --bounding-set -all,+setuid setpriv --reuid 1000"
	# In the owner's own level the same capability is nothing to be refused.
	expect 0 setpriv --clear-groups --inh-caps -all --bounding-set -all,+setuid cell-capcheck --json
	assertEquals null "$(jq -c .ownership "$work/out")"
	end_process "$pid"
}

# Two levels: what counts is who owns the namespace next below the process's own, not who owns the
# one that owns the network namespace.
test_two_levels_up_the_owner_of_the_upper_one_is_refused() {
	holder 1000 unshare --user --map-root-user unshare --user --map-root-user --net sleep 300
	policy "$pid"
	expect 1 in_ns_as "$pid" 1000 cell-capcheck
	assertTrue 'and does delete the policy' "can_delete $pid in_ns_as $pid 1000"
	policy "$pid"
	expect 0 in_ns_as "$pid" 1001 cell-capcheck
	assertFalse 'cannot delete' "can_delete $pid in_ns_as $pid 1001"
	end_process "$pid"
}

test_two_levels_up_the_owner_of_the_lower_one_alone_is_accepted_and_has_no_power() {
	# The upper one belongs to root, the lower one to uid 1000.
	background unshare --user sleep 300
	wait_for 10 grep -q sleep "/proc/$pid/comm" || fail 'no upper namespace'
	upper=$pid
	echo 0 0 2000 >"/proc/$upper/uid_map"
	echo 0 0 2000 >"/proc/$upper/gid_map"
	background nsenter -U -t "$upper" setpriv --reuid 1000 --regid 1000 --clear-groups \
		--pdeathsig KILL unshare --user --net --map-root-user sleep 300
	wait_for 10 grep -q sleep "/proc/$pid/comm" || fail 'no lower namespace'
	policy "$pid"
	expect 0 in_ns_as "$pid" 1000 cell-capcheck
	assertFalse 'cannot delete' "can_delete $pid in_ns_as $pid 1000"
	# Root's uid owns the upper one: with all sets empty it has the power.
	expect 1 in_ns_as "$pid" 0 cell-capcheck
	assertTrue 'root with empty sets does delete it' "can_delete $pid in_ns_as $pid 0"
	end_process "$pid"
	end_process "$upper"
}

test_a_namespace_owned_above_gives_no_power() {
	netns_new
	policy "$pid"
	below="nsenter -n -t $pid setpriv --reuid 1000 --regid 1000 --clear-groups unshare --user
		--map-root-user setpriv --inh-caps -all --bounding-set -all"
	# shellcheck disable=SC2086 # a list of words
	expect 0 $below cell-capcheck --json
	assertEquals above "$(jq -r .netns_userns "$work/out")"
	assertFalse 'cannot delete' "can_delete $pid $below"
	# With its sets it is refused by name, though they count only below.
	# shellcheck disable=SC2086 # a list of words
	expect 1 ${below%setpriv --inh*} cell-capcheck
	assertFalse 'cannot delete' "can_delete $pid ${below%setpriv --inh*}"
	end_process "$pid"
}

# A sandbox made by bubblewrap as an ordinary user is such a place too.
test_inside_a_rootless_sandbox_the_sets_decide() {
	sandbox="setpriv --reuid 1000 --regid 1000 --clear-groups bwrap --unshare-user --unshare-net
		--ro-bind / / --proc /proc"
	# shellcheck disable=SC2086 # a list of words
	expect 0 $sandbox cell-capcheck
	# shellcheck disable=SC2086 # a list of words
	expect 1 $sandbox --cap-add CAP_NET_ADMIN cell-capcheck
}

# Only NS_GET_USERNS (ioctl 2 here, behind the two that ask for the kind and the one for the parent)
# may say EPERM; it means "owned above".
test_only_the_kernels_own_no_means_above() {
	tool="$top/build/bin/cell-capcheck --allow all-bypass"
	# shellcheck disable=SC2086 # a list of words
	calls=$(strace -e trace=ioctl -e signal=none $tool 2>&1 | grep -c '^ioctl')
	assertTrue "ioctl calls: $calls" "[ $calls -ge 3 ]"
	above=0
	for error in EPERM ENOTTY EACCES ENOMEM; do
		for call in $(seq 1 "$calls"); do
			# shellcheck disable=SC2086 # a list of words
			run strace -o /dev/null -e trace=ioctl -e "inject=ioctl:error=$error:when=$call" \
				$tool --json
			case $error-$status in
			EPERM-0)
				assertEquals above "$(jq -r .netns_userns "$work/out")"
				above=$((above + 1))
				;;
			*) assertEquals "$error at ioctl $call [$err]" 103 "$status" ;;
			esac
		done
	done
	assertEquals 'one call may say so' 1 "$above"
}

test_an_owner_that_cannot_be_read_is_evidence() {
	holder 1000 unshare --user --net --map-root-user sleep 300
	calls=$(in_ns_as "$pid" 1001 strace -e trace=ioctl -e signal=none \
		"$top/build/bin/cell-capcheck" 2>&1 | grep -c '^ioctl')
	for call in $(seq 1 "$calls"); do
		expect 103 in_ns_as "$pid" 1001 strace -o /dev/null -e trace=ioctl \
			-e "inject=ioctl:error=EIO:when=$call" "$top/build/bin/cell-capcheck"
	done
	end_process "$pid"
}

. "$CELL_TEST_SHUNIT2"

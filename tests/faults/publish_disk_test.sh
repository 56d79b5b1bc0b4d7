#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns openssl
# cell-publish on volumes that can't be written: full, without inodes, read-only, another owner's, a
# single file mounted instead of the directory. What was published stays, nothing is left behind.
. "$(dirname "$0")/../lib/cell_test.sh"

# Everything happens in one mount namespace and one network namespace; $ns is a process in both.
test_file_setup() {
	netns_new || exit 1
	net=$netns_pid
	in_ns "$net" ip address add 10.5.0.1/32 dev lo
	in_ns "$net" ip address add 10.5.0.2/32 dev lo
	background nsenter -n -t "$net" unshare -m --propagation private sleep infinity
	ns=$pid
	wait_for 10 sh -c "[ \"\$(cat /proc/$ns/comm)\" = sleep ]" || exit 1
	mkdir "$work/state" "$work/dir"
}

inside() {
	nsenter -n -m -t "$ns" -- "$@"
}

publish() {
	inside "$CELL_BIN/cell-publish" --state "$work/state" --dir "$work/dir" "$@"
}

test_setup() {
	inside umount "$work/dir" 2>/dev/null
	inside umount "$work/state" 2>/dev/null
	inside mount -t tmpfs -o size=64k none "$work/dir"
	inside mount -t tmpfs -o size=64k none "$work/state"
	inside chmod 0755 "$work/dir"
	expect 0 publish --address 10.5.0.1
}

test_teardown() {
	inside umount "$work/dir"
	inside umount "$work/state"
}

tree() {
	inside sh -c "cd '$work' && find dir state -printf '%p %y %m %i\n' -type f -exec sha256sum {} + | sort"
}

# unchanged TEXT OPTION...: 111 with that text, and not one byte, mode or inode differs.
unchanged() {
	unchanged_text=$1
	shift
	before=$(tree)
	expect_error 111 "$unchanged_text" publish "$@"
	assertEquals "left by: $*" "$before" "$(tree)"
}

fill() {
	inside sh -c "dd if=/dev/zero of='$1/filler' bs=4k 2>/dev/null; test -s '$1/filler'" ||
		fail 'nothing was filled'
}

test_full_volume_leaves_the_old_pair() {
	fill "$work/dir"
	unchanged 'No space left on device' --address 10.5.0.1 --renew
	unchanged 'No space left on device' --address 10.5.0.2
	unchanged 'cannot write' --address 10.5.0.2 --renew
	expect 0 publish --address 10.5.0.1 # nothing to write
	inside rm "$work/dir/filler"
	expect 0 publish --address 10.5.0.2 --renew
	expect 0 publish --check
}

test_full_state_directory_leaves_the_old_pair() {
	fill "$work/state"
	unchanged 'No space left on device' --address 10.5.0.2 --renew
	assertContains "$err" "$work/state/mitmproxy-ca.pem"
	expect 0 publish --address 10.5.0.2
	inside rm "$work/state/filler"
	expect 0 publish --address 10.5.0.2 --renew
}

test_volume_without_inodes_leaves_the_old_pair() {
	inside umount "$work/dir"
	inside mount -t tmpfs -o size=64k,nr_inodes=4 none "$work/dir"
	inside chmod 0755 "$work/dir"
	expect 0 publish --address 10.5.0.1
	inside touch "$work/dir/filler"
	inside sh -c "! touch '$work/dir/filler2' 2>/dev/null" || fail 'there are inodes left'
	unchanged 'cannot create' --address 10.5.0.1 --renew
	unchanged 'No space left on device' --address 10.5.0.2
}

test_first_publish_into_a_full_volume_publishes_nothing() {
	inside sh -c "rm '$work/dir/'*"
	fill "$work/dir"
	expect_error 111 'No space left on device' publish --address 10.5.0.1
	assertEquals filler "$(inside ls -A "$work/dir")"
}

test_stale_address_is_removed_from_a_full_volume() {
	inside sh -c "echo 10.5.0.77 >'$work/dir/proxy-ipv4'"
	fill "$work/dir"
	expect_error 111 'No space left on device' publish --address 10.5.0.1 --renew
	inside sh -c "! test -e '$work/dir/proxy-ipv4'" || fail 'the stale address is still there'
}

test_read_only_volume_is_told_and_kept() {
	inside mount -o remount,ro "$work/dir"
	unchanged 'Read-only file system' --address 10.5.0.1 --renew
	unchanged 'Read-only file system' --address 10.5.0.2
	expect 0 publish --address 10.5.0.1
	expect 0 publish --check
	inside mount -o remount,rw "$work/dir"
	inside sh -c "echo 10.5.0.77 >'$work/dir/proxy-ipv4'"
	inside mount -o remount,ro "$work/dir"
	unchanged 'cannot remove' --address 10.5.0.1
	inside mount -o remount,rw "$work/dir"
}

test_read_only_state_directory_is_told() {
	inside mount -o remount,ro "$work/state"
	unchanged 'Read-only file system' --address 10.5.0.1 --renew
	expect 0 publish --check
	inside mount -o remount,rw "$work/state"
}

test_volume_of_another_owner_is_told_and_kept() {
	inside chown -R 1000:1000 "$work/state"
	inside chown 2000:2000 "$work/dir"
	before=$(tree)
	# The directories above may be closed to others: a copy of the tool and both by bind mount.
	expect_error 111 'Permission denied' inside unshare -m sh -c "mount -t tmpfs none /mnt &&
		mkdir /mnt/tool /mnt/state /mnt/dir && cp '$CELL_BIN/cell-publish' /mnt/tool/ &&
		mount --bind '$work/state' /mnt/state && mount --bind '$work/dir' /mnt/dir &&
		exec setpriv --reuid 1000 --regid 1000 --clear-groups /mnt/tool/cell-publish \
		--state /mnt/state --dir /mnt/dir --address 10.5.0.2"
	assertEquals 'left' "$before" "$(tree)"
	# Its own owner can.
	inside chown 1000:1000 "$work/dir"
	expect 0 inside unshare -m sh -c "mount -t tmpfs none /mnt &&
		mkdir /mnt/tool /mnt/state /mnt/dir && cp '$CELL_BIN/cell-publish' /mnt/tool/ &&
		mount --bind '$work/state' /mnt/state && mount --bind '$work/dir' /mnt/dir &&
		exec setpriv --reuid 1000 --regid 1000 --clear-groups /mnt/tool/cell-publish \
		--state /mnt/state --dir /mnt/dir --address 10.5.0.2"
}

test_mounted_file_is_told_and_kept() {
	for name in proxy-ipv4 mitmproxy-ca-cert.pem; do
		inside mount --bind "$work/dir/$name" "$work/dir/$name"
		unchanged 'mount the directory, not the file' --address 10.5.0.2 --renew
		assertContains "$err" "$work/dir/$name"
		expect 0 publish --address 10.5.0.1
		run publish --check
		assertContains "$err" 'is mounted by itself'
		inside umount "$work/dir/$name"
	done
	expect 0 publish --check
	assertEquals '' "$err"
	expect 0 publish --address 10.5.0.2 --renew
}

test_mounted_stale_address_is_told() {
	inside sh -c "echo 10.5.0.77 >'$work/dir/proxy-ipv4'"
	inside mount --bind "$work/dir/proxy-ipv4" "$work/dir/proxy-ipv4"
	unchanged 'mount the directory, not the file' --address 10.5.0.1
	inside umount "$work/dir/proxy-ipv4"
}

test_reader_of_a_mounted_file_keeps_the_old_one() {
	# Why the page says to mount the directory: shown, so that it stays true.
	background nsenter -n -m -t "$ns" unshare -m --propagation private sh -c \
		"touch '$work/state/seen' && mount --bind '$work/dir/proxy-ipv4' '$work/state/seen' &&
		: >'$work/reader' && exec sleep infinity"
	reader=$pid
	wait_for 10 test -e "$work/reader" || fail 'no reader'
	expect 0 publish --address 10.5.0.2
	assertEquals 10.5.0.2 "$(inside cat "$work/dir/proxy-ipv4")"
	assertEquals 10.5.0.1 "$(nsenter -m -t "$reader" cat "$work/state/seen")"
	end_process "$reader"
}

. "$CELL_TEST_SHUNIT2"

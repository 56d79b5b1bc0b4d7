# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # for those who source this, behind cell_test.sh
# Scenes for faults in cell-publish: how each begins, what is done, what every reader may rely on.
# $scenario: first | other_ca | other_address | renew | renew_and_move | stale

# CELL_TEST_LONG=1: also at the calls before the first that could change anything.
test_file_setup() {
	netns_new || exit 1
	net=$netns_pid
	in_ns "$net" ip address add 10.5.0.1/32 dev lo
	in_ns "$net" ip address add 10.5.0.2/32 dev lo
	# Two runs' authorities, and what each publishes.
	for run in old new; do
		mkdir -p "$work/$run/state" "$work/$run/dir"
		in_ns "$net" "$CELL_BIN/cell-publish" --state "$work/$run/state" --dir "$work/$run/dir" \
			--address 10.5.0.1 >/dev/null || exit 1
	done
}

# scene: both directories as the scenario begins.
scene() {
	rm -rf "$work/state" "$work/dir"
	mkdir "$work/state" "$work/dir"
	case $scenario in
	first) ;;
	*)
		cp -p "$work/old/dir/"* "$work/dir/"
		cp -p "$work/old/state/"* "$work/state/"
		;;
	esac
	case $scenario in
	other_ca) cp -p "$work/new/state/mitmproxy-ca.pem" "$work/state/" ;;
	stale) echo 10.5.0.77 >"$work/dir/proxy-ipv4" ;;
	esac
}

# act [COMMAND...]: the publish of the scenario, under COMMAND.
act() {
	case $scenario in
	other_address) set -- "$@" "$CELL_BIN/cell-publish" --address 10.5.0.2 ;;
	renew) set -- "$@" "$CELL_BIN/cell-publish" --address 10.5.0.1 --renew ;;
	renew_and_move) set -- "$@" "$CELL_BIN/cell-publish" --address 10.5.0.2 --renew ;;
	*) set -- "$@" "$CELL_BIN/cell-publish" --address 10.5.0.1 ;;
	esac
	nsenter -n -t "$net" "$@" --state "$work/state" --dir "$work/dir" >/dev/null 2>&1
}

# judge WHERE: what every reader may rely on, whatever happened.
judge() {
	if grep -rlq 'PRIVATE KEY' "$work/dir"; then fail "$1: a private key is published"; fi
	find "$work/state" -type f -name '*ca*' ! -perm 600 | grep -q . &&
		fail "$1: a key that others can read"
	[ -e "$work/dir/proxy-ipv4" ] || return 0
	address=$(cat "$work/dir/proxy-ipv4")
	belongs=yes
	case $address in 10.5.0.1 | 10.5.0.2) ;; *) [ "$scenario" = stale ] || belongs=no ;; esac
	# An address is there, so a whole certificate is, and it is the one the address came with.
	if cmp -s "$work/dir/mitmproxy-ca-cert.pem" "$work/old/dir/mitmproxy-ca-cert.pem"; then
		# The old one goes with the old address, or with a new one of the same authority.
		case $scenario:$address in
		first:* | renew_and_move:10.5.0.2) belongs=no ;;
		esac
	else
		openssl x509 -in "$work/dir/mitmproxy-ca-cert.pem" >"$work/seen" 2>/dev/null || belongs=no
		openssl x509 -in "$work/state/mitmproxy-ca.pem" >"$work/ours" 2>/dev/null || belongs=no
		cmp -s "$work/seen" "$work/ours" || belongs=no
		case $scenario:$address in
		renew_and_move:10.5.0.1) belongs=no ;;
		esac
	fi
	assertEquals "$1: the pair $address" yes "$belongs"
}

# The calls of one whole publish as "NAME N" lines, N counting within NAME.
calls() {
	scene
	act strace -f -o "$work/log" || fail "$scenario does not work at all"
	awk '{
		sub(/^[0-9]+ +/, "")
		if (!match($0, /^[a-z0-9_]+\(/)) next
		name = substr($0, 1, RLENGTH - 1)
		count[name]++
		print name, count[name]
	}' "$work/log" >"$work/calls.all"
	if [ -n "${CELL_TEST_LONG:-}" ]; then
		cp "$work/calls.all" "$work/calls"
	else
		# Before it makes its state directory the tool only looks.
		awk '$1 == "mkdir" { started = 1 } started' "$work/calls.all" >"$work/calls"
	fi
}

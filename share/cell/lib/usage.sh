# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What is known to be wrong before anything is made: a usage error, not a trial that did not start.

usage_check() {
	[ -d "${PWD:-/gone}" ] || usage_error 'the current directory is gone'
	# Read, not tried: a target may be a socket or a call of the caller's own.
	usage_targets closed "$opt_closed"
	usage_targets open "$opt_open"
	[ "$opt_engine" = netns ] || return 0
	[ -z "$opt_chdir" ] || [ -d "$opt_chdir" ] || usage_error "--chdir $opt_chdir is not a directory"
	subnet_read || usage_error "--subnet $opt_subnet is not an IPv4 network with a prefix of 8 to 30"
	user_read || usage_error "$user_fault"
}

# usage_targets OPTION TARGETS: one a line.
usage_targets() {
	while IFS= read -r usage_target; do
		[ -n "$usage_target" ] || continue
		case $usage_target in
		https://*) continue ;; # cell-proxycheck judges those
		http://*) usage_target=http+proxy://$CELL_PROXY_HOST:$CELL_PROXY_PORT/$usage_target ;;
		esac
		usage_words=$("$cell_bin/cell-probe" --dry-run -- "$usage_target" 2>&1) ||
			usage_error "--$1 ${usage_words##*cell-probe: }"
	done <<-END
		$2
	END
}

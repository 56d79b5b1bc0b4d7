# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What run_trial shows: every line goes to stderr and, once there is a directory, to run.log. Nobody
# may read the one and the other's disk may be full: a trial goes on without its words.

# say TEXT: one line, as it is. Nothing on the terminal with --quiet.
say() { say_as '%s\n' "$1"; }

# say_as FORMAT ARG...: as printf(1).
# shellcheck disable=SC2059 # the format is its caller's, and a literal
say_as() {
	[ -n "${opt_quiet:-}" ] || printf "$@" >&2 || :
	[ -z "${out:-}" ] || printf "$@" >>"$out/run.log" || :
}

# complain TEXT: an error line; --quiet does not silence it.
complain() {
	printf '%s\n' "$1" >&2 || :
	[ -z "${out:-}" ] || printf '%s\n' "$1" >>"$out/run.log" || :
}

# say_step WORD STATE TEXT [SECONDS]: "  gate     passed    no capability ...     0.01 s"
say_step() {
	if [ -n "${4:-}" ]; then
		say_as '  %-8s %-9s %-52s %6.2f s\n' "$1" "$2" "$3" "$4"
	elif [ -n "$3" ]; then
		say_as '  %-8s %-9s %s\n' "$1" "$2" "$3"
	else
		say_as '  %-8s %s\n' "$1" "$2"
	fi
}

# note NAME TEXT: keeps a fact for the summary.
note() { printf '%s\n' "$2" >"$state/$1"; }

# counted NUMBER NOUN: "1 request", "2 requests"
counted() { if [ "$1" -eq 1 ]; then echo "$1 $2"; else echo "$1 ${2}s"; fi; }

usage_error() {
	complain "run_trial: $1"
	exit 100
}

# clock: sets $now to hundredths of a second since the machine started. The shell reads that itself,
# where asking date(1) would cost two processes a step.
clock() {
	read -r now _ </proc/uptime
	now=$((${now%.*} * 100 + 1${now#*.} - 100)) # the 1: "08" would be no octal number
}

# seconds_since NOW: sets $seconds, with two decimals.
seconds_since() {
	clock
	seconds=$(((now - $1) / 100)).$(((now - $1) / 10 % 10))$(((now - $1) % 10))
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What run_trial shows: every line goes to stderr and, once there is a directory, to run.log.

# say TEXT: one line, as it is. Nothing on the terminal with --quiet.
say() {
	[ -n "${opt_quiet:-}" ] || printf '%s\n' "$1" >&2
	[ -z "${out:-}" ] || printf '%s\n' "$1" >>"$out/run.log"
}

# complain TEXT: an error line; --quiet does not silence it.
complain() {
	printf '%s\n' "$1" >&2
	[ -z "${out:-}" ] || printf '%s\n' "$1" >>"$out/run.log"
}

# say_step WORD STATE TEXT [SECONDS]: "  gate     passed    no capability ...     0.01 s"
say_step() {
	if [ -n "${4:-}" ]; then
		say "$(printf '  %-8s %-9s %-52s %6.2f s' "$1" "$2" "$3" "$4")"
	elif [ -n "$3" ]; then
		say "$(printf '  %-8s %-9s %s' "$1" "$2" "$3")"
	else
		say "$(printf '  %-8s %s' "$1" "$2")"
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

now_ns() { date +%s%N; }

# seconds_since NANOSECONDS: with three decimals.
seconds_since() {
	seconds_ms=$((($(now_ns) - $1) / 1000000))
	printf '%d.%03d' $((seconds_ms / 1000)) $((seconds_ms % 1000))
}

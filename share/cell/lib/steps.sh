# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# One helper for every step of a trial: names it, runs it, keeps its record and its time.

# end_trial OUTCOME STEP TOOL CODE MESSAGE: says how the trial ended, once; the first one counts.
end_trial() {
	[ ! -e "$state/outcome" ] || return 0
	note cause_step "$2"
	note cause_tool "$3"
	note cause_exit "$4"
	note cause_message "$5"
	note outcome "$1"
}

# not_started STEP TOOL CODE MESSAGE: no subject ran. Ends the trial; run_trial says the rest.
not_started() {
	end_trial not-started "$@"
	exit 125
}

# Ends the trial if a signal came; asked between two steps, while no subject runs.
check_interrupt() {
	if [ -e "$state/interrupt" ]; then
		read -r interrupt <"$state/interrupt" || :
		end_trial interrupted "${CELL_STEP:-setup}" run_trial 0 "$interrupt"
		exit 125
	fi
}

# record_field FIELD: sets $field to a number, or a string without escapes, of the last record. The
# records are ours, compact and one line; jq reads them once, at the end.
record_field() {
	field=
	case $record in
	*"\"$1\":"*)
		field=${record#*"\"$1\":"}
		field=${field#\"}
		field=${field%%[\",\}]*}
		;;
	esac
}

# record_message: what the last record says of its error, for a line on the terminal.
record_message() {
	printf '%s\n' "$record" | sed -n 's/.*"message":"\(\([^"\\]\|\\.\)*\)".*/\1/p' |
		sed 's/\\\(["\\]\)/\1/g'
}

# ask STEP TOOL PREFIX... -- : runs "PREFIX... TOOL --json ARG...", keeps $record, $answer, $seconds.
# An answer is a pair: 0 or 1 count only together with one record of that tool whose exit is that
# number, since bwrap, nsenter and docker exec have a 1 of their own; else $answer is 103.
# usage: ask STEP TOOL RUNNER ARG...   where RUNNER is a function of the engine or "plain"
ask() {
	CELL_STEP=$1
	ask_tool=$2
	ask_runner=$3
	shift 3
	export CELL_STEP
	check_interrupt
	clock
	ask_began=$now
	answer=0
	record=$("$ask_runner" "$ask_tool" --json "$@" 2>"$state/stderr") || answer=$?
	seconds_since "$ask_began"
	case $record in
	*"
"*) ask_pair=no ;;
	'{"tool":"'"$ask_tool"'","format":1,'*'"exit":'"$answer",*'}') ask_pair=yes ;;
	*) ask_pair=no ;;
	esac
	if [ "$ask_pair" = yes ]; then
		printf '%s\n' "$record" >>"$out/evidence.jsonl"
	else
		case $answer in 0 | 1) answer=103 ;; esac
	fi
	message=
	if [ "$answer" -ne 0 ]; then
		[ "$ask_pair" = no ] || message=$(record_message)
		[ -n "$message" ] || message=$(head -n 1 "$state/stderr" | cut -c 1-300)
		[ -n "$message" ] || message="$ask_tool said $answer"
	fi
	printf '%s %s %s\n' "$CELL_STEP" "$seconds" "$answer" >>"$state/steps"
}

# require: as ask, and anything but 0 ends the trial before the subject exists.
require() {
	ask "$@"
	[ "$answer" -eq 0 ] || {
		say_step "${1%%.*}" NO "$message"
		not_started "$1" "$2" "$answer" "$message"
	}
}

# refused_packets RECORD: sets $refused_sum, of a policy record's counters of what was somebody's
# doing: "counters":{"tcp":{"packets":11,"bytes":660},...}.
refused_packets() {
	refused_sum=0
	case $1 in *'"counters":{'*) ;; *) return 0 ;; esac
	refused_rest=${1#*'"counters":{'}
	refused_rest="${refused_rest%%"}}"*}},"
	while [ -n "$refused_rest" ]; do
		case $refused_rest in
		'"inbound":'* | '"kernel":'*) ;;
		*'"packets":'*)
			refused_number=${refused_rest#*'"packets":'}
			refused_sum=$((refused_sum + ${refused_number%%[!0-9]*}))
			;;
		esac
		refused_rest=${refused_rest#*'},'}
	done
}

# refused_before: where in refused.jsonl the subject's own packets begin: when the watcher has
# written what the probes had refused, or after a second (a loaded machine; or it lost some).
refused_before() {
	refused_packets "$sealed_counters"
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		refused_lines=$(wc -l <"$out/refused.jsonl")
		[ "$refused_lines" -le "$refused_sum" ] || break # and its first record, start
		sleep 0.05
	done
	note refused_before "$refused_lines"
}

plain() {
	plain_tool=$1
	shift
	"$cell_bin/$plain_tool" "$@"
}

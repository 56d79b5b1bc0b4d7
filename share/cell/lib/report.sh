#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes a trial's report, one HTML file that needs nothing else, from the trial's directory.
#
# usage: report.sh DIR [SUMMARY] >report.html     SUMMARY is DIR/summary.json if it is not given
#
# A file that is missing is an empty one, a line that is no JSON is left out: a report of a broken
# trial is wanted most of all. Logs are read up to 4 MiB, their beginning and their end.
set -eu

fail() {
	echo "report.sh: $1" >&2
	exit "$2"
}
[ $# -eq 1 ] || [ $# -eq 2 ] || fail 'usage: report.sh DIR [SUMMARY]' 100
[ -d "$1" ] || fail "cannot open $1: not a directory" 103
case $0 in */*) here=${0%/*} ;; *) here=. ;; esac
trial=$1 summary=${2:-$1/summary.json} cut='' work=''
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM
sizes=$(stat -c ' %n=%s ' -- "$summary" "$trial"/*.jsonl "$trial/ruleset.nft" 2>/dev/null) || :

# take HEAD TAIL FILE: sets $taken to FILE, or where it is too long to the first and the last bytes of
# it, its lines whole or broken.
take() {
	taken=/dev/null
	[ -f "$3" ] && [ ! -L "$3" ] || return 0
	taken=$3
	take_size=${sizes##*" $3="}
	[ "${take_size%% *}" -gt $(($1 + $2)) ] || return 0
	[ -n "$work" ] || work=$(mktemp -d)
	taken=$work/${3##*/}
	head -c "$1" "$3" >"$taken"
	if [ "$2" -gt 0 ]; then
		echo >>"$taken"
		tail -c "$2" "$3" >>"$taken"
	fi
	cut="$cut${3##*/} "
}

take 4194304 0 "$summary" && set -- --rawfile summary_text "$taken"
take 2097152 0 "$trial/evidence.jsonl" && set -- "$@" --rawfile evidence_text "$taken"
take 2097152 0 "$trial/probe-before.jsonl" && set -- "$@" --rawfile before_text "$taken"
take 2097152 0 "$trial/probe-after.jsonl" && set -- "$@" --rawfile after_text "$taken"
take 3145728 1048576 "$trial/refused.jsonl" && set -- "$@" --rawfile refused_text "$taken"
take 3145728 1048576 "$trial/hits.jsonl" && set -- "$@" --rawfile hits_text "$taken"
take 65536 0 "$trial/ruleset.nft" && set -- "$@" --rawfile rules "$taken"

directory=${trial%/}
page=$(jq -n -r --arg cut "$cut" --arg directory "${directory##*/}" "$@" \
	--rawfile style "$here/report.css" -f "$here/report.jq") || fail "cannot make the page of $trial" 111
# jq 1.6 can lose an error on its way out, and its output with it.
[ -n "$page" ] || fail "cannot make the page of $trial" 111
printf '%s\n' "$page"

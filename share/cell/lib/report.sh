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
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM

# take NAME HEAD TAIL [FILE]: the first and the last bytes of a file, its lines whole or broken.
take() {
	take_file=${4:-$trial/$1}
	: >"$work/$1"
	[ -f "$take_file" ] && [ ! -L "$take_file" ] || return 0
	take_size=$(wc -c <"$take_file")
	if [ "$take_size" -le $(($2 + $3)) ]; then
		cat "$take_file" >"$work/$1"
	else
		head -c "$2" "$take_file" >"$work/$1"
		if [ "$3" -gt 0 ]; then
			echo >>"$work/$1"
			tail -c "$3" "$take_file" >>"$work/$1"
		fi
		cut="$cut$1 "
	fi
}

trial=$1 cut=
take summary.json 4194304 0 "${2:-}"
for name in evidence.jsonl probe-before.jsonl probe-after.jsonl; do take "$name" 2097152 0; done
for name in refused.jsonl hits.jsonl; do take "$name" 3145728 1048576; done
take ruleset.nft 65536 0

jq -n -r --arg cut "$cut" --arg directory "$(basename "$trial")" \
	--rawfile summary_text "$work/summary.json" --rawfile evidence_text "$work/evidence.jsonl" \
	--rawfile before_text "$work/probe-before.jsonl" --rawfile after_text "$work/probe-after.jsonl" \
	--rawfile refused_text "$work/refused.jsonl" --rawfile hits_text "$work/hits.jsonl" \
	--rawfile rules "$work/ruleset.nft" --rawfile style "$here/report.css" -f "$here/report.jq" \
	>"$work/page" || fail "cannot make the page of $1" 111
# jq 1.6 can lose an error on its way out, and its output with it.
[ -s "$work/page" ] || fail "cannot make the page of $1" 111
cat "$work/page"

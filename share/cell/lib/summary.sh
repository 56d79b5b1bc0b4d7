# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The end of a trial, in run_trial's own shell: judges what the steps left, writes summary.json.

# fact NAME [FALLBACK]: sets $fact to the first line of what a step noted.
fact() {
	fact=
	[ ! -s "$state/$1" ] || IFS= read -r fact <"$state/$1" || :
	: "${fact:=${2:-}}"
}

# void STEP TOOL CODE MESSAGE: a subject ran, and nothing is proven.
void() {
	fact outcome
	[ "$fact" = interrupted ] || note outcome void
	note cause_step "$1"
	note cause_tool "$2"
	note cause_exit "$3"
	note cause_message "$4"
}

# The trial's shell ended without a word: killed from outside, or the setup's time ran out.
summary_judge() {
	# A disk that was full leaves facts without a word in them: they are not there.
	if [ ! -s "$state/outcome" ]; then
		if [ -e "$state/subject_started" ]; then
			void trial run_trial "$trial_status" 'the trial was ended from outside'
			[ ! -s "$state/interrupt" ] || note outcome interrupted
		elif [ -s "$state/interrupt" ]; then
			note outcome interrupted
			note cause_message "$(cat "$state/interrupt")"
		else
			note outcome not-started
			note cause_step "$(tail -n 1 "$state/steps" 2>/dev/null | cut -d ' ' -f 1)"
			note cause_tool run_trial
			note cause_exit 99
			note cause_message 'the trial was ended from outside'
			[ ! -e "$state/setup_late" ] ||
				note cause_message "setup did not finish within $opt_setup_timeout s$(
					sed -n 's/.*"error":{.*"message":"\([^"]*\)".*/; the last no: \1/p' "$state/record" 2>/dev/null
				)"
		fi
	elif [ -e "$state/subject_started" ] && [ ! -s "$state/finished" ]; then
		fact outcome
		case $fact in
		void | interrupted) ;;
		*) void end run_trial "$trial_status" 'the trial ended before its end was checked' ;;
		esac
	fi
	# Evidence that must be there, and whole: JSON lines.
	fact outcome
	[ "$fact" != not-started ] && [ -e "$state/subject_started" ] || return 0
	json_lines "$out/evidence.jsonl" "$out/refused.jsonl" "$out/hits.jsonl" ||
		for summary_file in evidence.jsonl refused.jsonl hits.jsonl; do
			if [ ! -f "$out/$summary_file" ]; then
				void evidence run_trial 103 "$summary_file is missing"
			elif ! json_lines "$out/$summary_file"; then
				void evidence run_trial 103 "$summary_file is not JSON lines"
			fi
		done
}

# json_lines FILE...: 0 if all are there, and whole lines of objects.
json_lines() {
	for json_file in "$@"; do [ -f "$json_file" ] || return 1; done
	[ -z "$(tail -q -c 1 -- "$@")" ] && ! grep -qv '^{.*}$' -- "$@"
}

# summary_write COMMAND...: everything but summary.json is final before its digest is taken.
summary_write() {
	summary_judge
	fact outcome && summary_outcome=$fact
	fact cause_message && summary_cause=$fact
	case $summary_outcome in
	exited) fact subject_exit 125 && summary_exit=$fact ;;
	timed-out) summary_exit=124 ;;
	void) summary_exit=122 ;;
	interrupted)
		fact interrupt
		case $fact in INT) summary_exit=130 ;; HUP) summary_exit=129 ;; *) summary_exit=143 ;; esac
		;;
	*) summary_exit=125 ;;
	esac
	[ ! -s "$out/hosts-end" ] || say "  warning  the subject's hosts file was changed (tampering, hosts-end)"
	summary_last_words
	if ! summary_make "$@" 2>"$state/summary.log"; then
		complain "run_trial: cannot write summary.json: $(tail -n 1 "$state/summary.log" 2>/dev/null)"
		[ -e "$state/subject_started" ] && summary_exit=122 || summary_exit=125
		return 0
	fi
	rm -rf "$state"
}

# summary_hits: sets summary_requests, _blocked, _tunnels, _allowed and _failed: how many records of
# the proxy's say so, without those of the steps before the subject.
summary_hits() {
	fact hits_before 0
	# shellcheck disable=SC2046 # five numbers
	set -- $(tail -n "+$((fact + 1))" "$out/hits.jsonl" 2>/dev/null | awk '
		index($0, "\"event\":\"request\"") { requests++ }
		index($0, "\"event\":\"raw_tunnel\"") { tunnels++ }
		index($0, "\"decision\":\"refused\"") { blocked++ }
		index($0, "\"decision\":\"allowed\"") { allowed++ }
		index($0, "\"decision\":\"failed\"") { failed++ }
		END { print requests + 0, blocked + 0, tunnels + 0, allowed + 0, failed + 0 }')
	summary_requests=$1 summary_blocked=$2 summary_tunnels=$3 summary_allowed=$4 summary_failed=$5
}

# top FILE: the ten most frequent lines of standard input, each with its count, as NAME of the state.
top() { LC_ALL=C sort | uniq -c | sort -rn | head -n 10 >"$state/$1"; }

# Who was refused most: by the proxy (host:port and the rule), by the policy (class, address, port),
# and the names that were asked of a resolver. Records are ours: one line, fields in a fixed order.
summary_top() {
	: >"$state/top_hosts" && : >"$state/top_destinations" && : >"$state/top_names"
	fact hits_before 0
	[ "$summary_blocked" -eq 0 ] || tail -n "+$((fact + 1))" "$out/hits.jsonl" |
		sed -n '/"decision":"refused"/{s/.*"host":"\([^"]*\)","port":\([0-9]*\).*/\1:\2/p}' | top top_hosts
	fact refused_before 0
	tail -n "+$((fact + 1))" "$out/refused.jsonl" 2>/dev/null >"$state/packets" || :
	grep -q '"record":"packet"' "$state/packets" || return 0
	sed -n 's/.*"record":"packet","class":"\([a-z]*\)".*"destination":"\([^"]*\)","ports":{"source":[0-9]*,"destination":\([0-9]*\)}.*/\1 \2 \3/p
		s/.*"record":"packet","class":"\([a-z]*\)".*"destination":"\([^"]*\)","ports":null.*/\1 \2/p' "$state/packets" |
		grep -v -e '^kernel ' -e '^inbound ' | top top_destinations
	sed -n 's/.*"dns":{"name":"\([^"]*\)".*/\1/p' "$state/packets" | top top_names
}

summary_last_words() {
	summary_hits
	case $summary_outcome in
	exited | timed-out)
		fact refused_packets 0 && summary_refused=$fact
		summary_bound=
		fact refused
		case $fact in
		*'"truncated":true'*)
			summary_bound=" ($(sed -n 's/.*"packets":{[^}]*"recorded":\([0-9]*\).*/\1/p' "$state/refused") recorded, bound reached)"
			;;
		esac
		say_step end sealed "same namespace, same policy; $(counted "$summary_requests" request), $(counted "$summary_refused" packet) refused$summary_bound"
		;;
	not-started)
		complain "run_trial: not started: $summary_cause. Trying again is free."
		;;
	void) complain "run_trial: void: $summary_cause. It counts as an attempt." ;;
	interrupted) complain 'run_trial: interrupted' ;;
	esac
}

summary_make() {
	(
		cd "$out" || exit
		find . -type f ! -path './.state/*' ! -name lock -printf '%P\0' | LC_ALL=C sort -z >"$state/names"
		xargs -0 sha256sum -- <"$state/names" >sha256sums
		xargs -0 stat -c %s -- <"$state/names" | paste -d ' ' - sha256sums >"$state/files"
	)
	for summary_name in steps environment probe counters sealed_counters refused; do
		[ -e "$state/$summary_name" ] || : >"$state/$summary_name"
	done
	fact subject.stdout.dropped 0 && summary_dropped=$fact
	fact subject.stderr.dropped 0 && summary_dropped="$summary_dropped $fact"
	summary_top
	for summary_path in "$state"/*; do
		summary_name=${summary_path##*/}
		case $summary_name in
		outcome | cause_* | subject_* | identity | proxy_address | policy_unchanged | same_namespace | after | proxy_alive | interrupt | engine_*)
			fact "$summary_name"
			printf '%s\n' "$summary_name" "$fact"
			;;
		esac
	done >"$state/facts"
	read -r summary_kernel </proc/sys/kernel/osrelease
	summary_packages
	jq -n -c --arg trial "$CELL_TRIAL" --arg engine "$opt_engine" --argjson exit "$summary_exit" \
		--arg version "$(version)" --arg kernel "$summary_kernel" \
		--arg nftables "$summary_nftables" --arg mitmproxy "$summary_mitmproxy" \
		--arg captured "$([ -n "$opt_interactive" ] || echo 1)" \
		--arg host "$CELL_PROXY_HOST" --argjson port "$CELL_PROXY_PORT" \
		--argjson requests "$summary_requests" --argjson blocked "$summary_blocked" \
		--argjson tunnels "$summary_tunnels" \
		--argjson allowed "$summary_allowed" --argjson failed "$summary_failed" \
		--rawfile top_hosts "$state/top_hosts" --rawfile top_names "$state/top_names" \
		--rawfile top_destinations "$state/top_destinations" \
		--rawfile facts "$state/facts" --rawfile steps "$state/steps" \
		--rawfile files "$state/files" --arg dropped "$summary_dropped" \
		--rawfile environment "$state/environment" \
		--slurpfile evidence "$out/evidence.jsonl" --slurpfile probe "$state/probe" \
		--slurpfile counters "$state/counters" \
		--slurpfile sealed "$state/sealed_counters" --slurpfile refused "$state/refused" \
		-f "$cell_share/lib/summary.jq" --args -- "$@" >"$out/summary.json.new"
	# The page shows the summary, so its digest can only stand in sha256sums.
	sh "$cell_share/lib/report.sh" "$out" "$out/summary.json.new" >"$out/report.html"
	(cd "$out" && sha256sum report.html >>sha256sums)
	mv "$out/summary.json.new" "$out/summary.json"
}

# summary_packages: sets summary_nftables and summary_mitmproxy to the packages' versions, since asking
# mitmdump costs half a second; in containers the image's count.
summary_packages() {
	summary_nftables=unknown summary_mitmproxy=unknown
	if [ "$opt_engine" = compose ]; then
		summary_nftables='in the image' summary_mitmproxy='in the image'
		return 0
	fi
	while read -r summary_package summary_version; do
		case $summary_package in
		libnftables1) summary_nftables=$summary_version ;;
		mitmproxy) summary_mitmproxy=$summary_version ;;
		esac
	done <<-END
		$(dpkg-query -W -f '${Package} ${Version}\n' libnftables1 mitmproxy 2>/dev/null)
	END
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The end of a trial, in run_trial's own shell: judges what the steps left, writes summary.json.

# fact NAME [FALLBACK]: what a step noted.
fact() { if [ -s "$state/$1" ]; then cat "$state/$1"; else printf '%s\n' "${2:-}"; fi; }

# void STEP TOOL CODE MESSAGE: a subject ran, and nothing is proven.
void() {
	[ "$(fact outcome)" = interrupted ] || note outcome void
	note cause_step "$1"
	note cause_tool "$2"
	note cause_exit "$3"
	note cause_message "$4"
}

# The trial's shell ended without a word: killed from outside, or the setup's time ran out.
summary_judge() {
	if [ ! -e "$state/outcome" ]; then
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
	elif [ -e "$state/subject_started" ] && [ ! -e "$state/finished" ] &&
		[ "$(fact outcome)" != void ] && [ "$(fact outcome)" != interrupted ]; then
		void end run_trial "$trial_status" 'the trial ended before its end was checked'
	fi
	# Evidence that must be there, and whole: JSON lines.
	[ "$(fact outcome)" != not-started ] && [ -e "$state/subject_started" ] || return 0
	for summary_file in evidence.jsonl refused.jsonl hits.jsonl; do
		if [ ! -f "$out/$summary_file" ]; then
			void evidence run_trial 103 "$summary_file is missing"
		elif [ "$(tail -c 1 "$out/$summary_file" | wc -l)" -eq 0 ] && [ -s "$out/$summary_file" ] ||
			grep -qv '^{.*}$' "$out/$summary_file"; then
			void evidence run_trial 103 "$summary_file is not JSON lines"
		fi
	done
}

# summary_write COMMAND...: everything but summary.json is final before its digest is taken.
summary_write() {
	summary_judge
	summary_outcome=$(fact outcome)
	summary_cause=$(fact cause_message)
	case $summary_outcome in
	exited) summary_exit=$(fact subject_exit 125) ;;
	timed-out) summary_exit=124 ;;
	void) summary_exit=122 ;;
	interrupted)
		case $(fact interrupt) in INT) summary_exit=130 ;; HUP) summary_exit=129 ;; *) summary_exit=143 ;; esac
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

# hits TEXT: how many records of the proxy's hold TEXT, without those of the steps before the subject.
hits() {
	hits_number=$(tail -n "+$(($(fact hits_before 0) + 1))" "$out/hits.jsonl" 2>/dev/null |
		grep -cF -- "$1" || :)
	echo "${hits_number:-0}"
}

# top FILE: the ten most frequent lines of standard input, each with its count, as NAME of the state.
top() { LC_ALL=C sort | uniq -c | sort -rn | head -n 10 >"$state/$1"; }

# Who was refused most: by the proxy (host:port and the rule), by the policy (class, address, port),
# and the names that were asked of a resolver. Records are ours: one line, fields in a fixed order.
summary_top() {
	tail -n "+$(($(fact hits_before 0) + 1))" "$out/hits.jsonl" 2>/dev/null |
		sed -n '/"decision":"refused"/{s/.*"host":"\([^"]*\)","port":\([0-9]*\).*/\1:\2/p}' | top top_hosts
	tail -n "+$(($(fact refused_before 0) + 1))" "$out/refused.jsonl" 2>/dev/null >"$state/packets" || :
	sed -n 's/.*"record":"packet","class":"\([a-z]*\)".*"destination":"\([^"]*\)","ports":{"source":[0-9]*,"destination":\([0-9]*\)}.*/\1 \2 \3/p
		s/.*"record":"packet","class":"\([a-z]*\)".*"destination":"\([^"]*\)","ports":null.*/\1 \2/p' "$state/packets" |
		grep -v -e '^kernel ' -e '^inbound ' | top top_destinations
	sed -n 's/.*"dns":{"name":"\([^"]*\)".*/\1/p' "$state/packets" | top top_names
}

summary_last_words() {
	summary_requests=$(hits '"event":"request"')
	case $summary_outcome in
	exited | timed-out)
		summary_refused=$(fact refused_packets 0)
		summary_bound=
		case $(fact refused) in
		*'"truncated":true'*)
			summary_bound=" ($(fact refused | sed -n 's/.*"packets":{[^}]*"recorded":\([0-9]*\).*/\1/p') recorded, bound reached)"
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
		xargs -0 sha256sum -- <"$state/names" >"$state/sums"
		xargs -0 stat -c %s -- <"$state/names" | paste -d ' ' - "$state/sums" >"$state/files"
		mv "$state/sums" sha256sums
	)
	for summary_name in steps environment probe counters sealed_counters refused; do
		[ -e "$state/$summary_name" ] || : >"$state/$summary_name"
	done
	for summary_stream in stdout stderr; do
		stat -c %s "$out/subject/$summary_stream" 2>/dev/null || echo 0
		fact "subject.$summary_stream.dropped" 0
	done >"$state/streams"
	summary_top
	(
		cd "$state" || exit
		for summary_name in *; do
			case $summary_name in
			outcome | cause_* | subject_* | identity | proxy_address | policy_unchanged | same_namespace | after | proxy_alive | interrupt | engine_*)
				printf '%s\n' "$summary_name"
				head -n 1 "$summary_name" | tr -d '\n'
				echo
				;;
			esac
		done
	) >"$state/facts"
	jq -n -c --arg trial "$CELL_TRIAL" --arg engine "$opt_engine" --argjson exit "$summary_exit" \
		--arg version "$(version)" --arg kernel "$(uname -r)" \
		--arg nftables "$(summary_package libnftables1)" --arg mitmproxy "$(summary_package mitmproxy)" \
		--arg captured "$([ -n "$opt_interactive" ] || echo 1)" \
		--arg host "${CELL_PROXY_HOST:-cell-proxy}" --argjson port "${CELL_PROXY_PORT:-8080}" \
		--argjson requests "${summary_requests:-0}" \
		--argjson blocked "$(hits '"decision":"refused"')" \
		--argjson tunnels "$(hits '"event":"raw_tunnel"')" \
		--argjson allowed "$(hits '"decision":"allowed"')" --argjson failed "$(hits '"decision":"failed"')" \
		--rawfile top_hosts "$state/top_hosts" --rawfile top_names "$state/top_names" \
		--rawfile top_destinations "$state/top_destinations" \
		--rawfile facts "$state/facts" --rawfile steps "$state/steps" \
		--rawfile files "$state/files" --rawfile streams "$state/streams" \
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

# The version of the package, since asking mitmdump costs half a second; in containers the image's count.
summary_package() {
	if [ "$opt_engine" = compose ]; then
		echo "in the image"
	else
		dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo unknown
	fi
}

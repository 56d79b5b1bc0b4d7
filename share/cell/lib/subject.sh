# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Running the subject: its streams, its time, and what to do when something else ends first.

capture_limit=67108864 # bytes of each stream that are kept; what follows is counted and dropped

# capture NAME FD: what is written to the FIFO $run/NAME goes to descriptor FD and, bounded, to a file.
# The subject never gets SIGPIPE or a full disk from it: tee goes on without a reader that is gone.
capture() {
	capture_file "$1"
	tee --output-error=warn-nopipe "$run/$1.file" <"$run/$1" >&"$2" 2>/dev/null 3<&- 7>&- &
	capture_pids="$capture_pids $!"
}

# capture_file NAME: what is written to the FIFO $run/NAME.file goes, bounded, to a file.
capture_file() {
	(
		exec 3<&- 7>&-
		keep_status=0
		head -c "$capture_limit" >"$out/${1%.*}/${1#*.}" || keep_status=$?
		[ "$keep_status" -eq 0 ] || : >"$state/$1.lost"
		wc -c >"$state/$1.dropped"
	) <"$run/$1.file" &
	capture_pids="$capture_pids $!"
}

# timer SECONDS EVENT: writes EVENT to the pipe of events later; at once where a subject has left no
# process to wait with: no time limit may get lost.
timer() {
	(
		exec 3<&- 4>&- 5>&-
		timer_event=$2
		trap 'echo "$timer_event" >&7' EXIT
		sleep "$1"
	) &
}

# wall_clock: sets $wall to the time in milliseconds since 1970, a space, and RFC 3339 in UTC.
wall_clock() { wall=$(date -u '+%s%3N %Y-%m-%dT%H:%M:%S.%3NZ'); }

subject_run() {
	capture_pids=
	note subject_user "$subject_user"
	note subject_uid "$subject_uid"
	wall_clock
	note subject_started_at "${wall#* }"
	subject_began_ms=${wall% *}
	clock
	subject_began=$now
	if [ -z "$opt_interactive" ]; then
		mkfifo "$run/subject.stdout" "$run/subject.stderr" \
			"$run/subject.stdout.file" "$run/subject.stderr.file"
		capture subject.stdout 4
		capture subject.stderr 5
	fi
	subject_outcome=exited subject_status=0 subject_timed_out=
	: >"$state/subject_started"
	engine_subject "$@"
	if [ -n "$opt_timeout" ]; then
		say_step subject running "at most $opt_timeout s"
		timer "$opt_timeout" time
	else
		say_step subject running ''
	fi
	subject_wait
	wall_clock
	note subject_ended_at "${wall#* }"
	subject_ms=$((${wall% *} - subject_began_ms))
	note subject_seconds "$(printf '%d.%03d' $((subject_ms / 1000)) $((subject_ms % 1000)))"
	note subject_exit "$subject_status"
	note subject_timed_out "$subject_timed_out"
	subject_after
	[ -z "$opt_keep" ] || subject_keep
	# What the subject left running ends here, and with it the last writers of its streams.
	engine_subject_end
	for capture_pid in $capture_pids; do wait "$capture_pid" || :; done
	for capture_lost in "$state"/*.lost; do
		[ ! -e "$capture_lost" ] ||
			end_trial void capture head 1 "the subject's output could not be written"
	done
}

# The loop over events until the subject has ended. Whatever asks it to end: TERM, grace, KILL.
subject_wait() {
	stopping='' stop_began=''
	while read -r event detail <&7; do
		case $event in
		subject)
			subject_status=$detail
			break
			;;
		proxy)
			requests=$(grep -c '"event":"request"' "$out/hits.jsonl" || :)
			say_step proxy DIED "exit $detail after $(counted "$requests" request)"
			end_trial void proxy mitmdump "$detail" \
				"the proxy ended while the subject ran; last request: $(tail -n 1 "$out/hits.jsonl" | cut -c 1-300)"
			subject_outcome=void
			subject_stop KILL
			;;
		watch)
			end_trial void watch cell-watch "$detail" 'cell-watch ended while the subject ran'
			subject_outcome=void
			subject_stop KILL
			;;
		time)
			[ -z "$stopping" ] || continue
			subject_timed_out=1
			subject_outcome=timed-out
			subject_stop TERM
			;;
		signal)
			if [ -z "$stopping" ]; then
				read -r interrupt <"$state/interrupt" || :
				end_trial interrupted subject run_trial 0 "$interrupt"
				subject_outcome=interrupted
				subject_stop TERM
			else
				subject_stop KILL
			fi
			;;
		grace) subject_stop KILL ;;
		esac
	done
	seconds_since "$subject_began"
	case $subject_outcome in
	timed-out)
		seconds_since "$stop_began"
		say_step subject "time is up after $opt_timeout s; TERM, gone after $seconds s" ''
		;;
	interrupted) say_step subject stopped "by us after $seconds s" ;;
	void) say_step subject stopped "after $seconds s" ;;
	*) say_step subject "exited $subject_status" '' "$seconds" ;;
	esac
}

# subject_stop TERM|KILL
subject_stop() {
	clock
	: "${stop_began:=$now}"
	if [ "$1" = TERM ]; then
		stopping=1
		engine_subject_signal TERM
		timer "$opt_grace" grace
	else
		stopping=1
		engine_subject_signal KILL
	fi
}

# The verifier: in the same cell, after the subject, the seal still on; its end is not the trial's.
# It handles what the subject left, a pipe without an end or an endless file: so it has its bounds.
subject_after() {
	[ -n "$opt_after" ] || return 0
	case $subject_outcome in void | interrupted) return 0 ;; esac
	mkdir -p "$out/after"
	clock
	after_began=$now
	mkfifo "$run/after.stdout.file" "$run/after.stderr.file"
	capture_file after.stdout
	capture_file after.stderr
	: >"$run/after.pid"
	(
		after_code=0
		(engine_after sh -c "$opt_after") >"$run/after.stdout.file" 2>"$run/after.stderr.file" \
			</dev/null &
		echo $! >"$run/after.pid"
		wait $! || after_code=$?
		echo "after $after_code" >&7
	) &
	until read -r after_pid <"$run/after.pid"; do sleep 0.01; done
	[ -z "$opt_after_timeout" ] || timer "$opt_after_timeout" after-time
	after_late=
	while read -r event after_status <&7; do
		case $event in
		after) break ;;
		after-time) after_late=1 ;;
		signal)
			read -r interrupt <"$state/interrupt" || :
			end_trial interrupted after run_trial 0 "$interrupt"
			;;
		*) continue ;; # the proxy's end is seen by engine_stop
		esac
		engine_after_kill "$after_pid"
	done
	seconds_since "$after_began"
	if [ -n "$after_late" ]; then
		after_status=124
		say_step after "time is up after $opt_after_timeout s" ''
	else
		say_step after "exited $after_status" '' "$seconds"
	fi
	note after "$after_status $seconds"
}

subject_keep() {
	say "run_trial: the cell stays up; Enter or a signal ends it. To look inside:"
	say "  $(engine_how_to_enter)"
	note kept 1
	while read -r event _ <&7; do
		case $event in enter | signal) break ;; esac
	done
}

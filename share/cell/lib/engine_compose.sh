# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # out, state, opt_*, cell_*, identity, record come from run_trial and trial.sh
# The compose engine: the cell is a Compose project, the user's files with compose/cell.yaml over them.
# The steps are those of the netns engine, asked through docker exec; the subject's container is made
# when the namespace is sealed, and joins it.
#
# After a kill of run_trial the project stays, sealed as it is, until run_trial --sweep.

. "$cell_share/lib/compose_project.sh"

engine_joins_late=1
engine_egress=${CELL_EGRESS_DIR:-/opt/cell-egress}
engine_state=/var/lib/cell-publish

engine_start() {
	run=$state/run
	mkdir "$run"
	command -v jq >/dev/null || not_started engine run_trial 102 'jq is not installed'
	compose_find "$state/stderr" || not_started engine run_trial 102 "$message"
	project=${opt_project_name:-cell-$CELL_TRIAL}
	[ -n "$opt_file" ] || not_started engine run_trial 100 'the compose engine needs a compose file (--file)'
	case $opt_service in
	proxy | cell | seal | *[!A-Za-z0-9_.-]*)
		not_started engine run_trial 100 "--service $opt_service: the cell's own services have that name"
		;;
	esac
	[ -z "$("$docker" ps -a -q --filter "label=com.docker.compose.project=$project")" ] ||
		not_started engine run_trial 125 "the project $project exists already"
	compose_write
	compose_names=$(compose_user config --services) ||
		not_started engine compose 1 "$(compose_complaint)"
	printf '%s\n' "$compose_names" | grep -q -x -F -e "$opt_service" ||
		not_started engine run_trial 100 "no service $opt_service in the compose file"
	! printf '%s\n' "$compose_names" | grep -q -x -e proxy -e cell ||
		not_started engine run_trial 100 "the compose file's services are called like the cell's own, proxy or cell"
	note project "$project"
	note engine_docker "$("$docker" version -f '{{.Server.Version}}')"
	compose_up || not_started network compose 1 "$(compose_complaint)"
	proxy=$(compose_id proxy) cell=$(compose_id cell)
	engine_proxy
}

# engine_proxy: waits for the proxy's own health check, asked here, since the engine asks seldom.
engine_proxy() {
	: >"$out/hits.jsonl"
	while ! "$docker" exec -e CELL_TRIAL -e CELL_STEP=proxy "$proxy" /opt/cell/bin/cell-publish --check --connect --json \
		--state "$engine_state" >"$state/record" 2>"$state/stderr"; do
		if [ "$("$docker" inspect -f '{{.State.Running}}' "$proxy")" != true ]; then
			engine_proxy_log
			message="ended with $("$docker" inspect -f '{{.State.ExitCode}}' "$proxy"); last line: $(tail -n 1 "$out/proxy.log" | cut -c 1-200)"
			say_step proxy NO "$message"
			not_started proxy mitmdump 1 "$message"
		fi
		check_interrupt
		sleep 0.1
	done
	record=$(cat "$state/record")
	printf '%s\n' "$record" >>"$out/evidence.jsonl"
	record_field sha256 && certificate=$field
	record_field address && proxy_address=$field
	"$docker" cp "$cell:$engine_egress/mitmproxy-ca-cert.pem" "$out/ca.pem" >/dev/null
	engine_beacon
}

engine_proxy_log() {
	"$docker" logs "$proxy" 2>&1 | head -c 16777216 >"$out/proxy.log"
}

# A far end for the probes: a neighbour that answers, until the seal is proven. Without something
# that answers, "closed" would be an empty word.
engine_beacon() {
	beacon=$("$docker" run -d --network "${project}_default" --volumes-from "$cell:ro" --entrypoint python3 \
		--label "com.docker.compose.project=$project" "$("$docker" inspect -f '{{.Image}}' "$proxy")" -c '
import runpy, socket, sys
sys.argv = ["beacon", socket.gethostbyname(socket.gethostname())]
runpy.run_path("/opt/cell/share/cell/lib/beacon.py", run_name="__main__")') \
		2>"$state/stderr" ||
		not_started before beacon 111 "no far end for the probes: $(head -n 1 "$state/stderr")"
}

engine_targets() {
	until "$docker" logs "$beacon" 2>&1 | grep -q '^end'; do
		check_interrupt
		[ "$("$docker" inspect -f '{{.State.Running}}' "$beacon")" = true ] ||
			not_started before beacon 111 "no far end for the probes: $("$docker" logs --tail 1 "$beacon" 2>&1)"
		sleep 0.1
	done
	"$docker" logs "$beacon" 2>/dev/null | sed -n 's/^target //p' >"$run/far"
	# A busy machine may be slow to let it answer the first time; what counts comes after.
	far_tries=0
	until sed 's/ .*//' "$run/far" | grep -v dev= |
		engine_probe_before cell-probe --expect open --timeout 2 --targets - >/dev/null 2>&1; do
		far_tries=$((far_tries + 1))
		check_interrupt
		[ "$far_tries" -lt 15 ] || break
	done
	cat "$run/far"
	sed "s/{sibling}/$("$docker" inspect -f \
		'{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$beacon")/" "$cell_share/targets/docker.txt"
}

engine_before() {
	[ -n "$opt_before" ] || return 0
	before_status=0
	"$docker" exec "$cell" sh -c "$opt_before" >"$state/before.log" 2>&1 || before_status=$?
	cat "$state/before.log" >>"$out/run.log"
	[ "$before_status" -eq 0 ] ||
		not_started before sh "$before_status" "--before ended with $before_status: $(tail -n 1 "$state/before.log")"
}

# engine_in_cell TOOL ARG...: in the policed namespace, with NET_ADMIN.
engine_in_cell() {
	in_cell_tool=$1
	shift
	(
		exec 3<&- 4>&- 5>&- 7>&-
		exec "$docker" exec -e CELL_TRIAL -e CELL_STEP -e CELL_PROXY_HOST -e CELL_PROXY_PORT "$cell" \
			"/opt/cell/bin/$in_cell_tool" "$@"
	)
}

# The hosts file is the owner's, and main's when it joins.
engine_pin() { engine_in_cell "$@"; }

engine_rules() { engine_in_cell cell-policy rules; }

# engine_probe_before TOOL ARG...: where the subject will be, before it may be there.
engine_probe_before() {
	before_tool=$1
	shift
	(
		exec 3<&- 4>&- 5>&- 7>&-
		exec "$docker" exec -i -e CELL_TRIAL -e CELL_STEP -e CELL_PROXY_HOST -e CELL_PROXY_PORT "$cell" \
			/opt/cell/bin/cell-exec --caps none --unprivileged -- "/opt/cell/bin/$before_tool" "$@"
	)
}

# engine_join: the namespace is sealed, so now the subject's container may exist.
engine_join() {
	CELL_STEP='join'
	clock
	join_began=$now
	compose up -d "$opt_service" >/dev/null ||
		not_started join compose 1 "$(compose_complaint)"
	main=$(compose_id "$opt_service")
	compose_evidence_apart
	subject_user=${opt_user:-$("$docker" inspect -f '{{.Config.User}}' "$main")}
	# What the subject is, is asked of a process that starts as it will.
	require join.user cell-capcheck engine_as_user
	record_field uid && subject_uid=$field
	subject_rights=
	[ "$subject_uid" = 0 ] || subject_rights=--unprivileged
	: "${subject_user:=$subject_uid}"
	engine_environment_file
	seconds_since "$join_began"
	printf 'join %s 0\n' "$seconds" >>"$state/steps"
}

# compose_evidence_apart: DIR in a volume that the subject can write would be the subject's.
compose_evidence_apart() {
	"$docker" inspect -f '{{range .Mounts}}{{if .RW}}{{println .Source}}{{end}}{{end}}' "$main" >"$run/mounts"
	while IFS= read -r mount; do
		case $out/ in
		"${mount%/}"/*)
			[ -n "$mount" ] || continue
			not_started join run_trial 100 "the subject can write in $mount, and so in $out_shown (see --out)"
			;;
		esac
	done <"$run/mounts"
}

engine_as_user() {
	as_user_tool=$1
	shift
	"$docker" exec -e CELL_TRIAL -e CELL_STEP ${opt_user:+-u "$opt_user"} "$main" "/opt/cell/bin/$as_user_tool" "$@"
}

# engine_environment_file: the caller's variables for the subject. Values never become arguments;
# those with a newline, which that file cannot hold, travel as variables of the client.
engine_environment_file() {
	: >"$run/environment"
	environment_by_name=
	for name in $opt_env; do
		eval "environment_value=\$cell_env_$name"
		case $environment_value in
		*"
"*) environment_by_name="$environment_by_name $name" ;;
		*) printf '%s=%s\n' "$name" "$environment_value" >>"$run/environment" ;;
		esac
	done
}

# subject_exec OPTION... -- COMMAND...: replaces this subshell by docker exec with all that the
# subject gets. cell-exec is the last link: without the doors that packets don't go through.
subject_exec() {
	subject_options=
	while [ "$1" != -- ]; do
		subject_options="$subject_options $1"
		shift
	done
	shift
	set -- --env-file "$run/environment" "$main" /opt/cell/bin/cell-exec --caps keep ${subject_rights:+"$subject_rights"} \
		${opt_interactive:+--keep-session} -- "$@"
	for name in $environment_by_name; do
		eval "export $name=\"\$cell_env_$name\""
		set -- -e "$name" "$@"
	done
	[ -z "$opt_chdir" ] || set -- -w "$opt_chdir" "$@"
	[ -z "$opt_user" ] || set -- -u "$opt_user" "$@"
	# shellcheck disable=SC2086 # words
	exec "$docker" exec $subject_options "$@"
}

# engine_in_subject TOOL ARG...: one of our tools, by the very exec that will start the subject.
engine_in_subject() {
	in_subject_tool=$1
	shift
	(
		exec 3<&- 4>&- 5>&- 7>&-
		subject_exec -i -e CELL_TRIAL -e CELL_STEP -- "/opt/cell/bin/$in_subject_tool" "$@"
	)
}

# engine_after COMMAND...: replaces this subshell by a verifier, as the subject runs.
engine_after() {
	exec 3<&- 4>&- 5>&- 7>&-
	# It was killed with all it ran, if its time was up; its files are there.
	[ "$("$docker" inspect -f '{{.State.Running}}' "$main")" = true ] || "$docker" start "$main" >/dev/null
	subject_exec -- "$@"
}
# What docker exec started does not end with it, but with its container.
engine_after_kill() {
	engine_subject_signal KILL
	kill -KILL "$1" 2>/dev/null || :
}

# engine_gate STEP: the same questions from outside, by pid, which nothing in the container can touch.
# Where the engine's processes are not ours to see, on another machine or for another user, not asked.
engine_gate() {
	gate_pid=$("$docker" inspect -f '{{.State.Pid}}' "$main")
	if [ "$(id -u)" -ne 0 ] || ! grep -q -F "$main" "/proc/$gate_pid/cgroup" 2>/dev/null; then
		say_step gate note 'not asked from outside: the container is no process that is to be seen here'
		return 0
	fi
	require "$1.capabilities.pid" cell-capcheck plain --pid "$gate_pid"
	require "$1.namespace.pid" cell-nsid plain --same "$gate_pid" "$identity"
}

# engine_watch: it runs since the cell does; here it has to have bound its group.
engine_watch() {
	until "$docker" cp "$cell:/refused.jsonl" "$out/refused.jsonl" >/dev/null 2>"$state/stderr" &&
		[ -s "$out/refused.jsonl" ]; do
		[ "$("$docker" inspect -f '{{.State.Running}}' "$cell")" = true ] ||
			not_started watch cell-watch 1 "$("$docker" logs --tail 1 "$cell" 2>&1)"
		check_interrupt
		sleep 0.1
	done
	engine_wait_for proxy "$proxy"
	engine_wait_for watch "$cell"
}

# engine_wait_for EVENT CONTAINER: the event, when that container ends, or nobody can tell any more.
engine_wait_for() {
	(
		exec 3<&- 4>&- 5>&-
		wait_status=$("$docker" wait "$2" 2>/dev/null) || wait_status=1
		[ "$1" != proxy ] || "$docker" cp "$proxy:$engine_state/hits.jsonl" "$out/hits.jsonl" >/dev/null 2>&1 || :
		echo "$1 $wait_status" >&7
	) &
	waiters="${waiters:-} $!"
}

engine_open_end() { "$docker" rm -f -v "$beacon" >/dev/null 2>&1 || :; }

# engine_sealed: what the subject finds, kept before it can touch anything.
engine_sealed() {
	for file in hosts resolv.conf; do
		"$docker" cp "$cell:/etc/$file" "$out/$file" >/dev/null
	done
	engine_hits
	note hits_before "$(wc -l <"$out/hits.jsonl")"
	{
		"$docker" inspect -f '{{range .Config.Env}}{{println .}}{{end}}' "$main" |
			sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'
		printf '%s' "$opt_env" | tr ' ' '\n'
	} | sort -u | grep . >"$state/environment"
	note engine_images "$("$docker" inspect -f '{{.Image}}' "$proxy" "$cell" "$main" | xargs)"
	started=$("$docker" inspect -f '{{.State.StartedAt}}' "$proxy" "$cell")
}

engine_hits() {
	"$docker" cp "$proxy:$engine_state/hits.jsonl" "$out/hits.jsonl" >/dev/null &&
		chmod 0600 "$out/hits.jsonl"
}

# engine_subject COMMAND...: starts the subject; "subject STATUS" comes when it has ended.
engine_subject() {
	(
		subject_code=0
		(
			exec 7>&-
			if [ -n "$opt_interactive" ]; then
				exec <&3 >&4 2>&5
				subject_terminal=-i
				[ ! -t 0 ] || subject_terminal=-it
			else
				exec <&3 >"$run/subject.stdout" 2>"$run/subject.stderr"
				subject_terminal=-i
			fi
			exec 3<&- 4>&- 5>&-
			subject_exec "$subject_terminal" -- "$@"
		) || subject_code=$?
		echo "subject $subject_code" >&7
	) &
}

# engine_subject_signal TERM|KILL: TERM to what docker exec started in main: its parent is not in
# that pid namespace. It is sent from inside it, by a container of ours, since the engine cannot.
# KILL ends the container, daemons too.
engine_subject_signal() {
	case $1 in
	KILL) "$docker" kill "$main" >/dev/null 2>&1 || : ;;
	*)
		# shellcheck disable=SC2016 # for the other shell
		"$docker" run --rm --pid "container:$main" --network none -u 0 --cap-drop ALL --cap-add KILL \
			--label "com.docker.compose.project=$project" --entrypoint sh \
			"$("$docker" inspect -f '{{.Image}}' "$cell")" -c '
			for process in /proc/[0-9]*; do
				pid=${process#/proc/}
				[ "$pid" -ne 1 ] && [ "$pid" -ne $$ ] || continue
				! grep -q "^PPid:[[:space:]]*0\$" "$process/status" || kill -s "$0" "$pid"
			done' "$1" >/dev/null 2>&1 || :
		;;
	esac
}

engine_subject_end() { engine_subject_signal KILL; }

engine_how_to_enter() { echo "docker exec -it $main sh"; }

# engine_stop: ends proxy and watcher in the order that loses no record, and keeps their files.
engine_stop() {
	# shellcheck disable=SC2086 # a list of pids
	kill $waiters 2>/dev/null || :
	if [ "$("$docker" inspect -f '{{.State.StartedAt}}' "$proxy" "$cell")" = "$started" ] &&
		[ "$("$docker" inspect -f '{{.State.Running}}' "$proxy")" = true ]; then
		note proxy_alive 1
	else
		end_trial void proxy mitmdump 1 'the proxy or the cell ended or was restarted while the subject ran'
	fi
	"$docker" stop -t 3 "$proxy" >/dev/null 2>&1 || :
	[ "$("$docker" inspect -f '{{.State.ExitCode}}' "$proxy")" != 111 ] ||
		end_trial void proxy mitmdump 111 'the proxy could not write all of its record'
	engine_hits || end_trial void proxy docker 1 'the record of the requests cannot be read'
	engine_proxy_log
	"$docker" cp "$cell:/etc/hosts" "$run/hosts-end" >/dev/null 2>&1 || cp "$out/hosts" "$run/hosts-end"
	cmp -s "$run/hosts-end" "$out/hosts" || cp "$run/hosts-end" "$out/hosts-end"
	"$docker" stop -t 5 "$cell" >/dev/null 2>&1 || :
	watch_status=$("$docker" inspect -f '{{.State.ExitCode}}' "$cell") || watch_status=1
	[ "$watch_status" = 0 ] || end_trial void watch cell-watch "$watch_status" \
		"$("$docker" logs --tail 1 "$cell" 2>&1 | head -n 1)"
	"$docker" cp "$cell:/refused.jsonl" "$out/refused.jsonl" >/dev/null ||
		end_trial void watch docker 1 'the record of the refusals cannot be read'
	chmod 0600 "$out/refused.jsonl"
	tail -n 1 "$out/refused.jsonl" >"$state/refused"
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The Compose project of one trial: its files, its network, and the end of it.
#
# The user's files come first, then compose/cell.yaml without its seal, whose steps run_trial asks
# itself, then what this trial adds. The project's network is made first and removed last; its labels
# say whose it is, so that --sweep finds what a killed run_trial left: a project is dead when nobody
# holds the lock in its output directory. Removing goes by labels alone and can be done again.

# compose_find: $docker and $compose_command, or 1 with $message.
compose_find() {
	docker=$(command -v docker) || {
		message='docker is not installed'
		return 1
	}
	if "$docker" compose version >/dev/null 2>&1; then
		compose_command="$docker compose"
	elif command -v docker-compose >/dev/null; then
		compose_command='docker-compose'
	else
		message='neither docker compose nor docker-compose is installed'
		return 1
	fi
	"$docker" version >"$1" 2>&1 || {
		message="the engine does not answer: $(tail -n 1 "$1")"
		return 1
	}
}

# compose ARG...: of this project. Its words go to $state/compose.log.
compose() { compose_user -f "$state/cell.yaml" -f "$state/trial.yaml" "$@"; }

# compose_user ARG...: with the user's files alone.
compose_user() {
	(
		exec 3<&- 4>&- 5>&- 7>&-
		compose_files=
		while IFS= read -r line; do
			compose_files="$line
$compose_files"
		done <"$run/files"
		while IFS= read -r line; do [ -z "$line" ] || set -- -f "$line" "$@"; done <<-END
			$compose_files
		END
		# shellcheck disable=SC2086 # one word or two
		$compose_command -p "$project" "$@"
	) 2>>"$state/compose.log"
}

# compose_id SERVICE: the id of its container.
compose_id() {
	"$docker" ps -a -q --no-trunc --filter "label=com.docker.compose.project=$project" \
		--filter "label=com.docker.compose.service=$1"
}

# compose_write: the two files. YAML takes JSON's strings, and jq knows how to write those.
compose_write() {
	printf '%s' "$opt_file" >"$run/files"
	printf '%s' "$opt_addon" | jq -R . >"$run/addons"
	{
		printf '%s' "$opt_addon" | jq -R -r 'input_line_number as $n | "--scripts=/opt/cell-addons/\($n).py" | tojson'
		printf '%s' "$opt_proxy_arg" | jq -R -r 'gsub("\\$"; "$$") | tojson'
	} | sed 's/^/      - /' >"$run/arguments"
	sed -e '/^  seal:$/,/^$/d' -e "s/^  main:\$/  $opt_service:/" -e 's/^      seal:$/      cell:/' \
		-e 's/service_completed_successfully/service_started/' \
		-e "/--scripts=.*cell_audit/r $run/arguments" "$cell_share/compose/cell.yaml" >"$state/cell.yaml"
	jq -n --arg service "$opt_service" --arg group "$CELL_LOG_GROUP" --arg trial "$CELL_TRIAL" \
		--arg directory "$out" --arg host "$(uname -n)" --arg binds "$opt_bind" \
		--slurpfile addons "$run/addons" '
		def dollars: gsub("\\$"; "$$");
		{"cell.trial": $trial, "cell.directory": ($directory | dollars), "cell.host": $host} as $labels
		| {services: {
			proxy: {labels: $labels, volumes: [range($addons | length) as $n
				| "\($addons[$n] | dollars):/opt/cell-addons/\($n + 1).py:ro"]},
			cell: {labels: $labels,
				entrypoint: ["/opt/cell/bin/cell-watch", "--group", $group, "--log", "/refused.jsonl"]},
			($service): {labels: $labels, volumes: [$binds | split("\n")[] | select(. != "")
				| if test("^[^:]*(:ro)?$") then sub("^(?<a>[^:]*)"; "\(.a):\(.a)") else . end | dollars]}
		}, networks: {default: {labels: $labels,
			ipam: {config: [{subnet: "${CELL_SUBNET:-198.18.0.0/28}"}]}}}}' >"$state/trial.yaml"
}

# compose_up: proxy and cell, on the first /28 that no network of this engine overlaps: the engine
# judges that, at once for all who ask.
compose_up() {
	subnet=$((0x$CELL_TRIAL % 8192))
	subnet_tries=0
	while :; do
		CELL_SUBNET="198.$((18 + subnet / 4096)).$((subnet / 16 % 256)).$((subnet % 16 * 16))/28"
		export CELL_SUBNET
		: >"$state/compose.log"
		! compose up -d --no-deps proxy cell >/dev/null || return 0
		grep -q -i -e 'overlaps' -e 'non-overlapping' "$state/compose.log" || return 1
		subnet_tries=$((subnet_tries + 1))
		[ "$subnet_tries" -le 200 ] || return 1
		# A stride that meets every one of them, and leaves a crowded region at once.
		subnet=$(((subnet + 2731) % 8192))
	done
}

# compose_complaint: the line that says what Compose did not like.
compose_complaint() {
	grep -v -e '^ *$' -e '^Creating' -e '^Recreating' -e '^Starting' -e '^Encountered' "$state/compose.log" |
		head -n 1 | cut -c 1-300
}

# compose_remove PROJECT: everything that carries the project's label. 1 if something is left.
compose_remove() {
	for remove_try in 1 2 3; do
		remove_left=
		for remove_kind in container network volume; do
			remove_label=label=com.docker.compose.project=$1
			case $remove_kind in
			container) remove_ids=$("$docker" ps -a -q --filter "$remove_label") || return 1 ;;
			*) remove_ids=$("$docker" "$remove_kind" ls -q --filter "$remove_label") || return 1 ;;
			esac
			[ -n "$remove_ids" ] || continue
			remove_left=1
			remove_force=-f
			[ "$remove_kind" != container ] || remove_force=-fv
			[ "$remove_kind" != network ] || remove_force=
			# shellcheck disable=SC2086 # a list of ids, and no word where there is none
			"$docker" "$remove_kind" rm $remove_force $remove_ids >/dev/null 2>&1 || :
		done
		[ -n "$remove_left" ] || return 0
	done
	return 1
}

# engine_teardown: asked by run_trial when all of the trial's own processes are gone.
engine_teardown() {
	project=$(cat "$state/project" 2>/dev/null) || return 0
	docker=$(command -v docker)
	compose_remove "$project" ||
		complain "run_trial: containers of $project are left; run_trial --sweep removes them"
}

# engine_sweep: removes the projects whose run_trial is dead.
engine_sweep() {
	compose_find /dev/null || {
		complain "run_trial: cannot sweep: $message"
		exit 111
	}
	sweep_status=0
	for sweep_network in $("$docker" network ls -q --filter label=cell.directory); do
		sweep_labels=$("$docker" network inspect -f \
			'{{index .Labels "com.docker.compose.project"}} {{index .Labels "cell.host"}} {{index .Labels "cell.directory"}}' \
			"$sweep_network" 2>/dev/null) || continue
		sweep_project=${sweep_labels%% *} sweep_rest=${sweep_labels#* }
		sweep_directory=${sweep_rest#* }
		[ "${sweep_rest%% *}" = "$(uname -n)" ] || continue
		if [ -e "$sweep_directory/lock" ] && ! flock -n "$sweep_directory/lock" true; then
			continue
		fi
		if compose_remove "$sweep_project"; then
			say "run_trial: removed $sweep_project of $sweep_directory"
		else
			complain "run_trial: cannot remove all of $sweep_project"
			sweep_status=111
		fi
	done
	return "$sweep_status"
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The netns engine's subject: the world that it sees, its environment, its start and its end.

# engine_in_subject TOOL ARG...: one of our tools, in all that the subject will be in.
engine_in_subject() {
	in_subject_tool=$1
	shift
	(
		exec 3<&- 4>&- 5>&- 7>&-
		cell_env_CELL_TRIAL=$CELL_TRIAL cell_env_CELL_STEP=$CELL_STEP
		opt_env="$opt_env CELL_TRIAL CELL_STEP"
		sandbox "/run/cell/bin/$in_subject_tool" "$@"
	)
}

# engine_in_subject_as_is COMMAND...: as the subject runs, for a verifier.
engine_in_subject_as_is() {
	(
		exec 3<&- 4>&- 5>&- 7>&-
		sandbox "$@"
	)
}

# engine_subject COMMAND...: starts the subject; "subject STATUS" comes when it has ended.
engine_subject() {
	(
		subject_code=0
		(
			exec 6>"$run/bwrap.status" 7>&-
			if [ -n "$opt_interactive" ]; then
				exec <&3 >&4 2>&5
			else
				exec <&3 >"$run/subject.stdout" 2>"$run/subject.stderr"
			fi
			exec 3<&- 4>&- 5>&-
			status_fd=6
			sandbox "$@"
		) || subject_code=$?
		echo "subject $subject_code" >&7
	) &
	# Its pid 1 is bwrap's; needed to stop it, so waited for, but a subject may be over by then.
	while ! grep -q child-pid "$run/bwrap.status" 2>/dev/null && kill -0 $! 2>/dev/null; do
		sleep 0.01
	done
	sandbox_pid=$(sed -n 's/.*"child-pid": *\([0-9]*\).*/\1/p' "$run/bwrap.status" | head -n 1)
}

# engine_subject_signal TERM|KILL: TERM goes to the subject, KILL to its pid namespace, daemons too.
engine_subject_signal() {
	[ -n "$sandbox_pid" ] || return 0
	case $1 in
	KILL) kill -KILL "$sandbox_pid" 2>/dev/null || : ;;
	*)
		# shellcheck disable=SC2046 # a list of pids; the file has no newline at its end
		kill -s "$1" $(cat "/proc/$sandbox_pid/task/$sandbox_pid/children" 2>/dev/null) \
			2>/dev/null || :
		;;
	esac
}

engine_subject_end() { engine_subject_signal KILL; }

# sandbox COMMAND...: replaces this subshell by COMMAND in the subject's world. Read-only but for
# the work directory and /tmp; an empty /run, because path-name sockets there ignore network
# namespaces; pid, ipc and uts namespaces of its own; then cell-exec takes the rest away and
# becomes COMMAND. Options are put in front of what is there: the last ones first.
sandbox() {
	work=${opt_chdir:-$PWD}
	set -- --caps none ${opt_interactive:+--keep-session} -- "$@"
	set -- --chdir "$work" -- /run/cell/bin/cell-exec --user "$subject_uid:$subject_gid" "$@"
	set -- --tmpfs "$out" ${status_fd:+--json-status-fd "$status_fd"} "$@"
	engine_lines opt_bind
	while IFS= read -r line; do
		bind_source=${line%%:*} bind_rest=${line#"${line%%:*}"} bind_how=--bind
		case $bind_rest in
		:ro) bind_how=--ro-bind bind_rest= ;;
		:*:ro) bind_how=--ro-bind bind_rest=${bind_rest%:ro} ;;
		esac
		bind_target=${bind_rest#:}
		set -- "$bind_how" "$bind_source" "${bind_target:-$bind_source}" "$@"
	done <"$run/lines"
	[ "$work" = / ] || set -- --bind "$work" "$work" "$@"
	for file in hosts resolv.conf; do
		# A link (systemd's resolv.conf) is bound where it leads: /run is empty in there.
		if [ -e "/etc/$file" ] || [ -L "/etc/$file" ]; then
			set -- --ro-bind "$run/$file" "$(readlink -m "/etc/$file")" "$@"
		fi
	done
	[ -L /var/run ] || [ ! -d /var/run ] || set -- --tmpfs /var/run "$@"
	set -- --perms 0755 --tmpfs /run --perms 0755 --dir /run/cell \
		--ro-bind "$run/bin" /run/cell/bin --ro-bind "$run/egress" "$engine_egress" "$@"
	set -- --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --hostname cell \
		--ro-bind / / --dev /dev --proc /proc --ro-bind /proc/sys /proc/sys \
		--perms 1777 --tmpfs /dev/shm --bind "$run/tmp" /tmp "$@"
	# INT and QUIT are ignored in what a script starts with &: the subject gets the defaults.
	set -- "$(command -v nsenter)" --net="$run/netns" -- "$(command -v env)" --default-signal \
		"$(command -v bwrap)" "$@"
	subject_environment
	exec "$@"
}

# subject_environment: from here on only what the subject is to have is exported. Values travel as
# variables of this shell, not as arguments that every process on the machine can read.
subject_environment() {
	environment_names=$(env -0 | tr '\n\0' ' \n' | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p')
	environment_language=${LANG:-C.UTF-8} environment_zone=${TZ:-UTC}
	environment_proxy=http://$CELL_PROXY_HOST:$CELL_PROXY_PORT
	environment_ca=$engine_egress/mitmproxy-ca-cert.pem
	environment_port=$CELL_PROXY_PORT environment_host=$CELL_PROXY_HOST
	environment_given=$opt_env
	for name in $environment_names; do
		eval "environment_value=\$$name"
		unset "$name"
		eval "$name=\$environment_value"
	done
	export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp
	export LANG="$environment_language" TZ="$environment_zone"
	[ -z "$opt_interactive" ] || export TERM="${TERM:-dumb}"
	for name in http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY; do
		export "$name=$environment_proxy"
	done
	export no_proxy=localhost,127.0.0.1 NO_PROXY=localhost,127.0.0.1
	for name in CURL_CA_BUNDLE SSL_CERT_FILE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS \
		GIT_SSL_CAINFO PIP_CERT; do
		export "$name=$environment_ca"
	done
	export CELL_EGRESS_DIR="$engine_egress" CELL_PROXY_HOST="$environment_host" \
		CELL_PROXY_PORT="$environment_port"
	for name in $environment_given; do
		eval "environment_value=\$cell_env_$name"
		export "$name=$environment_value"
	done
}

# The names of what the subject gets, for the summary.
engine_environment() {
	(
		subject_environment
		env -0 | tr '\n\0' ' \n' | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p' | sort
	)
}

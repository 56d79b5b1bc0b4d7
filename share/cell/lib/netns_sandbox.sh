# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The netns engine's subject: the world that it sees, its environment, its start and its end.

# engine_in_subject TOOL ARG...: one of our tools, in all that the subject will be in.
engine_in_subject() {
	in_subject_tool=$1
	shift
	(
		exec 3<&- 4>&- 5>&- 7>&-
		sandbox_step=$CELL_STEP
		sandbox "/run/cell/bin/$in_subject_tool" "$@"
	)
}

# engine_after COMMAND...: replaces this subshell by a verifier, as the subject runs; all that it
# started ends with it.
engine_after() {
	exec 3<&- 4>&- 5>&- 7>&-
	sandbox_dies=1
	sandbox "$@"
}
engine_after_kill() { kill -KILL "$1" 2>/dev/null || :; }

# engine_subject COMMAND...: starts the subject; "subject STATUS" comes when it has ended.
engine_subject() {
	: >"$run/bwrap.status"
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
	sandbox_pid=
	until read -r sandbox_status <"$run/bwrap.status" || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
	case $sandbox_status in
	*'"child-pid": '*)
		sandbox_pid=${sandbox_status#*'"child-pid": '}
		sandbox_pid=${sandbox_pid%%[!0-9]*}
		;;
	esac
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

# sandbox_make: the subject's world, once for all that will be started in it, as options for bwrap
# in a file of ours: so no value of a variable is an argument, which every process on the machine can
# read. Read-only but for the work directory and /tmp; an empty /run, because path-name sockets there
# ignore network namespaces; pid, ipc and uts namespaces of its own.
sandbox_make() {
	sandbox_nsenter=$(command -v nsenter) sandbox_env=$(command -v env) sandbox_bwrap=$(command -v bwrap)
	work=${opt_chdir:-$PWD}
	engine_lines opt_bind
	umask 077
	{
		sandbox_options --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --hostname cell \
			--ro-bind / / --dev /dev --proc /proc --ro-bind /proc/sys /proc/sys \
			--perms 1777 --tmpfs /dev/shm --bind "$run/tmp" /tmp \
			--perms 0755 --tmpfs /run --perms 0755 --dir /run/cell \
			--ro-bind "$run/bin" /run/cell/bin --ro-bind "$run/egress" "$engine_egress"
		[ ! -d "$run/sys" ] ||
			sandbox_options --ro-bind "$run/sys" /sys --ro-bind-try /sys/fs/cgroup /sys/fs/cgroup
		[ -L /var/run ] || [ ! -d /var/run ] || sandbox_options --tmpfs /var/run
		for file in resolv.conf hosts; do
			# A link (systemd's resolv.conf) is bound where it leads: /run is empty in there.
			if [ -L "/etc/$file" ]; then
				sandbox_options --ro-bind "$run/$file" "$(readlink -m "/etc/$file")"
			elif [ -e "/etc/$file" ]; then
				sandbox_options --ro-bind "$run/$file" "/etc/$file"
			fi
		done
		[ "$work" = / ] || sandbox_options --bind "$work" "$work"
		while IFS= read -r line; do sandbox_bind "$line"; done <"$run/lines"
		# Last, when nothing is mounted over it any more.
		[ "$work" = / ] || sandbox_guard "$work" "$work"
		while IFS= read -r line; do
			sandbox_parts "$line"
			sandbox_guard "$bind_source" "$bind_target"
		done <"$run/lines"
		sandbox_options --tmpfs "$out" --chdir "$work"
		sandbox_environment
	} >"$run/sandbox"
	umask 022
}

# sandbox_options OPTION...: for bwrap, each ended by a NUL.
sandbox_options() { printf '%s\0' "$@"; }

# sandbox_bind SRC[:DST[:ro]]
sandbox_bind() {
	sandbox_parts "$1"
	sandbox_options "$bind_how" "$bind_source" "$bind_target"
}

# sandbox_parts SRC[:DST[:ro]]: sets bind_how, bind_source and bind_target.
sandbox_parts() {
	bind_source=${1%%:*} bind_rest=${1#"${1%%:*}"} bind_how=--bind
	case $bind_rest in
	:ro) bind_how=--ro-bind bind_rest= ;;
	:*:ro) bind_how=--ro-bind bind_rest=${bind_rest%:ro} ;;
	esac
	bind_target=${bind_rest#:}
	: "${bind_target:=$bind_source}"
}

# sandbox_guard SOURCE TARGET: keeps DIR ours where it stands in SOURCE, which the subject can write
# at TARGET. Who could rename a directory on the way to it would put another in its place, and root
# would write there. A mount point cannot be renamed: so each of them is made one, and read-only,
# since the results of other trials are in there.
sandbox_guard() {
	guard_source=$(cd -P -- "$1" 2>/dev/null && pwd -P) || return 0
	guard_source=${guard_source%/} guard_target=${2%/} guard_way=
	case $out in "$guard_source"/*) guard_rest=${out#"$guard_source"/} ;; *) return 0 ;; esac
	while [ "$guard_rest" != "${guard_rest#*/}" ]; do
		guard_way=$guard_way/${guard_rest%%/*} guard_rest=${guard_rest#*/}
		sandbox_options --ro-bind "$guard_source$guard_way" "$guard_target$guard_way"
	done
	sandbox_options --tmpfs "$guard_target$guard_way/$guard_rest"
}

# sandbox_environment: all the variables that the subject has, and their names for the summary.
sandbox_environment() {
	sandbox_names=
	sandbox_variable PATH /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	sandbox_variable HOME /tmp
	sandbox_variable LANG "${LANG:-C.UTF-8}"
	sandbox_variable TZ "${TZ:-UTC}"
	[ -z "$opt_interactive" ] || sandbox_variable TERM "${TERM:-dumb}"
	for name in http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY; do
		sandbox_variable "$name" "http://$CELL_PROXY_HOST:$CELL_PROXY_PORT"
	done
	sandbox_variable no_proxy localhost,127.0.0.1
	sandbox_variable NO_PROXY localhost,127.0.0.1
	for name in CURL_CA_BUNDLE SSL_CERT_FILE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS \
		GIT_SSL_CAINFO PIP_CERT; do
		sandbox_variable "$name" "$engine_egress/mitmproxy-ca-cert.pem"
	done
	sandbox_variable CELL_EGRESS_DIR "$engine_egress"
	sandbox_variable CELL_PROXY_HOST "$CELL_PROXY_HOST"
	sandbox_variable CELL_PROXY_PORT "$CELL_PROXY_PORT"
	for name in $opt_env; do
		eval "sandbox_variable \"\$name\" \"\$cell_env_$name\""
	done
}

sandbox_variable() {
	sandbox_names="$sandbox_names${sandbox_names:+
}$1"
	sandbox_options --setenv "$1" "$2"
}

# sandbox COMMAND...: replaces this subshell by COMMAND in the subject's world, with an environment
# from nothing; cell-exec takes away what is left, and becomes COMMAND. INT and QUIT are ignored in
# what a script starts with &: the subject gets the defaults. Our own tools are told their step.
sandbox() {
	# Where memory runs out it is the subject that ends, not who looks after it.
	echo 1000 2>/dev/null >/proc/self/oom_score_adj || :
	exec "$sandbox_nsenter" --net="$run/netns" -- "$sandbox_env" -i --default-signal \
		${sandbox_step:+"CELL_TRIAL=$CELL_TRIAL" "CELL_STEP=$sandbox_step"} \
		"$sandbox_bwrap" --args 8 ${sandbox_dies:+--die-with-parent} ${status_fd:+--json-status-fd "$status_fd"} -- \
		/run/cell/bin/cell-exec --user "$subject_uid:$subject_gid" --caps none \
		${opt_interactive:+--keep-session} -- "$@" 8<"$run/sandbox"
}

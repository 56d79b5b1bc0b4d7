# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The netns engine: the cell is a network namespace of this machine, joined to the caller's by one
# veth pair, at whose near end mitmdump listens. Nothing else of the caller's namespace changes.
#
# Before: pid and mount namespaces of the trial's own. Everything below $run is a tmpfs of that
# mount namespace, and $run/netns holds the network namespace open: no name in /run/netns, no
# process. After a kill: the kernel drops the mounts, with them the namespace and the veth pair.
# It is mounted over /dev/shm, which every user can reach and which the subject's own /dev hides.

engine_egress=/run/cell/egress # where the subject sees the certificate volume

engine_start() {
	run=/dev/shm/cell
	export CELL_EGRESS_DIR="$run/egress" # where our own tools find it; the subject's is another
	engine_needs
	engine_private
	engine_network
	engine_proxy
}

engine_needs() {
	for need in ip nsenter unshare setpriv bwrap mitmdump jq nft; do
		# nft: not run by us, but its package brings the library that cell-policy needs.
		command -v "$need" >/dev/null || not_started engine run_trial 102 "$need is not installed"
	done
	[ -n "$(ip -o link show lo up)" ] ||
		not_started engine run_trial 102 "lo is down in the caller's network namespace: the proxy could not be asked"
	[ "$(id -u)" -eq 0 ] || not_started engine run_trial 102 'the netns engine needs root'
}

engine_private() {
	case ${opt_chdir:-$PWD}/ in
	/dev/*) not_started engine run_trial 100 'the work directory is in /dev, which is private in a cell' ;;
	esac
	if ! { mount -t tmpfs -o mode=0711 cell /dev/shm && mkdir -m 0711 "$run" "$run/proxy" &&
		mkdir -m 1777 "$run/tmp" && mount -t tmpfs -o mode=1777 cell-tmp "$run/tmp" &&
		: >"$run/netns" && unshare --net="$run/netns" true; } 2>"$state/stderr"; then
		not_started engine run_trial 102 "cannot make namespaces: $(head -n 1 "$state/stderr")"
	fi
	# A minimal root may lack the files to bind over; made in a layer of this mount namespace alone.
	if [ ! -e /etc/hosts ]; then
		mkdir "$run/etc" "$run/etc.work"
		mount -t overlay -o "lowerdir=/etc,upperdir=$run/etc,workdir=$run/etc.work" etc /etc ||
			not_started engine run_trial 102 'there is no /etc/hosts, and no overlay to make one in'
		: >/etc/hosts
		chmod 0755 "$run/etc"
	fi
	mkdir -m 0700 "$run/proxy/state"
	mkdir -m 0755 "$run/egress" "$run/bin"
	for tool in cell-capcheck cell-nsid cell-pinhost cell-probe cell-exec cell-proxycheck; do
		cp "$cell_bin/$tool" "$run/bin/$tool"
	done
	printf '127.0.0.1\tlocalhost cell\n::1\tlocalhost\n' >"$run/hosts"
	echo '# no resolver answers in this cell: the proxy resolves names' >"$run/resolv.conf"
	chmod 0644 "$run/hosts" "$run/resolv.conf"
	cp "$run/resolv.conf" "$out/resolv.conf"
}

in_netns() { nsenter --net="$run/netns" -- "$@"; }

# subnet_number ADDRESS: dotted decimal as a number.
subnet_number() {
	subnet_rest=$1.
	subnet_result=0
	for subnet_octet in 1 2 3 4; do
		subnet_part=${subnet_rest%%.*}
		case $subnet_part in '' | *[!0-9]* | ????*) return 1 ;; esac
		[ "$subnet_part" -le 255 ] || return 1
		subnet_result=$((subnet_result * 256 + subnet_part))
		subnet_rest=${subnet_rest#*.}
	done
	[ -z "$subnet_rest" ]
}

address_text() { echo "$(($1 >> 24 & 255)).$(($1 >> 16 & 255)).$(($1 >> 8 & 255)).$(($1 & 255))"; }

# The interface's name is the lock: "ip link add cellN" is atomic, and the kernel frees the name
# together with the namespace. N counts /30 networks in --subnet.
engine_network() {
	subnet_bits=${opt_subnet#*/}
	case $subnet_bits in '' | *[!0-9]* | ???*) subnet_bits=99 ;; esac
	if ! subnet_number "${opt_subnet%/*}" || [ "$subnet_bits" -gt 30 ] || [ "$subnet_bits" -lt 8 ]; then
		not_started network run_trial 100 "--subnet $opt_subnet is not an IPv4 network with a prefix of 8 to 30"
	fi
	subnet_base=$((subnet_result >> (32 - subnet_bits) << (32 - subnet_bits)))
	cells=$((1 << (30 - subnet_bits)))
	cell_number=$((0x$CELL_TRIAL % cells))
	tries=0
	while :; do
		near=$(address_text $((subnet_base + 4 * cell_number + 1)))
		far=$(address_text $((subnet_base + 4 * cell_number + 2)))
		ip link add "cell$cell_number" type veth peer name eth0 netns "$run/netns" \
			2>"$state/stderr" && break
		grep -q 'File exists' "$state/stderr" ||
			not_started network ip 111 "cannot make a veth pair: $(head -n 1 "$state/stderr")"
		tries=$((tries + 1))
		[ "$tries" -le "$cells" ] ||
			not_started network run_trial 125 "all $cells networks of $opt_subnet are taken"
		cell_number=$(((cell_number + 1) % cells))
	done
	# Somebody else's route to these addresses would be cut off, or would cut us off.
	clash=$({ ip -4 route show match "$near/30" && ip -4 route show root "$near/30"; } |
		grep -v -e '^default' -e '^0\.0\.0\.0/' -e ' dev cell[0-9]' | head -n 1)
	[ -z "$clash" ] ||
		not_started network run_trial 125 "$opt_subnet clashes with the route: $clash (see --subnet)"
	v6=$(printf 'fd63:656c:6c00:%x' "$cell_number")
	{
		ip address add "$near/30" dev "cell$cell_number" &&
			ip link set "cell$cell_number" up &&
			in_netns ip link set lo up &&
			in_netns ip address add "$far/30" dev eth0 &&
			in_netns ip link set eth0 up
	} 2>"$state/stderr" ||
		not_started network ip 111 "cannot set up the veth pair: $(head -n 1 "$state/stderr")"
	# Ping sockets for everybody, as container engines do it: else ICMP could not be shown open.
	in_netns sh -c 'echo "0 2147483647" >/proc/sys/net/ipv4/ping_group_range'
	# A packet that waits for a neighbour keeps its socket, and with it the namespace: 3 s by default.
	in_netns sh -c 'for family in ipv4 ipv6; do
		cd "/proc/sys/net/$family/neigh/eth0" 2>/dev/null || continue
		echo 1 >mcast_solicit && echo 100 >retrans_time_ms
	done'
	# IPv6 only so that its way out can be shown open before the policy; nodad: at once.
	ip -6 address add "$v6::1/64" dev "cell$cell_number" nodad 2>/dev/null &&
		in_netns ip -6 address add "$v6::2/64" dev eth0 nodad 2>/dev/null || v6=
	proxy_address=$near
	engine_users
}

# Users that no other process has: the number follows the cell's, which nobody else holds.
engine_users() {
	proxy_uid=$((2000100000 + cell_number))
	subject_gid=
	case $opt_user in
	'') subject_uid=$((2000000000 + cell_number)) ;;
	*:*) subject_uid=${opt_user%%:*} subject_gid=${opt_user#*:} ;;
	*) subject_uid=$opt_user ;;
	esac
	case $subject_uid in
	*[!0-9]*)
		subject_gid=${subject_gid:-$(id -g -- "$subject_uid" 2>/dev/null || :)}
		subject_uid=$(id -u -- "$subject_uid" 2>/dev/null) ||
			not_started user run_trial 100 "there is no user $opt_user"
		;;
	esac
	subject_gid=${subject_gid:-$subject_uid}
	case $subject_gid in
	*[!0-9]*) not_started user run_trial 100 "the group of --user $opt_user is not a number" ;;
	esac
	subject_user=${opt_user:-$subject_uid}
	[ -n "$opt_user" ] || [ -z "$(find /proc -maxdepth 1 -uid "$subject_uid" -name '[0-9]*' 2>/dev/null)" ] ||
		not_started user run_trial 125 "uid $subject_uid has processes already"
}

# The proxy: in the caller's network namespace, as a user of its own without any capability.
engine_proxy() {
	addons=$cell_share/mitmproxy
	mkdir -m 0755 "$run/addons"
	cp "$addons"/*.py "$run/addons/"
	set -- -s "$run/addons/cell_audit.py"
	addon_number=0
	engine_lines opt_addon
	while IFS= read -r line; do
		addon_number=$((addon_number + 1))
		cp -- "$line" "$run/addons/user-$addon_number-$(basename -- "$line")"
		set -- "$@" -s "$run/addons/user-$addon_number-$(basename -- "$line")"
	done <"$run/lines"
	engine_lines opt_proxy_arg
	while IFS= read -r line; do set -- "$@" "$line"; done <"$run/lines"
	# hits.jsonl stands in DIR from the first record on; the proxy reaches just this one file.
	: >"$out/hits.jsonl"
	: >"$run/proxy/state/hits.jsonl"
	mount --bind "$out/hits.jsonl" "$run/proxy/state/hits.jsonl"
	mkdir -m 0700 "$run/proxy/home"
	chown -R "$proxy_uid:$proxy_uid" "$run/proxy/state" "$run/proxy/home" "$run/egress"
	mkfifo "$run/proxy.log"
	{
		head -c 16777216 >"$out/proxy.log"
		cat >/dev/null
	} <"$run/proxy.log" 3<&- 4>&- 5>&- 7>&- &
	proxy_log_pid=$!
	(
		proxy_status=0
		as_proxy "$cell_bin/cell-publish" --state "$run/proxy/state" --dir "$run/egress" \
			--address "$near" --port "$CELL_PROXY_PORT" -- \
			mitmdump --listen-host "$near" --listen-port "$CELL_PROXY_PORT" \
			--set "confdir=$run/proxy/state" --set flow_detail=0 "$@" \
			>"$run/proxy.log" 2>&1 3<&- 4>&- 5>&- 7>&- </dev/null &
		echo $! >"$run/proxy.pid"
		wait $! || proxy_status=$?
		echo "$proxy_status" >"$run/proxy.exit"
		echo "proxy $proxy_status" >&7
	) &
	proxy_job=$!
	engine_beacon
	while ! (as_proxy "$cell_bin/cell-publish" --check --connect --json --port "$CELL_PROXY_PORT" \
		--state "$run/proxy/state" --dir "$run/egress") >"$state/record" 2>"$state/stderr"; do
		if [ -e "$run/proxy.exit" ]; then
			wait "$proxy_log_pid" || :
			message="ended with $(cat "$run/proxy.exit"); last line: $(tail -n 1 "$out/proxy.log" | cut -c 1-200)"
			say_step proxy NO "$message"
			not_started proxy mitmdump "$(cat "$run/proxy.exit")" "$message"
		fi
		check_interrupt
		sleep 0.05
	done
	record=$(cat "$state/record")
	printf '%s\n' "$record" >>"$out/evidence.jsonl"
	certificate=$(record_text sha256)
	cp "$run/egress/mitmproxy-ca-cert.pem" "$out/ca.pem"
}

# as_proxy COMMAND...: replaces this subshell; with an environment from nothing, since the subject's
# variables are none of its business, and in a session of its own, since Ctrl-C is not either.
as_proxy() {
	exec setsid -w env -i PATH="$PATH" HOME="$run/proxy/home" LANG=C.UTF-8 CELL_TRIAL="$CELL_TRIAL" \
		CELL_STEP=proxy \
		setpriv --reuid "$proxy_uid" --regid "$proxy_uid" --clear-groups --inh-caps=-all \
		--bounding-set=-all --no-new-privs -- "$@"
}

# A far end for the probes, in the caller's namespace at the cell's own address, until the seal is
# proven: without something that answers, "closed" would be an empty word.
engine_beacon() {
	# The system's own interpreter: one in a private home is out of that user's reach.
	python=/usr/bin/python3
	[ -x "$python" ] || python=python3
	cp "$cell_share/lib/beacon.py" "$run/beacon.py"
	as_proxy "$python" "$run/beacon.py" "$near" ${v6:+"$v6::1"} >"$run/beacon" \
		2>"$state/beacon.log" 3<&- 4>&- 5>&- 7>&- </dev/null &
	beacon_pid=$!
}

engine_targets() {
	while ! grep -q '^end' "$run/beacon"; do
		check_interrupt
		kill -0 "$beacon_pid" 2>/dev/null ||
			not_started before beacon 111 "no far end for the probes: $(tail -n 1 "$state/beacon.log")"
		sleep 0.02
	done
	sed -n 's/^target //p' "$run/beacon"
	printf 'icmp://%s closed\n' "$near"
	[ -z "$v6" ] || printf 'icmp://%s closed\n' "[$v6::1]"
	cat "$cell_share/targets/netns.txt"
	printf '%s' "$opt_closed" | sed 's/$/ closed/'
	printf '%s' "$opt_open" | grep -v '^https\{0,1\}://' | sed 's/$/ open/' || :
}

# engine_before: the caller's own preparation, in the cell's network but outside the sandbox.
engine_before() {
	[ -n "$opt_before" ] || return 0
	before_status=0
	in_netns sh -c "$opt_before" >"$state/before.log" 2>&1 </dev/null 3<&- 4>&- 5>&- 7>&- ||
		before_status=$?
	cat "$state/before.log" >>"$out/run.log"
	[ "$before_status" -eq 0 ] ||
		not_started before sh "$before_status" "--before ended with $before_status: $(tail -n 1 "$state/before.log")"
}

# engine_lines VARIABLE: its lines into $run/lines.
engine_lines() { eval "printf '%s' \"\$$1\"" >"$run/lines"; }

# engine_in_cell TOOL ARG...: in the policed namespace, with our privileges.
engine_in_cell() {
	in_cell_tool=$1
	shift
	in_netns "$cell_bin/$in_cell_tool" "$@"
}

engine_pin() {
	engine_pin_tool=$1
	shift
	"$cell_bin/$engine_pin_tool" "$@" --hosts "$run/hosts" --from "$run/egress/proxy-ipv4"
}

engine_rules() { in_netns "$cell_bin/cell-policy" rules; }

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

# engine_watch: records what the policy refuses, from before the policy is there.
engine_watch() {
	: >"$out/refused.jsonl"
	mkfifo "$run/watch.ready"
	(
		watch_status=0
		setsid -w nsenter --net="$run/netns" -- "$cell_bin/cell-watch" --group "$CELL_LOG_GROUP" \
			--log "$out/refused.jsonl" --ready-fd 6 6>"$run/watch.ready" \
			>/dev/null 2>"$state/watch.log" 3<&- 4>&- 5>&- 7>&- </dev/null &
		echo $! >"$run/watch.pid"
		wait $! || watch_status=$?
		echo "$watch_status" >"$run/watch.exit"
		echo "watch $watch_status" >&7
	) &
	watch_job=$!
	# One line, or the end of the file when it died.
	read -r _ <"$run/watch.ready" || {
		wait "$watch_job"
		message=$(head -n 1 "$state/watch.log")
		not_started watch cell-watch "$(cat "$run/watch.exit")" "${message:-cell-watch ended}"
	}
}

# The subject's place is the same before and after the seal, and there is no other side to ask.
engine_joins_late=
engine_probe_before() { engine_in_subject "$@"; }
engine_join() { :; }
engine_gate() { :; }
engine_open_end() { kill "$beacon_pid" 2>/dev/null || :; }

# engine_sealed: what the subject finds, kept before it can touch anything.
engine_sealed() {
	cp "$run/hosts" "$out/hosts"
	note hits_before "$(wc -l <"$out/hits.jsonl")"
	refused_before
	engine_environment >"$state/environment"
	work=${opt_chdir:-$PWD}
	setpriv --reuid "$subject_uid" --regid "$subject_gid" --clear-groups test -w "$work" ||
		say_step subject note "uid $subject_uid cannot write in $work (--user, --chdir)"
}

engine_how_to_enter() {
	echo "nsenter -t $(cat "$state/entry_pid") -m -p nsenter --net=$run/netns sh"
}

# engine_stop: ends proxy and watcher in the order that loses no record, and keeps their files.
engine_stop() {
	watch_pid=$(cat "$run/watch.pid")
	kill -TERM "$watch_pid" 2>/dev/null || :
	wait "$watch_job" || :
	[ "$(cat "$run/watch.exit")" = 0 ] ||
		end_trial void watch cell-watch "$(cat "$run/watch.exit")" "$(head -n 1 "$state/watch.log")"
	if [ -e "$run/proxy.exit" ]; then
		end_trial void proxy mitmdump "$(cat "$run/proxy.exit")" 'the proxy ended while the subject ran'
	else
		note proxy_alive 1
		kill -TERM "$(cat "$run/proxy.pid")" 2>/dev/null || :
		timer 3 proxy-late
		while read -r event _ <&7; do
			case $event in
			proxy) break ;;
			proxy-late)
				kill -KILL "$(cat "$run/proxy.pid")" 2>/dev/null || :
				break
				;;
			esac
		done
		wait "$proxy_job" || :
	fi
	chown 0:0 "$out/hits.jsonl"
	chmod 0600 "$out/hits.jsonl"
	tail -n 1 "$out/refused.jsonl" >"$state/refused"
	cmp -s "$run/hosts" "$out/hosts" || cp "$run/hosts" "$out/hosts-end"
}

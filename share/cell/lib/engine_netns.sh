# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The netns engine: the cell is a network namespace of this machine, joined to the caller's by one
# veth pair, at whose near end mitmdump listens. Nothing else of the caller's namespace changes.
#
# Before: pid and mount namespaces of the trial's own. Everything below $run is a tmpfs of that
# mount namespace, and $run/netns holds the network namespace open: no name in /run/netns, no
# process. After a kill: the kernel drops the mounts, with them the namespace and the veth pair.
# It is mounted over /dev/shm, which every user can reach and which the subject's own /dev hides.

. "$cell_share/lib/netns_network.sh"
. "$cell_share/lib/netns_sandbox.sh"

engine_egress=/run/cell/egress # where the subject sees the certificate volume

engine_start() {
	run=/dev/shm/cell
	export CELL_EGRESS_DIR="$run/egress" # where our own tools find it; the subject's is another
	engine_needs
	engine_private
	engine_network
	sandbox_make
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
		mkdir -m 0755 "$run/tmp" "$run/egress" "$run/bin" "$run/addons" &&
		mount -t tmpfs -o mode=1777 cell-tmp "$run/tmp" &&
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
	mkdir -m 0700 "$run/proxy/state" "$run/proxy/home"
	mkfifo "$run/proxy.log" "$run/watch.ready"
	# The subject's tools are the very files that stand beside run_trial, held by mounts, which cost
	# no memory: one that is replaced meanwhile is another file. Not their directory: that may hold
	# the caller's other programs. One process mounts all; from in there, fstab(5) needs no quoting.
	for tool in cell-capcheck cell-nsid cell-pinhost cell-probe cell-exec cell-proxycheck; do
		: >"$run/bin/$tool"
		echo "./$tool $run/bin/$tool none bind,ro"
	done >"$run/fstab"
	(cd "$cell_bin" && mount -a --fstab "$run/fstab") 2>"$state/stderr" ||
		not_started engine run_trial 102 "cannot bind the tools: $(head -n 1 "$state/stderr")"
	printf '127.0.0.1\tlocalhost cell\n::1\tlocalhost\n' >"$run/hosts"
	# Refused at once, and by address: so the record has the names that a subject asks for.
	for file in "$run/resolv.conf" "$out/resolv.conf"; do echo 'nameserver 127.0.0.11' >"$file"; done
}

# The proxy: in the caller's network namespace, as a user of its own without any capability.
engine_proxy() {
	cp "$cell_share/mitmproxy"/*.py "$cell_share/lib/beacon.py" "$run/addons/"
	set -- -s "$run/addons/cell_audit.py"
	addon_number=0
	engine_lines opt_addon
	while IFS= read -r line; do
		addon_number=$((addon_number + 1))
		cp -- "$line" "$run/addons/user-$addon_number-${line##*/}"
		set -- "$@" -s "$run/addons/user-$addon_number-${line##*/}"
	done <"$run/lines"
	engine_lines opt_proxy_arg
	while IFS= read -r line; do set -- "$@" "$line"; done <"$run/lines"
	# hits.jsonl stands in DIR from the first record on; the proxy reaches just this one file.
	: >"$out/hits.jsonl"
	: >"$run/proxy/state/hits.jsonl"
	mount --bind "$out/hits.jsonl" "$run/proxy/state/hits.jsonl"
	chown -R "$proxy_uid:$proxy_uid" "$run/proxy/state" "$run/proxy/home" "$run/egress"
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
	sleep 0.3 # it never starts faster
	proxy_patience=100 # hundredths of a second
	until engine_proxy_answers; do
		if [ -e "$run/proxy.exit" ]; then
			wait "$proxy_log_pid" || :
			message="ended with $(cat "$run/proxy.exit"); last line: $(tail -n 1 "$out/proxy.log" | cut -c 1-200)"
			say_step proxy NO "$message"
			not_started proxy mitmdump "$(cat "$run/proxy.exit")" "$message"
		fi
		check_interrupt
		engine_proxy_pause
	done
	read -r record <"$state/record"
	printf '%s\n' "$record" >>"$out/evidence.jsonl"
	record_field sha256
	certificate=$field
	cp "$run/egress/mitmproxy-ca-cert.pem" "$out/ca.pem"
}

# engine_proxy_answers: asks by the proxy's own user. That costs five processes, and what starts slowly
# starts beside many others: so it is asked when its first record shows that it is up, and without
# one when it has taken a second, and each time that it has taken twice as long.
engine_proxy_answers() {
	clock
	if [ ! -s "$out/hits.jsonl" ] && [ $((now - began)) -lt "$proxy_patience" ]; then return 1; fi
	proxy_patience=$((2 * (now - began)))
	(as_proxy "$cell_bin/cell-publish" --check --connect --json --port "$CELL_PROXY_PORT" \
		--state "$run/proxy/state" --dir "$run/egress") >"$state/record" 2>"$state/stderr"
}

# engine_proxy_pause: a tenth of the time that it has taken so far, 0.05 to 0.50 s.
engine_proxy_pause() {
	pause=$(((now - began) / 10))
	[ "$pause" -ge 5 ] || pause=5
	[ "$pause" -le 50 ] || pause=50
	sleep "0.$((pause / 10))$((pause % 10))"
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
	as_proxy "$python" -I -S "$run/addons/beacon.py" "$near" ${v6:+"$v6::1"} >"$run/beacon" \
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
	printf 'icmp://%s closed\n' "$near"
	[ -z "$v6" ] || printf 'icmp://%s closed\n' "[$v6::1]"
	sed -e 's/^target //' -e '/^end$/d' "$run/beacon" "$cell_share/targets/netns.txt"
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

# engine_watch: records what the policy refuses, from before the policy is there.
engine_watch() {
	: >"$out/refused.jsonl"
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
# Routes to everywhere, only now that nothing leaves by them: an attempt is then refused by the
# policy and recorded, where without a route it would end before that.
engine_join() {
	printf '%s\n' 'route add default dev eth0' 'route add ::/0 dev eth0' |
		in_netns ip -force -batch - 2>/dev/null || :
}
engine_gate() { :; }
engine_open_end() { kill "$beacon_pid" 2>/dev/null || :; }

# engine_sealed: what the subject finds, kept before it can touch anything.
engine_sealed() {
	cp "$run/hosts" "$out/hosts"
	note hits_before "$(wc -l <"$out/hits.jsonl")"
	refused_before
	printf '%s\n' "$sandbox_names" | sort -u >"$state/environment"
	setpriv --reuid "$subject_uid" --regid "$subject_gid" --clear-groups test -w "$work" ||
		say_step subject note "uid $subject_uid cannot write in $work (--user, --chdir)"
}

engine_how_to_enter() {
	echo "nsenter -t $(cat "$state/entry_pid") -m -p nsenter --net=$run/netns sh"
}

# engine_stop: ends proxy and watcher in the order that loses no record, and keeps their files.
engine_stop() {
	read -r watch_pid <"$run/watch.pid"
	kill -TERM "$watch_pid" 2>/dev/null || :
	wait "$watch_job" || :
	read -r watch_status <"$run/watch.exit" || watch_status=111
	if [ "$watch_status" != 0 ]; then
		message=$(head -n 1 "$state/watch.log")
		end_trial void watch cell-watch "$watch_status" "${message:-cell-watch ended with $watch_status}"
	fi
	if [ -e "$run/proxy.exit" ]; then
		end_trial void proxy mitmdump "$(cat "$run/proxy.exit")" 'the proxy ended while the subject ran'
	else
		note proxy_alive 1
		read -r proxy_pid <"$run/proxy.pid"
		kill -TERM "$proxy_pid" 2>/dev/null || :
		timer 3 proxy-late
		while read -r event _ <&7; do
			case $event in
			proxy) break ;;
			proxy-late)
				kill -KILL "$proxy_pid" 2>/dev/null || :
				break
				;;
			esac
		done
		wait "$proxy_job" || :
		[ "$(cat "$run/proxy.exit")" != 111 ] ||
			end_trial void proxy mitmdump 111 'the proxy could not write all of its record'
	fi
	chown 0:0 "$out/hits.jsonl"
	chmod 0600 "$out/hits.jsonl"
	tail -n 1 "$out/refused.jsonl" >"$state/refused"
	cmp -s "$run/hosts" "$out/hosts" || cp "$run/hosts" "$out/hosts-end"
}

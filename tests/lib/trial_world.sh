# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# For tests of run_trial: a network namespace to play the caller's, and behind it an origin that
# the proxy can reach. Sourced after cell_test.sh. trial ARG... runs run_trial there.

# world_start: sets $caller and $world (pids), $world_log, $origin_ca.
world_start() {
	netns_new || return 1
	world=$pid
	netns_new || return 1
	caller=$pid
	netns_join "$caller" to-world 192.0.2.1/30 "$world" eth0 192.0.2.2/30
	in_ns "$world" ip address add 203.0.113.10/32 dev lo
	in_ns "$world" ip -6 address add fd00:203:113::10/128 dev lo nodad
	in_ns "$world" ip route add default via 192.0.2.1
	in_ns "$caller" ip route add 203.0.113.0/24 via 192.0.2.2
	world_log=$work/world.log
	origin_ca=$work/origin.pem
	: >"$world_log"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-subj /CN=origin.test -addext subjectAltName=DNS:origin.test \
		-keyout "$work/origin.key" -out "$origin_ca" 2>"$work/openssl.err"
	printf '127.0.0.1 localhost\n203.0.113.10 origin.test\n' >"$work/hosts"
	background nsenter -n -t "$world" -- "$top/share/cell/examples/world.py" origin "$world_log" \
		"$origin_ca" "$work/origin.key" >"$work/world.out" 2>"$work/world.err"
	wait_for 10 grep -q ready "$work/world.out"
}

# task_start SECONDS: the world, and a work directory to be in that subjects can write. $mark: so long
# only this run's subjects sleep.
task_start() {
	world_start
	count=0
	mark=$1.$$
	chmod 0711 "$work" # the subject and the proxy are users of their own
	mkdir "$work/task"
	chmod 0777 "$work/task"
	cd "$work/task" || exit 1
}

# task_next: a new $out_dir, and the tools as they are.
task_next() {
	count=$((count + 1))
	out_dir=$work/trial-$count
	trial_bin=
}

# trial ARG...: run_trial in the caller's namespace, with origin.test in its hosts file.
trial() {
	in_ns "$caller" unshare --mount sh -c 'mount --bind "$1" /etc/hosts; shift; exec "$@"' sh \
		"$work/hosts" "${trial_bin:-$CELL_BIN}/run_trial" \
		--proxy-arg --set --proxy-arg "ssl_verify_upstream_trusted_ca=$origin_ca" \
		--proxy-arg --set --proxy-arg cell_allow_private=203.0.113.0/24 "$@"
}

# field JQ-PATH: from the summary of the trial in $out_dir.
field() { jq -r "$1" "$out_dir/summary.json"; }

# mutant TOOL: a copy of the tools in $trial_bin, where TOOL is to be replaced by a script on stdin.
mutant() {
	trial_bin=$work/mutant-$1-$count/build/bin
	mkdir -p "$trial_bin" "$work/mutant-$1-$count/share"
	ln -sn "$top/share/cell" "$work/mutant-$1-$count/share/cell"
	cp "$CELL_BIN"/* "$trial_bin/"
	mv "$trial_bin/$1" "$trial_bin/$1.real"
	cat >"$trial_bin/$1"
	chmod 0755 "$trial_bin/$1"
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run_trial with the netns engine: what a subject gets, what it can't do, how a trial ends.
# needs: root netns mitmdump bwrap jq nft
. "$(dirname "$0")/../lib/cell_test.sh"
. "$(dirname "$0")/../lib/trial_world.sh"

test_file_setup() { task_start 98765; }
test_setup() { task_next; }

# nothing_left MARK: no process of the trial with that id, no interface, a second later.
nothing_left() {
	sleep 1
	assertEquals 'processes left' '' "$(pgrep -f "$1" | grep -v "^$$\$" || :)"
	assertEquals 'interfaces left' '' "$(in_ns "$caller" ip -o link show type veth | grep ': cell' || :)"
}

test_subject_runs_sealed_and_its_code_comes_back() {
	expect 7 trial -o "$out_dir" -- sh -c 'echo out; echo err >&2; exit 7'
	assertEquals out "$out"
	assertContains "$err" 'err'
	assertContains "$err" '  end      sealed    same namespace, same policy'
	assertEquals exited "$(field .outcome)"
	assertEquals true "$(field .sealed)"
	assertEquals 7 "$(field .subject.exit)"
	assertEquals null "$(field .cause)"
	assertEquals true "$(field '.probe.closed >= 9')"
	assertEquals 'out' "$(cat "$out_dir/subject/stdout")"
	assertEquals 'err' "$(cat "$out_dir/subject/stderr")"
	(cd "$out_dir" && sha256sum --quiet -c sha256sums)
	assertEquals 'sha256sums' 0 $?
	assertEquals 700 "$(stat -c %a "$out_dir")"
	for file in evidence.jsonl probe-before.jsonl probe-after.jsonl refused.jsonl hits.jsonl \
		ruleset.nft ruleset-end.nft hosts resolv.conf ca.pem proxy.log run.log lock report.html; do
		assertTrue "$file" "[ -e $out_dir/$file ]"
	done
	assertFalse 'state is gone' "[ -e $out_dir/.state ]"
	for file in evidence refused probe-before probe-after; do
		jq -e . "$out_dir/$file.jsonl" >/dev/null
		assertEquals "$file is JSON lines" 0 $?
	done
	cmp "$out_dir/ruleset.nft" "$out_dir/ruleset-end.nft" >/dev/null || true
}

test_subject_stdout_is_byte_for_byte() {
	head -c 300000 /dev/urandom >"$work/task/noise"
	chmod 0644 "$work/task/noise"
	trial -q -o "$out_dir" -- cat noise >"$work/copy" 2>"$work/err"
	assertEquals 0 $?
	cmp "$work/task/noise" "$work/copy"
	assertEquals 'stdout' 0 $?
	assertEquals '--quiet' '' "$(cat "$work/err")"
}

test_subject_gets_our_stdin() {
	echo 'from outside' | trial -q -o "$out_dir" -- cat >"$work/copy"
	assertEquals 'from outside' "$(cat "$work/copy")"
}

test_closed_stdout_does_not_hurt_the_subject() {
	trial -q -o "$out_dir" -- sh -c 'seq 200000; echo done >&2' 2>/dev/null | head -n 1 >"$work/copy"
	assertEquals 1 "$(cat "$work/copy")"
	assertEquals 'done' "$(cat "$out_dir/subject/stderr")"
	assertEquals 200000 "$(wc -l <"$out_dir/subject/stdout")"
}

test_https_through_the_proxy_works_and_is_recorded() {
	expect 0 trial -o "$out_dir" -- curl -fsS https://origin.test/hello
	assertContains "$out" 'hello from the origin: /hello'
	assertEquals 'requests' 1 "$(field .proxy.requests)"
	assertContains "$(cat "$out_dir/hits.jsonl")" '"origin.test"'
	# The same without the proxy: refused, and counted.
	count=$((count + 1)) out_dir=$work/trial-$count
	expect 7 trial -o "$out_dir" -- curl -sS --noproxy '*' --resolve origin.test:443:203.0.113.10 \
		https://origin.test/direct
	assertEquals true "$(field .sealed)"
	assertEquals 'requests' 0 "$(field .proxy.requests)"
	assertNotContains "$(cat "$world_log")" /direct
}

test_python_through_the_proxy_works() {
	expect 0 trial -o "$out_dir" -- /usr/bin/python3 -c '
import urllib.request
print(urllib.request.urlopen("https://origin.test/py").read().decode())'
	assertContains "$out" 'hello from the origin: /py'
}

test_open_url_is_asked_before_the_subject_starts() {
	expect 0 trial -o "$out_dir" --open https://origin.test/ready -- true
	assertContains "$(cat "$out_dir/evidence.jsonl")" '"tool":"cell-proxycheck"'
	count=$((count + 1)) out_dir=$work/trial-$count
	expect 125 trial -o "$out_dir" --open https://nowhere.test/ -- touch ran
	assertFalse 'the subject never ran' '[ -e ran ]'
	assertEquals not-started "$(field .outcome)"
	assertEquals open "$(field .cause.step)"
}

test_secret_variables_are_nowhere_in_the_evidence() {
	API_KEY=s3cret-b
	export API_KEY
	expect 0 trial -o "$out_dir" -E TOKEN=s3cret-a -E API_KEY -- sh -c 'echo "${#TOKEN} ${#API_KEY}"'
	unset API_KEY
	assertEquals '8 8' "$out"
	assertEquals '' "$(grep -rl s3cret "$out_dir")"
	assertEquals 'TOKEN API_KEY' \
		"$(field '.subject.environment | map(select(. == "TOKEN" or . == "API_KEY")) | sort | reverse | join(" ")')"
}

test_subject_has_nothing() {
	expect 0 trial -o "$out_dir" -- sh -c '
		set -e
		grep -q "^Cap...:.*[1-9a-f]" /proc/self/status && echo "a capability"
		[ "$(id -u)" -ge 2000000000 ] || echo "uid $(id -u)"
		ls -A /run | grep -v "^cell$" || :
		touch /etc/x 2>/dev/null && echo "can write /etc"
		ls '"$out_dir"' 2>/dev/null || :
		[ -e /dev/shm/cell ] && echo "sees the relay"
		find /proc -maxdepth 1 -uid 0 -name "[0-9]*" | grep -v "^/proc/1$" || :
		touch /tmp/mine
		for file in /proc/self/fd/*; do
			case ${file##*/} in 0 | 1 | 2 | 3 | 10) ;; *) echo "descriptor $file" ;; esac
		done
		exit 0'
	assertEquals '' "$out"
}

# tools_private: a copy of the tools in $trial_bin, below a directory that is root's alone.
tools_private() {
	trial_bin=$work/private-$count/build/bin
	mkdir -m 0700 "$work/private-$count"
	mkdir -p "$trial_bin" "$work/private-$count/share"
	ln -sn "$top/share/cell" "$work/private-$count/share/cell"
	cp "$CELL_BIN"/* "$trial_bin/"
}

test_subject_runs_the_tools_and_cannot_change_them() {
	tools_private
	cat >"$work/task/change" <<'EOS'
#!/bin/sh
# Prints what it could do to the tools in DIR.
cd "$1" || exit
true >new && echo 'made a file'
for tool in cell-capcheck cell-nsid cell-pinhost cell-probe cell-exec cell-proxycheck; do
	./$tool --version || echo "cannot run $tool"
	true >>$tool && echo "wrote $tool"
	chmod 0777 $tool && echo "chmod $tool"
	touch $tool && echo "touched $tool"
	mv $tool other && echo "renamed $tool" && mv other $tool
	rm -f $tool && echo "removed $tool"
done 2>/dev/null
exit 0
EOS
	chmod 0755 "$work/task/change"
	for user in '' root; do
		count=$((count + 1)) out_dir=$work/trial-$count
		expect 0 trial -q -o "$out_dir" ${user:+-u "$user"} -- ./change /run/cell/bin
		assertEquals "as ${user:-a user of its own}" '' "$(printf '%s\n' "$out" | grep -v '^cell-[a-z]* [0-9]')"
		assertEquals 'tools that ran' 6 "$(printf '%s\n' "$out" | grep -c '^cell-[a-z]* [0-9]')"
	done
	# The same outside, where they can be changed: the attempts are real.
	run "$work/task/change" "$trial_bin"
	assertEquals 'outside' "$((1 + 6 * 5))" "$(printf '%s\n' "$out" | grep -vc '^cell-[a-z]* [0-9]')"
}

test_tools_that_are_replaced_meanwhile_stay_what_they_were() {
	tools_private
	(
		wait_for 30 [ -e "$work/task/up-$count" ]
		for tool in cell-exec cell-capcheck; do
			echo 'exit 99' >"$trial_bin/$tool.new"
			chmod 0755 "$trial_bin/$tool.new"
			mv "$trial_bin/$tool.new" "$trial_bin/$tool"
		done
		: >"$work/task/replaced-$count"
	) &
	expect 0 trial -o "$out_dir" --after '/run/cell/bin/cell-capcheck' -- sh -c \
		"touch up-$count; until [ -e replaced-$count ]; do sleep 0.1; done"
	assertEquals 99 "$(sh "$trial_bin/cell-exec"; echo $?)"
	assertEquals 0 "$(field .after.exit)"
	assertEquals true "$(field .sealed)"
}

test_no_mount_is_left_or_seen_outside() {
	before=$(cat /proc/self/mountinfo)
	expect 0 in_ns "$caller" "$CELL_BIN/run_trial" -q -o "$out_dir" -- \
		sh -c 'grep -c " /run/cell/bin/" /proc/self/mountinfo; touch up; sleep 0.3' &
	wait_for 30 [ -e up ]
	assertEquals 'while the subject ran' "$before" "$(cat /proc/self/mountinfo)"
	wait $!
	assertEquals 6 "$(cat "$out_dir/subject/stdout")"
	assertEquals 'afterwards' "$before" "$(cat /proc/self/mountinfo)"
}

test_binds_are_made_in_the_order_given() {
	mkdir -p "$work/outer/inner" "$work/other"
	echo inner >"$work/outer/inner/which"
	echo other >"$work/other/which"
	chmod -R a+rX "$work/outer" "$work/other"
	expect 0 trial -q -o "$out_dir" --bind "$work/outer:$work/task/outer" \
		--bind "$work/other:$work/task/outer/inner:ro" -- cat outer/inner/which
	assertEquals other "$out"
}

test_subject_gets_no_variable_of_ours() {
	FOREIGN='a value
export PATH=/nowhere'
	export FOREIGN
	expect 0 trial -q -o "$out_dir" -E 'LINES=one
two' -- env -0
	unset FOREIGN
	tr '\n\0' ' \n' <"$out_dir/subject/stdout" | sed 's/=.*//' | grep -v -x -e PWD | sort >"$work/names"
	assertEquals "$(field '.subject.environment[]' | sort)" "$(cat "$work/names")"
	assertEquals 'LINES=one two' "$(tr '\n\0' ' \n' <"$out_dir/subject/stdout" | grep ^LINES=)"
}

test_directory_that_exists_is_not_touched() {
	mkdir "$out_dir"
	echo mine >"$out_dir/file"
	before=$(hash_tree "$out_dir")
	expect 125 trial -o "$out_dir" -- touch ran
	assertFalse '[ -e ran ]'
	assertEquals "$before" "$(hash_tree "$out_dir")"
}

test_wrong_command_lines_are_usage() {
	expect 0 run_trial --help
	expect 0 run_trial --version
	for words in '' '--nosuch true' '--time 5 true' '-t x true' '-t 5 -t 6 true' '--timeout= true' \
		'-e docker true' '--env =x true' '--env 1x true' '--timeout' '--quiet --quiet true' \
		'--addon /nonexistent true' '--sweep true' '-E NOT_SET_ANYWHERE true' '-t 0 true' \
		'--setup-timeout 0.0 true' '--closed foo true' '--open tcp://1.2.3.4 true' \
		'--subnet 10.0.0.0/31 true' '--subnet 10.0.0/8 true' '-u nosuchuser true' '-u 5:x true' \
		'-u : true' '-C /nonexistent true'; do
		# shellcheck disable=SC2086 # a list of words
		expect_error 100 'run_trial: ' run_trial $words
	done
	mkdir "$work/gone"
	# shellcheck disable=SC2016 # for the inner shell
	expect 100 sh -c 'cd "$1" && rmdir "$1" && run_trial true' sh "$work/gone"
	assertContains "$err" 'run_trial: the current directory is gone'
	assertEquals '' "$(ls trials 2>/dev/null)"
}

test_time_limit_ends_daemons_that_ignore_signals() {
	expect 124 trial -o "$out_dir" -t 1 --grace 0.5 -- sh -c '
		trap "" TERM INT HUP
		setsid sh -c "trap \"\" TERM; exec sleep '"$mark"'" &
		while :; do sleep '"$mark"'; done'
	assertEquals timed-out "$(field .outcome)"
	assertEquals true "$(field .subject.timed_out)"
	assertEquals true "$(field .sealed)"
	nothing_left "$mark"
}

test_time_limit_is_kind_first() {
	expect 124 trial -o "$out_dir" -t 1 --grace 20 -- sh -c '
		trap "echo bye; exit 3" TERM
		while :; do sleep 0.1; done'
	assertEquals bye "$out"
	assertEquals 3 "$(field .subject.exit)"
}

# stop_with SIGNAL: starts a long trial in the background, waits for its subject, sends SIGNAL to
# run_trial alone, and keeps its exit in $status.
stop_with() {
	mkfifo "$work/pid-$count"
	(
		in_ns "$caller" env --default-signal unshare --mount sh -c 'echo $$ >"$1"; shift; exec "$@"' sh \
			"$work/pid-$count" "$CELL_BIN/run_trial" -o "$out_dir" --grace 1 -- \
			sh -c "echo up; exec sleep $mark" >"$work/out-$count" 2>"$work/err-$count"
		echo $? >"$work/status-$count"
	) &
	stop_pid=$(cat "$work/pid-$count")
	wait_for 30 grep -q up "$work/out-$count"
	kill -s "$1" "$stop_pid"
	wait $!
	status=$(cat "$work/status-$count")
}

test_interrupt_stops_the_subject_and_keeps_the_evidence() {
	stop_with INT
	assertEquals 130 "$status"
	assertEquals interrupted "$(field .outcome)"
	assertEquals true "$(field .subject.started)"
	nothing_left "$mark"
}

test_terminate_stops_the_subject_and_keeps_the_evidence() {
	stop_with TERM
	assertEquals 143 "$status"
	assertEquals interrupted "$(field .outcome)"
	nothing_left "$mark"
}

test_kill_leaves_a_directory_without_summary_and_nothing_else() {
	stop_with KILL
	assertEquals 137 "$status"
	assertFalse '[ -e "$out_dir/summary.json" ]'
	nothing_left "$mark"
}

test_a_dead_proxy_makes_the_trial_void() {
	(
		wait_for 30 [ -e "$work/task/up-$count" ]
		# The trial's proxy by pid: the one mitmdump that serves this trial's address.
		for proxy in $(pgrep -f "[m]itmdump --listen-host"); do
			if [ "$(readlink "/proc/$proxy/ns/net")" = "$(readlink "/proc/$caller/ns/net")" ]; then
				kill -KILL "$proxy"
			fi
		done
	) &
	expect 122 trial -o "$out_dir" -- sh -c "touch up-$count; sleep $mark"
	assertEquals void "$(field .outcome)"
	assertEquals proxy "$(field .cause.step)"
	assertEquals true "$(field .subject.started)"
	assertEquals false "$(field .sealed)"
	assertContains "$err" 'It counts as an attempt'
	nothing_left "$mark"
}

test_a_subject_killed_by_a_signal() {
	expect 137 trial -o "$out_dir" -- sh -c 'kill -KILL $$'
	assertEquals exited "$(field .outcome)"
	assertEquals 9 "$(field .subject.signal)"
}

test_a_missing_command_is_127() {
	expect 127 trial -o "$out_dir" -- no-such-command
}

test_verifier_sees_what_the_subject_left_and_is_sealed_too() {
	expect 0 trial -o "$out_dir" --after 'cat /tmp/left; curl -s --max-time 2 --noproxy "*" http://203.0.113.10:443/ ; echo "curl $?"' \
		-- sh -c 'echo for you >/tmp/left; (sleep 1000 &)'
	assertEquals 'for you
curl 7' "$(cat "$out_dir/after/stdout")"
	assertEquals 0 "$(field .after.exit)"
}

test_output_is_bounded_in_the_evidence_alone() {
	trial -q -o "$out_dir" -- head -c 70000000 /dev/zero | wc -c >"$work/copy"
	assertEquals 70000000 "$(cat "$work/copy")"
	assertEquals 70000000 "$(field .subject.stdout.bytes)"
	assertEquals true "$(field .subject.stdout.truncated)"
	assertEquals 67108864 "$(stat -c %s "$out_dir/subject/stdout")"
}

test_names_and_addresses_that_were_refused_are_in_the_summary() {
	expect 7 trial -o "$out_dir" -- sh -c 'getent hosts secret.example
		exec curl -s -m 5 --noproxy "*" http://192.0.2.77:81/'
	assertEquals secret.example "$(field '.refused.top_names[0].name')"
	assertContains "$(field '.refused.top_destinations | map(.name) | join(";")')" 'tcp 192.0.2.77 81'
	assertEquals 0 "$(field .refused.lost)"
	assertEquals true "$(field .sealed)"
}

# --- the proof: a way that stays open, is lost, or was never shown open stops the trial

# not_proven VERDICT OPTION TARGET
not_proven() {
	rm -f ran
	expect 125 trial -o "$out_dir" "$2" "$3" -- touch ran
	assertFalse 'the subject never ran' '[ -e ran ]'
	assertEquals "$1: cause" probe.compare "$(field .cause.step)"
	assertEquals "$1: verdict of $3" "$1" "$(jq -r 'select(.step == "probe.compare") | .offending[0].verdict' \
		"$out_dir/evidence.jsonl")"
	assertContains "$err" 'after    NO'
}
test_a_way_still_open_never_starts_the_subject() { not_proven still-open --closed 'loopback:'; }
test_a_way_that_is_lost_never_starts_the_subject() { not_proven lost --open udp://127.0.0.1:9; }
test_a_way_never_shown_open_never_starts_the_subject() { not_proven vacuous --closed 'tcp://127.0.0.1:9?dev=lo'; }

# --- the gate, through the relay: the good subject first (every test above), then the bad one

test_net_raw_in_the_bounding_set_never_starts() {
	mutant cell-exec <<'EOS'
#!/bin/sh
# Drops everything, but leaves NET_RAW where a set-uid program would find it.
while [ "$1" != -- ]; do
	case $1 in --user) user=$2 ;; esac
	shift
done
shift
exec setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups --inh-caps=-all \
	--bounding-set=-all,+net_raw -- "$@"
EOS
	expect 125 trial -o "$out_dir" -- touch ran
	assertFalse 'the subject never ran' '[ -e ran ]'
	assertEquals not-started "$(field .outcome)"
	assertEquals cell-capcheck "$(field .cause.tool)"
	assertContains "$(field .cause.message)" net_raw
	assertContains "$err" 'gate     NO'
}

test_a_subject_in_another_namespace_never_starts() {
	mutant cell-exec <<'EOS'
#!/bin/sh
# Leaves the policed namespace for one of its own.
exec unshare --net -- "$(dirname "$0")/cell-exec.real" "$@"
EOS
	rm "$work/mutant-cell-exec-$count/share/cell"
	cp -r "$top/share/cell" "$work/mutant-cell-exec-$count/share/cell"
	sed -i 's/cell-probe cell-exec cell-proxycheck/cell-probe cell-exec cell-exec.real cell-proxycheck/' \
		"$work/mutant-cell-exec-$count/share/cell/lib/engine_netns.sh"
	expect 125 trial -o "$out_dir" -- touch ran
	assertFalse 'the subject never ran' '[ -e ran ]'
	assertEquals cell-nsid "$(field .cause.tool)"
	assertEquals 1 "$(field .cause.exit)"
}

test_a_malformed_published_address_never_starts() {
	for address in 999.1.1.1 1..2.3 ... 1.2.3.4.5 01.2.3.4 '' '1.2.3.4
5.6.7.8' 127.0.0.1; do
		count=$((count + 1)) out_dir=$work/trial-$count
		# Between publishing and pinning somebody writes to the volume.
		mutant cell-pinhost <<EOS
#!/bin/sh
printf '%s\n' '$address' >"\$CELL_EGRESS_DIR/proxy-ipv4"
exec "\$0.real" "\$@"
EOS
		expect 125 trial -q -o "$out_dir" -- touch ran
		assertFalse 'the subject never ran' '[ -e ran ]'
		assertEquals "cause for '$address'" '103 cell-pinhost' \
			"$(field '"\(.cause.exit) \(.cause.tool)"')"
	done
}

test_a_malformed_proxy_name_never_starts() {
	for name in 'a b' 'proxy*' 'a/b' '...' 'bücher' '127.0.0.1' 'proxy.' '.*'; do
		count=$((count + 1)) out_dir=$work/trial-$count
		CELL_PROXY_HOST=$name
		export CELL_PROXY_HOST
		expect 125 trial -q -o "$out_dir" -- touch ran
		unset CELL_PROXY_HOST
		assertFalse 'the subject never ran' '[ -e ran ]'
		assertEquals "cause for '$name'" 100 "$(field .cause.exit)"
	done
}

test_a_setup_that_hangs_ends_in_time() {
	mutant cell-policy <<EOS
#!/bin/sh
exec sleep $mark
EOS
	expect 125 trial -o "$out_dir" --setup-timeout 3 -- touch ran
	assertFalse '[ -e ran ]'
	assertEquals not-started "$(field .outcome)"
	assertContains "$(field .cause.message)" 'within 3 s'
	nothing_left "$mark"
}

test_a_proxy_that_cannot_start_says_why() {
	expect 125 trial -o "$out_dir" --proxy-arg --no-such-option -- touch ran
	assertEquals proxy "$(field .cause.step)"
	assertContains "$err" 'proxy    NO'
}

test_subnet_that_clashes_with_a_route_is_refused() {
	in_ns "$caller" ip route add 198.19.0.0/16 via 192.0.2.2
	expect 125 trial -o "$out_dir" --subnet 198.19.4.0/24 -- touch ran
	in_ns "$caller" ip route del 198.19.0.0/16 via 192.0.2.2
	assertContains "$(field .cause.message)" 198.19.0.0/16
	count=$((count + 1)) out_dir=$work/trial-$count
	expect 0 trial -o "$out_dir" --subnet 198.19.4.0/24 -- true
	assertContains "$(field .proxy.address)" 198.19.4.
}

# A request for the proxy's link address that is answered late would be a proxy out of reach.
test_both_ends_know_each_others_link_address_for_good() {
	expect 0 trial -o "$out_dir" -- ip neighbour show nud permanent
	assertContains "$out" "$(field .proxy.address) dev eth0 lladdr"
	assertContains "$out" '::1 dev eth0 lladdr'
}

test_many_at_once() {
	parallel=${CELL_TEST_TRIALS:-6}
	[ -z "${CELL_TEST_LONG:-}" ] || parallel=30
	jobs=
	for i in $(seq "$parallel"); do
		trial -q -o "$out_dir-$i" --setup-timeout 300 -- sh -c "curl -fsS https://origin.test/n$i" \
			>"$work/many-$i" 2>&1 &
		jobs="$jobs $!"
	done
	for job in $jobs; do
		wait "$job"
		assertEquals 0 $?
	done
	for i in $(seq "$parallel"); do
		assertContains "$(cat "$work/many-$i")" "/n$i"
		assertEquals true "$(jq .sealed "$out_dir-$i/summary.json")"
	done
	assertEquals 'addresses differ' "$parallel" \
		"$(cat "$out_dir"-*/summary.json | jq -r .proxy.address | sort -u | wc -l)"
}

. "$CELL_TEST_SHUNIT2"

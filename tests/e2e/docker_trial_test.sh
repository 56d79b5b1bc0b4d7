#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns
# run_trial --engine compose, on an engine of its own: that it ends as the netns engine does, with the
# same evidence, and what each way of going wrong leaves.
. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/docker.sh"
# shellcheck disable=SC2154 # engine, docker_reason come from docker.sh; out, status, work from run

test_file_setup() {
	cat >"$work/user.yaml" <<-'END'
		services:
		  main: {image: main, command: [sleep, infinity], stop_signal: SIGKILL, environment: [TASK=7]}
	END
	docker_start || return 0
	docker_images
}

test_file_teardown() { docker_stop; }

test_setup() {
	number=$((${number:-0} + 1))
	dir=$work/trial$number
	[ -z "$docker_reason" ] || skip "$docker_reason"
}

# trial OPTION... [--] COMMAND...: with the evidence in $dir.
trial() {
	host env CELL_BUNDLE="$top/build/bundle/opt/cell" CELL_ALLOW_PRIVATE=203.0.113.0/24 \
		"$CELL_BIN/run_trial" -e compose -o "$dir" -f "$work/user.yaml" "$@"
}

# fact FILTER: of the summary.
fact() { jq -r "$1" "$dir/summary.json"; }

# Nothing of any trial is left in the engine.
assert_clean() {
	assertEquals 'containers' '' "$(docker ps -a -q --filter label=cell.trial)"
	assertEquals 'networks' '' "$(docker network ls -q --filter label=cell.trial)"
	assertEquals 'volumes' '' "$(docker volume ls -q)"
}

test_a_subject_through_the_proxy() {
	printf 'to the subject\n' >"$work/stdin"
	# shellcheck disable=SC2016 # for the subject's shell
	mkdir "$work/data"
	echo bound >"$work/data/file"
	echo 'import sys; print("one of our own", file=sys.stderr)' >"$work/addon.py"
	run trial -u 1000 --bind "$work/data:/data:ro" -C /data --addon "$work/addon.py" \
		--proxy-arg --set=anticache=true --closed tcp://203.0.113.10:7 --closed udp://203.0.113.10:7 \
		--open https://world.example/checked --before 'ip link >/dev/null 2>&1 || ls /sys/class/net' -E "WORD=two words" -E 'LINES=one
two' -- sh -c 'cat; cat file; echo "$(id -u) $WORD $TASK $LINES"; curl -sS https://world.example/trial
		curl -sS --noproxy "*" http://203.0.113.10/around; echo to stderr >&2; exit 3' <"$work/stdin"
	assertEquals "$err" 3 "$status"
	assertEquals 'to the subject
bound
1000 two words 7 one
two
the world outside' "$out"
	assertFalse 'world_heard around'
	assertContains "$(cat "$dir/proxy.log")" 'one of our own'
	assertTrue '--open was tried' 'world_heard "GET /checked"'
	for closed in tcp udp; do
		assertContains "$closed" "$(jq -c 'select(.step == "probe.compare") | .targets[] | [.target, .verdict]' \
			"$dir/evidence.jsonl")" "[\"$closed://203.0.113.10:7\",\"closed\"]"
	done
	assertEquals 1000 "$(fact .subject.uid)"
	assertEquals true "$(fact '.refused.packets > 0')"
	assertContains "$(cat "$dir/refused.jsonl")" 203.0.113.10
	assertContains "$err" 'to stderr'
	assertTrue 'world_heard "GET /trial"'
	assertEquals 'compose exited 3 true true' "$(fact '[.engine, .outcome, .exit, .sealed, .subject.started] | join(" ")' | xargs)"
	assertEquals 'the digests' 0 "$(cd "$dir" && sha256sum --quiet -c sha256sums >/dev/null 2>&1; echo $?)"
	assertEquals 1 "$(fact .proxy.requests)"
	assertEquals 'proxy, cell and main' 3 "$(fact '.versions.images' | wc -w)"
	assertEquals true "$(fact .namespace.same_at_end)"
	assertEquals true "$(fact .policy.unchanged)"
	assertEquals 'ways without a verdict' 0 "$(fact '.probe.still_open + .probe.vacuous + .probe.lost')"
	assertTrue 'many ways were closed' "[ $(fact .probe.closed) -ge 20 ]"
	for step in proxy pin policy join.user again.capabilities again.capabilities.pid again.namespace \
		again.namespace.pid again.pin again.policy end.policy end.namespace; do
		assertEquals "$step" true "$(jq -s --arg step "$step" --arg trial "$(fact .trial)" \
			'any(.step == $step and .exit == 0 and .trial == $trial)' "$dir/evidence.jsonl")"
	done
	assertContains "$(fact '.subject.environment | join(" ")')" WORD
	assertNotContains 'no value is in the evidence' "$(cat "$dir"/*.json* "$dir/run.log")" 'two words'
	assertContains "$(cat "$dir/hosts")" "$(fact .proxy.address) "
	assertEquals start "$(head -n 1 "$dir/refused.jsonl" | jq -r .record)"
	assertEquals summary "$(tail -n 1 "$dir/refused.jsonl" | jq -r .record)"
	assert_clean
}

test_a_subject_that_holds_a_capability_never_starts() {
	cat >"$work/bounded.yaml" <<-'END'
		services: {main: {cap_add: [NET_RAW, NET_ADMIN], user: "1000"}}
	END
	expect 125 trial -f "$work/bounded.yaml" -- touch /tmp/ran
	assertContains "$err" 'cap_net_'
	assertEquals 'not-started false' "$(fact '[.outcome, .subject.started] | join(" ")')"
	assert_clean
}

test_a_subject_elsewhere_never_starts() {
	# A user's service that insists on a namespace of its own is refused by Compose or by the gate.
	cat >"$work/elsewhere.yaml" <<-'END'
		services: {main: {networks: [default]}}
	END
	expect 125 trial -f "$work/elsewhere.yaml" -- true
	assertEquals false "$(fact .subject.started)"
	assert_clean
}

test_what_cannot_start_says_why() {
	cat >"$work/broken.yaml" <<-'END'
		services: {main: {image: there-is-none}}
	END
	expect 125 trial -f "$work/broken.yaml" -- true
	assertEquals 'join compose' "$(fact '.cause | .step + " " + .tool')"
	dir=$dir.service
	expect 125 trial --service nobody -- true
	assertContains "$err" 'no service nobody'
	dir=$dir.command
	expect 127 trial -- /no/such/program
	assertEquals exited "$(fact .outcome)"
	assert_clean
}

# The engine itself says what overlaps; only Compose is left out here.
test_networks_that_overlap_are_passed_over() {
	docker network create --subnet 198.18.0.0/28 taken >/dev/null
	docker network create --subnet 198.18.128.0/17 large >/dev/null
	(
		state=$work CELL_TRIAL=00000000
		. "$top/share/cell/lib/compose_project.sh"
		compose() { host docker network create --subnet "$CELL_SUBNET" found 2>>"$state/compose.log"; }
		compose_up && echo "$CELL_SUBNET after $subnet_tries"
	) >"$work/found"
	assertEquals '198.19.85.96/28 after 2' "$(cat "$work/found")"
	docker network rm taken large found >/dev/null
}

test_time_is_up() {
	# Deaf to TERM, with a daemon in a session of its own, and a file for the verifier.
	expect 124 trial -t 1 --grace 1 --after 'cat /tmp/left; curl -sS http://127.0.0.1:53/' -- \
		sh -c 'trap "" TERM; echo left >/tmp/left; setsid sleep 60 & sleep 60'
	assertEquals 'timed-out true true' "$(fact '[.outcome, .sealed, .subject.timed_out] | join(" ")')"
	assertEquals left "$(cat "$dir/after/stdout")"
	assert_clean
}

test_proxy_dies() {
	background_trial -- sleep 60
	docker kill "$(docker ps -q --filter label=com.docker.compose.service=proxy)" >/dev/null
	wait "$trial_pid"
	assertEquals 122 $?
	assertEquals 'void proxy' "$(fact '.outcome + " " + .cause.step')"
	assert_clean
}

# background_trial ARG...: until its subject runs.
background_trial() {
	trial "$@" >"$work/background" 2>&1 &
	trial_pid=$!
	wait_for 120 grep -q 'subject  *running' "$work/background"
}

test_interrupted() {
	background_trial -- sh -c 'trap "echo told; exit 0" TERM; sleep 60 & wait'
	host kill -TERM "$(run_trial_pid)"
	wait "$trial_pid"
	assertEquals 143 $?
	assertEquals told "$(cat "$dir/subject/stdout")"
	assertEquals 'interrupted true' "$(fact '[.outcome, .subject.started] | join(" ")')"
	assert_clean
}

# The shell that runs run_trial, as the engine's pid namespace knows it.
run_trial_pid() { host pgrep -o -f "run_trial -e compose -o $dir "; }

test_killed_and_swept() {
	background_trial -- sleep 60
	dead=$dir
	host kill -KILL "$(run_trial_pid)"
	wait "$trial_pid" 2>/dev/null
	assertFalse 'no summary' "[ -e '$dead/summary.json' ]"
	left=$(docker ps -q --filter label=cell.trial | wc -l)
	assertEquals 3 "$left"
	# A living one beside it stays.
	dir=$dir.living
	background_trial -- sh -c 'sleep 8; exit 5'
	expect 0 host "$CELL_BIN/run_trial" --sweep
	assertContains "$err" "$dead"
	assertNotContains "$err" "$dir"
	wait "$trial_pid"
	assertEquals 5 $?
	assertEquals true "$(fact .sealed)"
	assert_clean
}

# The evidence in a volume of the subject's would be the subject's: root in there is root.
test_evidence_in_a_volume_of_the_subject_never_starts() {
	mkdir "$work/shared"
	cat >"$work/shared.yaml" <<-END
		services:
		  main: {volumes: ["$work/shared:/shared"]}
	END
	own=$dir dir=$work/shared/trial
	run trial --setup-timeout 300 -f "$work/shared.yaml" -- touch /shared/ran
	assertEquals "$err" 125 "$status"
	assertFalse '[ -e "$work/shared/ran" ]'
	assertEquals 'join 100' "$(fact '"\(.cause.step) \(.cause.exit)"')"
	assertContains "$(fact .cause.message)" "$work/shared"
	# Read-only, or elsewhere, it is no trouble.
	sed -i 's|:/shared"|:/shared:ro"|' "$work/shared.yaml"
	dir=$work/shared/trial-ro
	run trial --setup-timeout 300 -f "$work/shared.yaml" -- sh -c 'touch /shared/ran 2>/dev/null; exit 4'
	assertEquals "$err" 4 "$status"
	sed -i 's|:ro"|"|' "$work/shared.yaml"
	dir=$own
	run trial --setup-timeout 300 -f "$work/shared.yaml" -- touch /shared/ran
	assertEquals "$err" 0 "$status"
	assertTrue '[ -e "$work/shared/ran" ]'
	assert_clean
}

test_verifier_that_the_subject_makes_hang_has_an_end() {
	run trial --setup-timeout 300 -t 5 --after-timeout 2 --after 'cat /tmp/result' -- mkfifo /tmp/result
	assertEquals "$err" 0 "$status"
	assertEquals 'exited 124 true' "$(fact '"\(.outcome) \(.after.exit) \(.sealed)"')"
	assert_clean
}

. "$CELL_TEST_SHUNIT2"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns jq
# cell-publish as a container's entrypoint and as its health check, on a real Docker engine, with a
# program in the proxy's place that only listens.
. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/docker.sh"
# shellcheck disable=SC2154 # docker_reason comes from docker.sh

test_file_setup() {
	docker_start || return 0
	mkdir -p "$work/image/etc/ssl/certs" "$work/image/opt"
	cp -R "$top/build/bundle/opt/cell" "$work/image/opt/"
	docker_skeleton "$work/image"
	cp /bin/busybox "$work/image/usr/bin/"
	chroot "$work/image" /usr/bin/busybox --install -s /usr/bin
	# Ends with 42 when it is told to, as its own process one.
	printf '%s\n' '#!/bin/sh' 'trap "kill %1; exit 42" TERM' 'httpd -f -p "$1:8080" -h /tmp &' \
		'while :; do wait; sleep 0.1; done' >"$work/image/usr/bin/listen"
	chmod 0755 "$work/image/usr/bin/listen"
	tar -c -C "$work/image" . | docker_import published
	cat >"$work/compose.yaml" <<-'END'
		x-proxy: &proxy
		  image: published
		  entrypoint: [/opt/cell/bin/cell-publish, --state, /state, --]
		  command: [listen, 0.0.0.0]
		  cap_drop: [ALL]
		  healthcheck:
		    test: [CMD, /opt/cell/bin/cell-publish, --check, --connect, --state, /state]
		    interval: 1s
		    timeout: 3s
		    retries: 2
		services:
		  good:
		    <<: *proxy
		    volumes: ["good:/opt/cell-egress", "good-state:/state"]
		  reader:
		    image: published
		    depends_on: {good: {condition: service_healthy}}
		    command: [sh, -c, "cat /opt/cell-egress/proxy-ipv4; ls -A /opt/cell-egress; exec sleep 1000"]
		    volumes: ["good:/opt/cell-egress:ro"]
		    stop_signal: SIGKILL
		  lonely:
		    <<: *proxy
		    command: [listen, 127.0.0.1]
		    volumes: ["lonely:/opt/cell-egress", "lonely-state:/state"]
		  torn:
		    <<: *proxy
		    networks: [default, second]
		    volumes: ["torn:/opt/cell-egress", "torn-state:/state"]
		volumes: {good: , good-state: , lonely: , lonely-state: , torn: , torn-state: }
		networks: {second: }
	END
	compose_status=0
	compose up -d good reader lonely torn >"$work/up" 2>&1 || compose_status=$?
}

test_file_teardown() { docker_stop; }

test_setup() {
	[ -z "$docker_reason" ] || skip "$docker_reason"
}

compose() { host docker-compose -p p -f "$work/compose.yaml" "$@"; }
state() { docker inspect -f "{{json .State}}" "p_$1_1"; }
health_is() { [ "$(state "$1" | jq -r .Health.Status)" = "$2" ]; }

test_dependent_starts_when_the_pair_is_there() {
	assertEquals "$(cat "$work/up")" 0 "$compose_status"
	health_is good healthy || fail "good: $(state good)"
	address=$(docker inspect -f '{{.NetworkSettings.Networks.p_default.IPAddress}}' p_good_1)
	assertEquals "$address mitmproxy-ca-cert.pem proxy-ipv4" "$(docker logs p_reader_1 | xargs)"
	assertEquals 0 "$(state good | jq '.Health.Log[-1].ExitCode')"
	assertContains "$(state good | jq -r '.Health.Log[-1].Output')" healthy
}

test_listener_on_loopback_alone_is_unhealthy() {
	wait_for 30 health_is lonely unhealthy || fail "lonely: $(state lonely)"
	assertEquals 1 "$(state lonely | jq '.Health.Log[-1].ExitCode')"
	assertContains "$(state lonely | jq -r '.Health.Log[-1].Output')" 'unhealthy: nothing accepts at'
	expect 0 docker exec p_lonely_1 /opt/cell/bin/cell-publish --check --state /state
}

test_two_networks_need_a_choice() {
	assertEquals 'false 103' "$(state torn | jq -r '"\(.Running) \(.ExitCode)"')"
	assertContains "$(docker logs p_torn_1 2>&1)" 'give --address, --interface or --network'
	assertEquals '' "$(docker run --rm -v p_torn:/d published ls -A /d)"
}

test_program_is_process_one_and_ends_with_its_own_code() {
	assertEquals listen "$(docker exec p_good_1 cat /proc/1/comm)"
	expect 0 docker stop -t 20 p_good_1
	assertEquals 42 "$(state good | jq .ExitCode)"
	# Started again: the same authority, and an address that is right.
	before=$(docker exec p_reader_1 sha256sum /opt/cell-egress/mitmproxy-ca-cert.pem)
	expect 0 docker start p_good_1
	wait_for 30 health_is good healthy || fail "good: $(state good)"
	assertEquals "$before" "$(docker exec p_reader_1 sha256sum /opt/cell-egress/mitmproxy-ca-cert.pem)"
}

test_address_that_moved_away_is_unhealthy_until_published_again() {
	expect 0 docker network disconnect p_default p_good_1
	wait_for 30 health_is good unhealthy || fail "good: $(state good)"
	assertContains "$(state good | jq -r '.Health.Log[-1].Output')" 'is not an address of this host'
	expect 0 docker network connect p_second p_good_1
	moved=$(docker inspect -f '{{.NetworkSettings.Networks.p_second.IPAddress}}' p_good_1)
	expect 1 docker exec p_good_1 /opt/cell/bin/cell-publish --check --state /state
	expect 0 docker exec p_good_1 /opt/cell/bin/cell-publish --state /state
	assertEquals "$moved" "$(docker exec p_reader_1 cat /opt/cell-egress/proxy-ipv4)"
	wait_for 30 health_is good healthy || fail "good: $(state good)"
}

. "$CELL_TEST_SHUNIT2"

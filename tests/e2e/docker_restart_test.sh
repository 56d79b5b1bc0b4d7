#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns
# What restarts, moves and attachments do to a cell, in the three layouts there are: what fails is
# noticed by a check, and one command, share/cell/compose/reseal, makes it right.
#
#   own     cell.yaml: a container that does nothing owns the namespace, main joins
#   seed    harness.yaml: main owns it, the harness's sidecar joins
#   harbor  harbor.yaml: the sidecar owns it, main joins; an image without glibc, Harbor's names
. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/docker.sh"
# shellcheck disable=SC2154 # engine, docker_reason come from docker.sh; out, status, work from run

layouts='own seed harbor'

test_file_setup() {
	bundle=$top/build/bundle/opt/cell
	cat >"$work/own.yaml" <<-'END'
		services:
		  main: {image: main, command: [sleep, infinity], stop_signal: SIGKILL}
	END
	cat >"$work/seed.yaml" <<-'END'
		services:
		  main: {image: main, command: [sleep, infinity], stop_signal: SIGKILL}
		  sidecar:
		    image: main
		    command: [sleep, infinity]
		    stop_signal: SIGKILL
		    network_mode: "service:main"
		    cap_add: [NET_ADMIN]
		    depends_on: [main]
		networks: {default: {ipam: {config: [{subnet: 198.18.1.0/28}]}}}
	END
	# As theirs does, the entrypoint asks for its policy at once and ends if it is refused.
	cat >"$work/harbor.yaml" <<-'END'
		services:
		  harbor-docker-egress-control-sidecar:
		    image: musl
		    command: [sh, -ec, "network-policy allow maka-eval-mitmproxy; exec sleep 100000"]
		    stop_signal: SIGKILL
		    cap_add: [NET_ADMIN]
		  main:
		    image: main
		    command: [sleep, infinity]
		    stop_signal: SIGKILL
		    network_mode: "service:harbor-docker-egress-control-sidecar"
		    depends_on: [harbor-docker-egress-control-sidecar]
		networks: {default: {ipam: {config: [{subnet: 198.18.2.0/28}]}}}
	END
	docker_start || return 0
	docker_images
	foreign_image
	for layout in $layouts; do
		compose "$layout" up -d >"$work/$layout.up" 2>&1 || {
			docker_reason="$layout does not start: $(cat "$work/$layout.up")"
			return 0
		}
		place "$layout"
		docker exec "$main" mkdir /test
		docker cp "$top/tests/lib/docker_adversary.py" "$main:/test/"
	done
}

test_file_teardown() { docker_stop; }

test_setup() {
	[ -z "$docker_reason" ] || fail "$docker_reason"
}

# An image with another C library and nothing of Debian: what the bundle is for.
foreign_image() {
	mkdir -p "$work/musl/bin" "$work/musl/lib" "$work/musl/usr/local/bin" "$work/musl/tmp"
	cp /bin/busybox "$work/musl/bin/"
	cp -L /lib/ld-musl-*.so.1 "$work/musl/lib/"
	chroot "$work/musl" /bin/busybox --install -s /bin
	tar -c -C "$work/musl" . | docker_import musl
}

# compose LAYOUT ARG...: the tools are bound into images that need not have them.
compose() {
	case $1 in own) overlay=cell ;; seed) overlay=harness ;; harbor) overlay=harbor ;; esac
	compose_project=$1
	shift
	host env CELL_BUNDLE="$bundle" CELL_IMAGE=musl CELL_HEALTH_INTERVAL=1s CELL_ALLOW_PRIVATE=203.0.113.0/24 \
		docker-compose -p "$compose_project" -f "$work/$compose_project.yaml" \
		-f "$top/share/cell/compose/$overlay.yaml" "$@"
}

# place LAYOUT: $main, $policer, $owner, $proxy, and where the proxy has its files, of that layout.
place() {
	main=$(container "$1" main)
	proxy_host=proxy egress=/opt/cell-egress state=/var/lib/cell-publish
	case $1 in
	own) policer=$(container own cell) owner=$policer proxy_host=cell-proxy ;;
	seed) policer=$(container seed sidecar) owner=$main ;;
	harbor)
		policer=$(container harbor harbor-docker-egress-control-sidecar) owner=$policer
		proxy_host=maka-eval-mitmproxy egress=/opt/maka-egress state=/opt/maka-egress-state
		;;
	esac
	proxy=$(container "$1" "${proxy_host#cell-}")
}

# The checks of this file are asked from the host, by pid; reseal asks them inside the containers.
pid_of() { docker inspect -f '{{.State.Pid}}' "$1"; }

# code COMMAND...: its exit code.
code() {
	code_status=0
	"$@" >"$work/code" 2>&1 || code_status=$?
	echo "$code_status"
}

# in_policer TOOL ARG...: there, with the certificate volume that the containers see.
in_policer() {
	in_policer_tool=$1
	shift
	host nsenter -n -t "$policer_pid" env CELL_PROXY_HOST="$proxy_host" \
		CELL_EGRESS_DIR="/proc/$main_pid/root$egress" "$in_policer_tool" "$@"
}

# verdict: what the checks say of the layout in place.
verdict() {
	main_pid=$(pid_of "$main") policer_pid=$(pid_of "$policer")
	echo "namespace=$(code host cell-nsid --same "$main_pid" "$policer_pid")" \
		"policy=$(code in_policer cell-policy check)" \
		"subject=$(code in_policer cell-policy --subject "$main_pid" check)" \
		"pin=$(code host cell-pinhost --hosts "/proc/$main_pid/root/etc/hosts" \
			--from "/proc/$main_pid/root$egress/proxy-ipv4" --check "$proxy_host")"
}
sealed='namespace=0 policy=0 subject=0 pin=0'

# in_main COMMAND...: among main's files and in its network, without the time that docker exec takes.
in_main() { host nsenter -n -m -t "$(pid_of "$main")" "$@"; }

# leaks WORD: whether what is asked in main's network is heard outside.
leaks() {
	in_main python3 /test/docker_adversary.py "$1" only=resolver_udp,web_tcp,web_udp >/dev/null
	world_heard "$1-"
}

serves() {
	in_main curl -fsS -o /dev/null --max-time 20 -x "http://$proxy_host:8080" \
		--cacert "$egress/mitmproxy-ca-cert.pem" https://world.example/
}

published() { in_main cat "$egress/proxy-ipv4"; }

# sealed_again: one command, and all is well.
sealed_again() {
	expect 0 host "$top/share/cell/compose/reseal" "$main" "$policer"
	assertTrue "$layout serves" serves
	assertFalse "$layout leaks after reseal" "leaks again-$layout-$1"
}

test_the_layouts_start_as_they_are_meant_to() {
	for layout in $layouts; do
		place "$layout"
		case $layout in
		own) assertEquals "$sealed" "$(verdict)" ;;
		seed)
			assertEquals 'namespace=0 policy=1 subject=1 pin=1' "$(verdict)"
			assertTrue 'nothing is sealed by up alone' 'leaks start-seed'
			;;
		harbor) assertEquals 'namespace=0 policy=0 subject=0 pin=1' "$(verdict)" ;;
		esac
		sealed_again start
	done
}

test_reseal_changes_nothing_where_all_is_well() {
	for layout in $layouts; do
		place "$layout"
		verdict >/dev/null
		before=$(in_policer cell-policy --json show | jq -c '[.generation, .counters]')
		expect 0 host "$top/share/cell/compose/reseal" "$main" "$policer"
		assertEquals "$before" "$(in_policer cell-policy --json show | jq -c '[.generation, .counters]')"
	done
}

test_main_restarted() {
	for layout in $layouts; do
		place "$layout"
		docker restart -t 1 "$main" >/dev/null
		case $layout in
		seed)
			assertEquals 'namespace=1 policy=103 subject=1 pin=1' "$(verdict)"
			assertTrue 'it is open' 'leaks main-seed'
			assertEquals 'an allow that would protect nobody' 103 "$(code in_policer cell-policy allow "$proxy_host")"
			;;
		*)
			assertEquals "$layout" "$sealed" "$(verdict)"
			assertFalse "$layout" "leaks main-$layout"
			;;
		esac
		sealed_again main
	done
}

test_policer_restarted() {
	for layout in $layouts; do
		place "$layout"
		docker restart -t 1 "$policer" >/dev/null
		case $layout in
		own) assertEquals 'namespace=1 policy=1 subject=1 pin=1' "$(verdict)" ;;
		harbor) assertEquals 'namespace=1 policy=0 subject=1 pin=1' "$(verdict)" ;;
		seed) assertEquals "$sealed" "$(verdict)" ;;
		esac
		assertFalse "$layout: what is left behind is closed" "leaks policer-$layout"
		sealed_again policer
	done
}

proxy_healthy() { docker exec "$proxy" /opt/cell/bin/cell-publish --check --connect --state "$state"; }

test_proxy_restarted() {
	for layout in $layouts; do
		place "$layout"
		address=$(published)
		docker restart -t 1 "$proxy" >/dev/null
		wait_for 20 proxy_healthy
		assertEquals "$layout" "$sealed" "$(verdict)"
		assertEquals "$layout: the same address" "$address" "$(published)"
		assertTrue "$layout serves" serves
	done
}

try_sibling() {
	in_main python3 /test/docker_adversary.py "sibling-$layout" sibling="$old" only=sibling_tcp
}

test_proxy_on_another_address() {
	for layout in $layouts; do
		place "$layout"
		old=$(published)
		docker stop -t 1 "$proxy" >/dev/null
		docker run -d --name "$layout-sibling" --network "${layout}_default" --ip "$old" \
			-v "$top/tests/lib:/test:ro" main python3 /test/docker_sibling.py >/dev/null
		docker start "$proxy" >/dev/null
		wait_for 20 proxy_healthy
		assertNotEquals "$old" "$(published)"
		assertEquals "$layout" 'namespace=0 policy=1 subject=1 pin=1' "$(verdict)"
		assertEquals 'who took the old address is let in' 'sibling_tcp open ' "$(try_sibling)"
		sealed_again address
		assertEquals 'not any more' 'sibling_tcp refused ECONNREFUSED' "$(try_sibling)"
		docker rm -f "$layout-sibling" >/dev/null
	done
}

test_networks_attached_and_detached() {
	docker network create --subnet 198.18.9.0/28 extra >/dev/null
	docker run -d --name neighbour --network extra -v "$top/tests/lib:/test:ro" main \
		python3 /test/docker_sibling.py >/dev/null
	neighbour=$(docker inspect -f '{{.NetworkSettings.Networks.extra.IPAddress}}' neighbour)
	for layout in $layouts; do
		place "$layout"
		docker network connect extra "$owner"
		assertEquals "$layout with two networks" "$sealed" "$(verdict)"
		assertEquals "$layout" 'sibling_tcp refused ECONNREFUSED sibling_udp refused EPERM' "$(in_main \
			python3 /test/docker_adversary.py x sibling="$neighbour" only=sibling_tcp,sibling_udp | xargs)"
		docker network disconnect extra "$owner"
		assertEquals "$layout with one again" "$sealed" "$(verdict)"
		assertFalse "$layout" "leaks networks-$layout"
		docker network disconnect "${layout}_default" "$owner"
		docker network connect "${layout}_default" "$owner"
		assertEquals "$layout" 'namespace=0 policy=1 subject=1 pin=0' "$(verdict)"
		sealed_again networks
	done
	docker rm -f neighbour >/dev/null
}

test_engine_restarted_under_live_containers() {
	ports=$(docker exec "$(container own main)" cat /proc/net/udp | grep -c 0B00007F)
	assertNotEquals 0 "$ports"
	host kill -TERM "$(cat "$engine/dockerd.pid")"
	wait_for 20 test ! -e "$engine/dockerd.pid"
	wait_for 30 host docker version
	for layout in $layouts; do
		place "$layout"
		assertEquals "$layout" "$sealed" "$(verdict)"
		assertTrue "$layout serves" serves
		assertFalse "$layout" "leaks engine-$layout"
	done
}

# docker exec exits 1 for a stopped container and for an engine that is gone: that is no answer.
test_no_record_is_no_answer() {
	layout=own
	place own
	docker stop "$main" >/dev/null
	expect 103 host "$top/share/cell/compose/reseal" "$main" "$policer"
	assertContains "$err" 'without a record'
	docker start "$main" >/dev/null
	for answer in true false; do
		expect 103 host env CELL_DOCKER=$answer "$top/share/cell/compose/reseal" "$main" "$policer"
	done
	expect 100 host "$top/share/cell/compose/reseal" "$main"
	sealed_again stopped
}

# The overlays for harnesses are one text with two sets of names.
test_harbor_is_harness_with_other_names() {
	sed -e '1,/^services/d' -e 's/harbor-docker-egress-control-sidecar/sidecar/' -e 's/maka-eval-mitmproxy/proxy/' \
		-e 's/maka-egress-state:/cell-state:/' -e 's/maka-egress:/cell-egress:/' \
		-e 's,/opt/maka-egress-state,/var/lib/cell-publish,' -e 's,/opt/maka-egress,/opt/cell-egress,' \
		"$top/share/cell/compose/harbor.yaml" >"$work/as-harness"
	sed '1,/^services/d' "$top/share/cell/compose/harness.yaml" >"$work/harness"
	expect 0 diff "$work/harness" "$work/as-harness"
}

. "$CELL_TEST_SHUNIT2"

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2034 # the lists are for those who source this
# The Debian packages that building, running and testing need, and how missing ones are installed.
# PACKAGE:COMMAND counts as present where COMMAND is, whoever installed it.

packages_build='gcc make libc6-dev pkg-config libjansson-dev libcap-dev libseccomp-dev libssl-dev
	libnftables-dev libmnl-dev libnetfilter-log-dev'
packages_run='nftables iproute2 util-linux jq bubblewrap mitmproxy procps ca-certificates'
packages_demo='curl openssl python3'
packages_test='clang libclang-rt-14-dev clang-format clang-tidy cppcheck shellcheck codespell shunit2
	strace musl-tools busybox-static libcap2-bin iptables iputils-ping curl openssl python3 git
	nodejs:node npm:npm tcpdump dnsmasq-base dnsutils netcat-openbsd socat zsh fish groff gdb tmux psmisc
	docker.io:dockerd docker-compose:docker-compose xz-utils file chromium:chromium'

packages_deb='debhelper dpkg-dev lintian fakeroot'
packages_bench='iperf3 libcap2-bin nftables util-linux curl netcat-openbsd dnsutils iputils-ping ulogd2
	ulogd2-json openssl python3'

# need_packages LIST: installs by apt-get what dpkg does not list as installed, and says so.
# Nothing is asked of apt where nothing is missing. Returns 1 with a line if it cannot.
need_packages() {
	need_missing=
	for need_name in $1; do
		case $need_name in
		*:*) command -v "${need_name#*:}" >/dev/null && continue ;;
		esac
		case $(dpkg-query -W -f '${db:Status-Status}' "${need_name%%:*}" 2>/dev/null) in
		installed) ;;
		*) need_missing="$need_missing ${need_name%%:*}" ;;
		esac
	done
	[ -n "$need_missing" ] || return 0
	if [ "$(id -u)" -ne 0 ]; then
		echo "missing packages, and only root can install them:$need_missing" >&2
		return 1
	fi
	echo "installing what is missing:$need_missing" >&2
	# A package of a service (docker.io) must not start it on a machine that runs systemd.
	need_policy=
	if [ ! -e /usr/sbin/policy-rc.d ]; then
		need_policy=/usr/sbin/policy-rc.d
		printf '#!/bin/sh\nexit 101\n' >"$need_policy"
		chmod 0755 "$need_policy"
	fi
	need_status=0
	# shellcheck disable=SC2086 # a list of words
	{ DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $need_missing ||
		{ apt-get update && DEBIAN_FRONTEND=noninteractive \
			apt-get install -y --no-install-recommends $need_missing; }; } \
		>"${TMPDIR:-/tmp}/cell-apt.$$" 2>&1 || need_status=1
	[ -z "$need_policy" ] || rm -f "$need_policy"
	if [ "$need_status" -ne 0 ]; then
		tail -n 5 "${TMPDIR:-/tmp}/cell-apt.$$" >&2
		echo "cannot install:$need_missing" >&2
	fi
	rm -f "${TMPDIR:-/tmp}/cell-apt.$$"
	return "$need_status"
}

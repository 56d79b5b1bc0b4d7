#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns mitmdump curl node git openssl jq
# Real clients through a real mitmdump with the authority that cell-publish made: each verifies with
# the published certificate alone, and each refuses without it.
. "$(dirname "$0")/../lib/cell_test.sh"
. "$top/tests/lib/audit_world.sh"

test_file_setup() {
	world_new || exit 1
	git init -q --bare "$work/origin/www/repo.git" &&
		git init -q "$work/tree" && (
		cd "$work/tree" && echo content >file && git add file &&
			git -c user.name=t -c user.email=t@t commit -qm one &&
			git push -q "$work/origin/www/repo.git" HEAD:refs/heads/master
	) && git -C "$work/origin/www/repo.git" update-server-info || exit 1
	# shellcheck disable=SC2119 # no options are wanted
	proxy_start || exit 1
	published=$work/dir/mitmproxy-ca-cert.pem
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
		-keyout /dev/null -out "$work/other.pem" -subj /CN=other 2>/dev/null
}

# client COMMAND...: in the world, with nothing but the proxy.
client() {
	inside env -i PATH="$PATH" HOME="$work/home" "$@"
}

# verifies and refuses: $ca is the certificate that the client is given.
both_ways() {
	ca=$published
	expect 0 "$1"
	assertContains "$1" "$out" "$2"
	ca=$work/other.pem
	run "$1"
	assertNotEquals "$1 accepts another authority's certificate [$out]" 0 "$status"
	assertNotContains "$1 gets the answer all the same" "$out" "$2"
}

with_curl() {
	client curl -sSf -m 20 -x "$proxy_url" --capath /nowhere --cacert "$ca" https://public.test/hello
}

test_curl_verifies_with_the_published_certificate_alone() {
	both_ways with_curl 'hello from public.test'
}

with_openssl() {
	printf 'GET /hello HTTP/1.0\r\nHost: public.test\r\n\r\n' |
		client openssl s_client -quiet -proxy 198.18.0.1:8080 -connect public.test:443 \
			-servername public.test -verify_return_error -verify_hostname public.test \
			-ignore_unexpected_eof -x509_strict -no-CApath -no-CAstore -CAfile "$ca" -ign_eof
}

test_openssl_s_client_verifies_strictly() {
	both_ways with_openssl 'hello from public.test'
}

# The strict flag is what Python 3.13 sets by default.
with_python() {
	client /usr/bin/python3 -c '
import ssl, sys, urllib.request
context = ssl.create_default_context(cafile=sys.argv[1])
context.verify_flags |= ssl.VERIFY_X509_STRICT
opener = urllib.request.build_opener(
    urllib.request.ProxyHandler({"https": sys.argv[2]}),
    urllib.request.HTTPSHandler(context=context))
print(opener.open("https://public.test/hello", timeout=20).read().decode())' "$ca" "$proxy_url"
}

test_python_verifies_strictly() {
	both_ways with_python 'hello from public.test'
}

with_node() {
	client node -e '
const http = require("http"), tls = require("tls"), fs = require("fs");
const [ca, host, port] = process.argv.slice(1);
const request = http.request({host, port, method: "CONNECT", path: "public.test:443"});
request.on("connect", (response, socket) => {
  const secure = tls.connect({socket, servername: "public.test", ca: fs.readFileSync(ca)}, () => {
    console.log("authorized " + secure.authorized);
    secure.write("GET /hello HTTP/1.0\r\nHost: public.test\r\n\r\n");
  });
  secure.on("error", error => { console.error(error.code); process.exit(1); });
  secure.pipe(process.stdout);
});
request.on("error", error => { console.error(error); process.exit(1); });
request.end();' "$ca" 198.18.0.1 8080
}

test_node_verifies_with_the_published_certificate_alone() {
	both_ways with_node 'hello from public.test'
}

# As run_trial and the compose overlay hand it over: by the environment.
with_node_environment() {
	inside env -i PATH="$PATH" NODE_EXTRA_CA_CERTS="$ca" node -e '
const http = require("http"), https = require("https");
http.request({host: "198.18.0.1", port: 8080, method: "CONNECT", path: "public.test:443"})
  .on("connect", (response, socket) => {
    https.get({host: "public.test", path: "/hello", socket, agent: false}, answer =>
      answer.pipe(process.stdout)).on("error", error => { console.error(error.code); process.exit(1); });
  }).end();'
}

test_node_takes_it_from_the_environment() {
	both_ways with_node_environment 'hello from public.test'
}

with_git() {
	rm -rf "$work/clone"
	client git -c http.proxy="$proxy_url" -c http.sslCAInfo="$ca" clone -q \
		https://public.test/repo.git "$work/clone" && cat "$work/clone/file"
}

test_git_clones_with_the_published_certificate_alone() {
	both_ways with_git content
}

with_python_environment() {
	inside env -i PATH="$PATH" SSL_CERT_FILE="$ca" https_proxy="$proxy_url" /usr/bin/python3 -c '
import urllib.request
print(urllib.request.urlopen("https://public.test/hello", timeout=20).read().decode())'
}

test_python_takes_it_from_the_environment() {
	both_ways with_python_environment 'hello from public.test'
}

test_private_key_is_not_among_what_mitmproxy_leaves() {
	assertEquals 'mitmproxy-ca-cert.pem proxy-ipv4' \
		"$(find "$work/dir" -mindepth 1 -printf '%f\n' | sort | xargs)"
	assertEquals 600 "$(stat -c %a "$work/state/mitmproxy-ca.pem")"
}

test_restart_keeps_the_authority_and_clients_still_verify() {
	before=$(sha256sum <"$published")
	lines=$(wc -l <"$work/state/hits.jsonl")
	proxy_stop
	expect 1 proxy_healthy
	# shellcheck disable=SC2119 # no options are wanted
	proxy_start || fail 'the proxy does not start again'
	assertEquals "$before" "$(sha256sum <"$published")"
	ca=$published
	expect 0 with_curl
	assertTrue 'the audit was cut' "[ $(wc -l <"$work/state/hits.jsonl") -gt $lines ]"
}

. "$CELL_TEST_SHUNIT2"

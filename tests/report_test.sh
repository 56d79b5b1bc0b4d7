#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# report.html: what it tells of a trial, and that nothing in a trial can tell it otherwise.
# needs: jq python3
. "$(dirname "$0")/lib/cell_test.sh"

make=$top/tests/lib/make_trial.py
report=$top/share/cell/lib/report.sh

# page WORD...: a trial of that kind; its report in $work/page, and the text of it in $text.
page() {
	rm -rf "$work/trial"
	"$make" "$work/trial" "$@"
	page_of "$work/trial"
}
page_of() {
	"$report" "$@" >"$work/page" 2>"$work/err"
	assertEquals "exit of the report: $(cat "$work/err")" 0 $?
	assertEquals 'what is wrong with the page' '' \
		"$("$top/tests/lib/check_html.py" "$work/page" "$work/text")"
	assertEquals 'one page' 1 "$(grep -c '</html>' "$work/page")"
	text=$(cat "$work/text")
}

test_a_sealed_trial() {
	page
	assertContains "$text" 'trial 3f9c2a7e Sealed Every gate said yes before the subject ran, and again at the end.'
	assertContains "$text" './agent --task 7'
	assertContains "$text" 'exited 0 after 411.6 s'
	assertContains "$text" '9 ways out closed 0 still open, 3 kept on purpose'
	assertContains "$text" '63 requests by the proxy 3 refused, 1 raw tunnels closed'
	assertContains "$text" '26 packets refused 0 without a record'
	# Each gate's answer, each channel before and after.
	assertContains "$text" 'gate.capabilities yes no denied capability held'
	assertContains "$text" 'again.namespace yes the same: net:[4026532751] 5957'
	assertContains "$text" 'dns://127.0.0.11:53/example.com open blocked closed'
	assertContains "$text" 'tcp://198.18.12.1:8080 open open kept'
	# The timeline, with neighbours that say the same as one line, from the subject's start.
	assertContains "$text" '+3 s refused udp to 127.0.0.11:53 pypi.org asks A uid 65534 × 4'
	assertContains "$text" 'allowed GET https://pypi.org:443/simple/numpy/'
	assertContains "$text" 'refused GET http://169.254.169.254:80/latest/meta-data the destination is link-local'
	assertContains "$text" 'raw_tunnel shell.example:443 not-http'
	assertNotContains "$text" '−'
	# Who was refused what; policy and digests.
	assertContains "$text" 'resolver 4 4 0 4'
	assertContains "$text" 'tcp 93.184.216.34:443 11'
	assertContains "$text" 'c2VjcmV0LWRhdGE.exfil.example TXT 1'
	assertContains "$text" 'oifname . ip daddr . tcp dport @proxy4 accept'
	assertContains "$text" "$(sha256sum <"$work/trial/evidence.jsonl" | cut -d' ' -f1)"
}

test_trials_that_ended_otherwise() {
	page not-started
	assertContains "$text" 'Not started No subject ran. Trying again is free. probe.compare still open: dns://127.0.0.11:53/example.com'
	assertContains "$text" 'probe.compare no still open'
	assertContains "$text" 'dns://127.0.0.11:53/example.com open open still open'
	page void
	assertContains "$text" 'Void A subject ran, but what it did is not proven.'
	assertContains "$text" 'proxy the proxy ended while the subject ran'
	page timed-out
	assertContains "$text" 's time ran out. Every gate said yes before it ran and again at the end.'
	assertContains "$text" 'time was up after 600 s'
}

test_foreign_strings_stay_text() {
	page hostile
	# They are there, as text, with what would turn or hide the text around it made visible.
	assertContains "$text" '<script>alert(1)</script>"'\''><img src=x onerror=alert(2)>\u{202e}\u{1b}[2J&pypi.org'
	assertContains "$text" 'tampering The subject changed: hosts'
	assertNotContains "$(cat "$work/page")" '<script'
	assertNotContains "$(cat "$work/page")" '<img'
	assertContains "$(cat "$work/page")" "default-src 'none'; style-src 'unsafe-inline'"
}

test_a_flood_is_a_page_of_bounded_size() {
	page flood hostile
	assertContains "$text" '2,000,026 packets refused log bound reached, counts exact'
	assertContains "$text" 'more lines in refused.jsonl and hits.jsonl'
	assertTrue 'less than 1 MiB' "[ $(wc -c <"$work/page") -lt 1048576 ]"
	# Far longer logs than are read: the beginning and the end are told.
	awk '/"packet"/ { for (i = 0; i < 4; i++) print } !/"packet"/' "$work/trial/refused.jsonl" \
		>"$work/longer"
	mv "$work/longer" "$work/trial/refused.jsonl"
	assertTrue 'it is too long' "[ $(wc -c <"$work/trial/refused.jsonl") -gt 4194304 ]"
	page_of "$work/trial"
	assertContains "$text" 'its middle is left out'
	assertContains "$text" '2,000,026 packets refused'
	assertTrue 'less than 1 MiB' "[ $(wc -c <"$work/page") -lt 1048576 ]"
}

test_a_broken_trial_has_a_report_too() {
	mkdir "$work/nothing"
	page_of "$work/nothing"
	assertContains "$text" 'Unfinished There is no summary.json'
	page
	mv "$work/trial/summary.json" "$work/elsewhere"
	page_of "$work/trial"
	assertContains "$text" 'Unfinished'
	assertContains "$text" 'dns://127.0.0.11:53/example.com open blocked closed'
	page_of "$work/trial" "$work/elsewhere"
	assertContains "$text" 'Sealed'
	for name in evidence refused hits probe-before probe-after; do
		printf 'nonsense\n[]\n{"half":\n7\n\000\377\n' >>"$work/trial/$name.jsonl"
	done
	page_of "$work/trial" "$work/elsewhere"
	assertContains "$text" 'pypi.org'
	for name in evidence refused hits; do : >"$work/trial/$name.jsonl"; done
	page_of "$work/trial" "$work/elsewhere"
	assertContains "$text" 'Nothing was asked for and nothing refused.'
	# Without the comparison the two probes still stand side by side.
	assertContains "$text" 'dns://127.0.0.11:53/example.com open blocked closed'
}

test_values_of_any_type_make_a_page() {
	page
	jq -c '.subject = 5 | .steps = {"a": 1} | .probe = [] | .policy = 1.5 | .cause = "x" |
		.files = {"a": 3} | .gate = null | .versions = "v" | .tampering = 1' \
		"$work/trial/summary.json" >"$work/odd.json"
	for name in evidence refused hits; do
		jq -c '(.dns, .ports, .time, .targets, .handles, .client, .host) = 7 | .classes = [1]' \
			"$work/trial/$name.jsonl" >"$work/odd.jsonl"
		mv "$work/odd.jsonl" "$work/trial/$name.jsonl"
	done
	page_of "$work/trial" "$work/odd.json"
	echo '"text"' >"$work/odd.json"
	page_of "$work/trial" "$work/odd.json"
	assertContains "$text" 'Unfinished'
}

test_usage() {
	expect 100 "$report"
	expect 100 "$report" a b c
	expect 103 "$report" "$work/absent"
	assertEquals '' "$out"
}

. "$CELL_TEST_SHUNIT2"

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The steps of one trial, as pid 1 of the trial's pid namespace; started by run_trial only.
#
# Before: $out and $state exist, descriptors 3, 4, 5 are the caller's stdin, stdout and stderr, 7 is
# the pipe of events. After: $state/outcome says how it ended. Killed in the middle: everything that
# runs here is gone with this process, and $state/subject_started tells whether it counts.
set -eu
. "$cell_share/lib/terminal.sh"
. "$cell_share/lib/steps.sh"
# shellcheck source=share/cell/lib/engine_netns.sh
. "$cell_share/lib/engine_$opt_engine.sh"
. "$cell_share/lib/subject.sh"

umask 022
trap : PIPE
# A step that fails without having said how is our own trouble, never an answer.
trap 'end_trial not-started "${CELL_STEP:-setup}" run_trial 111 "step ${CELL_STEP:-setup} failed"' EXIT

# The gate, asked in the very context that will start the subject: the same namespaces, mounts,
# user and filter. STEP is gate, or again: the second time, right before the subject.
gate() {
	require "$1.capabilities" cell-capcheck engine_in_subject
	require "$1.namespace" cell-nsid engine_in_subject --same /proc/self/ns/net "$identity"
	require "$1.pin" cell-pinhost engine_in_subject --hosts /etc/hosts \
		--from "$engine_egress/proxy-ipv4" --check "$CELL_PROXY_HOST"
	engine_gate "$1"
}
gate_passed() {
	say_step gate passed "no capability that gets past a seal; namespace cookie ${identity#* }"
}

# --- the cell and its proxy
CELL_STEP=proxy
clock
began=$now
engine_start
seconds_since "$began"
printf 'proxy %s 0\n' "$seconds" >>"$state/steps"
note proxy_address "$proxy_address"
certificate_end=${certificate#"${certificate%??}"}
say_step proxy listening "$proxy_address:$CELL_PROXY_PORT, certificate ${certificate%"${certificate#????}"}...$certificate_end" \
	"$seconds"

engine_before

# --- pin, and the gate
require identity cell-nsid engine_in_cell --cookie
record_field identity && identity=$field
record_field cookie && identity="$identity $field"
note identity "$identity"
require pin cell-pinhost engine_pin "$CELL_PROXY_HOST"
if [ -z "$engine_joins_late" ]; then
	gate gate
	gate_passed
fi
say_step pin 'done' "$CELL_PROXY_HOST is $proxy_address"

# --- the ways out: shown open, then closed
# The caller's own targets first: what is said first of a target counts. URLs come later.
: >"$state/urls"
{
	while IFS= read -r target; do
		[ -z "$target" ] || printf '%s closed\n' "$target"
	done <<-END
		$opt_closed
	END
	while IFS= read -r target; do
		case $target in
		'') ;;
		http://* | https://*) printf '%s\n' "$target" >>"$state/urls" ;;
		*) printf '%s open\n' "$target" ;;
		esac
	done <<-END
		$opt_open
	END
	engine_targets
} >"$state/targets"
# probe before|after RUNNER SECONDS: as long as its slowest target, at most SECONDS.
probe() {
	CELL_STEP=$1
	export CELL_STEP
	check_interrupt
	clock
	probe_began=$now
	probe_status=0
	"$2" cell-probe --json --timeout "$3" --targets - <"$state/targets" \
		>"$out/probe-$1.jsonl" 2>"$state/stderr" || probe_status=$?
	seconds_since "$probe_began"
	probe_seconds=$seconds
	printf 'probe.%s %s %s\n' "$1" "$probe_seconds" "$probe_status" >>"$state/steps"
	if [ "$probe_status" -ne 0 ] || [ ! -s "$out/probe-$1.jsonl" ]; then
		message=$(head -n 1 "$state/stderr")
		say_step "$1" NO "${message:-the probe said $probe_status}"
		not_started "probe.$1" cell-probe "$probe_status" "${message:-the probe said $probe_status}"
	fi
}
probe before engine_probe_before 1
# Some ways never answer, so a second is enough for those that do, but on a machine out of breath.
if grep -q '"result":"silent",.*"expect":"closed"' "$out/probe-before.jsonl"; then
	probe before engine_probe_before 5
fi
open_before=$(grep -c '"result":"open"' "$out/probe-before.jsonl" || :)
say_step before open "$(counted "$open_before" way) out and in" "$probe_seconds"

# --- the policy, and from before it the record of what it refuses
CELL_STEP=watch
export CELL_STEP
engine_watch
require policy cell-policy engine_in_cell --subject "$identity" --log-group "$CELL_LOG_GROUP" \
	--refuse 127.0.0.53 --refuse 127.0.0.54 allow "$CELL_PROXY_HOST"
require policy.check cell-policy engine_in_cell --subject "$identity" check
record_field generation
generation=$field
say_step policy 'in force' 'proxy only'
engine_rules >"$out/ruleset.nft"
engine_join
probe after engine_in_subject 10
ask probe.compare cell-probe plain --compare "$out/probe-before.jsonl" "$out/probe-after.jsonl"
note probe "$record"
if [ "$answer" -ne 0 ]; then
	say_step after NO "$message"
	not_started probe.compare cell-probe "$answer" "$message"
fi
closed=$(printf '%s\n' "$record" | sed -n 's/.*"closed":\([0-9]*\).*/\1/p')
say_step after closed "$closed of $closed; loopback, name and proxy kept" "$probe_seconds"
engine_open_end
# --open URLs, through the proxy, before the subject exists. Among many trials an answer takes long.
while IFS= read -r url <&8; do
	case $url in
	https:*) ask open cell-proxycheck engine_in_subject --timeout 30 --proxy "$CELL_PROXY_HOST:$CELL_PROXY_PORT" "$url" ;;
	*) ask open cell-probe engine_in_subject --timeout 30 --expect open "http+proxy://$CELL_PROXY_HOST:$CELL_PROXY_PORT/$url" ;;
	esac
	[ "$answer" -eq 0 ] || {
		say_step open NO "$url: $message"
		not_started open "$ask_tool" "$answer" "$url: $message"
	}
	say_step open works "$url" "$seconds"
done 8<"$state/urls"

# --- asked again right before the subject: an engine rewrites hosts files, a restart moves people
gate again
[ -z "$engine_joins_late" ] || gate_passed
require again.policy cell-policy engine_in_cell --subject "$identity" \
	--generation "$generation" check
check_interrupt
sealed_counters=$record
note sealed_counters "$sealed_counters"
engine_sealed

# --- the subject
subject_run "$@"

# --- the end: the same namespace, the same policy, the same files
CELL_STEP=end
ask end.policy cell-policy engine_in_cell --subject "$identity" --generation "$generation" check
end_policy=$answer end_message=$message
ask end.counters cell-policy engine_in_cell show
note counters "$record"
refused_packets "$record" && refused_end=$refused_sum
refused_packets "$sealed_counters"
note refused_packets $((refused_end - refused_sum))
engine_rules >"$out/ruleset-end.nft" || :
ask end.namespace cell-nsid engine_in_cell --same /proc/self/ns/net "$identity"
end_namespace=$answer
note policy_unchanged "$end_policy"
note same_namespace "$end_namespace"
[ "$end_policy" -eq 0 ] || end_trial void end.policy cell-policy "$end_policy" "$end_message"
[ "$end_namespace" -eq 0 ] || end_trial void end.namespace cell-nsid "$end_namespace" "$message"
engine_stop
end_trial "$subject_outcome" '' '' "$subject_status" ''
note finished 1
trap - EXIT
exit 0

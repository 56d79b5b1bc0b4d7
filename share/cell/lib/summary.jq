# SPDX-License-Identifier: GPL-2.0-or-later
# Makes summary.json from what run_trial's steps left. Inputs by name: see summary_make.

def lines: split("\n") | map(select(length > 0));
def number: if . == null or . == "" then null else tonumber end;

# lines of "uniq -c"
def top: lines | map(capture("^ *(?<count>[0-9]+) (?<name>.*)$") | {name: .name, count: (.count | number)});

# NAME and its value on alternating lines
def pairs: split("\n") | [range(0; length - 1; 2) as $i | {(.[$i]): .[$i + 1]}] | add // {};

# the last record of a step
def step_record($step): ($evidence | map(select(.step == $step)) | last) // {};

($facts | pairs) as $fact
| ($files | lines | map(capture("^(?<bytes>[0-9]+) (?<sha256>[0-9a-f]{64})  (?<name>.*)$")
	| {(.name): {bytes: (.bytes | number), sha256: .sha256}}) | add // {}) as $file
# what did not fit into the files of the subject's streams
| ($dropped | split(" ") | map(number // 0)) as $dropped
| ($fact.outcome) as $outcome
| ($fact.subject_started_at != null) as $started
| ($fact.policy_unchanged == "0" and $fact.same_namespace == "0") as $held
| ($fact.subject_exit | number) as $code
| ($fact.identity // "" | split(" ")) as $identity
# the policy's counters, from the moment that the subject was about to start
| ($sealed[0].counters // {}) as $zero
| ($counters[0].counters // {} | with_entries(.key as $key
	| .value |= {packets: (.packets - ($zero[$key].packets // 0)),
		bytes: (.bytes - ($zero[$key].bytes // 0))})) as $counter
| {
	format: 1, tool: "run_trial", version: $version, trial: $trial, engine: $engine,
	outcome: $outcome, exit: $exit,
	sealed: ($started and $held and ($outcome != "void")),
	cause: (
		if $outcome == "exited" or $outcome == "timed-out" then null
		else {step: $fact.cause_step, tool: $fact.cause_tool, exit: ($fact.cause_exit | number),
			message: $fact.cause_message}
		end),
	subject: {
		started: $started, argv: $ARGS.positional,
		user: $fact.subject_user, uid: ($fact.subject_uid | number),
		environment: ($environment | lines),
		started_at: $fact.subject_started_at, ended_at: $fact.subject_ended_at,
		seconds: ($fact.subject_seconds | number),
		exit: $code,
		signal: (if $code != null and $code > 128 and $code <= 192 then $code - 128 else null end),
		timed_out: ($fact.subject_timed_out == "1"),
		captured: ($captured == "1"),
		stdout: {bytes: (($file["subject/stdout"].bytes // 0) + $dropped[0]), truncated: ($dropped[0] > 0)},
		stderr: {bytes: (($file["subject/stderr"].bytes // 0) + $dropped[1]), truncated: ($dropped[1] > 0)}
	},
	namespace: {identity: $identity[0], cookie: $identity[1], same_at_end: ($fact.same_namespace == "0")},
	gate: (step_record("again.capabilities") | {held: (.held // []), sets: (.sets // {})}),
	proxy: {
		host: $host, address: $fact.proxy_address, port: $port,
		certificate_sha256: (step_record("proxy").certificate.sha256 // null),
		requests: $requests, blocked: $blocked, raw_tunnels: $tunnels,
		decisions: {allowed: $allowed, refused: $blocked, failed: $failed},
		top_refused: ($top_hosts | top),
		alive_at_end: ($fact.proxy_alive == "1")
	},
	policy: {
		mode: ($counters[0].mode // null),
		ruleset_sha256: (step_record("again.policy").ruleset_sha256 // step_record("policy").ruleset_sha256 // null),
		unchanged: ($fact.policy_unchanged == "0"),
		counters: $counter
	},
	probe: ($probe[0] // {} | {closed, kept, still_open, lost, absent, vacuous}),
	# packets: since the subject was about to start; the rest: of the record, from the policy on
	refused: ($refused[0] // {} | {
		packets: ([$counter | to_entries[] | select(.key != "kernel" and .key != "inbound")
			| .value.packets] | add),
		recorded: .packets.recorded, lost: .packets.lost, truncated: .truncated,
		top_destinations: ($top_destinations | top), top_names: ($top_names | top)}),
	tampering: (if $file["hosts-end"] then ["hosts"] else [] end),
	after: ($fact.after // null | if . == null then null
		else split(" ") | {exit: (.[0] | number), seconds: (.[1] | number)} end),
	steps: ($steps | lines | map(split(" ") | {step: .[0], seconds: (.[1] | number), exit: (.[2] | number)})),
	files: $file,
	versions: ({kernel: $kernel, nftables: $nftables, mitmproxy: $mitmproxy, cell: $version}
		+ ($fact | with_entries(select(.key | startswith("engine_")) | .key |= ltrimstr("engine_"))))
}

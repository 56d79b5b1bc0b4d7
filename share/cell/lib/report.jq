# SPDX-License-Identifier: GPL-2.0-or-later
# A trial's directory as one HTML page; report.sh gives the files' texts by name.
#
# Every string of the trial is foreign: a subject or a server chose it. Each goes through text, which
# bounds it and makes control and direction characters visible, and then through @html, which escapes
# it. The page allows itself no script and no network either (Content-Security-Policy).

def hex: if . < 16 then "0123456789abcdef"[.:. + 1] else (. / 16 | floor | hex) + (. % 16 | hex) end;

# Unicode's invisible ones: controls, and what turns or hides the text around it.
def hidden: . < 32 or (. >= 127 and . < 160) or . == 173 or (. >= 8203 and . <= 8207) or
	(. >= 8232 and . <= 8238) or (. >= 8288 and . <= 8303) or . == 65279;
# Nearly every text is plain ASCII, where there is nothing to look for.
def visible: if test("[^ -~]") | not then . else explode
	| map(if hidden then "\\u{" + hex + "}" | explode[] else . end) | implode end;
def text($most): (if type == "string" then . elif . == null then "" else tojson end)
	| if length > $most then .[:$most] + "…" else . end | visible;
def text: text(160);

def number: if type != "number" then "–" else . as $n | tostring
	| if $n >= 1000 and $n < 1e15 and ($n | floor) == $n then
		(($n / 1000 | floor) | number) + "," + .[-3:] else . end end;
def rounded($places): . * pow(10; $places) + 0.5 | floor / pow(10; $places);
def duration: if type != "number" then "" elif . < 100 then "\(rounded(3)) s" else "\(rounded(1)) s" end;
def plural($one; $many): number + " " + (if . == 1 then $one else $many end);

# RFC 3339 in UTC as seconds since 1970; null for anything else. (fromdateiso8601 is slow.)
def seconds: if type != "string" or (test("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d([.]\\d+)?Z$") | not) then null
	else (.[5:7] | tonumber) as $month
	| ((.[:4] | tonumber) - (if $month > 2 then 0 else 1 end)) as $year
	| ($year * 365 + ($year / 4 | floor) - ($year / 100 | floor) + ($year / 400 | floor)
		+ ((153 * ($month + (if $month > 2 then -3 else 9 end)) + 2) / 5 | floor)
		+ (.[8:10] | tonumber) - 719469) * 86400
		+ (.[11:13] | tonumber) * 3600 + (.[14:16] | tonumber) * 60 + (.[17:-1] | tonumber) end;
def records: split("\n") | map(fromjson? | objects);
def list: if type == "array" then . else [] end;
def object: if type == "object" then . else {} end;

# The shapes that are relied on below, whatever is in the files: jq 1.6 turns an error behind a
# "?" or "//" into no output at all.
def records_of: if type == "array" then map(objects) else [] end;
def object_or_null: if type == "object" then . else null end;
def objects_in: object | with_entries(.value |= object);
def shaped_summary: object | . + {subject: (.subject | object), probe: (.probe | object),
	proxy: (.proxy | object), refused: (.refused | object), policy: (.policy | object),
	namespace: (.namespace | object), gate: {sets: (.gate | object | .sets | object)},
	versions: (.versions | object), files: (.files | objects_in), steps: (.steps | records_of),
	cause: (.cause | object_or_null)};
def shaped_evidence: . + {certificate: (.certificate | object), sets: (.sets | object),
	handles: (.handles | records_of), targets: (.targets | records_of), error: (.error | object_or_null)};
def shaped_refused: . + {dns: (.dns | object_or_null), ports: (.ports | object_or_null)};

# group_by with how many there are of each, most first.
def tally(key): group_by(key) | map({first: .[0], all: ., count: length}) | sort_by(-.count);

def pill($tone; $word): @html "<span class=\"pill \($tone)\">\($word | text(24))</span>";
def section($id; $title; $note; body):
	@html "<section id=\"\($id)\"><h2>\($title)</h2>"
	+ (if $note == "" then "" else @html "<p class=\"note\">\($note)</p>" end) + body + "</section>\n";
# A head that begins with ">" stands over figures.
def table($heads; rows): "<div class=\"wide\"><table><thead><tr>"
	+ ([$heads[] | if startswith(">") then @html "<th scope=\"col\" class=\"figure\">\(.[1:])</th>"
		else @html "<th scope=\"col\">\(.)</th>" end] | add) + "</tr></thead><tbody>"
	+ ([rows] | add // "") + "</tbody></table></div>";
def more($title; body): @html "<details><summary>\($title)</summary>" + body + "</details>";
def facts: "<dl>" + ([.[] | select(.[1] != null and .[1] != "")
	| @html "<div><dt>\(.[0])</dt><dd>\(.[1] | text(600))</dd></div>"] | add // "") + "</dl>";

# --- what happened
([$summary_text | fromjson?] | if length > 0 then .[0] | object else {} end) as $whole
| ($whole | shaped_summary) as $summary
| ($evidence_text | records | map(shaped_evidence)) as $evidence
| ($refused_text | records | map(shaped_refused)) as $refused
| ($hits_text | records) as $hits
| $summary.subject as $subject
| ($subject.started == true) as $started
| ($subject.started_at | seconds) as $began
| ($subject.ended_at | seconds) as $ended
| ($evidence | map(select(.step == "probe.compare")) | last | object | shaped_evidence) as $compare
| ($refused | map(select(.record == "summary")) | last | object | {truncated, packets: (.packets | object), classes: (.classes | objects_in)}) as $counts
| ($cut | split(" ") | map(select(. != ""))) as $shortened
| (if ($whole | length) == 0 then
		["bad", "Unfinished", "There is no summary.json: the trial did not end in good order, and proves nothing."]
	elif $summary.outcome == "not-started" then
		["warn", "Not started", "No subject ran. Trying again is free."]
	elif $summary.outcome == "void" then
		["bad", "Void", "A subject ran, but what it did is not proven. It counts as an attempt."]
	elif $summary.outcome == "interrupted" then
		["warn", "Interrupted", (if $started then "Stopped by a signal while the subject ran."
			else "Stopped by a signal before a subject ran." end)]
	elif $summary.sealed != true then
		["bad", "Not sealed", "A subject ran, and the seal did not hold from beginning to end."]
	elif $summary.outcome == "timed-out" then
		["good", "Sealed", "The subject’s time ran out. Every gate said yes before it ran and again at the end."]
	else ["good", "Sealed", "Every gate said yes before the subject ran, and again at the end."] end) as $verdict

| def command: [$subject.argv | list[] | tostring | split("\n") | map(text(400)) | join("\n") | if test("^[A-Za-z0-9_./:=@%+-]+$") then .
		else "'" + gsub("'"; "'\\''") + "'" end] | join(" ") | if length > 2000 then .[:2000] + "…" else . end;
def ending: if $started | not then null
	elif $subject.timed_out == true then "time was up after \($subject.seconds | duration)"
	elif $subject.signal != null then "ended by signal \($subject.signal) after \($subject.seconds | duration)"
	else "exited \($subject.exit | text) after \($subject.seconds | duration)" end;

def header:
	@html "<header class=\"\($verdict[0])\"><p class=\"brand\"><b>cell</b> trial \($summary.trial // $directory | text)</p>"
	+ @html "<h1>\($verdict[1])</h1><p class=\"lead\">\($verdict[2])</p>"
	+ (if $summary.cause == null then "" else
		@html "<p class=\"cause\"><b>\($summary.cause.step | text)</b> \($summary.cause.message | text(600))</p>" end)
	+ (if ($subject.argv | list | length) == 0 then "" else @html "<pre class=\"command\">\(command)</pre>" end)
	+ ([["subject", ending], ["began", $subject.started_at], ["user", (if $subject.user == null then null else "\($subject.user | text)" +
			(if $subject.uid == null or "\($subject.uid)" == $subject.user then "" else " (\($subject.uid | text))" end) end)],
		["engine", $summary.engine], ["environment", ($subject.environment | list | map(text) | join(" "))]] | facts)
	+ "</header>\n";

# --- at a glance
def tile($tone; $value; $what; $note):
	@html "<div class=\"tile \($tone)\"><b>\($value)</b><span>\($what)</span><small>\($note)</small></div>";
def yesno($answer): if $answer == true then ["good", "yes"] elif $started then ["bad", "no"] else ["", "–"] end;
def tiles:
	$summary.probe as $probe | $summary.proxy as $proxy | $summary.refused as $packets
	| yesno($summary.policy.unchanged) as $policy | yesno($summary.namespace.same_at_end) as $namespace
	| "<div class=\"tiles\">"
	+ tile((if ($probe.closed // 0) > 0 and ($probe.still_open // 0) == 0 then "good" else "bad" end);
		($probe.closed | number); "ways out closed";
		"\($probe.still_open | number) still open, \($probe.kept | number) kept on purpose")
	+ tile(""; ($proxy.requests | number); "requests by the proxy";
		"\($proxy.blocked | number) refused, \($proxy.raw_tunnels | number) raw tunnels closed")
	+ tile(""; ($packets.packets // $counts.packets.total | number); "packets refused";
		(if ($packets.truncated // $counts.truncated) == true then "log bound reached, counts exact"
		else "\($counts.packets.lost // $packets.lost | number) without a record" end))
	+ tile($policy[0]; $policy[1]; "policy unchanged"; ($summary.policy.mode // "" | text(40)))
	+ tile($namespace[0]; $namespace[1]; "same namespace"; "cookie \($summary.namespace.cookie // "–" | text(24))")
	+ "</div>\n"
	+ ($summary.tampering | list | if length == 0 then "" else
		@html "<p class=\"cause\"><b>tampering</b> The subject changed: \(map(text) | join(", "))</p>\n" end);

# --- the steps and their answers
def answer: if . == 0 then pill("good"; "yes") elif . == 1 then pill("bad"; "no")
	else pill("bad"; {"99": "timeout", "100": "usage", "102": "unsupported", "103": "no evidence",
		"111": "system"}[tostring] // "exit \(.)") end;
def detail: if .error != null then .error.message
	elif .tool == "cell-capcheck" then
		(if (.held | list | length) == 0 then "no denied capability held" else "" end) +
		"; bounding set \(.sets.bounding // "?")" + (if .no_new_privs == true then "; no new privileges" else "" end)
	elif .tool == "cell-nsid" then (if (.handles | length) > 0 then "the same: " + (.handles[0].identity // "?") +
		" \(.handles[0].cookie // "")" else "\(.identity // "?") \(.cookie // "")" end)
	elif .tool == "cell-pinhost" then "\(.host) is \(.address)"
	elif .tool == "cell-policy" then "\(.mode // "?"); generation \(.generation // "?")" +
		(.notes | list | map("; " + text) | add // "")
	elif .tool == "cell-publish" then "\(.address):\(.port), certificate \(.certificate.sha256 // "?" | text(16))"
	elif .closed != null then "\(.closed) closed, \(.kept) kept, \(.absent) cannot be tried"
	elif .tool == "cell-proxycheck" then "the audited proxy answers"
	else "" end;
def phase: .step | text | if startswith("gate.") then "The gate"
	elif startswith("again.") or startswith("open") then "Again, right before the subject"
	elif startswith("end.") then "At the end" elif startswith("p") and test("^(probe|policy)") then "Policy and probes"
	else "Setting up" end;
def steps:
	(reduce $evidence[] as $record ({}; .[$record.step | text] = $record)) as $record
	| ($summary.steps) as $all
	| section("gates"; "Gates and steps"; "In the order in which they were asked. Anything but yes ends a trial before its subject exists.";
		table(["step", "answer", "what it saw", ">time"];
			range($all | length) as $i | $all[$i] | ($record[.step | text] // {}) as $of
			| (if $i == 0 or phase != ($all[$i - 1] | phase) then
				@html "<tr class=\"phase\"><th scope=\"colgroup\" colspan=\"4\">\(phase)</th></tr>" else "" end)
			+ @html "<tr><td class=\"name step\">\(.step | text)</td><td>" + (.exit | answer)
			+ @html "</td><td>\($of | detail | text(300))</td><td class=\"figure\">\(.seconds | duration)</td></tr>"));

# --- the channels
def tone($word): if $word == "kept" then "good" else {"open": "open", "blocked": "shut", "refused": "shut"}[text(16)] // "" end;
def channel: (.verdict | text(16)) as $word
	| @html "<tr><td class=\"name\">\(.target | text)</td><td>" + pill(.before | tone($word); .before // "missing")
	+ "</td><td>" + pill(.after | tone($word); .after // "missing") + "</td><td>"
	+ pill({"closed": "good", "kept": "good", "still-open": "bad", "lost": "bad", "vacuous": "bad",
		"missing": "bad"}[$word] // ""; $word | gsub("[-_]"; " "))
	+ @html "</td><td class=\"muted\">\(.detail | text)</td></tr>";
def merged: ($after_text | records | map({(.target | text(400)): .result}) | add // {}) as $after
	| [$before_text | records[] | {target, before: .result, after: $after[.target | text(400)]}
	| .verdict = (if .before == "open" and .after == "open" then "open" elif .before == "open" then "closed"
		else "not open" end)];
def channels:
	(if ($compare.targets | length) > 0 then $compare.targets else merged end) as $all
	| ($all | map(select(.verdict == "absent"))) as $absent
	| ["target", "before", "after", "verdict", ""] as $heads
	| section("channels"; "Ways out, before and after";
		"Each was tried from the subject’s place, first without the policy and then with it. Closed: it left the cell before, and leaves it no more.";
		table($heads; $all - $absent | sort_by(.verdict == "kept", .verdict == "closed")[:200][] | channel)
		+ (if ($absent | length) == 0 then "" else
			more("\($absent | length | number) that could not be tried here: no such network, family or device";
				table($heads; $absent[:200][] | channel)) end));

# --- requests and refusals in time
def address: "\(.destination // "?")" as $to | (if $to | test(":") then "[\($to)]" else $to end)
	+ (if .ports then ":\(.ports.destination)" else "" end);
def packet_event: select(.record == "packet") | {tone: "refused", word: "refused", time,
	what: "\(.protocol // "packet") to \(address)", name: (.dns.name // null),
	note: ((if .dns then "asks \(.dns.type // "?")" elif .class == "kernel" then "the kernel’s own" else "" end)
		+ (if .uid != null then " uid \(.uid)" else "" end))};
def other_event: if .record == "change" then {tone: "change", word: "ruleset", time, what: "changed by \(.program // "?")",
		note: ([.tables | list[] | text(60)] | join(", "))}
	elif .record == "truncated" then {tone: "change", word: "bound", time,
		what: "the log’s \(.bound) bound is reached", note: "from here on not every packet has a line"}
	else empty end;
def web($clients): select(.event != "connect" or .decision != "allowed" or ($clients[.client | text] | not))
	| select(.event | text | startswith("audit_") | not)
	| {tone: (if .decision == "allowed" then "request" else "refused" end), time,
		word: (if .event == "request" or .event == "connect" then .decision else .event end),
		what: ([.method, ((if .scheme then "\(.scheme)://" else "" end) + (.host // .client // "?" | tostring)
			+ (if .port then ":\(.port)" else "" end) + (.path // "" | tostring))] | map(select(.) | tostring) | join(" ")),
		note: (if .decision == "allowed" then "" else .reason // .rule // "" end)};
def offset($zero): if .at == null or $zero == null then ""
	else (.at - $zero | if . < 0 then "−\(-. | rounded(1))" else "+\(rounded(1))" end) + " s" end;
def event($zero): @html "<li class=\"\(.tone)\"><time title=\"\(.time | text(40))\">\(offset($zero))</time>"
	+ @html "<span class=\"kind\">\(.word | text(20))</span><span class=\"what\"><code>\(.what | text(300))</code>"
	+ (if .name == null then "" else @html " <code class=\"asked\">\(.name | text(300))</code>" end)
	+ (if .note == "" then "" else @html " <small>\(.note | text(200))</small>" end)
	+ (if .count > 1 then @html " <b class=\"times\">× \(.count | number)</b>" else "" end) + "</span></li>";
# Neighbours that say the same become one.
def runs: . as $all | map([.word, .what, .name, .note]) as $said
	| [range(length) | select(. == 0 or $said[.] != $said[. - 1])] as $starts
	| [range($starts | length) | $all[$starts[.]] + {count: (($starts[. + 1] // ($all | length)) - $starts[.])}];
def bars($times; $from; $to): reduce ($times[] | (. - $from) / ($to - $from) * 120 | floor
	| if . > 119 then 119 else . end) as $i ([range(120) | 0]; .[$i] += 1);
def chart($up; $down): ([$up[], $down[]] | max) as $most
	| def height: if . == 0 then 0 else ((1 + .) | log) / ((1 + $most) | log) * 56 + 2 end | rounded(1);
	"<svg viewBox=\"0 0 960 132\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"requests above, refusals below the line\">"
	+ ([range(120) as $i | ($up[$i] | select(. > 0) | "<rect class=\"up\" x=\"\($i * 8 + 1)\" y=\"\(65 - height)\" width=\"6\" height=\"\(height)\"><title>\(number) requests</title></rect>"),
		($down[$i] | select(. > 0) | "<rect class=\"down\" x=\"\($i * 8 + 1)\" y=\"67\" width=\"6\" height=\"\(height)\"><title>\(number) refusals</title></rect>")] | add // "")
	+ "<line x1=\"0\" x2=\"960\" y1=\"66\" y2=\"66\"/></svg>";
def timeline:
	($hits | map(select(.event == "request") | {(.client | text): true}) | add // {}) as $clients
	| ([($refused[] | packet_event, other_event), ($hits[] | web($clients))]
		| map(. + {at: (.time | seconds)}) | sort_by(.at)) as $all
	| (if $began == null then $all else $all | map(select(.at == null or .at >= $began)) end) as $events
	| (if $began == null then $all[0].at else $began end) as $zero
	| ($events | runs) as $rows
	| ([$events[] | select(.tone == "request").at | numbers]) as $up
	| ([$events[] | select(.tone == "refused").at | numbers]) as $down
	| ([$ended, ($up + $down | max)] | map(numbers) | max) as $until
	| section("timeline"; "Requests and refusals";
		(if $began == null then "" else "From the subject’s start. The probes before it account for "
			+ (($all | length) - ($events | length) | plural("line"; "lines")) + " of the logs that are not shown here. " end)
		+ (if ($shortened | any(. == "hits.jsonl" or . == "refused.jsonl")) then "A log is too long to be read whole for this page: its middle is left out." else "" end);
		(if $until == null or $zero == null or $until <= $zero or ($up + $down | length) == 0 then "" else
			"<figure>" + chart(bars($up; $zero; $until); bars($down; $zero; $until))
			+ @html "<figcaption><span>0 s</span><span><i class=\"up\"></i>\($up | length | plural("request"; "requests")) let through <i class=\"down\"></i>\($down | length | plural("refusal"; "refusals")) on record, log scale</span><span>\($until - $zero | duration)</span></figcaption></figure>" end)
		+ (if ($rows | length) == 0 then "<p class=\"note\">Nothing was asked for and nothing refused.</p>" else "<ol class=\"events\">"
			+ (if ($rows | length) <= 240 then [$rows[] | event($zero)] else
				[$rows[:160][] | event($zero)] + [@html "<li class=\"gap\">\(($rows | length) - 240 | number) more lines in refused.jsonl and hits.jsonl</li>"]
				+ [$rows[-80:][] | event($zero)] end | add) + "</ol>" end));

# --- who asked for what
def since_start: if $began == null then . else map(select((.time | seconds) as $at | $at == null or $at >= $began)) end;
def figure: @html "<td class=\"figure\(if . == 0 then " none" else "" end)\">\(number)</td>";
def refusals:
	($refused | map(select(.record == "packet")) | since_start) as $packets
	| (reduce $packets[] as $packet ({}; .[$packet.class | text] += 1)) as $later
	| section("refused"; "Refused packets"; "Totals are the policy’s own counters, the probes’ packets among them. One without a record was still refused and counted.";
		table(["class", ">total", ">recorded", ">without a record", ">recorded since the subject’s start"];
			$counts.classes | to_entries[] | select((.value.total // .value.received) > 0) | (.key | text) as $class
			| @html "<tr><td class=\"name\">\($class)</td>"
			+ ([.value.total, .value.recorded, .value.lost, ($later[$class] // 0) | figure] | add) + "</tr>")
		+ "<div class=\"pair\">"
		+ ($packets | if length == 0 then "" else "<div><h3>Destinations</h3>" + table(["where to", ">packets"];
			tally([.protocol, .destination, .ports.destination])[:12][]
			| @html "<tr><td class=\"name\">\(.first | "\(.protocol // "packet") \(address)" | text)</td>" + (.count | figure) + "</tr>") + "</div>" end)
		+ ($packets | map(select(.dns)) | if length == 0 then "" else "<div><h3>Names asked for</h3>" + table(["name", ">questions"];
			tally([.dns.name, .dns.type])[:12][]
			| @html "<tr><td class=\"name\">\(.first.dns.name | text) <small>\(.first.dns.type | text(12))</small></td>" + (.count | figure) + "</tr>") + "</div>" end)
		+ "</div>");
def requests:
	section("requests"; "Requests by the proxy"; "From the subject’s start. Every request is in hits.jsonl, with the addresses that were connected to.";
		$hits | map(select(.event == "request" or (.event == "connect" and .decision != "allowed"))) | since_start
		| if length == 0 then "<p class=\"note\">None.</p>" else table(["host", ">let through", ">refused", ">failed", "rule"];
			tally(.host)[:20][] | (.all | map(.decision)) as $said
			| @html "<tr><td class=\"name\">\(.first.host | text)</td>"
			+ ([("allowed", "refused", "failed") as $word | $said | map(select(. == $word)) | length | figure] | add)
			+ @html "<td class=\"muted\">\([.all[].rule | text(24)] | unique | join(", ") | text)</td></tr>") end);

# --- the policy, and what else there is
def policy:
	$summary.policy as $policy
	| section("policy"; "Policy in force"; "";
		([["mode", $policy.mode], ["proxy", "\($summary.proxy.host // "?") \($summary.proxy.address // "?"):\($summary.proxy.port // "?")"],
			["certificate (SHA-256)", $summary.proxy.certificate_sha256], ["ruleset (SHA-256)", $policy.ruleset_sha256],
			["namespace", "\($summary.namespace.identity // "?") \($summary.namespace.cookie // "")"],
			["bounding set", $summary.gate.sets.bounding]] | facts)
		+ (if $rules == "" then "" else more("The ruleset as the kernel lists it"; @html "<pre>\($rules | split("\n") | map(gsub("\t"; "    ") | text(240)) | join("\n"))</pre>") end));
def files:
	section("files"; "Evidence"; "sha256sum -c sha256sums, in the trial’s directory, checks all of these.";
		table(["file", ">bytes", "SHA-256"]; $summary.files | to_entries[:100][]
			| @html "<tr><td class=\"name\">\(.key | text)</td><td class=\"figure\">\(.value.bytes | number)</td><td class=\"digest\">\(.value.sha256 | text)</td></tr>")
		+ ([$summary.versions | to_entries[] | [.key, .value]] | facts));

"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
+ "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
+ "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">"
+ "<meta name=\"referrer\" content=\"no-referrer\">"
+ @html "<title>cell trial \($summary.trial // $directory | text(40)): \($verdict[1] | ascii_downcase)</title>\n"
+ "<style>\n" + $style + "</style></head>\n<body><main>\n"
+ header + tiles + steps + channels + timeline + requests + refusals + policy + files
+ "<footer>Made by run_trial from the trial’s own files. It loads nothing and runs nothing.</footer>\n</main></body></html>"

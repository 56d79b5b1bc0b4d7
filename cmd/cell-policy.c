// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts a cell's policy in force, changes it, shows it, and judges whether it still is what it was.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "arguments.h"
#include "cleanup.h"
#include "host_name.h"
#include "policy_gate.h"
#include "policy_judge.h"
#include "policy_proxy.h"
#include "policy_words.h"
#include "published.h"
#include "report.h"
#include "resolver_file.h"

static const char usage[] =
	"usage: cell-policy [OPTION]... show | rules | deny-all | allow-all\n"
	"       cell-policy [OPTION]... allow HOST[:PORT]...\n"
	"       cell-policy [OPTION]... check [HOST[:PORT]]\n"
	"\n"
	"  --subject NETNS      only if NETNS (PID, PATH or \"net:[N] COOKIE\") is this namespace\n"
	"  --refuse ADDRESS     refuse this resolver address too (may be repeated)\n"
	"  --resolv-conf FILE   at first, refuse the loopback nameservers that FILE names\n"
	"  --wait SECONDS       allow: wait so long for the proxy's address to be published\n"
	"  --log-group N|none   NFLOG group of refused packets (CELL_LOG_GROUP, 5)\n"
	"  --generation N       check: no unless this still is the ruleset's generation number\n"
	"  --table NAME         name of the inet table (CELL_TABLE, cell_egress)\n"
	"  --allow-hardware     police even a namespace that has a hardware interface\n"
	"  --dry-run            print the ruleset that would be in force, change nothing\n"
	"  --json               one JSON record on standard output\n"
	"  --quiet              nothing on standard error\n"
	"  --help, --version\n";

enum {
	OPT_SUBJECT = ARGUMENTS_FIRST,
	OPT_REFUSE,
	OPT_RESOLV_CONF,
	OPT_WAIT,
	OPT_LOG_GROUP,
	OPT_GENERATION,
	OPT_TABLE,
	OPT_ALLOW_HARDWARE,
	OPT_DRY_RUN
};

static const struct option options[] = {{"subject", required_argument, NULL, OPT_SUBJECT},
					{"refuse", required_argument, NULL, OPT_REFUSE},
					{"resolv-conf", required_argument, NULL, OPT_RESOLV_CONF},
					{"wait", required_argument, NULL, OPT_WAIT},
					{"log-group", required_argument, NULL, OPT_LOG_GROUP},
					{"generation", required_argument, NULL, OPT_GENERATION},
					{"table", required_argument, NULL, OPT_TABLE},
					{"allow-hardware", no_argument, NULL, OPT_ALLOW_HARDWARE},
					{"dry-run", no_argument, NULL, OPT_DRY_RUN},
					ARGUMENTS_COMMON};

enum verb { SHOW, RULES, DENY_ALL, ALLOW, ALLOW_ALL, CHECK, VERBS };

static const char *const verbs[VERBS] = {"show",  "rules",     "deny-all",
					 "allow", "allow-all", "check"};

/* What the command line and the environment ask for. */
static struct {
	enum verb verb;
	const char *subject, *resolv_conf, *directory, *host;
	bool allow_hardware, dry_run, has_wait, has_generation;
	int64_t wait; /* nanoseconds */
	uint32_t generation;

	struct ruleset wanted; /* --table, --log-group, 127.0.0.11 and --refuse, later the proxy */
	struct ruleset first;  /* the resolvers of --resolv-conf */
} task;

/* HOST[:PORT] must be the one configured proxy; a port given twice must be one port. */
static void parse_host(const char *operand, bool *has_port)
{
	const char *colon = strrchr(operand, ':');
	size_t length = colon != NULL ? (size_t)(colon - operand) : strlen(operand);
	enum host_name_verdict verdict = host_name_check(operand, length);

	if (verdict != HOST_NAME_OK)
		die(CELL_USAGE, "host name %.*s %s", (int)length, operand,
		    host_name_verdict_text(verdict));
	if (!host_name_equal(operand, length, task.host, strlen(task.host)))
		die(CELL_USAGE,
		    "%.*s is not the proxy host %s (CELL_PROXY_HOST): nothing else can "
		    "be allowed",
		    (int)length, operand, task.host);
	if (colon != NULL) {
		uint16_t port = arguments_port("port", colon + 1);

		if (*has_port && port != task.wanted.proxy.port)
			die(CELL_USAGE, "%s names a second port: one proxy can be allowed",
			    operand);
		task.wanted.proxy.port = port;
		*has_port = true;
	}
}

static void parse_operands(int argc, char **argv)
{
	bool has_port = false;
	int verb = 0;

	if (optind == argc)
		die(CELL_USAGE, "no verb: show, rules, deny-all, allow, allow-all or check");
	while (verb < VERBS && strcmp(argv[optind], verbs[verb]) != 0)
		verb++;
	if (verb == VERBS)
		die(CELL_USAGE, "unknown verb %s", argv[optind]);
	task.verb = (enum verb)verb;
	if (task.verb == ALLOW && optind + 1 == argc)
		die(CELL_USAGE, "allow needs a host: %s", task.host);
	if (task.verb != ALLOW && argc - optind > (task.verb == CHECK ? 2 : 1))
		die(CELL_USAGE, "%s takes no operand %s", verbs[verb], argv[argc - 1]);
	for (int i = optind + 1; i < argc; i++)
		parse_host(argv[i], &has_port);
}

static void parse_log_group(const char *name, const char *text)
{
	task.wanted.log_group = strcmp(text, "none") == 0
					? RULESET_NO_LOG
					: (int)arguments_number(name, text, 0, UINT16_MAX);
}

static void parse_table(const char *name)
{
	if (!ruleset_table_is_valid(name))
		die(CELL_USAGE,
		    "table name %s must be lower-case letters, digits and at least one _, and not "
		    "gost_egress",
		    name);
	task.wanted.table = name;
}

static void add_refused(const char *address)
{
	if (ruleset_add_resolver(&task.wanted, address) != 0)
		die(CELL_USAGE, "--refuse %s %s", address,
		    errno == EINVAL ? "is not an address" : "is one too many");
}

static void parse_environment(void)
{
	task.directory = arguments_environment("CELL_EGRESS_DIR", PUBLISHED_DEFAULT_DIR);
	task.host = arguments_environment("CELL_PROXY_HOST", PUBLISHED_DEFAULT_HOST);
	task.wanted.proxy.port =
		arguments_port("CELL_PROXY_PORT",
			       arguments_environment("CELL_PROXY_PORT", PUBLISHED_DEFAULT_PORT));
	parse_table(arguments_environment("CELL_TABLE", RULESET_DEFAULT_TABLE));
	parse_log_group("CELL_LOG_GROUP", arguments_environment("CELL_LOG_GROUP", "5"));
	add_refused("127.0.0.11");
}

/* An option that only some verbs look at must not be taken silently by the others. */
static void refuse_misplaced(void)
{
	bool applies = task.verb == ALLOW || task.verb == DENY_ALL;

	if (task.has_wait && task.verb != ALLOW)
		die(CELL_USAGE, "--wait goes with allow only");
	if (task.has_generation && task.verb != CHECK)
		die(CELL_USAGE, "--generation goes with check only");
	if ((task.dry_run || task.allow_hardware || task.resolv_conf != NULL) && !applies)
		die(CELL_USAGE, "--%s goes with deny-all and allow only",
		    task.dry_run	  ? "dry-run"
		    : task.allow_hardware ? "allow-hardware"
					  : "resolv-conf");
	if (task.wanted.resolvers_count > 1 && !applies && task.verb != CHECK)
		die(CELL_USAGE, "--refuse goes with deny-all, allow and check only");
}

static void parse_options(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, "refuse", false};
	int option;

	arguments_begin(&arguments);
	parse_environment();
	while ((option = arguments_next(&arguments)) != -1) {
		switch (option) {
		case OPT_SUBJECT:
			task.subject = optarg;
			break;
		case OPT_REFUSE:
			add_refused(optarg);
			break;
		case OPT_RESOLV_CONF:
			task.resolv_conf = optarg;
			break;
		case OPT_WAIT:
			task.wait = arguments_seconds("--wait", optarg);
			task.has_wait = true;
			break;
		case OPT_LOG_GROUP:
			parse_log_group("--log-group", optarg);
			break;
		case OPT_GENERATION:
			task.generation =
				(uint32_t)arguments_number("--generation", optarg, 0, UINT32_MAX);
			task.has_generation = true;
			break;
		case OPT_TABLE:
			parse_table(optarg);
			break;
		case OPT_ALLOW_HARDWARE:
			task.allow_hardware = true;
			break;
		case OPT_DRY_RUN:
			task.dry_run = true;
			break;
		}
	}
	parse_operands(argc, argv);
	refuse_misplaced();
}

static noreturn void die_fault(const struct policy_fault *fault)
{
	if (fault->code != CELL_NO)
		die(fault->code, "%s", fault->text);
	report_answer("no: %s", fault->text);
	report_finish(CELL_NO);
}

static void check_fault(int result, const struct policy_fault *fault)
{
	if (result != 0)
		die_fault(fault);
}

/* Gives every fact of STATE to the report; its text begins with ANSWER, or with the mode. */
static void report_state(struct policy_state *state, json_t *differs, const char *answer)
{
	json_t *fields = policy_fields(state, differs), *value;
	autofree char *lines = fields == NULL ? NULL : policy_lines(fields, answer == NULL);
	const char *key;

	if (lines == NULL)
		die(CELL_SYSTEM, "cannot make the report: %s", strerror(ENOMEM));
	report_answer("%s%s", answer != NULL ? answer : "mode: ",
		      answer != NULL ? "" : policy_mode_name(state->mode));
	report_body(lines);
	json_object_foreach(fields, key, value) report_json_field(key, json_incref(value));
	json_decref(fields);
}

/* The end of every verb but check: what is in force, and what else bears on it. */
static noreturn void finish_with(struct policy_state *state, const char *answer)
{
	struct policy_fault fault;

	check_fault(policy_inspect(state, &fault), &fault);
	if (json_array_extend(state->differs, state->beside) != 0)
		die(CELL_SYSTEM, "cannot make the report: %s", strerror(ENOMEM));
	report_state(state, state->differs, answer);
	report_finish(CELL_OK);
}

static noreturn void show(struct policy_state *state)
{
	struct policy_fault fault;
	autofree char *text = NULL;

	check_fault(policy_state_read(task.wanted.table, state, &fault), &fault);
	if (task.verb == SHOW)
		finish_with(state, NULL);
	text = state->mode == POLICY_NONE ? strdup("") : policy_list(task.wanted.table, &fault);
	if (text == NULL)
		die_fault(&fault);
	if (report_is_json()) {
		report_json_field("rules", report_string(text));
		finish_with(state, NULL);
	}
	report_body(text);
	report_finish(CELL_OK);
}

static noreturn void check(struct policy_state *state)
{
	struct policy_fault fault;
	json_t *differs = json_array();

	check_fault(policy_state_read(task.wanted.table, state, &fault), &fault);
	check_fault(policy_inspect(state, &fault), &fault);
	check_fault(policy_judge(state, &task.wanted, task.directory, differs, &fault), &fault);
	if (task.has_generation && state->netfilter.generation != task.generation)
		(void)json_array_append_new(differs, json_sprintf("generation is %u, not %u",
								  state->netfilter.generation,
								  task.generation));
	report_state(state, differs,
		     json_array_size(differs) == 0 ? "ok: nothing differs"
						   : "no: something differs");
	report_finish(json_array_size(differs) == 0 ? CELL_OK : CELL_NO);
}

static noreturn void print_ruleset(void)
{
	json_t *blocks = ruleset_wanted(&task.wanted);
	autofree char *text = blocks == NULL ? NULL : ruleset_text(task.wanted.table, blocks);

	if (text == NULL)
		die(CELL_SYSTEM, "cannot make the ruleset: %s", strerror(ENOMEM));
	report_body(text);
	report_json_field("rules", report_string(text));
	report_finish(CELL_OK);
}

static void apply(struct policy_state *state)
{
	struct policy_fault fault;

	check_fault(policy_apply(&task.wanted, &task.first, state, &fault), &fault);
}

/* Finds the proxy. Until it is found, and if it never is, a namespace without policy is closed. */
static void find_proxy(struct policy_state *state)
{
	struct ruleset_proxy *proxy = &task.wanted.proxy;
	struct policy_fault fault;
	bool missing;

	if (policy_proxy_find(task.directory, proxy, &missing, &fault) != 0) {
		if (!task.dry_run) {
			check_fault(policy_state_read(task.wanted.table, state, &fault), &fault);
			if (state->mode == POLICY_NONE)
				apply(state);
			report_json_field("mode", json_string(policy_mode_name(state->mode)));
			policy_state_release(state);
		}
		check_fault(policy_proxy_wait(task.directory, task.wait, proxy, &fault), &fault);
	}
	task.wanted.has_proxy = true;
}

int main(int argc, char **argv)
{
	struct policy_state state = {0};
	struct policy_fault fault;

	report_begin("cell-policy");
	(void)signal(SIGCHLD, SIG_DFL); /* an ignored one would hide how a child ended */
	parse_options(argc, argv);
	if (task.subject != NULL)
		check_fault(policy_gate_subject(task.subject, &fault), &fault);
	if (task.verb == SHOW || task.verb == RULES)
		show(&state);
	if (task.verb == CHECK)
		check(&state);
	if (task.verb == ALLOW_ALL) {
		check_fault(policy_remove(task.wanted.table, &state, &fault), &fault);
		finish_with(&state, "ok: no policy is in force");
	}
	if (!task.allow_hardware && !task.dry_run)
		check_fault(policy_gate_hardware(&fault), &fault);
	if (task.resolv_conf != NULL && resolver_file_read(task.resolv_conf, &task.first) != 0)
		die_errno(CELL_EVIDENCE, "cannot read %s", task.resolv_conf);
	if (task.verb == ALLOW)
		find_proxy(&state);
	if (task.dry_run)
		print_ruleset();
	apply(&state);
	finish_with(&state, task.verb == ALLOW ? "ok: only the proxy is allowed"
					       : "ok: everything is refused");
}

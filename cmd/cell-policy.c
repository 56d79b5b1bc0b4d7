// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts a cell's policy in force, changes it, shows it, and judges whether it still is what it was.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "arguments.h"
#include "cleanup.h"
#include "host_name.h"
#include "policy_apply.h"
#include "policy_gate.h"
#include "policy_judge.h"
#include "policy_proxy.h"
#include "policy_words.h"
#include "privileges.h"
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
	OPT_DRY_RUN,
	OPT_END
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

/* Options that only some verbs look at: no other takes them in silence. */
static const struct {
	int option;
	unsigned int verbs;
} places[] = {
	{OPT_WAIT, 1U << ALLOW},
	{OPT_GENERATION, 1U << CHECK},
	{OPT_REFUSE, 1U << DENY_ALL | 1U << ALLOW | 1U << CHECK},
	{OPT_RESOLV_CONF, 1U << DENY_ALL | 1U << ALLOW},
	{OPT_ALLOW_HARDWARE, 1U << DENY_ALL | 1U << ALLOW},
	{OPT_DRY_RUN, 1U << DENY_ALL | 1U << ALLOW},
};

/* What the command line and the environment ask for. */
static struct {
	enum verb verb;
	const char *values[OPT_END - ARGUMENTS_FIRST]; /* by option; "" if it takes no value */
	const char *directory;
	int64_t wait; /* nanoseconds */
	uint32_t generation;
	struct ruleset wanted; /* table, log group, resolvers, the proxy's port, later all of it */
	struct ruleset first;  /* the resolvers of --resolv-conf */
} task;

static struct fault fault; /* what the last step complained of */

/* Ends the tool with FAULT if RESULT is not 0. */
static void must(int result)
{
	if (result == 0)
		return;
	if (fault.code != CELL_NO && fault.number == 0)
		die(fault.code, "%s", fault.text);
	errno = fault.number;
	if (fault.code != CELL_NO)
		die_errno(fault.code, "%s", fault.text);
	report_answer("no: %s", fault.text);
	report_finish(CELL_NO);
}

/* The option's argument, "" if it takes none; NULL if it was not given. */
static const char *value_of(int option)
{
	return task.values[option - ARGUMENTS_FIRST];
}

/* The option's argument, or else the environment's, or else FALLBACK. */
static const char *choose(int option, const char *variable, const char *fallback)
{
	return value_of(option) != NULL ? value_of(option)
					: arguments_environment(variable, fallback);
}

static void parse_settings(void)
{
	const char *group = choose(OPT_LOG_GROUP, "CELL_LOG_GROUP", "5");
	const char *generation = value_of(OPT_GENERATION);

	task.wanted.table = choose(OPT_TABLE, "CELL_TABLE", RULESET_DEFAULT_TABLE);
	if (!ruleset_table_is_valid(task.wanted.table))
		die(CELL_USAGE,
		    "table name %s is not of lower-case letters, digits and at least one _, or is "
		    "gost_egress",
		    task.wanted.table);
	task.wanted.log_group = RULESET_NO_LOG;
	if (strcmp(group, "none") != 0)
		task.wanted.log_group = (int)arguments_number("log group", group, 0, UINT16_MAX);
	task.wait = arguments_seconds("wait", choose(OPT_WAIT, "CELL_POLICY_WAIT", "0"));
	if (generation != NULL)
		task.generation =
			(uint32_t)arguments_number("--generation", generation, 0, UINT32_MAX);
	task.directory = arguments_environment("CELL_EGRESS_DIR", PUBLISHED_DEFAULT_DIR);
}

/* The verb and its hosts, each of which must be the one configured proxy, with one port. */
static void parse_operands(int argc, char **argv)
{
	const char *host = arguments_environment("CELL_PROXY_HOST", PUBLISHED_DEFAULT_HOST);
	const char *port = arguments_environment("CELL_PROXY_PORT", PUBLISHED_DEFAULT_PORT);
	uint16_t default_port = arguments_port("CELL_PROXY_PORT", port);
	int verb = 0;

	if (optind == argc)
		die(CELL_USAGE, "no verb: show, rules, deny-all, allow, allow-all or check");
	while (verb < VERBS && strcmp(argv[optind], verbs[verb]) != 0)
		verb++;
	if (verb == VERBS)
		die(CELL_USAGE, "unknown verb %s", argv[optind]);
	task.verb = (enum verb)verb;
	if (task.verb == ALLOW && optind + 1 == argc)
		die(CELL_USAGE, "allow needs a host: %s", host);
	if (task.verb != ALLOW && argc - optind > (task.verb == CHECK ? 2 : 1))
		die(CELL_USAGE, "%s takes no operand %s", verbs[verb], argv[argc - 1]);
	for (int i = optind + 1; i < argc; i++)
		must(policy_proxy_operand(argv[i], host, default_port, &task.wanted.proxy.port,
					  &fault));
	if (task.wanted.proxy.port == 0)
		task.wanted.proxy.port = default_port;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (value_of(places[i].option) != NULL && !(places[i].verbs & 1U << task.verb))
			die(CELL_USAGE, "option --%s does not go with %s",
			    options[places[i].option - ARGUMENTS_FIRST].name, verbs[verb]);
}

static void add_refused(const char *address)
{
	if (ruleset_add_resolver(&task.wanted, address) != 0)
		die(CELL_USAGE, "--refuse %s %s", address,
		    errno == EINVAL ? "is not an address" : "is one too many");
}

static void parse_options(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, "refuse", false};
	int option;

	arguments_begin(&arguments);
	if (privileges_renounce(UINT64_MAX) != 0)
		die_errno(CELL_SYSTEM, "cannot give up privileges");
	add_refused("127.0.0.11");
	while ((option = arguments_next(&arguments)) != -1) {
		task.values[option - ARGUMENTS_FIRST] = optarg != NULL ? optarg : "";
		if (option == OPT_REFUSE)
			add_refused(optarg);
	}
	parse_settings();
	parse_operands(argc, argv);
}

static void must_have(const void *memory)
{
	if (memory == NULL)
		die(CELL_SYSTEM, "cannot make the report: %s", strerror(ENOMEM));
}

/* Ends with every fact of STATE; the text begins with ANSWER, or with the mode if that is NULL. */
static noreturn void finish_with(struct policy_state *state, json_t *differs, const char *answer,
				 enum cell_exit code)
{
	json_t *fields = policy_fields(state, differs), *value;
	autofree char *lines = fields == NULL ? NULL : policy_lines(fields, answer == NULL);
	const char *key;

	must_have(lines);
	report_answer("%s%s", answer != NULL ? answer : "mode: ",
		      answer != NULL ? "" : policy_mode_name(state->mode));
	report_body(lines);
	json_object_foreach (fields, key, value) {
		report_json_field(key, json_incref(value));
	}
	json_decref(fields);
	report_finish(code);
}

/* What is in force, and what else bears on it: the end of every verb that does not judge. */
static noreturn void finish_shown(struct policy_state *state, const char *answer)
{
	must(policy_inspect(state, &fault));
	must_have(json_array_extend(state->differs, state->beside) == 0 ? state : NULL);
	finish_with(state, state->differs, answer, CELL_OK);
}

static noreturn void finish_rules(const char *text)
{
	must_have(text);
	report_body(text);
	report_json_field("rules", report_string(text));
	report_finish(CELL_OK);
}

static noreturn void show(struct policy_state *state)
{
	autofree char *text = NULL;

	must(policy_state_read(task.wanted.table, state, &fault));
	if (task.verb == SHOW)
		finish_shown(state, NULL);
	text = state->mode == POLICY_NONE ? strdup("") : policy_list(task.wanted.table, &fault);
	must(text == NULL ? -1 : 0);
	if (!report_is_json())
		finish_rules(text);
	report_json_field("rules", report_string(text));
	finish_shown(state, NULL);
}

static noreturn void check(struct policy_state *state)
{
	json_t *differs = json_array();

	must(policy_state_read(task.wanted.table, state, &fault));
	must(policy_inspect(state, &fault));
	must(policy_judge(state, &task.wanted, task.directory,
			  value_of(OPT_GENERATION) != NULL ? &task.generation : NULL, differs,
			  &fault));
	if (json_array_size(differs) == 0)
		finish_with(state, differs, "ok: nothing differs", CELL_OK);
	finish_with(state, differs, "no: it is not the policy that it should be", CELL_NO);
}

/* Finds the proxy. Until it is found, and if it never is, a namespace without policy is closed. */
static void find_proxy(void)
{
	struct ruleset_proxy *proxy = &task.wanted.proxy;
	enum policy_mode mode;
	bool missing;

	if (policy_proxy_find(task.directory, proxy, &missing, &fault) != 0) {
		if (value_of(OPT_DRY_RUN) == NULL) {
			must(policy_close_meanwhile(&task.wanted, &task.first, &mode, &fault));
			report_json_field("mode", json_string(policy_mode_name(mode)));
		}
		must(policy_proxy_wait(task.directory, task.wait, proxy, &fault));
	}
	task.wanted.has_proxy = true;
}

int main(int argc, char **argv)
{
	struct policy_state state = {0};

	report_begin("cell-policy");
	(void)signal(SIGCHLD, SIG_DFL); /* an ignored one would hide how a child ended */
	parse_options(argc, argv);
	if (value_of(OPT_SUBJECT) != NULL)
		must(policy_gate_subject(value_of(OPT_SUBJECT), &fault));
	if (task.verb == SHOW || task.verb == RULES)
		show(&state);
	if (task.verb == CHECK)
		check(&state);
	if (task.verb == ALLOW_ALL) {
		must(policy_remove(task.wanted.table, &state, &fault));
		finish_shown(&state, "ok: no policy is in force");
	}
	if (value_of(OPT_ALLOW_HARDWARE) == NULL && value_of(OPT_DRY_RUN) == NULL)
		must(policy_gate_hardware(&fault));
	if (value_of(OPT_RESOLV_CONF) != NULL &&
	    resolver_file_read(value_of(OPT_RESOLV_CONF), &task.first) != 0)
		die_errno(CELL_EVIDENCE, "cannot read %s", value_of(OPT_RESOLV_CONF));
	if (task.verb == ALLOW)
		find_proxy();
	if (value_of(OPT_DRY_RUN) != NULL)
		finish_rules(policy_preview(&task.wanted, &task.first));
	must(policy_apply(&task.wanted, &task.first, &state, &fault));
	finish_shown(&state, task.verb == ALLOW ? "ok: only the proxy is allowed"
						: "ok: everything is refused");
}

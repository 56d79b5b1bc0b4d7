// SPDX-License-Identifier: GPL-2.0-or-later
/* cell-policy: puts a policy in force, changes it, shows it, judges whether it still is whole. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "cleanup.h"
#include "policy_command.h"
#include "policy_judge.h"
#include "policy_proxy.h"
#include "policy_words.h"
#include "privileges.h"
#include "report.h"
#include "settings.h"

static const char usage[] =
	"usage: cell-policy [OPTION]... show | rules | deny-all | allow-all\n"
	"       cell-policy [OPTION]... allow HOST[:PORT]...\n"
	"       cell-policy [OPTION]... check [HOST[:PORT]]\n"
	"Lets packets leave this network namespace to the one proxy and nowhere else.\n"
	"  --subject NETNS      only if NETNS (PID, PATH or \"net:[N] COOKIE\") is this namespace\n"
	"  --refuse ADDRESS     refuse this resolver address too (may be repeated)\n"
	"  --resolv-conf FILE   at first, refuse the loopback nameservers that FILE names\n"
	"  --wait SECONDS       allow: wait so long for the proxy's address to be published\n"
	"  --log-group N|none   NFLOG group of refused packets (CELL_LOG_GROUP, 5)\n"
	"  --generation N       check: no unless this still is the ruleset's generation number\n"
	"  --table NAME         name of the inet table (CELL_TABLE, cell_egress)\n"
	"  --allow-hardware     police even a namespace that has a hardware interface\n"
	"  --dry-run            print the ruleset that would be in force, change nothing\n"
	"  --json               one record on standard output\n"
	"  --quiet              nothing on standard error\n"
	"  --help               this text\n"
	"  --version            the version\n";

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

/* Options that only some verbs look at: no other takes them in silence. */
static const struct {
	int option;
	unsigned int verbs;
} places[] = {
	{OPT_WAIT, 1U << POLICY_ALLOW},
	{OPT_GENERATION, 1U << POLICY_CHECK},
	{OPT_REFUSE, 1U << POLICY_DENY | 1U << POLICY_ALLOW | 1U << POLICY_CHECK},
	{OPT_RESOLV_CONF, 1U << POLICY_DENY | 1U << POLICY_ALLOW},
	{OPT_ALLOW_HARDWARE, 1U << POLICY_DENY | 1U << POLICY_ALLOW},
	{OPT_DRY_RUN, 1U << POLICY_DENY | 1U << POLICY_ALLOW},
};

static struct policy_command command;
static const char *values[OPT_END]; /* by option; "" if it takes no value */

/* Ends the tool with FAULT if RESULT is not 0. */
static void must(int result, const struct fault *fault)
{
	if (result == 0)
		return;
	if (fault->code != CELL_NO)
		die_fault(fault);
	report_answer("no: %s", fault->text);
	report_finish(CELL_NO);
}

static void parse_settings(void)
{
	const char *group = settings_log_group(values[OPT_LOG_GROUP]);
	const char *wait = values[OPT_WAIT];
	static uint32_t generation;

	command.wanted.table = settings_table(values[OPT_TABLE]);
	command.wanted.log_group = RULESET_NO_LOG;
	if (strcmp(group, "none") != 0)
		command.wanted.log_group = (int)arguments_number("log group", group, 0, UINT16_MAX);
	command.wait = arguments_seconds(
		"wait", wait != NULL ? wait : arguments_environment("CELL_POLICY_WAIT", "0"));
	if (values[OPT_GENERATION] != NULL) {
		generation = (uint32_t)arguments_number("--generation", values[OPT_GENERATION], 0,
							UINT32_MAX);
		command.generation = &generation;
	}
	command.directory = settings_directory();
	command.subject = values[OPT_SUBJECT];
	command.resolver_file = values[OPT_RESOLV_CONF];
	command.allow_hardware = values[OPT_ALLOW_HARDWARE] != NULL;
	command.dry_run = values[OPT_DRY_RUN] != NULL;
}

/* The verb and its hosts, each of which must be the one configured proxy, with one port. */
static void parse_operands(int argc, char **argv)
{
	const char *host = settings_proxy_host(), *verb = argv[optind];
	uint16_t default_port = settings_proxy_port(), *port = &command.wanted.proxy.port;
	struct fault fault;

	if (optind == argc)
		die(CELL_USAGE, "no verb: show, rules, deny-all, allow, allow-all or check");
	command.verb = policy_verb_find(verb);
	if (command.verb == POLICY_VERBS)
		die(CELL_USAGE, "unknown verb %s", verb);
	if (command.verb == POLICY_ALLOW && optind + 1 == argc)
		die(CELL_USAGE, "allow needs a host: %s", host);
	if (command.verb != POLICY_ALLOW && argc - optind > (command.verb == POLICY_CHECK ? 2 : 1))
		die(CELL_USAGE, "%s takes no operand %s", verb, argv[argc - 1]);
	for (int i = optind + 1; i < argc; i++)
		must(policy_proxy_operand(argv[i], host, default_port, port, &fault), &fault);
	if (*port == 0)
		*port = default_port;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (values[places[i].option] != NULL && !(places[i].verbs & 1U << command.verb))
			die(CELL_USAGE, "option --%s does not go with %s",
			    options[places[i].option - ARGUMENTS_FIRST].name, verb);
}

static void add_refused(const char *address)
{
	if (ruleset_add_resolver(&command.wanted, address) != 0)
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
		values[option] = optarg != NULL ? optarg : "";
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
	struct fault fault;

	must(policy_inspect(state, &fault), &fault);
	must_have(json_array_extend(state->differs, state->beside) == 0 ? state : NULL);
	finish_with(state, state->differs, answer, CELL_OK);
}

static noreturn void finish_rules(struct policy_result *result)
{
	report_json_field("rules", report_string(result->rules));
	if (report_is_json() && !command.dry_run)
		finish_shown(&result->state, NULL);
	report_body(result->rules);
	report_finish(CELL_OK);
}

/* Ends with a no, whose first line, all that a relay may show, names the first difference. */
static noreturn void finish_differing(struct policy_result *result)
{
	size_t more = json_array_size(result->differs) - 1;
	const char *first = json_string_value(json_array_get(result->differs, 0));
	autofree char *answer = NULL;
	int length = more == 0 ? asprintf(&answer, "no: %s", first)
			       : asprintf(&answer, "no: %s; and %zu more", first, more);

	if (length < 0)
		answer = NULL;
	must_have(answer);
	finish_with(&result->state, result->differs, answer, CELL_NO);
}

int main(int argc, char **argv)
{
	static const char *const answers[POLICY_VERBS] = {
		[POLICY_DENY] = "ok: everything is refused",
		[POLICY_ALLOW] = "ok: only the proxy is allowed",
		[POLICY_REMOVE] = "ok: no policy is in force",
	};
	struct policy_result result = {0};
	struct fault fault;
	int done;

	report_begin("cell-policy");
	(void)signal(SIGCHLD, SIG_DFL); /* an ignored one would hide how a child ended */
	parse_options(argc, argv);
	done = policy_command_run(&command, &result, &fault);
	if (result.waited)
		report_json_field("mode", json_string(policy_mode_name(result.meanwhile)));
	must(done, &fault);
	if (result.rules != NULL)
		finish_rules(&result);
	if (command.verb != POLICY_CHECK)
		finish_shown(&result.state, answers[command.verb]);
	if (json_array_size(result.differs) == 0)
		finish_with(&result.state, result.differs, "ok: nothing differs", CELL_OK);
	finish_differing(&result);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* cell-probe: prove what is open and what is closed, all targets at once, and compare two runs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "bounded_input.h"
#include "cleanup.h"
#include "fault.h"
#include "privileges.h"
#include "probe_outcome.h"
#include "probe_surroundings.h"
#include "published.h"
#include "report.h"
#include "settings.h"

enum {
	OPT_EXPECT = ARGUMENTS_FIRST,
	OPT_TIMEOUT,
	OPT_TARGETS,
	OPT_DEFINE,
	OPT_DRY_RUN,
	OPT_COMPARE
};
enum { INPUT_MAX = 4 * 1024 * 1024 };

static const char usage[] =
	"usage: cell-probe [--expect open|closed] [--timeout S] [--targets FILE]\n"
	"                  [--define NAME=VALUE]... [--dry-run] [TARGET...]\n"
	"       cell-probe --compare BEFORE AFTER\n"
	"Tries every TARGET at once and tells what came of it; without one, the usual ones.\n"
	"  --expect open|closed   judge: all must be open, or all closed\n"
	"  --timeout S            seconds for the whole run (2)\n"
	"  --targets FILE         a list of targets, - for standard input\n"
	"  --define NAME=VALUE    what the placeholder {NAME} stands for\n"
	"  --dry-run              read the targets, try none\n"
	"  --compare              judge the records of two runs, before and after the policy\n"
	"  --json                 one record a target on standard output\n"
	"  --quiet                nothing on standard error\n"
	"  --help                 this text\n"
	"  --version              the version\n";

static const struct option options[] = {{"expect", required_argument, NULL, OPT_EXPECT},
					{"timeout", required_argument, NULL, OPT_TIMEOUT},
					{"targets", required_argument, NULL, OPT_TARGETS},
					{"define", required_argument, NULL, OPT_DEFINE},
					{"dry-run", no_argument, NULL, OPT_DRY_RUN},
					{"compare", no_argument, NULL, OPT_COMPARE},
					ARGUMENTS_COMMON};

static struct {
	enum probe_expect expect;
	int64_t timeout;
	const char *targets;
	bool dry_run, compare;
} request = {.timeout = 2000000000};

static struct probe_values values;
static struct probe_list list;

/* How messages call the file NAME. */
static const char *name_of(const char *name)
{
	return strcmp(name, "-") == 0 ? "standard input" : name;
}

static char *read_whole(const char *name, size_t *length)
{
	char *bytes = NULL;

	if (bounded_input_open(name, INPUT_MAX, &bytes, length) != 0)
		die_errno(fault_is_shortage(errno) ? CELL_SYSTEM : CELL_EVIDENCE, "cannot read %s",
			  name_of(name));
	return bytes;
}

static void read_records(const char *name, struct probe_records *records)
{
	size_t length;
	autofree char *text = read_whole(name, &length);

	if (probe_records_parse(text, length, records) == 0)
		return;
	if (errno == ENOMEM)
		die_errno(CELL_SYSTEM, "cannot read %s", name_of(name));
	die(CELL_EVIDENCE, "cannot use %s: %s", name_of(name), records->fault);
}

static noreturn void compare(const char *before_name, const char *after_name)
{
	struct probe_records before, after;
	struct probe_comparison all;
	struct probe_outcome outcome;

	read_records(before_name, &before);
	read_records(after_name, &after);
	if (probe_compare_runs(&before, &after, &all) != 0)
		die_errno(CELL_SYSTEM, "cannot compare");
	probe_judge_comparison(&all, &outcome);
	report_answer("%s", outcome.answer);
	report_fields(probe_comparison_counts(&all));
	report_json_field("offending", json_incref(all.offending));
	report_field("targets", json_incref(all.targets));
	probe_comparison_release(&all);
	probe_records_release(&before);
	probe_records_release(&after);
	report_finish(outcome.code);
}

static noreturn void print_all(void)
{
	struct probe_outcome outcome;

	probe_judge_all(&list, request.expect, &outcome);
	if (!report_is_json())
		(void)printf("%s\n", outcome.answer);
	for (size_t i = 0; i < list.count; i++) {
		json_t *record, *fields;

		if (!report_is_json()) {
			autofree char *line = probe_line(&list.items[i]);

			if (line == NULL)
				die_errno(CELL_SYSTEM, "cannot make the line");
			(void)printf("%s\n", line);
			continue;
		}
		record = report_new_record(outcome.code);
		fields = probe_fields(&list.items[i], request.expect);
		if (fields == NULL || json_object_update(record, fields) != 0 ||
		    (outcome.code != CELL_OK &&
		     json_object_set_new(record, "error",
					 report_error(outcome.code, outcome.answer, 0)) != 0))
			die(CELL_SYSTEM, "cannot make the record: out of memory");
		json_decref(fields);
		if (report_print_record(stdout, record) != 0 && !ferror(stdout))
			die_errno(CELL_SYSTEM, "cannot make the record");
	}
	probe_release(list.items, list.count);
	report_close(outcome.code);
}

static void define(const char *text)
{
	const char *value = strchr(text, '=');

	if (value == NULL || !probe_values_add(&values, text, (size_t)(value - text), value + 1))
		die(CELL_USAGE, "--define %s is not NAME=VALUE with a name of a-z, 0-9 and _",
		    text);
}

/* The published address; NULL if there is none. */
static const struct in_addr *read_published(void)
{
	static struct in_addr address;
	struct published_fault fault;
	autofree char *path = NULL;

	if (asprintf(&path, "%s/%s", settings_directory(), PUBLISHED_ADDRESS) < 0)
		die_errno(CELL_SYSTEM, "cannot read the published address");
	if (published_address_read(AT_FDCWD, path, &address, &fault) == 0)
		return &address;
	errno = fault.number;
	if (fault_is_shortage(errno))
		die_errno(CELL_SYSTEM, "cannot read %s", path);
	if (!fault.missing)
		warn("cannot use %s: %s", path, fault.reason);
	return NULL;
}

static void gather_targets(char **operands, int count)
{
	struct probe_list_fault fault;
	autofree char *text = NULL;
	size_t length = 0;

	if (request.targets != NULL) {
		text = read_whole(request.targets, &length);
		if (probe_list_read(&list, text, length, &values, &fault) != 0)
			die(CELL_EVIDENCE, "cannot use %s: line %zu: %s", name_of(request.targets),
			    fault.line, fault.reason);
	}
	for (int i = 0; i < count; i++)
		if (probe_list_add(&list, operands[i], strlen(operands[i]), request.expect, &values,
				   &fault) != 0)
			die(CELL_USAGE, "%s", fault.reason);
	if (request.targets == NULL && count == 0 &&
	    probe_list_read(&list, probe_list_usual, strlen(probe_list_usual), &values, &fault) !=
		    0)
		die(CELL_USAGE, "%s", fault.reason);
	if (request.targets != NULL && list.count == 0)
		die(CELL_EVIDENCE, "cannot use %s: it holds no target", name_of(request.targets));
}

static noreturn void probe(char **operands, int count)
{
	const char *host = settings_proxy_host();
	uint16_t port = settings_proxy_port();
	struct probe_settings settings = {
		.timeout = request.timeout, .proxy_host = host, .published = read_published()};

	if (probe_surroundings(&values, settings.published, host, port) != 0)
		die_errno(CELL_SYSTEM, "cannot look around");
	gather_targets(operands, count);
	if (request.dry_run) {
		report_answer("ok: %zu targets, none tried", list.count);
		report_json_field("targets", json_integer((json_int_t)list.count));
		report_finish(CELL_OK);
	}
	for (size_t i = 0; i < list.count; i++)
		if (probe_make_ways(&list.items[i], &settings) != 0)
			die_errno(CELL_SYSTEM, "cannot probe");
	if (probe_run(list.items, list.count, &settings) != 0)
		die_errno(CELL_SYSTEM, "cannot probe");
	print_all();
}

int main(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, "define", false};
	int option, count;

	report_begin("cell-probe");
	arguments_begin(&arguments);
	if (privileges_renounce(UINT64_MAX) != 0)
		die_errno(CELL_SYSTEM, "cannot give up privileges");
	while ((option = arguments_next(&arguments)) != -1) {
		switch (option) {
		case OPT_EXPECT:
			if (strcmp(optarg, "open") != 0 && strcmp(optarg, "closed") != 0)
				die(CELL_USAGE, "--expect %s is neither open nor closed", optarg);
			request.expect = optarg[0] == 'o' ? PROBE_EXPECT_OPEN : PROBE_EXPECT_CLOSED;
			break;
		case OPT_TIMEOUT:
			request.timeout = arguments_seconds("--timeout", optarg);
			break;
		case OPT_TARGETS:
			request.targets = optarg;
			break;
		case OPT_DEFINE:
			define(optarg);
			break;
		case OPT_DRY_RUN:
			request.dry_run = true;
			break;
		case OPT_COMPARE:
			request.compare = true;
			break;
		}
	}
	count = argc - optind;
	if (!request.compare)
		probe(argv + optind, count);
	if (count != 2 || request.targets != NULL || request.expect != PROBE_EXPECT_NOTHING ||
	    request.dry_run || values.count > 0)
		die(CELL_USAGE, "--compare takes two files, BEFORE and AFTER, and no other option");
	compare(argv[optind], argv[optind + 1]);
}

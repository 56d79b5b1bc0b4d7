// SPDX-License-Identifier: GPL-2.0-or-later
/* cell-capcheck: refuses a process that holds, or could come by, what gets past a policy. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "cleanup.h"
#include "power_words.h"
#include "privileges.h"
#include "report.h"
#include "shared_file.h"

static const char usage[] =
	"usage: cell-capcheck [--pid PID | --status FILE] [--deny CAP[,CAP]...] [--allow CAP]...\n"
	"Says whether a process holds a capability that gets past a policy, in any of its five "
	"sets\n"
	"and any of its threads, or has power over its network namespace as an owner.\n"
	"  --pid PID      judge that process (default: this one)\n"
	"  --status FILE  judge the text of a /proc/PID/status; - is standard input\n"
	"  --deny LIST    refuse these instead of net_raw, net_admin, sys_admin, sys_module,\n"
	"                 sys_rawio, dac_read_search and bpf; +CAP adds, all-bypass adds more\n"
	"  --allow CAP    do not refuse this one\n"
	"  --json         one record on standard output\n"
	"  --quiet        nothing on standard error\n"
	"  --help         this text\n"
	"  --version      the version\n";

enum { OPT_PID = ARGUMENTS_FIRST, OPT_STATUS, OPT_DENY, OPT_ALLOW };

static const struct option options[] = {{"pid", required_argument, NULL, OPT_PID},
					{"status", required_argument, NULL, OPT_STATUS},
					{"deny", required_argument, NULL, OPT_DENY},
					{"allow", required_argument, NULL, OPT_ALLOW},
					ARGUMENTS_COMMON};

static uint64_t parse_deny(const char *text)
{
	const char *bad;
	size_t length;
	uint64_t mask;

	if (!capability_parse_deny(text, &mask, &bad, &length))
		die(CELL_USAGE, "--deny names no capability: '%.*s'", (int)length, bad);
	return mask;
}

static uint64_t parse_allow(const char *text)
{
	uint64_t mask;

	if (!capability_parse(text, strlen(text), &mask))
		die(CELL_USAGE, "--allow names no capability: '%s'", text);
	return mask;
}

static noreturn void die_unjudged(const char *subject, const struct process_fault *fault)
{
	if (fault->number == 0)
		die(CELL_EVIDENCE, "cannot judge %s: %s", subject, fault->reason);
	errno = fault->number;
	die_errno(CELL_EVIDENCE, "cannot judge %s%s%s", subject, *fault->reason ? ": " : "",
		  fault->reason);
}

/* Reads the text in FILE ("-": standard input) into POWER. */
static void read_text(const char *file, struct process_power *power)
{
	static struct shared_file text;
	struct process_fault fault = {0};
	bool input = strcmp(file, "-") == 0;
	enum shared_file_verdict verdict = input ? shared_file_read_fd(STDIN_FILENO, &text)
						 : shared_file_read(AT_FDCWD, file, &text);

	if (input)
		file = "standard input";
	if (verdict == SHARED_FILE_FAILED && errno != ELOOP)
		die_errno(CELL_EVIDENCE, "cannot read %s", file);
	if (verdict != SHARED_FILE_OK)
		die(CELL_EVIDENCE, "cannot read %s: %s", file,
		    shared_file_verdict_text(verdict, errno));
	if (!process_power_parse(text.bytes, text.length, power, &fault))
		die_unjudged(file, &fault);
}

static noreturn void answer(const struct process_power *power, uint64_t denied)
{
	bool bad = process_power_holds(power, denied) || power->ownership != PROCESS_OWNS_NOTHING;
	autofree char *sentence = power_sentence(power, denied);

	if (sentence == NULL)
		die_errno(CELL_SYSTEM, "cannot make the answer");
	report_answer("%s", sentence);
	report_fields(power_fields(power, denied));
	report_finish(bad ? CELL_NO : CELL_OK);
}

int main(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, "allow", false};
	static struct process_power power;
	struct process_fault fault = {0};
	char subject[32] = "this process";
	const char *file = NULL;
	uint64_t denied = capability_denied_default, allowed = 0;
	pid_t pid = 0;
	int option;

	report_begin("cell-capcheck");
	arguments_begin(&arguments);
	while ((option = arguments_next(&arguments)) != -1)
		switch (option) {
		case OPT_PID:
			pid = arguments_pid("--pid", optarg);
			(void)snprintf(subject, sizeof(subject), "process %d", (int)pid);
			break;
		case OPT_STATUS:
			file = optarg;
			break;
		case OPT_DENY:
			denied = parse_deny(optarg);
			break;
		default: /* OPT_ALLOW */
			allowed |= parse_allow(optarg);
		}
	if (pid != 0 && file != NULL)
		die(CELL_USAGE, "only one of --pid and --status can be given");
	if (optind < argc)
		die(CELL_USAGE, "unexpected operand %s", argv[optind]);
	denied &= ~allowed;
	if (file != NULL)
		read_text(file, &power);
	else if (!process_power_read(pid, &power, &fault))
		die_unjudged(subject, &fault);
	if (privileges_renounce(0) != 0)
		die_errno(CELL_SYSTEM, "cannot give up privileges");
	answer(&power, denied);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* cell-capcheck: refuses a process that holds, or could come by, what gets past a policy. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "privileges.h"
#include "process_power.h"
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

static noreturn void die_fault(const char *subject, const struct process_fault *fault)
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
		die_fault(file, &fault);
}

/* The denied and the nameless capabilities in each set, with the thread that holds them. */
static json_t *held_array(const struct process_power *power, uint64_t denied)
{
	json_t *held = json_array();
	char name[CAPABILITY_NAME];

	for (int set = 0; set < PROCESS_SETS; set++)
		for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++) {
			uint64_t shown = power->sets[set] & (denied | ~capability_known);
			pid_t thread = power->holder[set][bit];

			if ((shown >> bit & 1) != 0 &&
			    json_array_append_new(
				    held,
				    json_pack("{s:s, s:s, s:i, s:o}", "set", process_set_names[set],
					      "capability", capability_name(bit, name), "bit",
					      (int)bit, "thread",
					      power->threads > 0 ? json_integer(thread)
								 : json_null())) != 0) {
				json_decref(held);
				return NULL;
			}
		}
	return held;
}

static json_t *name_array(uint64_t mask)
{
	json_t *array = json_array();
	char name[CAPABILITY_NAME];

	for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++)
		if ((mask >> bit & 1) != 0 &&
		    json_array_append_new(array, json_string(capability_name(bit, name))) != 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *namespace_string(const char *kind, const struct namespace_id *id)
{
	char text[NAMESPACE_TEXT];

	namespace_format(kind, id, text);
	return json_string(text);
}
/* "cap_net_raw (inheritable, bounding), cap_net_admin (bounding)" to STREAM. */
static void print_holdings(FILE *stream, const struct process_power *power, uint64_t denied)
{
	const char *between = "";
	char name[CAPABILITY_NAME];

	for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++) {
		const char *separator = " (";

		for (int set = 0; set < PROCESS_SETS; set++) {
			if (((power->sets[set] & denied) >> bit & 1) == 0)
				continue;
			if (*separator == ' ')
				(void)fprintf(stream, "%s%s", between, capability_name(bit, name));
			(void)fprintf(stream, "%s%s", separator, process_set_names[set]);
			separator = ", ";
			between = ", ";
		}
		if (*separator == ',')
			(void)fputc(')', stream);
	}
}

/* The answer in one line: who was judged, and what it holds. */
static void answer(const struct process_power *power, uint64_t bad, uint64_t denied)
{
	autofree char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		die_errno(CELL_SYSTEM, "cannot make the answer");
	(void)fputs(power->threads > 0 ? "process" : "status text of process", stream);
	if (power->status.pid > 0)
		(void)fprintf(stream, " %lld", (long long)power->status.pid);
	(void)fprintf(stream, " (%s", power->name);
	if (power->status.uid >= 0)
		(void)fprintf(stream, ", uid %lld", (long long)power->status.uid);
	(void)fputs(") ", stream);
	if (bad != 0) {
		(void)fputs("holds ", stream);
		print_holdings(stream, power, denied);
		if (power->ownership != PROCESS_OWNS_NOTHING)
			(void)fputs("; ", stream);
	}
	if (power->ownership != PROCESS_OWNS_NOTHING)
		(void)fprintf(stream,
			      "%s user:[%llu], and with it every capability over its network "
			      "namespace",
			      power->ownership == PROCESS_OWNS ? "owns" : "can become the owner of",
			      (unsigned long long)power->owner.below.inode);
	if (bad == 0 && power->ownership == PROCESS_OWNS_NOTHING)
		(void)fputs("holds no denied capability", stream);
	if (fclose(stream) != 0 || text == NULL)
		die_errno(CELL_SYSTEM, "cannot make the answer");
	report_answer("%s", text);
}

/* Power by ownership: null, or the user namespace, its owner, and how that comes about. */
static json_t *ownership_object(const struct process_power *power)
{
	if (power->ownership == PROCESS_OWNS_NOTHING)
		return json_null();
	return json_pack("{s:o, s:I, s:s}", "userns", namespace_string("user", &power->owner.below),
			 "uid", (json_int_t)power->owner.uid, "by",
			 power->ownership == PROCESS_OWNS ? "uid" : "capability");
}

/* The facts, in the order of the record. */
static void facts(const struct process_power *power, uint64_t denied)
{
	const struct process_status *status = &power->status;
	json_t *sets = json_object();

	for (int set = 0; set < PROCESS_SETS; set++)
		if (json_object_set_new(sets, process_set_names[set],
					report_mask(power->sets[set])) != 0)
			die(CELL_SYSTEM, "cannot make the record: out of memory");
	report_field("pid", status->pid > 0 ? json_integer(status->pid) : json_null());
	report_field("comm", report_bytes(status->name, status->name_length));
	report_field("uid", status->uid >= 0 ? json_integer(status->uid) : json_null());
	report_field("no_new_privs",
		     status->no_new_privs < 0 ? json_null() : json_boolean(status->no_new_privs));
	report_field("sets", sets);
	report_field("held", held_array(power, denied));
	report_field("denied", name_array(denied));
	report_field("userns", power->threads > 0 ? namespace_string("user", &power->owner.process)
						  : json_null());
	report_field("netns_userns", power->owner.owner_visible
					     ? namespace_string("user", &power->owner.owner)
				     : power->threads > 0 ? json_string("above")
							  : json_null());
	report_field("ownership", ownership_object(power));
	report_field("threads", power->threads > 0 ? json_integer(power->threads) : json_null());
}

int main(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, "allow", false};
	static struct process_power power;
	struct process_fault fault = {0};
	char subject[32] = "this process";
	const char *file = NULL;
	uint64_t denied = capability_denied_default, allowed = 0, bad = 0;
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
		die_fault(subject, &fault);
	if (privileges_renounce(0) != 0)
		die_errno(CELL_SYSTEM, "cannot give up privileges");
	for (int set = 0; set < PROCESS_SETS; set++)
		bad |= power.sets[set] & denied;
	answer(&power, bad, denied);
	facts(&power, denied);
	report_finish(bad != 0 || power.ownership != PROCESS_OWNS_NOTHING ? CELL_NO : CELL_OK);
}

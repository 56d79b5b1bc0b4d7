// SPDX-License-Identifier: GPL-2.0-or-later
/* cell-nsid: which network namespace a process is in, and whether several are in the same one. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "namespace_id.h"
#include "privileges.h"
#include "report.h"

static const char usage[] =
	"usage: cell-nsid [--pid PID | --file PATH] [--cookie]\n"
	"       cell-nsid --same [--cookie] NAMESPACE NAMESPACE...\n"
	"Prints the identity of a network namespace, or says whether several are the same one.\n"
	"NAMESPACE is a process id, a path, \"net:[NUMBER]\" or \"net:[NUMBER] COOKIE\".\n"
	"  --pid PID    the namespace of that process (default: its own)\n"
	"  --file PATH  the namespace that this file is a handle of\n"
	"  --cookie     its cookie too, a number that is never used again\n"
	"  --same       0 if all the operands are the same namespace, 1 if not\n"
	"  --json       one record on standard output\n"
	"  --quiet      nothing on standard error\n"
	"  --help       this text\n"
	"  --version    the version\n";

enum { OPT_PID = ARGUMENTS_FIRST, OPT_FILE, OPT_COOKIE, OPT_SAME };
enum { SAME_MAX = 64 }; /* operands of --same; a handle is a descriptor */

static const struct option options[] = {{"pid", required_argument, NULL, OPT_PID},
					{"file", required_argument, NULL, OPT_FILE},
					{"cookie", no_argument, NULL, OPT_COOKIE},
					{"same", no_argument, NULL, OPT_SAME},
					ARGUMENTS_COMMON};

/* Fetches the cookie of HANDLE if it is live and not known yet; a failure ends the tool. */
static void need_cookie(struct namespace_handle *handle, const char *name)
{
	if (handle->fd < 0 || handle->id.cookie != 0 ||
	    namespace_cookie(handle->fd, &handle->id.cookie) == 0)
		return;
	if (errno == ENOPROTOOPT)
		die_errno(CELL_UNSUPPORTED, "cannot read the cookie of %s", name);
	die_errno(CELL_SYSTEM, "cannot enter the namespace of %s for its cookie", name);
}

static noreturn void die_unidentified(enum namespace_verdict verdict, const char *name)
{
	if (*name == '\0')
		name = "an empty operand";
	if (verdict == NAMESPACE_FAILED)
		die_errno(CELL_EVIDENCE, "cannot identify the namespace of %s", name);
	die(CELL_EVIDENCE, "cannot identify the namespace of %s: %s", name,
	    namespace_verdict_text(verdict, 0));
}

static json_t *decimal_or_null(uint64_t number)
{
	return number != 0 ? report_decimal(number) : json_null();
}

/* The fields of one identity as an object; NULL if it can't be made. */
static json_t *identity_object(const struct namespace_id *id)
{
	char text[NAMESPACE_TEXT];

	namespace_format("net", id, text);
	return json_pack("{s:s, s:o, s:o, s:o, s:b}", "identity", text, "device",
			 decimal_or_null(id->device), "inode", report_decimal(id->inode), "cookie",
			 decimal_or_null(id->cookie), "reusable", id->cookie == 0);
}

/* The identity of the namespace behind FILE, or of process PID if that is NULL; 0 is this one. */
static noreturn void print_identity(const char *file, pid_t pid, bool cookie)
{
	struct namespace_handle handle = {.fd = -1};
	char process[32] = "this process";
	const char *name = file != NULL ? file : process;
	enum namespace_verdict verdict;
	char text[NAMESPACE_TEXT];
	json_t *fields;

	if (pid != 0)
		(void)snprintf(process, sizeof(process), "process %d", (int)pid);
	verdict = file != NULL ? namespace_open(AT_FDCWD, file, CLONE_NEWNET, &handle.fd)
			       : namespace_open_process(pid, &handle.fd);
	if (verdict == NAMESPACE_OK && namespace_identify(handle.fd, &handle.id) != 0)
		verdict = NAMESPACE_FAILED;
	if (verdict != NAMESPACE_OK)
		die_unidentified(verdict, name);
	if (cookie)
		need_cookie(&handle, name);
	fields = identity_object(&handle.id);
	if (fields == NULL)
		die(CELL_SYSTEM, "cannot make the record: out of memory");
	for (void *at = json_object_iter(fields); at != NULL;
	     at = json_object_iter_next(fields, at))
		report_json_field(json_object_iter_key(at),
				  json_incref(json_object_iter_value(at)));
	json_decref(fields);
	namespace_format("net", &handle.id, text);
	if (cookie)
		report_answer("%s %llu", text, (unsigned long long)handle.id.cookie);
	else
		report_answer("%s", text);
	namespace_release(&handle);
	report_finish(CELL_OK);
}

/* Compares A and B, fetching cookies where the numbers alone don't decide. True if the same. */
static bool is_same(struct namespace_handle *a, const char *a_name, struct namespace_handle *b,
		    const char *b_name)
{
	enum namespace_same same = namespace_compare(&a->id, &b->id);

	if (same == NAMESPACE_NEEDS_COOKIE) {
		need_cookie(a, a_name);
		need_cookie(b, b_name);
		same = namespace_compare(&a->id, &b->id);
	}
	if (same == NAMESPACE_CONTRADICTION)
		die(CELL_EVIDENCE, "cannot compare %s and %s: one cookie, but different numbers",
		    a_name, b_name);
	/* A cookie still missing is a literal's without one: its numbers are all there is. */
	return same != NAMESPACE_DIFFERENT;
}

/* Judges the COUNT operands: every one is identified before any is compared. */
static noreturn void judge_same(char *const *operands, int count, bool cookie)
{
	struct namespace_handle handles[SAME_MAX];
	char a[NAMESPACE_TEXT], b[NAMESPACE_TEXT];
	json_t *list = json_array();
	int first = -1, second = -1;

	if (count < 2 || count > SAME_MAX)
		die(CELL_USAGE, "--same takes 2 to %d namespaces, not %d", SAME_MAX, count);
	for (int i = 0; i < count; i++) {
		enum namespace_verdict verdict = namespace_resolve(operands[i], &handles[i]);

		if (verdict != NAMESPACE_OK)
			die_unidentified(verdict, operands[i]);
		if (cookie)
			need_cookie(&handles[i], operands[i]);
	}
	for (int i = 0; i < count; i++)
		for (int k = i + 1; k < count; k++)
			if (!is_same(&handles[i], operands[i], &handles[k], operands[k]) &&
			    first < 0) {
				first = i;
				second = k;
			}
	for (int i = 0; i < count; i++) {
		json_t *item = json_pack("{s:o}", "operand", report_string(operands[i]));
		json_t *identity = identity_object(&handles[i].id);

		if (identity == NULL || json_object_update(item, identity) != 0 ||
		    json_array_append_new(list, item) != 0)
			die(CELL_SYSTEM, "cannot make the record: out of memory");
		json_decref(identity);
		namespace_release(&handles[i]);
	}
	report_field("handles", list);
	namespace_format("net", &handles[first < 0 ? 0 : first].id, a);
	namespace_format("net", &handles[second < 0 ? 0 : second].id, b);
	if (first < 0)
		report_answer("same: %s", a);
	else if (strcmp(a, b) != 0)
		report_answer("different: %s is %s, %s is %s", operands[first], a, operands[second],
			      b);
	else
		report_answer("different: %s and %s have the number %s, but not one cookie",
			      operands[first], operands[second], a);
	report_finish(first < 0 ? CELL_OK : CELL_NO);
}

int main(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, NULL, false};
	const char *file = NULL;
	bool cookie = false, same = false;
	pid_t pid = 0;
	int option;

	report_begin("cell-nsid");
	arguments_begin(&arguments);
	if (privileges_renounce(UINT64_MAX) != 0)
		die_errno(CELL_SYSTEM, "cannot give up privileges");
	while ((option = arguments_next(&arguments)) != -1)
		switch (option) {
		case OPT_PID:
			pid = arguments_pid("--pid", optarg);
			break;
		case OPT_FILE:
			file = optarg;
			break;
		case OPT_COOKIE:
			cookie = true;
			break;
		default: /* OPT_SAME */
			same = true;
		}
	if ((pid != 0) + (file != NULL) + same > 1)
		die(CELL_USAGE, "only one of --pid, --file and --same can be given");
	if (same)
		judge_same(argv + optind, argc - optind, cookie);
	if (optind < argc)
		die(CELL_USAGE, "unexpected operand %s", argv[optind]);
	print_identity(file, pid, cookie);
}

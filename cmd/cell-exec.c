// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cell-exec: becomes the subject, without the doors that packets don't go through.
 *
 * Theory of operation. Before: the last link of a chain, inside the namespaces and mounts that the
 * links before it made. It closes descriptors, leaves the session, puts the filter on, gives up
 * ids and capabilities, reads back what it gave up, and becomes the program; it never forks, so the
 * pid stays. After: program and children hold only what the plan left, and cannot get any of it
 * back. Any step that fails ends the process before the program exists. Signal dispositions, mask,
 * parent-death signal, limits (but for core dumps), umask, working directory and environment pass
 * through untouched.
 */
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "arguments.h"
#include "capability_set.h"
#include "cleanup.h"
#include "core_helper.h"
#include "descriptors.h"
#include "landlock_scope.h"
#include "privileges.h"
#include "report.h"
#include "seccomp_filter.h"

enum {
	OPT_USER = ARGUMENTS_FIRST,
	OPT_CAPS,
	OPT_ALLOW,
	OPT_KEEP_SESSION,
	OPT_UNPRIVILEGED,
	OPT_PRINT_FILTER
};

static const char usage[] =
	"usage: cell-exec [--user UID:GID] [--caps none|keep] [--allow CALL|FAMILY]...\n"
	"                 [--keep-session] [--unprivileged] [--] PROGRAM [ARG]...\n"
	"       cell-exec --print-filter json [--allow CALL|FAMILY]...\n"
	"Becomes PROGRAM without the doors that packets don't go through.\n"
	"  --user UID:GID       run as these ids, in no supplementary group\n"
	"  --caps none|keep     none (default): no capability and no_new_privs; keep: only the\n"
	"                       capabilities that get past a cell are taken out\n"
	"  --allow NAME         open one refused call or socket family, or new-privileges,\n"
	"                       or other-processes, or core-helper\n"
	"  --keep-session       make no session of its own, keep the terminal\n"
	"  --unprivileged       started by an ordinary user: groups and bounding set stay\n"
	"  --print-filter json  print the filter as a Docker seccomp profile\n"
	"  --json               a failure as one record on standard output\n"
	"  --quiet              nothing on standard error\n"
	"  --help               this text\n"
	"  --version            the version\n";

static const struct option options[] = {{"user", required_argument, NULL, OPT_USER},
					{"caps", required_argument, NULL, OPT_CAPS},
					{"allow", required_argument, NULL, OPT_ALLOW},
					{"keep-session", no_argument, NULL, OPT_KEEP_SESSION},
					{"unprivileged", no_argument, NULL, OPT_UNPRIVILEGED},
					{"print-filter", required_argument, NULL, OPT_PRINT_FILTER},
					ARGUMENTS_COMMON};

enum { MAX_ALLOWED = 64 };

struct request {
	struct privileges_plan privileges;
	bool keep_capabilities, keep_session, new_privileges, other_processes, core_helper,
		print_filter;
	const char *allowed[MAX_ALLOWED];
	size_t allowed_count;
};

/* UID:GID, both whole numbers; 4294967295 means "as it is" to setresuid(2) and is no id. */
static void parse_user(struct privileges_plan *plan, char *text)
{
	const uint64_t last = UINT32_MAX - 1;
	char *colon = strchr(text, ':');

	if (colon == NULL)
		die(CELL_USAGE, "--user %s is not UID:GID", text);
	*colon = '\0';
	plan->user = (uid_t)arguments_number("--user: uid", text, 0, last);
	plan->group = (gid_t)arguments_number("--user: gid", colon + 1, 0, last);
	plan->set_ids = true;
}

static void parse_allow(struct request *request, const char *name)
{
	if (strcmp(name, "new-privileges") == 0)
		request->new_privileges = true;
	else if (strcmp(name, "other-processes") == 0)
		request->other_processes = true;
	else if (strcmp(name, "core-helper") == 0)
		request->core_helper = true;
	else if (!seccomp_filter_knows(name))
		die(CELL_USAGE, "--allow %s names nothing that is refused (see cell-exec(1))",
		    name);
	else if (request->allowed_count == MAX_ALLOWED)
		die(CELL_USAGE, "more than %d times --allow", MAX_ALLOWED);
	else
		request->allowed[request->allowed_count++] = name;
}

static void parse(struct request *request, int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, "allow", true};
	bool runs = false; /* an option that only a program has a use for */
	int option;

	arguments_begin(&arguments);
	while ((option = arguments_next(&arguments)) != -1) {
		runs = runs || (option != OPT_ALLOW && option != OPT_PRINT_FILTER);
		switch (option) {
		case OPT_USER:
			parse_user(&request->privileges, optarg);
			break;
		case OPT_CAPS:
			request->keep_capabilities = strcmp(optarg, "keep") == 0;
			if (!request->keep_capabilities && strcmp(optarg, "none") != 0)
				die(CELL_USAGE, "--caps %s is neither none nor keep", optarg);
			break;
		case OPT_ALLOW:
			parse_allow(request, optarg);
			break;
		case OPT_KEEP_SESSION:
			request->keep_session = true;
			break;
		case OPT_UNPRIVILEGED:
			request->privileges.lenient = true;
			break;
		default: /* OPT_PRINT_FILTER */
			request->print_filter = true;
			if (strcmp(optarg, "json") != 0)
				die(CELL_USAGE, "--print-filter %s is not json", optarg);
		}
	}
	if (request->print_filter && optind < argc)
		die(CELL_USAGE, "--print-filter runs no program");
	if (request->print_filter && runs)
		die(CELL_USAGE, "--print-filter goes with --allow alone");
	if (!request->print_filter && optind == argc)
		die(CELL_USAGE, "no PROGRAM to run (see --help)");
	if (request->privileges.lenient && request->new_privileges)
		die(CELL_USAGE, "--unprivileged leans on no_new_privs: no --allow new-privileges");
	request->privileges.drop =
		request->keep_capabilities ? capability_denied_default : UINT64_MAX;
	request->privileges.empty_groups =
		request->privileges.set_ids || !request->keep_capabilities;
}

static noreturn void print_filter(const struct seccomp_filter *filter)
{
	autofree char *profile = NULL;

	if (report_is_json())
		die(CELL_USAGE, "--print-filter prints a profile, no record: not with --json");
	profile = seccomp_filter_profile(filter);
	if (profile == NULL)
		die_errno(errno == ENOTSUP ? CELL_UNSUPPORTED : CELL_SYSTEM,
			  "cannot write the filter as a profile");
	(void)fputs(profile, stdout);
	report_close(CELL_OK);
}

static void keep_three_descriptors(void)
{
	for (int number = 0; number <= 2; number++) {
		const char *fault = descriptors_fault(number);

		if (fault != NULL)
			die(CELL_USAGE, "descriptor %d is %s: a way out", number, fault);
	}
	if (descriptors_close() != 0)
		die_errno(errno == ENOSYS ? CELL_UNSUPPORTED : CELL_SYSTEM,
			  "cannot close the inherited descriptors");
}

/*
 * A session without a terminal. The leader of a process group cannot make one (setsid(2)): a shell
 * with job control made it that, so it first goes back to its parent's group.
 */
static void leave_session(void)
{
	if (getsid(0) == getpid() || setsid() >= 0)
		return;
	if (setpgid(0, getpgid(getppid())) != 0 || setsid() < 0)
		die_errno(CELL_SYSTEM, "cannot leave the session (see --keep-session)");
}

/* What cannot be taken off again: no_new_privs, the wall, the limit and the filter. */
static void put_on(const struct request *request, const struct seccomp_filter *filter)
{
	uint64_t effective;
	bool wanted, needed;

	if (privileges_effective(&effective) != 0)
		die_errno(CELL_SYSTEM, "cannot %s", privileges_verdict_text(PRIVILEGES_READ));
	/* seccomp(2): a filter takes no_new_privs or CAP_SYS_ADMIN. */
	wanted = !request->keep_capabilities && !request->new_privileges;
	needed = (effective >> CAP_SYS_ADMIN & 1) == 0;
	if (needed && request->new_privileges)
		die(CELL_SYSTEM,
		    "cannot install the filter: without no_new_privs it takes sys_admin");
	if ((wanted || needed) && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
				   prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1))
		die_errno(CELL_SYSTEM, "cannot set no_new_privs");
	/* In a container, one session of the subject's looks after the processes of another. */
	if (!request->keep_capabilities && !request->other_processes &&
	    landlock_scope_enter() == LANDLOCK_SCOPE_FAILED)
		die_errno(CELL_SYSTEM, "cannot wall off other processes");
	if (!request->core_helper && core_helper_refuse() != 0)
		die_errno(CELL_SYSTEM, "cannot refuse the helper for core dumps");
	if (seccomp_filter_install(filter) != 0)
		die_errno(errno == EINVAL || errno == ENOSYS ? CELL_UNSUPPORTED : CELL_SYSTEM,
			  "cannot install the filter");
}

/* The kernel forgets the parent-death signal when ids or capabilities change (prctl(2)). */
static void restore_parent_death(int number, pid_t parent)
{
	if (number == 0)
		return;
	if (prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) != 0)
		die_errno(CELL_SYSTEM, "cannot restore the parent-death signal");
	if (getppid() != parent)
		(void)raise(number); /* it died while nobody was told */
}

static noreturn void become(char **program)
{
	execvp(program[0], program);
	die_errno(errno == ENOENT ? CELL_EXEC_NOT_FOUND : CELL_EXEC_UNUSABLE, "cannot run %s",
		  program[0]);
}

int main(int argc, char **argv)
{
	struct request request = {0};
	static struct seccomp_filter filter;
	enum privileges_verdict verdict;
	pid_t parent = getppid();
	int death = 0;

	report_begin("cell-exec");
	parse(&request, argc, argv);
	seccomp_filter_build(&filter, request.allowed, request.allowed_count);
	if (request.print_filter)
		print_filter(&filter);
	if (prctl(PR_GET_PDEATHSIG, &death, 0, 0, 0) != 0)
		die_errno(CELL_SYSTEM, "cannot read the parent-death signal");
	keep_three_descriptors();
	if (!request.keep_session)
		leave_session();
	put_on(&request, &filter);
	verdict = privileges_drop(&request.privileges);
	if (verdict != PRIVILEGES_OK)
		die_errno(CELL_SYSTEM, "cannot %s", privileges_verdict_text(verdict));
	restore_parent_death(death, parent);
	become(argv + optind);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* All that a process may do; see process_power.h. */
#include "process_power.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_threads.h"
#include "shared_file.h"

/* What a visit to a thread needs. */
struct visit {
	struct process_power *power;
	struct process_fault *fault;
	struct shared_file file;
};

/* Fills FAULT from FORMAT and errno NUMBER (0: none); returns false for the caller to return. */
__attribute__((format(printf, 3, 4))) static bool fail(struct process_fault *fault, int number,
						       const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vsnprintf(fault->reason, sizeof(fault->reason), format, list);
	va_end(list);
	fault->number = number;
	return false;
}

static bool fail_with(struct process_fault *fault, enum process_verdict verdict)
{
	if (verdict == PROCESS_FAILED)
		return fail(fault, errno, "%s", "");
	return fail(fault, 0, "%s", process_verdict_text(verdict));
}

/* Adds a thread's sets to the whole (THREAD 0: the process itself). */
static void add_sets(struct process_power *power, const struct process_status *status, pid_t thread)
{
	for (int set = 0; set < PROCESS_SETS; set++) {
		power->sets[set] |= status->sets[set];
		for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++)
			if ((status->sets[set] >> bit & 1) != 0 && power->holder[set][bit] == 0)
				power->holder[set][bit] = thread;
	}
	/* One thread without it is enough to gain privileges. */
	if (status->no_new_privs == 0)
		power->status.no_new_privs = 0;
}

bool process_power_parse(const char *text, size_t length, struct process_power *power,
			 struct process_fault *fault)
{
	struct process_status_fault wrong;
	size_t name;

	*power = (struct process_power){0};
	if (!process_status_parse(text, length, &power->status, &wrong))
		return fail(fault, 0, "%s %s", wrong.line, wrong.reason);
	name = power->status.name_length < sizeof(power->name) - 1 ? power->status.name_length
								   : sizeof(power->name) - 1;
	if (name > 0)
		memcpy(power->name, power->status.name, name);
	power->status.name = power->name;
	power->status.name_length = name;
	add_sets(power, &power->status, (pid_t)power->status.pid);
	return true;
}

bool process_power_holds(const struct process_power *power, uint64_t mask)
{
	uint64_t all = 0;

	for (int set = 0; set < PROCESS_SETS; set++)
		all |= power->sets[set];
	return (all & mask) != 0;
}

/*
 * Reads a thread's status at PATH below DIRECTORY: 1, or 0 if the thread has ended, or -1 with the
 * fault filled. A zombie leader of live threads keeps its sets, but runs nothing (proc(5), State).
 */
static int read_status(struct visit *visit, int directory, const char *path,
		       struct process_status *status)
{
	struct process_status_fault wrong;
	enum shared_file_verdict verdict = shared_file_read(directory, path, &visit->file);

	if (verdict == SHARED_FILE_FAILED && (errno == ENOENT || errno == ESRCH))
		return 0;
	if (verdict != SHARED_FILE_OK) {
		if (verdict == SHARED_FILE_FAILED)
			(void)fail(visit->fault, errno, "cannot read %s", path);
		else
			(void)fail(visit->fault, 0, "cannot read %s: %s", path,
				   shared_file_verdict_text(verdict, 0));
		return -1;
	}
	if (!process_status_parse(visit->file.bytes, visit->file.length, status, &wrong)) {
		(void)fail(visit->fault, 0, "%s %s", wrong.line, wrong.reason);
		return -1;
	}
	return status->state != 'Z' && status->state != 'X';
}

/*
 * What a thread above the owner of its network namespace has there. It can make any of its uids the
 * effective one (setresuid(2)); with a capability it can come by another's: set it, or give a
 * set-user-ID file to that uid.
 */
static enum process_ownership judge_uids(const struct process_status *status, uid_t owner)
{
	for (int i = 0; i < 4; i++)
		if (status->uids[i] == (int64_t)owner)
			return PROCESS_OWNS;
	for (int set = 0; set < PROCESS_SETS; set++)
		if (status->sets[set] != 0)
			return PROCESS_MAY_OWN;
	return PROCESS_OWNS_NOTHING;
}

/* Judges ownership by a thread's namespaces. False with the fault filled. */
static bool judge_ownership(struct visit *visit, int directory, const char *thread,
			    const struct process_status *status)
{
	struct process_power *power = visit->power;
	enum process_ownership ownership = PROCESS_OWNS_NOTHING;
	struct netns_owner owner;
	autoclose netns = -1;
	autoclose userns = -1;
	char net[64], user[64];

	(void)snprintf(net, sizeof(net), "%s/ns/net", thread);
	(void)snprintf(user, sizeof(user), "%s/ns/user", thread);
	errno = EINVAL; /* for what opens, but is no such namespace */
	if (namespace_open(directory, net, CLONE_NEWNET, &netns) != NAMESPACE_OK)
		return fail(visit->fault, errno, "cannot open its network namespace");
	errno = EINVAL;
	if (namespace_open(directory, user, CLONE_NEWUSER, &userns) != NAMESPACE_OK)
		return fail(visit->fault, errno, "cannot open its user namespace");
	switch (netns_owner_judge(netns, userns, &owner)) {
	case NETNS_OWNER_FAILED:
		return fail(visit->fault, errno, "cannot read %s", owner.what);
	case NETNS_OWNER_HIDDEN:
		return fail(visit->fault, 0, "its user namespace is above or beside this one");
	case NETNS_OWNER_ABOVE:
		ownership = judge_uids(status, owner.uid);
		break;
	case NETNS_OWNER_NOT_ABOVE:
		break;
	}
	if (power->threads == 0 || ownership > power->ownership) {
		power->owner = owner;
		power->ownership = ownership;
	}
	return true;
}

static int visit_thread(void *context, int directory, const char *thread)
{
	struct visit *visit = context;
	struct process_status status, again;
	char path[64];
	int alive;

	(void)snprintf(path, sizeof(path), "%s/status", thread);
	alive = read_status(visit, directory, path, &status);
	if (alive <= 0)
		return alive;
	if (status.uid < 0) {
		(void)fail(visit->fault, 0, "Uid is missing");
		return -1;
	}
	if (!judge_ownership(visit, directory, thread, &status)) {
		/* The kernel says EACCES also of a thread that ended meanwhile. */
		struct process_fault first = *visit->fault;

		if (read_status(visit, directory, path, &again) == 0)
			return 0;
		*visit->fault = first;
		return -1;
	}
	add_sets(visit->power, &status, (pid_t)strtol(thread, NULL, 10));
	visit->power->threads++;
	return 1;
}

bool process_power_read(pid_t pid, struct process_power *power, struct process_fault *fault)
{
	struct visit visit = {.power = power, .fault = fault};
	struct process_status status;
	autoclose process = -1;
	enum process_verdict verdict = process_open(pid, &process);
	int alive;

	*fault = (struct process_fault){0};
	if (verdict != PROCESS_OK)
		return fail_with(fault, verdict);
	alive = read_status(&visit, process, "status", &status);
	if (alive < 0 || (alive == 0 && visit.file.length == 0))
		return alive == 0 ? fail(fault, 0, "it has ended") : false;
	if (!process_power_parse(visit.file.bytes, visit.file.length, power, fault))
		return false;
	/* Behind /proc/self the number is that of the pid namespace which /proc shows. */
	if (pid != 0 && power->status.pid != pid)
		return fail(fault, 0, "its status is not its own: Pid is %lld",
			    (long long)power->status.pid);
	verdict = process_visit_threads(process, visit_thread, &visit);
	if (verdict == PROCESS_STOPPED)
		return false; /* the visit filled the fault */
	if (verdict != PROCESS_OK)
		return fail_with(fault, verdict);
	return true;
}

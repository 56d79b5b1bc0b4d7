/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving up ids, groups and capabilities for ever, and asking the kernel whether they are gone. */
#ifndef CELL_PRIVILEGES_H
#define CELL_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct privileges_plan {
	uint64_t drop; /* a mask of what leaves all five sets (capabilities(7)); UINT64_MAX: all */
	bool set_ids;  /* real, effective and saved ids become user and group */
	uid_t user;
	gid_t group;
	bool empty_groups; /* no supplementary group is left */
	/* What only root can take away may stay: supplementary groups and the bounding set. */
	bool lenient;
};

enum privileges_verdict {
	PRIVILEGES_OK,
	PRIVILEGES_READ,     /* the sets could not be read; errno, as in all below */
	PRIVILEGES_BOUNDING, /* a set could not be emptied of what shall leave it */
	PRIVILEGES_SETS,
	PRIVILEGES_GROUPS,
	PRIVILEGES_GROUP_ID,
	PRIVILEGES_USER_ID,
	PRIVILEGES_KEPT, /* every call succeeded, and yet the kernel shows something left */
};

/* The calling thread's effective set, as a mask. 0, or -1 with errno. */
int privileges_effective(uint64_t *set);

/*
 * Carries PLAN out and then reads everything back. Any verdict but PRIVILEGES_OK leaves a process
 * that has lost some of it: it must end. For a process with one thread.
 */
enum privileges_verdict privileges_drop(const struct privileges_plan *plan);

/*
 * For a tool that runs no other program: sets no_new_privs, and takes all capabilities but KEPT (a
 * mask; UINT64_MAX: none is taken) out of the effective, permitted, inheritable and ambient sets.
 * 0, or -1 with errno.
 */
int privileges_renounce(uint64_t kept);

/* The failed step, to stand behind "cannot ": "empty the bounding set". */
const char *privileges_verdict_text(enum privileges_verdict verdict);

#endif

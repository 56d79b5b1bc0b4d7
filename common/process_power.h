/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that a process may do: the sets of all its threads, and what it has by owning namespaces. */
#ifndef CELL_PROCESS_POWER_H
#define CELL_PROCESS_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "capability_set.h"
#include "netns_owner.h"
#include "process_status.h"

/* Every capability over the network namespace, by a user namespace below the process's own. */
enum process_ownership {
	PROCESS_OWNS_NOTHING,
	PROCESS_MAY_OWN, /* it is not the owner, but has capabilities with which to become it */
	PROCESS_OWNS,	 /* one of its uids is the owner's */
};

struct process_power {
	struct process_status status; /* of the process itself; its name points to `name` */
	char name[256];
	uint64_t sets[PROCESS_SETS];		     /* of all threads together */
	pid_t holder[PROCESS_SETS][CAPABILITY_BITS]; /* the thread it was found in first, or 0 */
	int threads;				     /* 0: a text was read, not a process */
	struct netns_owner owner; /* of the process's main thread, or of the one with most power */
	enum process_ownership ownership; /* of that thread */
};

struct process_fault {
	char reason[192]; /* to stand behind "cannot judge process N: "; may be empty if errno is */
	int number;	  /* errno where a system call failed, to stand behind that; else 0 */
};

/* Reads process PID, or this one if PID is 0, from /proc. False with FAULT filled. */
bool process_power_read(pid_t pid, struct process_power *power, struct process_fault *fault);

/* Reads LENGTH bytes of status text, which says nothing of other threads and of ownership. */
bool process_power_parse(const char *text, size_t length, struct process_power *power,
			 struct process_fault *fault);

/* True if any set of any thread holds one of MASK. */
bool process_power_holds(const struct process_power *power, uint64_t mask);

#endif

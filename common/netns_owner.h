/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Power over a network namespace that comes from owning a user namespace, not from any set.
 *
 * The kernel asks (cap_capable, security/commoncap.c; user_namespaces(7)), from the user namespace
 * that owns the network namespace upwards: is this the process's own? Then its effective set
 * decides. Is this one's parent the process's own, and is its effective uid this one's owner? Then
 * it has every capability. So a process whose five sets are empty can delete a policy.
 */
#ifndef CELL_NETNS_OWNER_H
#define CELL_NETNS_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

#include "namespace_id.h"

enum netns_owner_verdict {
	NETNS_OWNER_NOT_ABOVE, /* the process has there what its sets give, or nothing */
	NETNS_OWNER_ABOVE,     /* whoever sits there as uid `uid` has every capability */
	NETNS_OWNER_HIDDEN,    /* the process sits where the asking process can't look */
	NETNS_OWNER_FAILED,    /* errno tells; what could not be read stands in `what` */
};

struct netns_owner {
	struct namespace_id process; /* the user namespace that the process sits in */
	struct namespace_id owner;   /* the one that owns the network namespace, if visible */
	struct namespace_id below;   /* NETNS_OWNER_ABOVE: the one next below the process's own */
	uid_t uid;		     /* and its owner */
	bool owner_visible;	     /* false: it is above, or beside, the asking process's */
	const char *what;
};

/*
 * Judges where a process sits by handles of its network and user namespace. Uids are as the asking
 * process sees them: those that have no number there look alike.
 */
enum netns_owner_verdict netns_owner_judge(int netns, int userns, struct netns_owner *owner);

#endif

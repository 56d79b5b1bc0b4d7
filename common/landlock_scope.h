/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A wall around one process and all that it starts: what was not started from it cannot be traced,
 * looked into or signalled from inside, and abstract Unix sockets of others cannot be reached.
 */
#ifndef CELL_LANDLOCK_SCOPE_H
#define CELL_LANDLOCK_SCOPE_H

enum landlock_scope_verdict {
	LANDLOCK_SCOPE_OK,
	LANDLOCK_SCOPE_UNSUPPORTED, /* older than Linux 6.12, or Landlock is not in it or off */
	LANDLOCK_SCOPE_FAILED,	    /* errno; EPERM: neither no_new_privs nor CAP_SYS_ADMIN */
};

/* Builds the wall, for ever. Files, networks and mounts are not touched by it (landlock(7)). */
enum landlock_scope_verdict landlock_scope_enter(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doors that no packet filter sees: socket families, system calls, Unix sockets, the policy. */
#ifndef CELL_PROBE_DOOR_H
#define CELL_PROBE_DOOR_H

#include <stdbool.h>
#include <stddef.h>

/* True if NAME is a socket family, or a call, that can be tried here. Pure. */
bool probe_family_exists(const char *name);
bool probe_call_exists(const char *name);

/*
 * Each tries its door and returns 0 if it can be had, else the errno that says why not. Nothing is
 * left behind: no socket stays, none of a family is ever connected, no key, map, ring or
 * namespace outlives the call.
 */
int probe_family_try(const char *name); /* every socket type, until one is made */
int probe_call_try(const char *name);

/* connect(2) to a path, or to an abstract name behind '@', by each socket type. Never blocks. */
int probe_unix_try(const char *path);

/*
 * Asks for a change that changes nothing and must need CAP_NET_ADMIN: to delete an nftables table
 * that does not exist, or (ROUTE true) a device that does not. 0 if the kernel went on to look
 * for it, else errno.
 */
int probe_policy_try(bool route, const char *nonce);

#endif

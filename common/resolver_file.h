/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The resolvers on loopback addresses that a resolv.conf names: each is a way out of a cell. */
#ifndef CELL_RESOLVER_FILE_H
#define CELL_RESOLVER_FILE_H

#include <stddef.h>

#include "ruleset.h"

/*
 * Calls EACH with DATA for the address of every nameserver line (resolv.conf(5)) in LENGTH bytes
 * of TEXT that is on loopback and is neither 127.0.0.1 nor ::1: those serve programs of the cell
 * itself, and refusing them by address would cut its loopback off. Returns the first value of EACH
 * that is not 0, else 0. Pure.
 */
int resolver_file_loopback(const char *text, size_t length,
			   int (*each)(const char *address, void *data), void *data);

/*
 * Adds them from the file PATH to RULESET. 0, or -1 with errno: the file's, EFBIG (more than
 * SHARED_FILE_MAX bytes), ENOTSUP (no regular file) or ENOSPC (too many). Links are followed: it
 * is named by the caller, and many systems have one there.
 */
int resolver_file_read(const char *path, struct ruleset *ruleset);

#endif

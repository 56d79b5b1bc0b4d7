/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The certificate volume as its publisher and its health check see it; readers: published.h. */
#ifndef CELL_PUBLISHED_DIR_H
#define CELL_PUBLISHED_DIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PUBLISHED_MODE = 0644 };

/* Opens directory PATH. A descriptor that the caller owns, or -1 with errno. */
int published_dir_open(const char *path);

/*
 * One publisher a directory: flock(2), tried for one second. Readers can hold it too, so it is
 * never waited for without end. 0, or -1 with errno (EWOULDBLOCK: somebody else has it).
 */
int published_dir_lock(int directory);

/*
 * True if INNER is OUTER or lies under it: then what is in INNER is published with OUTER.
 * -1 with errno if that cannot be told.
 */
int published_dir_holds(int outer, int inner);

/* Lets everybody enter and list it, if they can't; for its owner. 0, or -1 with errno. */
int published_dir_open_to_all(int directory);

/*
 * Appends to UNLISTED (an array) the names of everything in the directory that cell-publish did
 * not put there, and copies to SECRET the name of a file with a private key in it, if there is
 * one ("" if not). Looks at 256 names at most, at 64 KiB of each. 0, or -1 with errno.
 */
int published_dir_survey(int directory, json_t *unlisted, char secret[256]);

/* True if NAME is a regular file with exactly these bytes, this mode and no other name. */
bool published_file_is(int directory, const char *name, const char *bytes, size_t length,
		       mode_t mode);

/*
 * True if NAME is a mount of its own (statx(2), STATX_ATTR_MOUNT_ROOT): it cannot be replaced by
 * rename, and a reader who has only that file mounted keeps the old one for ever.
 */
bool published_file_is_mount(int directory, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file written beside its name and put in place by rename: readers see the old or the new one. */
#ifndef CELL_ATOMIC_FILE_H
#define CELL_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct atomic_file {
	int directory;	  /* not owned */
	const char *name; /* not owned */
	char temporary[64];
	bool staged;
	const char *verb; /* after a failure: what could not be done, to stand before "NAME: " */
};

/*
 * Writes LENGTH bytes into ".NAME.new" in DIRECTORY, mode MODE whatever the umask, created
 * exclusively and never through a link. What a killed run left under that name is removed first,
 * so the caller must hold the directory's lock. DURABLE: on the disk before this returns.
 * 0, or -1 with errno and file->verb; then nothing is left behind.
 */
int atomic_file_stage(struct atomic_file *file, int directory, const char *name, const void *bytes,
		      size_t length, mode_t mode, bool durable);

/* Renames a staged file to its name; one that is not staged is no work. As atomic_file_stage. */
int atomic_file_commit(struct atomic_file *file);

/* Removes what was staged and not committed; errno is kept. */
void atomic_file_discard(struct atomic_file *file);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that others read and write at any time, changed in place by writes, each judged. */
#ifndef CELL_PATCHED_FILE_H
#define CELL_PATCHED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PATCHED_FILE_MAX = 64 * 1024 * 1024 }; /* bytes; a larger file is refused, not read */

enum patch_verdict {
	PATCH_OK,
	PATCH_FAILED,	   /* the file's verb and number tell */
	PATCH_NOT_REGULAR, /* a link, a FIFO, a directory, a device */
	PATCH_TOO_LARGE,
	PATCH_LOCKED, /* the deadline passed while another process held the lock */
	PATCH_OTHERS, /* somebody else changed the file since it was read: nothing was written */
};

/* Begins as {.path = P, .fd = -1}; patched_file_close releases what it holds. */
struct patched_file {
	const char *path;
	int fd;
	int write_error; /* why it could not be opened for writing; 0: it was */
	char *text;	 /* what was read, with our own writes in it */
	size_t length, capacity;
	const char *verb; /* what failed ("open"), with errno */
	int number;
	bool changed; /* it was made, or written to */
	bool missing; /* there is none */
	bool world_readable;
};

/*
 * Opens it unless it still is the file of that name, takes the lock, and reads it. If WRITABLE, for
 * writing where that is allowed; if CREATE, makes it, 0644, if there is none. DEADLINE in ns of
 * CLOCK_MONOTONIC. Without WRITABLE no lock is taken: nobody can make a reader wait.
 */
enum patch_verdict patched_file_load(struct patched_file *file, bool writable, bool create,
				     int64_t deadline);

/* True if the bytes from FROM to TO, as far as the text goes, are still there as they were read. */
bool patched_file_is_same(const struct patched_file *file, size_t from, size_t to);

/* Writes COUNT bytes over others at OFFSET, if they and the byte at each side are the same. */
enum patch_verdict patched_file_put(struct patched_file *file, size_t offset, const char *bytes,
				    size_t count);

/* As patched_file_put, COUNT blanks. */
enum patch_verdict patched_file_blank(struct patched_file *file, size_t offset, size_t count);

/*
 * Writes COUNT bytes at the end if the file still has its length, behind a newline if the text
 * lacks its last; all of them or, if nobody else wrote behind them, none. *OFFSET becomes their
 * place.
 */
enum patch_verdict patched_file_append(struct patched_file *file, const char *bytes, size_t count,
				       size_t *offset);

/* Cuts the file back to LENGTH if it still ends where our text does. */
void patched_file_cut_back(struct patched_file *file, size_t length);

/* PATCH_FAILED, with VERB and NUMBER kept in the file. */
enum patch_verdict patched_file_failed(struct patched_file *file, const char *verb, int number);

/* Closes the file, which gives back its lock, and frees what was read. */
void patched_file_close(struct patched_file *file);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading files that somebody else may have put there: no link, no FIFO, only up to a bound. */
#ifndef CELL_SHARED_FILE_H
#define CELL_SHARED_FILE_H

#include <stddef.h>

enum { SHARED_FILE_MAX = 64 * 1024 }; /* bytes; no published file comes near it */

enum shared_file_verdict {
	SHARED_FILE_OK,
	SHARED_FILE_FAILED,	 /* errno tells; ELOOP: it is a symbolic link */
	SHARED_FILE_NOT_REGULAR, /* a FIFO, a directory, a device, a socket */
	SHARED_FILE_TOO_LARGE,	 /* more than SHARED_FILE_MAX bytes */
};

struct shared_file {
	char bytes[SHARED_FILE_MAX + 1]; /* NUL behind the content; the content may hold NULs too */
	size_t length;
};

/*
 * Reads NAME relative to directory descriptor DIRECTORY (or AT_FDCWD), following no link in the
 * last component and never blocking (open(2): O_NOFOLLOW, O_NONBLOCK).
 */
enum shared_file_verdict shared_file_read(int directory, const char *name,
					  struct shared_file *file);

/* As shared_file_read, from a descriptor that stays the caller's: standard input, a pipe. */
enum shared_file_verdict shared_file_read_fd(int fd, struct shared_file *file);

/* The reason in words, to stand behind "cannot read X: "; for SHARED_FILE_FAILED errno's text. */
const char *shared_file_verdict_text(enum shared_file_verdict verdict, int number);

#endif

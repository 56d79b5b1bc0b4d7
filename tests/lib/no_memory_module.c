// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into a tool: allocation CELL_FAIL_AT, counted from 1, finds no memory; with
 * CELL_FAIL_ON=1 none behind it does either. What could fail and did is noted by a byte in the file
 * CELL_FAIL_NOTE. The counting goes on in children that are forked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* The C library's own, under the names that it keeps for this (malloc.c). */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static unsigned long fail_at, calls;
static bool fails_on;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("CELL_FAIL_AT"), *on = getenv("CELL_FAIL_ON");

	fail_at = at != NULL ? strtoul(at, NULL, 10) : 0;
	fails_on = on != NULL && *on == '1';
}

static bool fails(void)
{
	int fd;

	if (fail_at == 0)
		return false;
	calls++;
	if (calls != fail_at && !(fails_on && calls > fail_at))
		return false;
	if (calls == fail_at) {
		const char *note = getenv("CELL_FAIL_NOTE");

		fd = note == NULL ? -1
				  : open(note, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (fd >= 0) {
			(void)!write(fd, "x", 1);
			(void)close(fd);
		}
	}
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into a tool: of its write number CUT_WRITE (write(2) or pwrite(2) above descriptor 2,
 * from 1) only CUT_BYTES bytes are written; then, by CUT_THEN, the process is killed ("kill"), or
 * that write is merely short and the next one finds the disk full ("full").
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long number(const char *name)
{
	const char *value = getenv(name);

	return value != NULL ? strtol(value, NULL, 10) : -1;
}

/* OFFSET < 0: write(2). */
static ssize_t cut_write(int fd, const void *bytes, size_t count, off_t offset)
{
	static long calls;
	const char *then = getenv("CUT_THEN");
	long cut = number("CUT_WRITE"), wanted = number("CUT_BYTES");
	bool is_cut;
	ssize_t written;

	calls++;
	if (then != NULL && strcmp(then, "full") == 0 && calls == cut + 1) {
		errno = ENOSPC;
		return -1;
	}
	is_cut = calls == cut && wanted >= 0 && (size_t)wanted <= count;
	if (is_cut)
		count = (size_t)wanted;
	written = offset < 0 ? syscall(SYS_write, fd, bytes, count)
			     : syscall(SYS_pwrite64, fd, bytes, count, offset);
	if (is_cut && then != NULL && strcmp(then, "kill") == 0)
		(void)raise(SIGKILL);
	return written;
}

ssize_t write(int fd, const void *bytes, size_t count)
{
	return fd > 2 ? cut_write(fd, bytes, count, -1) : syscall(SYS_write, fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
	return cut_write(fd, bytes, count, offset);
}

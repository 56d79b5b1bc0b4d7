// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into a tool: of its write number CUT_WRITE (pwrite(2), from 1) only CUT_BYTES bytes are
 * written; then, by CUT_THEN, the process is killed ("kill"), or that write is merely short and the
 * next one finds the disk full ("full").
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long number(const char *name)
{
	const char *value = getenv(name);

	return value != NULL ? strtol(value, NULL, 10) : -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
	static long calls;
	const char *then = getenv("CUT_THEN");
	long cut = number("CUT_WRITE"), wanted = number("CUT_BYTES");
	ssize_t written;

	calls++;
	if (then != NULL && strcmp(then, "full") == 0 && calls == cut + 1) {
		errno = ENOSPC;
		return -1;
	}
	if (calls != cut || wanted < 0 || (size_t)wanted > count)
		return syscall(SYS_pwrite64, fd, bytes, count, offset);
	written = syscall(SYS_pwrite64, fd, bytes, (size_t)wanted, offset);
	if (then != NULL && strcmp(then, "kill") == 0)
		(void)raise(SIGKILL);
	return written;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a program inherits by number; see descriptors.h. */
#include "descriptors.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int descriptors_close(void)
{
	return (int)syscall(SYS_close_range, 3U, ~0U, 0U);
}

/* True for the root directory, which everybody can open anyway. */
static bool is_root(const struct stat *status)
{
	struct stat root;

	return stat("/", &root) == 0 && root.st_dev == status->st_dev &&
	       root.st_ino == status->st_ino;
}

const char *descriptors_fault(int number)
{
	struct stat status;
	int domain = -1;
	socklen_t length = sizeof(domain);

	if (fstat(number, &status) != 0)
		return NULL; /* not open, so nothing is inherited */
	switch (status.st_mode & S_IFMT) {
	case S_IFREG:
	case S_IFIFO:
	case S_IFCHR:
		return NULL;
	case S_IFDIR: /* openat(2) walks up from it, past every mount made since */
		return is_root(&status) ? NULL : "a directory";
	case S_IFSOCK: /* a network socket stays in the namespace it was made in */
		if (getsockopt(number, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 &&
		    domain == AF_UNIX)
			return NULL;
		return "a network socket";
	default:
		return "neither a file nor a pipe, terminal or Unix socket";
	}
}

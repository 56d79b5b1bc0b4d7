// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading what the caller names, whole but never more than a bound; see bounded_input.h. */
#include "bounded_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

static int read_all(int fd, size_t max, char **bytes, size_t *length)
{
	size_t size = 0, filled = 0;
	autofree char *all = NULL;

	for (;;) {
		ssize_t got;

		if (filled == size) {
			char *more = realloc(all, size * 2 + 4096);

			if (more == NULL)
				return -1;
			all = more;
			size = size * 2 + 4096;
		}
		got = read(fd, all + filled, size - filled);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		filled += (size_t)got;
		if (filled > max) {
			errno = EFBIG;
			return -1;
		}
	}
	*bytes = take_pointer(all);
	*length = filled;
	return 0;
}

int bounded_input_open(const char *name, size_t max, char **bytes, size_t *length)
{
	autoclose fd = -1;

	if (strcmp(name, "-") == 0)
		return read_all(STDIN_FILENO, max, bytes, length);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -1 : read_all(fd, max, bytes, length);
}

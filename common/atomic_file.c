// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file written beside its name and put in place by rename; see atomic_file.h.
 *
 * Before: NAME is absent or whole. After the commit: NAME is the new bytes, whole, with its mode.
 * A kill in the middle leaves NAME as it was and at most ".NAME.new", which the next run removes.
 */
#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, bytes, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes += n;
		length -= (size_t)n;
	}
	return 0;
}

int atomic_file_stage(struct atomic_file *file, int directory, const char *name, const void *bytes,
		      size_t length, mode_t mode, bool durable)
{
	autoclose fd = -1;
	int n = snprintf(file->temporary, sizeof(file->temporary), ".%s.new", name);

	file->directory = directory;
	file->name = name;
	file->staged = false;
	file->verb = "create";
	if (n < 0 || (size_t)n >= sizeof(file->temporary)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (unlinkat(directory, file->temporary, 0) != 0 && errno != ENOENT)
		return -1;
	/* Private until its mode is set: the umask may only ever take away from this. */
	fd = openat(directory, file->temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	file->staged = true;
	file->verb = "write";
	/* close(2): a full disk or a quota may show only there. */
	if (fchmod(fd, mode) != 0 || write_all(fd, bytes, length) != 0 ||
	    (durable && fsync(fd) != 0) || close(take_fd(&fd)) != 0) {
		atomic_file_discard(file);
		return -1;
	}
	return 0;
}

int atomic_file_commit(struct atomic_file *file)
{
	if (!file->staged)
		return 0;
	if (renameat(file->directory, file->temporary, file->directory, file->name) != 0) {
		file->verb = "replace";
		atomic_file_discard(file);
		return -1;
	}
	file->staged = false;
	return 0;
}

void atomic_file_discard(struct atomic_file *file)
{
	int saved = errno;

	if (file->staged)
		(void)unlinkat(file->directory, file->temporary, 0);
	file->staged = false;
	errno = saved;
}

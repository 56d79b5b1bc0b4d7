// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading files that somebody else may have put there; see shared_file.h. */
#include "shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"

enum shared_file_verdict shared_file_read_fd(int fd, struct shared_file *file)
{
	file->length = 0;
	file->bytes[0] = '\0';
	for (;;) {
		ssize_t n =
			read(fd, file->bytes + file->length, sizeof(file->bytes) - file->length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return SHARED_FILE_FAILED;
		if (n == 0)
			break;
		file->length += (size_t)n;
		if (file->length > SHARED_FILE_MAX)
			return SHARED_FILE_TOO_LARGE;
	}
	file->bytes[file->length] = '\0';
	return SHARED_FILE_OK;
}

enum shared_file_verdict shared_file_read(int directory, const char *name, struct shared_file *file)
{
	struct stat status;
	autoclose fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	file->length = 0;
	file->bytes[0] = '\0';
	if (fd < 0 && (errno == ENXIO || errno == ENODEV))
		return SHARED_FILE_NOT_REGULAR; /* a socket, or a device without a driver */
	if (fd < 0 || fstat(fd, &status) != 0)
		return SHARED_FILE_FAILED;
	if (!S_ISREG(status.st_mode))
		return SHARED_FILE_NOT_REGULAR;
	return shared_file_read_fd(fd, file);
}

const char *shared_file_verdict_text(enum shared_file_verdict verdict, int number)
{
	switch (verdict) {
	case SHARED_FILE_OK:
		return "read";
	case SHARED_FILE_FAILED:
		return number == ELOOP ? "it is a symbolic link" : strerror(number);
	case SHARED_FILE_NOT_REGULAR:
		return "it is not a regular file";
	case SHARED_FILE_TOO_LARGE:
		return "it is larger than 64 KiB";
	}
	return "unknown trouble";
}

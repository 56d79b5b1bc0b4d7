// SPDX-License-Identifier: GPL-2.0-or-later
/* The certificate volume as its publisher and its health check see it; see published_dir.h. */
#include "published_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "published.h"
#include "report.h"
#include "shared_file.h"

enum { LOOKED_AT = 256, LOCK_TRIES = 50, DEEPEST = 256 };

int published_dir_open(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int published_dir_lock(int directory)
{
	const struct timespec pause = {0, 20000000L};

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(directory, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		(void)nanosleep(&pause, NULL);
	}
	errno = EWOULDBLOCK;
	return -1;
}

int published_dir_holds(int outer, int inner)
{
	struct stat wanted, status, above;
	autoclose fd = openat(inner, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fstat(outer, &wanted) != 0 || fstat(fd, &status) != 0)
		return -1;
	for (int i = 0; i < DEEPEST; i++) {
		autoclose next = -1;

		if (status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino)
			return 1;
		next = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (next < 0 || fstat(next, &above) != 0)
			return -1;
		if (above.st_dev == status.st_dev && above.st_ino == status.st_ino)
			return 0;
		(void)close(fd);
		fd = take_fd(&next);
		status = above;
	}
	errno = ELOOP;
	return -1;
}

int published_dir_open_to_all(int directory)
{
	struct stat status;

	if (fstat(directory, &status) != 0)
		return -1;
	return (status.st_mode & 0555) == 0555 ? 0
					       : fchmod(directory, (status.st_mode & 07777) | 0555);
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length > tail && strcasecmp(name + length - tail, end) == 0;
}

/* By what is in it, or by a name that only key stores have. */
static bool is_secret(int directory, const char *name)
{
	static const char mark[] = "PRIVATE KEY-----";
	struct shared_file file;
	enum shared_file_verdict verdict = shared_file_read(directory, name, &file);

	if (verdict == SHARED_FILE_NOT_REGULAR)
		return false;
	return memmem(file.bytes, file.length, mark, sizeof(mark) - 1) != NULL ||
	       ends_with(name, ".p12") || ends_with(name, ".pfx") || ends_with(name, ".key");
}

static bool is_listed(const char *name)
{
	return strcmp(name, PUBLISHED_ADDRESS) == 0 || strcmp(name, PUBLISHED_CERTIFICATE) == 0 ||
	       strcmp(name, "." PUBLISHED_ADDRESS ".new") == 0 ||
	       strcmp(name, "." PUBLISHED_CERTIFICATE ".new") == 0;
}

int published_dir_survey(int directory, json_t *unlisted, char secret[256])
{
	autoclose fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int result = 0;

	secret[0] = '\0';
	if (stream == NULL)
		return -1;
	(void)take_fd(&fd); /* the stream's now */
	errno = 0;
	for (int i = 0; i < LOOKED_AT && (entry = readdir(stream)) != NULL; i++) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (secret[0] == '\0' && is_secret(directory, entry->d_name))
			(void)snprintf(secret, 256, "%s", entry->d_name);
		if (!is_listed(entry->d_name) &&
		    json_array_append_new(unlisted, report_string(entry->d_name)) != 0) {
			errno = ENOMEM;
			break;
		}
		errno = 0;
	}
	if (errno != 0)
		result = -1;
	(void)closedir(stream);
	return result;
}

bool published_file_is(int directory, const char *name, const char *bytes, size_t length,
		       mode_t mode)
{
	struct shared_file file;
	struct stat status;

	return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(status.st_mode) && (status.st_mode & 07777) == mode &&
	       status.st_nlink == 1 && shared_file_read(directory, name, &file) == SHARED_FILE_OK &&
	       file.length == length && memcmp(file.bytes, bytes, length) == 0;
}

bool published_file_is_mount(int directory, const char *name)
{
	struct statx status;

	return statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &status) == 0 &&
	       (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* A file that others use at any time, changed in place; see patched_file.h. */
#include "patched_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"

enum { LOCK_POLL = 5000000, /* ns */ SPARE = 512 /* bytes for what will be appended */ };

static int64_t now(void)
{
	struct timespec time = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

enum patch_verdict patched_file_failed(struct patched_file *file, const char *verb, int number)
{
	file->verb = verb;
	file->number = number;
	return PATCH_FAILED;
}

/* Not O_APPEND: pwrite(2) would then write at the end whatever the offset. */
static enum patch_verdict open_file(struct patched_file *file, bool writable, bool create)
{
	const int flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

	file->write_error = writable ? 0 : EBADF;
	if (writable)
		file->fd = open(file->path, O_RDWR | flags);
	if (writable && file->fd < 0 && (errno == EROFS || errno == EPERM || errno == EACCES))
		file->write_error = errno; /* it can still be found to need no write */
	if (file->write_error != 0)
		file->fd = open(file->path, O_RDONLY | flags);
	if (file->fd < 0 && errno == ENOENT && create) {
		mode_t mask = umask(0);

		file->write_error = 0;
		file->fd = open(file->path, O_RDWR | O_CREAT | flags, 0644);
		(void)umask(mask);
		if (file->fd < 0)
			return patched_file_failed(file, "create", errno);
		file->changed = true;
	}
	file->missing = file->fd < 0 && errno == ENOENT;
	if (file->fd < 0 && (errno == ELOOP || errno == EISDIR || errno == ENXIO))
		return PATCH_NOT_REGULAR;
	return file->fd < 0 ? patched_file_failed(file, "open", errno) : PATCH_OK;
}

/* Anybody who can read the file can hold its lock for ever: hence a deadline. */
static enum patch_verdict lock_file(struct patched_file *file, int64_t deadline)
{
	const struct timespec pause = {.tv_nsec = LOCK_POLL};

	if (file->write_error != 0)
		return PATCH_OK;
	while (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return patched_file_failed(file, "lock", errno);
		if (now() >= deadline)
			return PATCH_LOCKED;
		(void)nanosleep(&pause, NULL);
	}
	return PATCH_OK;
}

/* False if the name has come to mean another file, or none, since it was opened. */
static bool is_named(const struct patched_file *file)
{
	struct stat opened, named;

	return fstat(file->fd, &opened) == 0 && lstat(file->path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static bool reserve(struct patched_file *file, size_t capacity)
{
	char *text;

	if (capacity <= file->capacity)
		return true;
	text = realloc(file->text, capacity);
	if (text == NULL)
		return false;
	file->text = text;
	file->capacity = capacity;
	return true;
}

static enum patch_verdict read_file(struct patched_file *file)
{
	struct stat status;

	if (fstat(file->fd, &status) != 0)
		return patched_file_failed(file, "read", errno);
	if (!S_ISREG(status.st_mode))
		return PATCH_NOT_REGULAR;
	file->world_readable = (status.st_mode & S_IROTH) != 0;
	file->length = 0;
	if (status.st_size > PATCHED_FILE_MAX)
		return PATCH_TOO_LARGE;
	if (!reserve(file, (size_t)status.st_size + SPARE))
		return patched_file_failed(file, "read", errno);
	for (;;) {
		ssize_t n = pread(file->fd, file->text + file->length,
				  file->capacity - file->length, (off_t)file->length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return patched_file_failed(file, "read", errno);
		if (n == 0)
			return PATCH_OK;
		file->length += (size_t)n;
		if (file->length > PATCHED_FILE_MAX)
			return PATCH_TOO_LARGE;
		if (file->length == file->capacity && !reserve(file, 2 * file->capacity))
			return patched_file_failed(file, "read", errno);
	}
}

enum patch_verdict patched_file_load(struct patched_file *file, bool writable, bool create,
				     int64_t deadline)
{
	while (file->fd < 0 || !is_named(file)) {
		enum patch_verdict verdict;

		cleanup_close(&file->fd);
		verdict = open_file(file, writable, create);
		if (verdict == PATCH_OK)
			verdict = lock_file(file, deadline);
		if (verdict != PATCH_OK)
			return verdict;
		if (now() >= deadline) /* a name that means another file each time */
			break;
	}
	return read_file(file);
}

bool patched_file_is_same(const struct patched_file *file, size_t from, size_t to)
{
	char piece[4096];

	if (to > file->length)
		to = file->length;
	while (from < to) {
		size_t wanted = to - from < sizeof(piece) ? to - from : sizeof(piece);
		ssize_t n = pread(file->fd, piece, wanted, (off_t)from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || memcmp(piece, file->text + from, (size_t)n) != 0)
			return false;
		from += (size_t)n;
	}
	return true;
}

/* Writes the text from OFFSET to END over what is there. */
static enum patch_verdict write_text(struct patched_file *file, size_t offset, size_t end)
{
	while (offset < end) {
		ssize_t n = pwrite(file->fd, file->text + offset, end - offset, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return patched_file_failed(file, "write", errno);
		offset += (size_t)n;
		file->changed = true;
	}
	return PATCH_OK;
}

static bool is_same_around(const struct patched_file *file, size_t offset, size_t count)
{
	return patched_file_is_same(file, offset > 0 ? offset - 1 : 0, offset + count + 1);
}

enum patch_verdict patched_file_put(struct patched_file *file, size_t offset, const char *bytes,
				    size_t count)
{
	if (!is_same_around(file, offset, count))
		return PATCH_OTHERS;
	memcpy(file->text + offset, bytes, count);
	return write_text(file, offset, offset + count);
}

enum patch_verdict patched_file_blank(struct patched_file *file, size_t offset, size_t count)
{
	if (!is_same_around(file, offset, count))
		return PATCH_OTHERS;
	memset(file->text + offset, ' ', count);
	return write_text(file, offset, offset + count);
}

/* Cuts off what we wrote between OLD and END if the file still ends at END. */
static void cut_back(const struct patched_file *file, off_t old, off_t end)
{
	struct stat status;

	/* Where that fails too an unfinished comment stays; the first error is the one to tell. */
	if (end > old && fstat(file->fd, &status) == 0 && status.st_size == end &&
	    ftruncate(file->fd, old) != 0)
		return;
}

/*
 * Writes the text from OLD on to the end that the file has then: never over what somebody else put
 * there since it was read. write(2) with O_APPEND leaves the position behind what it wrote.
 */
static enum patch_verdict append_text(struct patched_file *file, size_t old)
{
	enum patch_verdict verdict = PATCH_OK;
	size_t done = old;

	if (fcntl(file->fd, F_SETFL, O_APPEND) != 0)
		return patched_file_failed(file, "write", errno);
	while (done < file->length && verdict == PATCH_OK) {
		ssize_t n = write(file->fd, file->text + done, file->length - done);
		off_t end = lseek(file->fd, 0, SEEK_CUR);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			verdict = patched_file_failed(file, "write", errno);
		else if (end != (off_t)done + n)
			verdict = PATCH_OTHERS;
		else
			done += (size_t)n;
		file->changed = file->changed || n > 0;
	}
	if (fcntl(file->fd, F_SETFL, 0) != 0 && verdict == PATCH_OK)
		verdict = patched_file_failed(file, "write", errno);
	if (verdict == PATCH_FAILED)
		cut_back(file, (off_t)old, (off_t)done);
	return verdict;
}

enum patch_verdict patched_file_append(struct patched_file *file, const char *bytes, size_t count,
				       size_t *offset)
{
	size_t old = file->length;
	struct stat status;

	if (fstat(file->fd, &status) != 0)
		return patched_file_failed(file, "read", errno);
	if (status.st_size != (off_t)old)
		return PATCH_OTHERS;
	if (!reserve(file, old + 1 + count))
		return patched_file_failed(file, "write", errno);
	if (old > 0 && file->text[old - 1] != '\n')
		file->text[file->length++] = '\n';
	*offset = file->length;
	memcpy(file->text + *offset, bytes, count);
	file->length += count;
	return append_text(file, old);
}

void patched_file_cut_back(struct patched_file *file, size_t length)
{
	cut_back(file, (off_t)length, (off_t)file->length);
}

void patched_file_close(struct patched_file *file)
{
	cleanup_close(&file->fd);
	file->fd = -1;
	free(take_pointer(file->text));
	file->capacity = 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* A bounded log of JSON lines; see watch_log.h. */
#include "watch_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "report_record.h"

/* A file that somebody was killed in the middle of: its last line must not swallow our first. */
static int end_last_line(struct watch_log *log)
{
	char last;

	if (log->bytes == 0)
		return 0;
	if (pread(log->fd, &last, 1, (off_t)log->bytes - 1) != 1)
		return -1;
	if (last == '\n')
		return 0;
	if (write(log->fd, "\n", 1) != 1)
		return -1;
	log->bytes++;
	return 0;
}

int watch_log_open(struct watch_log *log, const char *path)
{
	struct stat status;
	autoclose fd = path == NULL ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
				    : open(path,
					   O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC |
						   O_NONBLOCK | O_NOCTTY,
					   0600);

	if (fd < 0 || fstat(fd, &status) != 0)
		return -1;
	log->regular = S_ISREG(status.st_mode);
	if (path == NULL) {
		/* A stream that others write to as well: nothing in it is ours to take back. */
		log->regular = false;
		log->fd = take_fd(&fd);
		return 0;
	}
	if (!log->regular) {
		errno = EBADF;
		return -1;
	}
	log->bytes = (uint64_t)status.st_size;
	log->fd = fd;
	if (end_last_line(log) != 0) {
		log->fd = -1;
		return -1;
	}
	(void)take_fd(&fd);
	return 0;
}

enum watch_log_result watch_log_admits(struct watch_log *log, int64_t now)
{
	if (log->full)
		return WATCH_LOG_FULL;
	if (now < log->retry)
		return WATCH_LOG_FAILED;
	if (now != log->second) {
		log->second = now;
		log->in_second = 0;
	}
	return log->in_second < log->max_rate ? WATCH_LOG_WRITTEN : WATCH_LOG_RATE;
}

/*
 * All of LINE, or nothing: what was written of it is cut off again. Where that can't be done, the
 * next line begins with a newline.
 */
static int write_whole(struct watch_log *log, const char *line, size_t length)
{
	size_t done = 0;

	if (log->half && write(log->fd, "\n", 1) != 1)
		return -1;
	log->bytes += log->half;
	log->half = false;
	while (done < length) {
		ssize_t n = write(log->fd, line + done, length - done);
		int saved = errno;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			log->half = done > 0 &&
				    (!log->regular || ftruncate(log->fd, (off_t)log->bytes) != 0);
			log->bytes += log->half ? done : 0;
			errno = saved;
			return -1;
		}
		done += (size_t)n;
	}
	log->bytes += length;
	return 0;
}

static uint64_t bound_of(const struct watch_log *log, enum watch_log_share share)
{
	switch (share) {
	case WATCH_LOG_PACKETS:
		return log->max_bytes - log->max_bytes / 8;
	case WATCH_LOG_EVENTS:
		return log->max_bytes - log->max_bytes / 16;
	default:
		return UINT64_MAX;
	}
}

enum watch_log_result watch_log_write(struct watch_log *log, enum watch_log_share share,
				      int64_t now, json_t *record)
{
	autofree char *line = record == NULL ? NULL : report_record_text(record);
	size_t length;

	json_decref(record);
	if (line == NULL) {
		log->failed = true;
		errno = ENOMEM;
		return WATCH_LOG_FAILED;
	}
	length = strlen(line);
	line[length++] = '\n'; /* in the place of its NUL */
	if (log->bytes + length > bound_of(log, share)) {
		log->full |= share == WATCH_LOG_PACKETS;
		return WATCH_LOG_FULL;
	}
	if (write_whole(log, line, length) != 0) {
		log->failed = true;
		log->retry = now + 1;
		return WATCH_LOG_FAILED;
	}
	log->in_second += share == WATCH_LOG_PACKETS;
	return WATCH_LOG_WRITTEN;
}

int watch_log_sync(const struct watch_log *log)
{
	return log->regular ? fsync(log->fd) : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A log of JSON lines that is bounded in bytes and in records a second, and whose every line is
 * whole: a line that could be written only in part is taken back.
 */
#ifndef CELL_WATCH_LOG_H
#define CELL_WATCH_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* How much of the file a kind of record may fill: the last words always find room. */
enum watch_log_share {
	WATCH_LOG_PACKETS, /* up to 7/8 of the bound */
	WATCH_LOG_EVENTS,  /* changes and totals: up to 15/16 */
	WATCH_LOG_CLOSING, /* start, truncated and summary: always written */
};

enum watch_log_result {
	WATCH_LOG_WRITTEN,
	WATCH_LOG_RATE,	  /* left out: that many records were written in this second already */
	WATCH_LOG_FULL,	  /* left out: the file has reached its bound */
	WATCH_LOG_FAILED, /* errno tells; the log goes on once it can be written again */
};

struct watch_log {
	int fd;
	bool regular;	    /* a file, from which half a line can be taken back */
	bool half;	    /* it ends in part of a line */
	uint64_t bytes;	    /* what is in it */
	uint64_t max_bytes; /* at least 64 KiB: smaller shares would not hold one record */
	uint64_t max_rate;
	int64_t second;	    /* the second that is counted, of the monotonic clock */
	uint64_t in_second; /* packets written in it */
	bool full;	    /* a packet has found no room: none will be tried again */
	bool failed;	    /* a write has failed at any time */
	int64_t retry;	    /* until this second no packet is tried, because a write failed */
};

/*
 * Opens PATH for appending, or takes standard output if PATH is NULL. Makes the file with mode
 * 0600; follows no link; a file that ends in half a line gets its newline. The caller owns log->fd.
 * 0, or -1 with errno; ELOOP: a link; EBADF: neither a file nor standard output.
 */
int watch_log_open(struct watch_log *log, const char *path);

/* Whether a packet would be written in second NOW, by every bound that is known before its size. */
enum watch_log_result watch_log_admits(struct watch_log *log, int64_t now);

/*
 * Writes RECORD, which it takes over, as one line. A packet is counted into second NOW. RECORD NULL
 * (it could not be made) is WATCH_LOG_FAILED with ENOMEM.
 */
enum watch_log_result watch_log_write(struct watch_log *log, enum watch_log_share share,
				      int64_t now, json_t *record);

/* Makes the file safe on its disk. 0, or -1 with errno. */
int watch_log_sync(const struct watch_log *log);

#endif

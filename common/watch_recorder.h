/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The watcher's one decision, taken for each packet: a record of its own, or only a count. */
#ifndef CELL_WATCH_RECORDER_H
#define CELL_WATCH_RECORDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "exit_code.h"
#include "watch_group.h"
#include "watch_log.h"
#include "watch_record.h"
#include "watch_tables.h"

struct mnl_socket;

struct watch_recorder {
	const char *table;	   /* the policy's */
	struct mnl_socket *tables; /* for questions; the caller's, as the next */
	struct mnl_socket *packets;
	struct watch_log log;
	struct watch_tally tally;
	struct watch_change change; /* the one that is being told */
	int64_t now;		    /* the monotonic clock's second; the caller keeps it */
	bool truncated;		    /* the truncated record has been written */
	bool left_out;		    /* packets since the last totals; the next are due at... */
	int64_t totals_at;	    /* ...this second */
	int write_error;	    /* errno of the first write that failed, or 0 */
};

/* Reads counters and generation into the tally. 0, or -1 with errno. */
int watch_recorder_count(struct watch_recorder *recorder);

/* Writes a record of KIND with FIELDS, which it takes over; NULL: they could not be made. CODE is
 * its "exit". */
enum watch_log_result watch_recorder_write(struct watch_recorder *recorder,
					   enum watch_log_share share, const char *kind,
					   enum cell_exit code, json_t *fields);

/*
 * Takes in at most DATAGRAMS messages' worth of packets, all changes of the ruleset heard on
 * CHANGES, and writes the minute's totals when they are due. 0, or -1 with errno.
 */
int watch_recorder_turn(struct watch_recorder *recorder, struct mnl_socket *changes,
			unsigned int datagrams);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One watch from its first record to its last: what is opened in which order, and closed. */
#ifndef CELL_WATCH_SESSION_H
#define CELL_WATCH_SESSION_H

#include <stdint.h>

#include "fault.h"
#include "watch_recorder.h"

struct watch_session {
	uint16_t group;
	const char *path; /* of the log, or NULL: standard output */
	uint64_t cookie;  /* of the network namespace; 0: this kernel has none */
	struct mnl_socket *changes;
	struct watch_recorder recorder; /* the caller sets its table and its log's bounds */
};

/* The log, as words in a message. */
const char *watch_session_log(const struct watch_session *session);

/*
 * Opens everything, gives up what the loop does not need, and writes the record "start". The log is
 * opened last: an error before that leaves no file. 0, or -1 with FAULT.
 */
int watch_session_begin(struct watch_session *session, struct fault *fault);

/*
 * Takes what the kernel still holds, counts, writes the record "summary" and makes the log safe.
 * *fields are the summary's own, which the caller owns. 0, or -1 with FAULT, also for a log that
 * could not be written at any time before.
 */
int watch_session_end(struct watch_session *session, json_t **fields, struct fault *fault);

#endif

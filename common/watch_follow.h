/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The watcher's log as lines for people, while it is being written. */
#ifndef CELL_WATCH_FOLLOW_H
#define CELL_WATCH_FOLLOW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct watch_follow {
	FILE *file;
	char *line; /* what has been read of the current line, the reader's own */
	size_t size, length;
	unsigned long number; /* of the current line, from 1 */
	bool ended;	      /* the watcher has written its summary */
};

/*
 * Waits for the next whole line and returns it as text without a newline, which the caller frees;
 * control characters in it are escaped. NULL at the end: follow->ended, or errno tells. A line that
 * is no record is returned as such, with its number.
 */
char *watch_follow_next(struct watch_follow *follow);

/* RECORD as one line of text, malloc'd; NULL with ENOMEM. Pure. */
char *watch_line(const json_t *record);

#endif

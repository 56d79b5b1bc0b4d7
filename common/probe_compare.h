/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two runs' records side by side: what the seal closed, and what it must not have broken. Pure. */
#ifndef CELL_PROBE_COMPARE_H
#define CELL_PROBE_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "probe_result.h"

enum probe_verdict {
	PROBE_CLOSED,	  /* it was open and is not */
	PROBE_STILL_OPEN, /* it should be closed */
	PROBE_KEPT,	  /* it should be open and is */
	PROBE_LOST,	  /* it should be open and is not */
	PROBE_ABSENT,	  /* not to be had, either time */
	PROBE_VACUOUS,	  /* nothing proven: never shown open, or then only silence or no route */
	PROBE_MISSING,	  /* a record on one side alone, or two that contradict */
	PROBE_VERDICTS,
};

/* LOCAL: the target is on loopback, where "refused" means that nobody listens. */
enum probe_verdict probe_compare(enum probe_expect expect, bool local, enum probe_result before,
				 enum probe_result after);

/* One target's record, as read back. */
struct probe_record {
	const char *target;
	enum probe_expect expect;
	enum probe_result result;
	const char *detail; /* "" if there is none */
};

/* A run's records. */
struct probe_records {
	json_t *lines; /* owned: an array of what was parsed, holding the strings */
	struct probe_record *items;
	size_t count;
	char fault[192];
};

/*
 * Parses LENGTH bytes of cell-probe's records, a line each. 0, or -1 with records->fault: to stand
 * behind "cannot use FILE: ". No record at all, an error record or a target twice is a fault; errno
 * is ENOMEM if only memory was short. Release in either case.
 */
int probe_records_parse(const char *text, size_t length, struct probe_records *records);
void probe_records_release(struct probe_records *records);

/* Two runs judged, target by target. */
struct probe_comparison {
	size_t counts[PROBE_VERDICTS];
	size_t unusable; /* how many of the absent have no route, device or support */
	/* Owned arrays of objects: verdict, target, before, after, detail. */
	json_t *targets;	     /* all, in the order of BEFORE */
	json_t *offending;	     /* those that do not let a trial start */
	char *first[PROBE_VERDICTS]; /* owned: the first target of each verdict, or NULL */
};

/* Compares two runs. 0, or -1 if memory is short. Release in either case. */
int probe_compare_runs(const struct probe_records *before, const struct probe_records *after,
		       struct probe_comparison *comparison);
void probe_comparison_release(struct probe_comparison *comparison);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the watcher has counted, and the fields of its records. */
#ifndef CELL_WATCH_RECORD_H
#define CELL_WATCH_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "watch_class.h"
#include "watch_group.h"
#include "watch_tables.h"

/* The counts of one run. Of each class: counter >= received >= recorded, but for a lost counter. */
struct watch_tally {
	bool has_counters;		  /* the policy's table has been seen */
	uint64_t counter[WATCH_COUNTED];  /* the policy's own, all its tables together */
	uint64_t latest[WATCH_COUNTED];	  /* as last read from the table there is */
	uint64_t received[WATCH_CLASSES]; /* packets that reached the watcher */
	uint64_t recorded[WATCH_CLASSES]; /* packets written as records */
	uint32_t first_generation, generation;
	uint64_t changes;	   /* changes of the ruleset written as records */
	uint32_t heard_generation; /* of the last change that was heard of */
};

/*
 * Takes in counters as read now, of which FOUND exist. A count that has gone back belongs to a new
 * table: it is added to what the old one had when it was last read.
 */
void watch_tally_counters(struct watch_tally *tally, int found,
			  const uint64_t packets[static WATCH_COUNTED]);

/*
 * Each returns a new object that the caller owns, or NULL if it could not be made whole.
 *
 * The tally: "packets" with total, received, recorded and lost; "classes", the same for each class;
 * "changes" with total, recorded and lost; "generation". total is the policy's counter and lost is
 * total minus recorded; both are null where nobody counted.
 */
json_t *watch_record_tally(const struct watch_tally *tally);

/* A packet; DEVICE is its outgoing device's name, or NULL. */
json_t *watch_record_packet(const struct watch_entry *entry, const char *device);

/*
 * A change of the ruleset. MISSED of them, just before it, were not heard of: its own objects may
 * then be those of more than one.
 */
json_t *watch_record_change(const struct watch_change *change, uint32_t missed);

#endif

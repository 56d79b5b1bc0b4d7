/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All targets of a run at once, in one event loop: as long as the slowest, never longer. */
#ifndef CELL_PROBE_RUN_H
#define CELL_PROBE_RUN_H

#include "probe_way.h"

struct probe {
	struct probe_target target;
	struct probe_way *ways; /* owned */
	size_t ways_count;
	uint64_t seed; /* of the ways' nonces */
	/* What became of it: that of the way that got furthest (of loopback: least far). */
	const struct probe_way *decisive;
};

/* Makes the ways of trying probe->target. 0, or -1 with errno. */
int probe_make_ways(struct probe *probe, const struct probe_settings *settings);

/*
 * Tries every way of every probe and fills in what came of them. 0, or -1 with errno if we lacked
 * something ourselves (descriptors, memory): then nothing was found out.
 */
int probe_run(struct probe *probes, size_t count, const struct probe_settings *settings);

/* Frees the ways of COUNT probes. */
void probe_release(struct probe *probes, size_t count);

#endif

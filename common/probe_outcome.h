/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run, or two of them, amount to: verdict, exit code, record and line. */
#ifndef CELL_PROBE_OUTCOME_H
#define CELL_PROBE_OUTCOME_H

#include <jansson.h>

#include "exit_code.h"
#include "probe_compare.h"
#include "probe_list.h"

struct probe_outcome {
	enum cell_exit code;
	char answer[PROBE_TARGET_MAX + 64]; /* "not closed: dns://..."; a longer target is cut */
};

/* Judges a whole run against EXPECT; PROBE_EXPECT_NOTHING judges nothing. */
void probe_judge_all(const struct probe_list *list, enum probe_expect expect,
		     struct probe_outcome *outcome);

/* Judges two runs. */
void probe_judge_comparison(const struct probe_comparison *comparison,
			    struct probe_outcome *outcome);

/* An object with the number of targets by verdict, and of the unusable; NULL if memory is short. */
json_t *probe_comparison_counts(const struct probe_comparison *comparison);

/*
 * The probe's own fields of its record: target family result errno ms verdict expect detail ways.
 * NULL if memory is short.
 */
json_t *probe_fields(const struct probe *probe, enum probe_expect expect);

/*
 * The same for people: "blocked  udp://10.0.0.1:7  0.1 ms  Operation not permitted". Malloc'd,
 * the caller frees it; NULL if memory is short.
 */
char *probe_line(const struct probe *probe);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run's results amount to: the verdict on each, the exit code, the record and the line. */
#ifndef CELL_PROBE_OUTCOME_H
#define CELL_PROBE_OUTCOME_H

#include <jansson.h>

#include "exit_code.h"
#include "probe_list.h"

/* Ordered: the worst verdict of a run is its answer. */
enum probe_judgement { PROBE_NOT_JUDGED, PROBE_AS_EXPECTED, PROBE_UNPROVEN, PROBE_NOT_AS_EXPECTED };

struct probe_outcome {
	enum cell_exit code;
	char answer[PROBE_TARGET_MAX + 64]; /* "not closed: dns://..." */
};

/* RESULT against an expectation of all targets; PROBE_EXPECT_NOTHING judges nothing. */
enum probe_judgement probe_judge(enum probe_expect expect, enum probe_result result);

/* Judges a whole run. */
void probe_judge_all(const struct probe_list *list, enum probe_expect expect,
		     struct probe_outcome *outcome);

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

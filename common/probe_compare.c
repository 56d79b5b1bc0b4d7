// SPDX-License-Identifier: GPL-2.0-or-later
/* Two runs' records side by side; see probe_compare.h. */
#include "probe_compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe_target.h"

enum { RECORDS_MAX = 4096 };

static const char *name_of(enum probe_verdict verdict)
{
	static const char *const names[] = {"closed", "still-open", "kept",   "lost",
					    "absent", "vacuous",    "missing"};

	return names[verdict];
}

/*
 * Nothing to be closed: the socket or the call is refused, or there is no such thing. LOCAL: it is
 * on loopback, so that a refusal means that nobody listens there.
 */
static bool cannot_be_had(enum probe_result result, bool local)
{
	return result == PROBE_DENIED || result == PROBE_UNUSABLE ||
	       (local && result == PROBE_REFUSED);
}

enum probe_verdict probe_compare(enum probe_expect expect, bool local, enum probe_result before,
				 enum probe_result after)
{
	if (expect == PROBE_EXPECT_OPEN)
		return after == PROBE_OPEN ? PROBE_KEPT : PROBE_LOST;
	if (after == PROBE_OPEN)
		return PROBE_STILL_OPEN;
	if (cannot_be_had(before, local) && cannot_be_had(after, local))
		return PROBE_ABSENT;
	/* A refusal made here proves itself: what it stops could leave before. */
	if (expect == PROBE_EXPECT_BLOCKED)
		return after == PROBE_BLOCKED || after == PROBE_DENIED ? PROBE_CLOSED
								       : PROBE_VACUOUS;
	/* Silence may be a lost answer, and an interface that is down comes up again. */
	return before == PROBE_OPEN && after != PROBE_SILENT && after != PROBE_UNUSABLE
		       ? PROBE_CLOSED
		       : PROBE_VACUOUS;
}

/* The string of KEY; NULL if it is not a string or holds a NUL. */
static const char *string_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);

	return text != NULL && strlen(text) == json_string_length(value) ? text : NULL;
}

/* Reads OBJECT into RECORD; NULL, or what is wrong with it. */
static const char *read_record(const json_t *object, struct probe_record *record)
{
	const char *tool = string_of(object, "tool"), *result = string_of(object, "result");
	const char *expect = string_of(object, "expect");
	int found;

	if (tool == NULL || strcmp(tool, "cell-probe") != 0 ||
	    json_integer_value(json_object_get(object, "format")) != 1)
		return "is no record of cell-probe's";
	record->target = string_of(object, "target");
	if (record->target == NULL || record->target[0] == '\0' || result == NULL)
		return "has no target or no result: the run failed";
	found = probe_result_find(result, strlen(result));
	if (found < 0)
		return "has an unknown result";
	record->result = (enum probe_result)found;
	found = expect == NULL ? -1 : probe_expect_find(expect, strlen(expect));
	if (found < 0)
		return "does not say what is expected";
	record->expect = (enum probe_expect)found;
	record->detail = string_of(object, "detail");
	if (record->detail == NULL)
		record->detail = "";
	return NULL;
}

/* The record of TARGET, or NULL. */
static const struct probe_record *find_record(const struct probe_records *records,
					      const char *target)
{
	for (size_t i = 0; i < records->count; i++)
		if (strcmp(records->items[i].target, target) == 0)
			return &records->items[i];
	return NULL;
}

static int add_line(struct probe_records *records, const char *line, size_t length, size_t number)
{
	json_error_t error;
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
	struct probe_record *record = &records->items[records->count];
	const char *reason = "is not a JSON object";

	if (json_is_object(object)) {
		reason = read_record(object, record);
		if (reason == NULL && find_record(records, record->target) != NULL)
			reason = "repeats a target";
	}
	/* The array keeps the strings alive that the records point to. */
	if (object != NULL && json_array_append_new(records->lines, object) != 0)
		reason = "cannot be kept";
	if (reason != NULL) {
		(void)snprintf(records->fault, sizeof(records->fault), "line %zu %s", number,
			       reason);
		return -1;
	}
	records->count++;
	return 0;
}

int probe_records_parse(const char *text, size_t length, struct probe_records *records)
{
	const char *end = text + length;

	memset(records, 0, sizeof(*records));
	errno = 0; /* what finds no memory sets it, and says no more (json_loadb) */
	records->lines = json_array();
	records->items = calloc(RECORDS_MAX, sizeof(*records->items));
	if (records->lines == NULL || records->items == NULL) {
		(void)snprintf(records->fault, sizeof(records->fault), "out of memory");
		return -1;
	}
	for (size_t number = 1; text < end; number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		if (newline == NULL || number > RECORDS_MAX) {
			(void)snprintf(records->fault, sizeof(records->fault),
				       newline == NULL ? "its last line has no end"
						       : "it has too many lines");
			return -1;
		}
		if (add_line(records, text, (size_t)(newline - text), number) != 0)
			return -1;
		text = newline + 1;
	}
	if (records->count == 0) {
		(void)snprintf(records->fault, sizeof(records->fault), "it holds no record");
		return -1;
	}
	return 0;
}

void probe_records_release(struct probe_records *records)
{
	json_decref(records->lines);
	free(records->items);
	memset(records, 0, sizeof(*records));
}

static bool lets_a_trial_start(enum probe_verdict verdict)
{
	return verdict == PROBE_CLOSED || verdict == PROBE_KEPT || verdict == PROBE_ABSENT;
}

static bool is_local(const char *text)
{
	struct probe_target target;

	return probe_target_parse(text, strlen(text), &target) == NULL &&
	       probe_target_stays_here(&target);
}

/* One target with its record of either side, or NULL where a side has none. */
static int compare_one(struct probe_comparison *comparison, const char *target,
		       const struct probe_record *before, const struct probe_record *after)
{
	enum probe_verdict verdict = PROBE_MISSING;
	json_t *one;

	if (before != NULL && after != NULL && before->expect == after->expect) {
		verdict = probe_compare(after->expect, is_local(target), before->result,
					after->result);
		if (verdict == PROBE_ABSENT && after->result == PROBE_UNUSABLE)
			comparison->unusable++;
	}
	comparison->counts[verdict]++;
	if (comparison->first[verdict] == NULL &&
	    (comparison->first[verdict] = strdup(target)) == NULL)
		return -1;
	one = json_pack("{ss ss ss? ss? ss?}", "verdict", name_of(verdict), "target", target,
			"before", before ? probe_result_name(before->result) : NULL, "after",
			after ? probe_result_name(after->result) : NULL, "detail",
			after != NULL ? after->detail : NULL);
	if (one == NULL ||
	    (!lets_a_trial_start(verdict) && json_array_append(comparison->offending, one) != 0)) {
		json_decref(one);
		return -1;
	}
	return json_array_append_new(comparison->targets, one);
}

int probe_compare_runs(const struct probe_records *before, const struct probe_records *after,
		       struct probe_comparison *comparison)
{
	memset(comparison, 0, sizeof(*comparison));
	comparison->targets = json_array();
	comparison->offending = json_array();
	for (size_t i = 0; i < before->count; i++)
		if (compare_one(comparison, before->items[i].target, &before->items[i],
				find_record(after, before->items[i].target)) != 0)
			return -1;
	for (size_t i = 0; i < after->count; i++)
		if (find_record(before, after->items[i].target) == NULL &&
		    compare_one(comparison, after->items[i].target, NULL, &after->items[i]) != 0)
			return -1;
	return 0;
}

void probe_comparison_release(struct probe_comparison *comparison)
{
	json_decref(comparison->targets);
	json_decref(comparison->offending);
	for (size_t i = 0; i < PROBE_VERDICTS; i++)
		free(comparison->first[i]);
	memset(comparison, 0, sizeof(*comparison));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a run's results amount to; see probe_outcome.h. */
#include "probe_outcome.h"

#include <stdio.h>
#include <string.h>

#include "report_record.h"

/* Ordered: the worst verdict of a run is its answer. */
enum judgement { NOT_JUDGED, AS_EXPECTED, UNPROVEN, NOT_AS_EXPECTED };

/* RESULT against an expectation of all targets. */
static enum judgement judge(enum probe_expect expect, enum probe_result result)
{
	switch (expect) {
	case PROBE_EXPECT_NOTHING:
		return NOT_JUDGED;
	case PROBE_EXPECT_OPEN:
		return result == PROBE_OPEN	  ? AS_EXPECTED
		       : result == PROBE_UNUSABLE ? UNPROVEN
						  : NOT_AS_EXPECTED;
	default:
		if (result == PROBE_OPEN)
			return NOT_AS_EXPECTED;
		return result == PROBE_SILENT || result == PROBE_UNUSABLE ? UNPROVEN : AS_EXPECTED;
	}
}

void probe_judge_all(const struct probe_list *list, enum probe_expect expect,
		     struct probe_outcome *outcome)
{
	size_t open = 0, unusable = 0;
	enum judgement worst = NOT_JUDGED;
	const char *target = "", *word = probe_expect_name(expect);

	for (size_t i = 0; i < list->count; i++) {
		enum probe_result result = list->items[i].decisive->result;
		enum judgement judgement = judge(expect, result);

		open += result == PROBE_OPEN;
		unusable += result == PROBE_UNUSABLE;
		if (judgement > worst) {
			worst = judgement;
			target = list->items[i].target.text;
		}
	}
	outcome->code = CELL_OK;
	switch (worst) {
	case NOT_AS_EXPECTED:
		outcome->code = CELL_NO;
		(void)snprintf(outcome->answer, sizeof(outcome->answer), "not %s: %s", word,
			       target);
		break;
	case UNPROVEN:
		outcome->code = CELL_EVIDENCE;
		(void)snprintf(outcome->answer, sizeof(outcome->answer), "not proven %s: %s", word,
			       target);
		break;
	case AS_EXPECTED:
		(void)snprintf(outcome->answer, sizeof(outcome->answer), "all %s", word);
		break;
	case NOT_JUDGED:
		(void)snprintf(outcome->answer, sizeof(outcome->answer),
			       "%zu open, %zu not, %zu unusable", open,
			       list->count - open - unusable, unusable);
		break;
	}
}

void probe_judge_comparison(const struct probe_comparison *comparison,
			    struct probe_outcome *outcome)
{
	/* In the order of weight; all that follow from the third on prove nothing. */
	static const struct {
		enum probe_verdict verdict;
		enum cell_exit code;
		const char *words;
	} answers[] = {{PROBE_STILL_OPEN, CELL_NO, "still open"},
		       {PROBE_LOST, CELL_NO, "lost"},
		       {PROBE_VACUOUS, CELL_EVIDENCE, "nothing proven"},
		       {PROBE_MISSING, CELL_EVIDENCE, "not the same in both"}};

	*outcome = (struct probe_outcome){CELL_OK, "closed"};
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const char *first = comparison->first[answers[i].verdict];

		if (first == NULL)
			continue;
		outcome->code = answers[i].code;
		(void)snprintf(outcome->answer, sizeof(outcome->answer), "%s: %s", answers[i].words,
			       first);
		return;
	}
}

json_t *probe_comparison_counts(const struct probe_comparison *comparison)
{
	static const char *const keys[PROBE_VERDICTS] = {"closed", "still_open", "kept",   "lost",
							 "absent", "vacuous",	 "missing"};
	json_t *counts = json_object();
	int bad = 0;

	for (size_t i = 0; i < PROBE_VERDICTS; i++)
		bad |= json_object_set_new(counts, keys[i],
					   json_integer((json_int_t)comparison->counts[i]));
	bad |= json_object_set_new(counts, "unusable",
				   json_integer((json_int_t)comparison->unusable));
	return report_whole(counts, bad);
}

static double milliseconds(const struct probe_way *way)
{
	int64_t microseconds = (way->ended_at - way->began + 500) / 1000;

	return (double)microseconds / 1000;
}

static json_t *number_or_null(int number)
{
	return number != 0 ? json_integer(number) : json_null();
}

static json_t *describe_ways(const struct probe *probe)
{
	json_t *ways = json_array();

	for (size_t i = 0; i < probe->ways_count; i++) {
		const struct probe_way *way = &probe->ways[i];
		json_t *one = json_pack("{ss ss so sf ss}", "way", way->name, "result",
					probe_result_name(way->result), "errno",
					number_or_null(way->number), "ms", milliseconds(way),
					"detail", way->detail);

		if (one == NULL || json_array_append_new(ways, one) != 0) {
			json_decref(ways);
			return NULL;
		}
	}
	return ways;
}

json_t *probe_fields(const struct probe *probe, enum probe_expect expect)
{
	static const char *const judgements[] = {NULL, "yes", "unproven", "no"};
	const struct probe_way *way = probe->decisive;

	/* "o" fails the whole on NULL and releases what it was given. */
	return json_pack("{ss ss? ss so sf ss? ss ss so}", "target", probe->target.text, "family",
			 probe_target_family(&probe->target), "result",
			 probe_result_name(way->result), "errno", number_or_null(way->number), "ms",
			 milliseconds(way), "verdict", judgements[judge(expect, way->result)],
			 "expect", probe_expect_name(probe->target.expect), "detail", way->detail,
			 "ways", describe_ways(probe));
}

char *probe_line(const struct probe *probe)
{
	const struct probe_way *way = probe->decisive;
	bool detail = way->detail[0] != '\0', name = way->name[0] != '\0';
	const char *error = way->number != 0 ? strerror(way->number) : "";
	char *line;

	if (strstr(way->detail, error) != NULL) /* it is said already */
		error = "";

	if (asprintf(&line, "%-8s %s  %.1f ms%s%s%s%s%s%s%s", probe_result_name(way->result),
		     probe->target.text, milliseconds(way), detail ? "  " : "", way->detail,
		     *error != '\0' ? "  " : "", error, name ? "  (" : "", way->name,
		     name ? ")" : "") < 0)
		return NULL;
	return line;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* How two rulesets differ, in words; see ruleset.h. */
#include <errno.h>
#include <string.h>

#include "ruleset.h"
#include "ruleset_blocks.h"

static size_t count_line(const json_t *lines, const char *text)
{
	json_t *line;
	size_t i, n = 0;

	json_array_foreach (lines, i, line)
		n += strcmp(json_string_value(line), text) == 0;
	return n;
}

static int say(json_t *differs, const char *header, const char *what, const char *text)
{
	return json_array_append_new(differs,
				     json_sprintf("%s %s%s%s", header, what,
						  text != NULL ? ": " : "", text ? text : ""));
}

/* A line for each line of A that B has fewer of; a repeated one is said once. */
static int lacking(const json_t *a, const json_t *b, const char *header, const char *what,
		   json_t *differs)
{
	json_t *line;
	size_t i;
	int bad = 0;

	json_array_foreach (a, i, line) {
		const char *text = json_string_value(line);
		bool first = true;

		for (size_t j = 0; j < i && first; j++)
			first = strcmp(json_string_value(json_array_get(a, j)), text) != 0;
		if (first && count_line(a, text) > count_line(b, text))
			bad |= say(differs, header, what, text);
	}
	return bad;
}

int ruleset_compare(const json_t *wanted, const json_t *found, json_t *differs)
{
	json_t *block;
	size_t i;
	int bad = 0;

	json_array_foreach (wanted, i, block) {
		const char *header = json_string_value(json_object_get(block, "header"));
		const json_t *lines = json_object_get(block, "lines");
		const json_t *others = ruleset_blocks_lines(found, header);
		size_t before = json_array_size(differs);

		if (others == NULL) {
			bad |= say(differs, header, "is missing", NULL);
			continue;
		}
		bad |= lacking(lines, others, header, "lacks", differs);
		bad |= lacking(others, lines, header, "has what we never write", differs);
		if (before == json_array_size(differs) && !json_equal(lines, others))
			bad |= say(differs, header, "has its rules in another order", NULL);
	}
	json_array_foreach (found, i, block) {
		const char *header = json_string_value(json_object_get(block, "header"));

		if (ruleset_blocks_lines(wanted, header) == NULL)
			bad |= say(differs, header, "is not ours", NULL);
	}
	return bad == 0 ? 0 : (errno = ENOMEM, -1);
}

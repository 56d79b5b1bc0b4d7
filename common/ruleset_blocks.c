// SPDX-License-Identifier: GPL-2.0-or-later
/* A ruleset as a JSON array of blocks; see ruleset_blocks.h. */
#include "ruleset_blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

/* Where a block is to stand. */
struct place {
	size_t in_model; /* the model's size if it has no such block */
	const char *header;
	json_t *block;
};

static const char *header_of(const json_t *block)
{
	return json_string_value(json_object_get(block, "header"));
}

/* The index of the block HEADER; the size of BLOCKS if there is none. */
static size_t find(const json_t *blocks, const char *header)
{
	size_t i = 0;

	while (i < json_array_size(blocks) &&
	       strcmp(header_of(json_array_get(blocks, i)), header) != 0)
		i++;
	return i;
}

json_t *ruleset_blocks_lines(const json_t *blocks, const char *header)
{
	return json_object_get(json_array_get(blocks, find(blocks, header)), "lines");
}

json_t *ruleset_blocks_add(json_t *blocks, const char *header)
{
	json_t *lines = json_array();
	json_t *block = json_pack("{s:s, s:o}", "header", header, "lines", lines);

	return block == NULL || json_array_append_new(blocks, block) != 0 ? NULL : lines;
}

static int by_place(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->in_model != b->in_model)
		return a->in_model < b->in_model ? -1 : 1;
	return strcmp(a->header, b->header);
}

int ruleset_blocks_sort(json_t *blocks, const json_t *model)
{
	size_t count = json_array_size(blocks);
	autofree struct place *places = calloc(count + 1, sizeof(*places));
	int known = 0, bad = 0;

	if (places == NULL)
		return -1;
	for (size_t i = 0; i < count; i++) {
		json_t *block = json_incref(json_array_get(blocks, i));

		places[i] = (struct place){find(model, header_of(block)), header_of(block), block};
		known += places[i].in_model < json_array_size(model);
	}
	qsort(places, count, sizeof(*places), by_place);
	for (size_t i = 0; i < count; i++)
		bad |= json_array_set_new(blocks, i, places[i].block);
	return bad == 0 ? known : -1;
}

char *ruleset_blocks_text(const char *table, const json_t *blocks)
{
	char *text = NULL;
	size_t length, i, j;
	FILE *stream = open_memstream(&text, &length);
	json_t *block, *line;

	if (stream == NULL)
		return NULL;
	(void)fprintf(stream, "table inet %s {\n", table);
	json_array_foreach (blocks, i, block) {
		(void)fprintf(stream, "\t%s {\n", header_of(block));
		json_array_foreach (json_object_get(block, "lines"), j, line)
			(void)fprintf(stream, "\t\t%s\n", json_string_value(line));
		(void)fputs("\t}\n", stream);
	}
	(void)fputs("}\n", stream);
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

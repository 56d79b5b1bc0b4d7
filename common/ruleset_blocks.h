/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ruleset as a JSON array of blocks, {"header": "chain output", "lines": [...]}: the form in
 * which the wanted one and the kernel's are compared and written.
 */
#ifndef CELL_RULESET_BLOCKS_H
#define CELL_RULESET_BLOCKS_H

#include <jansson.h>

/* The lines of the block HEADER, borrowed; NULL if there is none. Pure. */
json_t *ruleset_blocks_lines(const json_t *blocks, const char *header);

/* The lines of a new block at the end of BLOCKS, borrowed; NULL if memory is short. */
json_t *ruleset_blocks_add(json_t *blocks, const char *header);

/*
 * Puts BLOCKS, no header twice, in the order of MODEL; those that MODEL lacks come last, by header.
 * Returns how many MODEL has, or -1 if memory is short.
 */
int ruleset_blocks_sort(json_t *blocks, const json_t *model);

/* BLOCKS as the text of inet table TABLE that `nft -f` loads. Malloc'd, or NULL. */
char *ruleset_blocks_text(const char *table, const json_t *blocks);

#endif

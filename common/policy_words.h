/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The facts of a policy, as a record's fields and as lines of text, one fact a line. */
#ifndef CELL_POLICY_WORDS_H
#define CELL_POLICY_WORDS_H

#include <jansson.h>

#include "policy_state.h"

/*
 * An object with the fields mode, proxy, resolvers, counters, ruleset_sha256, generation, differs
 * and notes, in that order; DIFFERS is borrowed. NULL if memory is short.
 */
json_t *policy_fields(const struct policy_state *state, json_t *differs);

/* FIELDS as lines "mode: deny-all", malloc'd; without their first line (the mode) if SKIP_MODE. */
char *policy_lines(const json_t *fields, bool skip_mode);

#endif

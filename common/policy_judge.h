/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a policy still is what it was made: its table, and what else its namespace has. */
#ifndef CELL_POLICY_JUDGE_H
#define CELL_POLICY_JUDGE_H

#include "policy_state.h"

/* Looks at devices and legacy tables too, and adds to beside and notes. 0, or -1 with FAULT. */
int policy_inspect(struct policy_state *state, struct fault *fault);

/*
 * Appends to DIFFERS, in words, all that makes STATE another than the policy that EXPECTED's table
 * name, log group, resolvers and port and the address published in DIRECTORY stand for, in either
 * mode, and so does a generation number other than *GENERATION, unless that is NULL. None is a yes.
 * 0, or -1 with FAULT: memory, or CELL_EVIDENCE where nothing else differs and there is no address
 * to compare with.
 */
int policy_judge(const struct policy_state *state, const struct ruleset *expected,
		 const char *directory, const uint32_t *generation, json_t *differs,
		 struct fault *fault);

#endif

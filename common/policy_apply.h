/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the policy of this network namespace what it is to be, in one transaction. */
#ifndef CELL_POLICY_APPLY_H
#define CELL_POLICY_APPLY_H

#include "policy_state.h"

/*
 * Makes WANTED the policy, by the smallest transaction that does, and shows that the kernel then
 * holds it: STATE is what was read afterwards. FIRST are resolvers (or NULL) to refuse too where
 * no ruleset of ours was whole before. A failure leaves what was in force. 0, or -1 with FAULT.
 */
int policy_apply(const struct ruleset *wanted, const struct ruleset *first,
		 struct policy_state *state, struct fault *fault);

/* The whole ruleset that policy_apply would make in an empty namespace, malloc'd, or NULL. */
char *policy_preview(const struct ruleset *wanted, const struct ruleset *first);

/*
 * Before a wait: where there is no policy, or one that is not whole, everything is refused; a whole
 * one stays. *mode is what is in force then. 0, or -1 with FAULT.
 */
int policy_close_meanwhile(const struct ruleset *wanted, const struct ruleset *first,
			   enum policy_mode *mode, struct fault *fault);

/* Removes our table, if there is one; as policy_apply. */
int policy_remove(const char *table, struct policy_state *state, struct fault *fault);

#endif

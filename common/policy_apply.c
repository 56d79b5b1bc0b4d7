// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making the policy of this network namespace what it is to be; see policy_apply.h.
 *
 * Theory of operation. Before: any state. What is in force is read whole (the generation number
 * did not move meanwhile), compared with what is wanted, and brought there by one transaction: a
 * first table with `create`, which fails if another instance was faster; a change of mode or of
 * the proxy by its set alone; anything else by replacing the table. After: the ruleset is read
 * again and must be the wanted one. Instances take turns by a lock on the namespace's own file,
 * but nothing rests on it (a subject can hold that lock): who lost a race reads again and goes on.
 * A kill leaves the old policy or the new one, each whole, because each change is one transaction.
 */
#include "policy_apply.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "cleanup.h"
#include "ruleset_blocks.h"

enum { ATTEMPTS = 8, LOCK_TRIES = 100, LOCK_PAUSE_NS = 20 * 1000 * 1000 };

/* Waits a bounded time for other instances in this namespace; see the theory above. */
static int take_turn(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

	for (int i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; i++)
		(void)nanosleep(&pause, NULL);
	return fd;
}

/* True if the table is exactly WANTED. */
static bool is_wanted(const struct ruleset *wanted, const struct policy_state *state)
{
	json_t *blocks = ruleset_wanted(wanted);
	bool equal = blocks != NULL && state->mode != POLICY_NONE &&
		     state->mode != POLICY_UNKNOWN && json_equal(blocks, state->listing.blocks);

	json_decref(blocks);
	return equal;
}

/* The smallest transaction from STATE to WANTED; NULL if memory is short. */
static char *plan(const struct ruleset *wanted, const struct policy_state *state)
{
	struct ruleset apart = *wanted;

	if (state->mode == POLICY_NONE)
		return ruleset_create(wanted);
	apart.has_proxy = state->listing.read.has_proxy;
	apart.proxy = state->listing.read.proxy;
	return is_wanted(&apart, state) ? ruleset_switch(wanted) : ruleset_replace(wanted);
}

/*
 * Runs one transaction on STATE and reads the outcome back into it. 1: lost a race, again; 0, or -1
 * with FAULT.
 */
static int transact(const char *text, const char *what, const char *table,
		    struct policy_state *state, struct fault *fault)
{
	bool first = state->mode == POLICY_NONE;
	uint32_t generation = state->netfilter.generation;
	struct nft_result result;
	char list[64];
	int answer;

	policy_state_release(state);
	if (text == NULL)
		return policy_fail_errno(fault, what, ENOMEM);
	(void)snprintf(list, sizeof(list), "list table inet %s", table);
	nft_session_run(text, list, true, &result);
	if (result.applied) {
		answer = policy_state_read_after(table, generation,
						 result.outcome == NFT_DONE ? &result : NULL, state,
						 fault);
	} else {
		/* Kept in any case: it is what is said if every attempt ends so. */
		answer = policy_fail_session(fault, what, &result);
		if (result.outcome == NFT_REFUSED &&
		    (result.number == EEXIST || result.number == EBUSY ||
		     (result.number == ENOENT && !first)))
			answer = 1;
	}
	nft_result_release(&result);
	return answer;
}

char *policy_preview(const struct ruleset *wanted, const struct ruleset *first)
{
	struct ruleset all = *wanted;
	json_t *blocks;
	char *text;
	int bad = 0;

	for (size_t i = 0; i < first->resolvers_count; i++)
		bad |= ruleset_add_resolver(&all, first->resolvers[i]);
	blocks = ruleset_wanted(&all);
	text = bad != 0 || blocks == NULL ? NULL : ruleset_blocks_text(all.table, blocks);
	json_decref(blocks);
	return text;
}

static int refuse_foreign(const struct policy_state *state, const char *table, struct fault *fault)
{
	return fault_set(
		fault, CELL_USAGE, 0,
		"cannot use table inet %s: it is somebody else's (%s is not ours); see --table",
		table, state->listing.foreign_name);
}

/* True if a resolver rule would refuse the very proxy that is to be allowed. */
static bool refuses_proxy(const struct ruleset *ruleset)
{
	char address[INET_ADDRSTRLEN];
	bool found = false;

	if (!ruleset->has_proxy)
		return false;
	(void)inet_ntop(AF_INET, &ruleset->proxy.address, address, sizeof(address));
	for (size_t i = 0; i < ruleset->resolvers_count; i++)
		found |= strcmp(ruleset->resolvers[i], address) == 0;
	return found;
}

int policy_apply(const struct ruleset *wanted, const struct ruleset *first,
		 struct policy_state *state, struct fault *fault)
{
	autoclose turn = take_turn();
	char what[64];

	(void)turn; /* held to the end of the scope */
	(void)snprintf(what, sizeof(what), "apply table inet %s", wanted->table);
	(void)fault_set(fault, CELL_SYSTEM, 0, "cannot %s: something else keeps changing it", what);
	for (int i = 0, result = 1; i < ATTEMPTS; i++) {
		struct ruleset merged = *wanted;
		autofree char *text = NULL;

		if (result == 1 && policy_state_read(wanted->table, state, fault) != 0)
			return -1;
		if (state->listing.foreign)
			return refuse_foreign(state, wanted->table, fault);
		result = policy_keep_resolvers(&merged, state);
		if (state->mode == POLICY_NONE || state->mode == POLICY_UNKNOWN)
			for (size_t j = 0; first != NULL && j < first->resolvers_count; j++)
				result |= ruleset_add_resolver(&merged, first->resolvers[j]);
		if (result != 0)
			return fault_set(fault, CELL_USAGE, 0,
					 "cannot %s: more than %d resolver addresses", what,
					 RULESET_RESOLVERS_MAX);
		if (refuses_proxy(&merged))
			return fault_set(fault, CELL_USAGE, 0,
					 "cannot %s: the proxy's address is among the refused "
					 "resolvers",
					 what);
		if (is_wanted(&merged, state))
			return 0;
		text = plan(&merged, state);
		result = transact(text, what, wanted->table, state, fault);
		if (result < 0)
			return -1;
	}
	return -1;
}

int policy_close_meanwhile(const struct ruleset *wanted, const struct ruleset *first,
			   enum policy_mode *mode, struct fault *fault)
{
	struct policy_state state;
	struct ruleset closed = *wanted;
	int result = policy_state_read(wanted->table, &state, fault);

	closed.has_proxy = false;
	if (result == 0 && (state.mode == POLICY_NONE || state.mode == POLICY_UNKNOWN)) {
		policy_state_release(&state);
		result = policy_apply(&closed, first, &state, fault);
	}
	*mode = state.mode;
	policy_state_release(&state);
	return result;
}

int policy_remove(const char *table, struct policy_state *state, struct fault *fault)
{
	autoclose turn = take_turn();
	char what[64], text[80];

	(void)turn; /* held to the end of the scope */
	(void)snprintf(what, sizeof(what), "delete table inet %s", table);
	(void)snprintf(text, sizeof(text), "%s\n", what);
	(void)fault_set(fault, CELL_SYSTEM, 0, "cannot %s: something else keeps making it", what);
	for (int i = 0, result = 1; i < ATTEMPTS; i++) {
		if (result == 1 && policy_state_read(table, state, fault) != 0)
			return -1;
		if (state->mode == POLICY_NONE)
			return 0;
		if (state->listing.foreign)
			return refuse_foreign(state, table, fault);
		result = transact(text, what, table, state, fault);
		if (result < 0)
			return -1;
	}
	return -1;
}

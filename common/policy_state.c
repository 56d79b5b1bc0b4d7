// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the policy of this network namespace; see policy_state.h. */
#include "policy_state.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "policy_check.h"
#include "ruleset_blocks.h"

enum { ATTEMPTS = 8 };

static const struct netfilter_table *find_table(const struct netfilter_state *state,
						const char *name)
{
	for (size_t i = 0; i < state->tables_count; i++)
		if (state->tables[i].family == NFPROTO_INET &&
		    strcmp(state->tables[i].name, name) == 0)
			return state->tables + i;
	return NULL;
}

int policy_keep_resolvers(struct ruleset *ruleset, const struct policy_state *state)
{
	int bad = 0;

	for (size_t i = 0; i < state->listing.read.resolvers_count; i++)
		bad |= ruleset_add_resolver(ruleset, state->listing.read.resolvers[i]);
	return bad;
}

/* Compares the table with one of ours that has the same parameters, and names its mode. */
static int judge(struct policy_state *state)
{
	struct ruleset same = state->listing.read;
	json_t *wanted;
	int bad = ruleset_add_resolver(&same, "127.0.0.11");

	wanted = ruleset_wanted(&same);
	bad |= wanted == NULL || ruleset_compare(wanted, state->listing.blocks, state->differs);
	json_decref(wanted);
	state->text = ruleset_blocks_text(same.table, state->listing.blocks);
	if (json_array_size(state->differs) > 0)
		state->mode = POLICY_UNKNOWN;
	else
		state->mode = same.has_proxy ? POLICY_PROXY_ONLY : POLICY_DENY_ALL;
	return bad != 0 || state->text == NULL ? -1 : 0;
}

/* True if TABLE has the four hooks that ours has, by name. */
static bool has_our_hooks(const struct netfilter_state *netfilter, const char *table)
{
	static const char *const names[] = {"output", "postrouting", "forward", "input"};
	size_t found = 0;

	for (size_t i = 0; i < netfilter->chains_count; i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			found += netfilter->chains[i].family == NFPROTO_INET &&
				 strcmp(netfilter->chains[i].table, table) == 0 &&
				 strcmp(netfilter->chains[i].name, names[j]) == 0;
	return found == sizeof(names) / sizeof(names[0]);
}

/* A listing could not be taken over (errno). Always -1. */
static int not_read(const char *command, struct fault *fault)
{
	if (errno == ENOMEM)
		return policy_fail_errno(fault, command, errno);
	return fault_set(fault, CELL_UNSUPPORTED, 0, "cannot %s: the answer is not understood",
			 command);
}

/*
 * A table with flags, dormant for one: it has every rule and no effect. It is not listed as a
 * whole, because the flags are what nftables 1.0.6 puts garbage into its JSON for; but what it
 * refuses is read, so that it is not lost when the table is made anew. 0, or -1 with FAULT.
 */
static int take_flags(const struct netfilter_table *ours, struct policy_state *state,
		      struct fault *fault)
{
	struct nft_result result;
	char command[128];
	int bad = 0;

	state->mode = POLICY_UNKNOWN;
	if (asprintf(&state->text, "table inet %s # flags 0x%x\n", ours->name, ours->flags) < 0) {
		state->text = NULL;
		return policy_fail_errno(fault, "read the ruleset", ENOMEM);
	}
	if (has_our_hooks(&state->netfilter, ours->name)) {
		(void)snprintf(command, sizeof(command), "list chain inet %s output", ours->name);
		nft_session_run(NULL, command, true, &result);
		if (result.outcome != NFT_DONE)
			bad = policy_fail_session(fault, command, &result);
		else if (ruleset_listing_read(result.output, result.output_length, ours->name,
					      &state->listing) != 0)
			bad = not_read(command, fault);
		nft_result_release(&result);
		return bad;
	}
	state->listing.foreign = true;
	(void)snprintf(state->listing.foreign_name, sizeof(state->listing.foreign_name),
		       "a table with flags");
	return 0;
}

/* Reads a listing of table OURS. 0, or -1 with FAULT. */
static int take_listing(const struct nft_result *listed, const struct netfilter_table *ours,
			const char *command, struct policy_state *state, struct fault *fault)
{
	int bad = 0;

	if (listed->outcome != NFT_DONE)
		return policy_fail_session(fault, command, listed);
	/* A library that complains while it lists has left something out. */
	if (listed->errors == NULL || listed->errors[0] != '\0')
		bad = json_array_append_new(
			state->differs,
			json_sprintf("it cannot be read wholly: %s",
				     listed->errors != NULL ? listed->errors : "no memory"));
	bad |= ruleset_listing_read(listed->output, listed->output_length, ours->name,
				    &state->listing);
	if (bad != 0)
		return not_read(command, fault);
	state->listed = true;
	return judge(state) == 0 ? 0 : policy_fail_errno(fault, command, ENOMEM);
}

/* One attempt. 1: something changed meanwhile, again; 0, or -1 with FAULT. */
static int read_once(const char *table, uint32_t generation, const struct nft_result *listed,
		     struct policy_state *state, struct fault *fault)
{
	const struct netfilter_table *ours;
	struct nft_result result;
	char command[64];
	uint32_t after;
	int answer;

	if (netfilter_state_read(&state->netfilter) != 0)
		return policy_fail_errno(fault, "read the ruleset", errno);
	ours = find_table(&state->netfilter, table);
	if (ours == NULL)
		return 0;
	(void)snprintf(command, sizeof(command), "list table inet %s", table);
	if (ours->flags != 0)
		return take_flags(ours, state, fault);
	if (listed != NULL && state->netfilter.generation == generation + 1)
		return take_listing(listed, ours, command, state, fault);
	nft_session_run(NULL, command, true, &result);
	if (netfilter_generation(&after) != 0 || after != state->netfilter.generation)
		answer = 1;
	else
		answer = take_listing(&result, ours, command, state, fault);
	nft_result_release(&result);
	return answer;
}

int policy_state_read_after(const char *table, uint32_t generation, const struct nft_result *listed,
			    struct policy_state *state, struct fault *fault)
{
	memset(state, 0, sizeof(*state));
	for (int i = 0; i < ATTEMPTS; i++) {
		int result;

		policy_state_release(state);
		state->differs = json_array();
		state->beside = json_array();
		state->notes = json_array();
		if (state->differs == NULL || state->beside == NULL || state->notes == NULL)
			return policy_fail_errno(fault, "read the ruleset", ENOMEM);
		result = read_once(table, generation, listed, state, fault);
		if (result == 0 &&
		    policy_check_hooks(&state->netfilter, table, state->beside, state->notes) != 0)
			return policy_fail_errno(fault, "read the ruleset", ENOMEM);
		if (result <= 0)
			return result;
	}
	return fault_set(fault, CELL_SYSTEM, 0, "cannot read the ruleset: it changes all the time");
}

int policy_state_read(const char *table, struct policy_state *state, struct fault *fault)
{
	return policy_state_read_after(table, 0, NULL, state, fault);
}

void policy_state_release(struct policy_state *state)
{
	netfilter_state_release(&state->netfilter);
	ruleset_listing_release(&state->listing);
	json_decref(state->differs);
	json_decref(state->beside);
	json_decref(state->notes);
	free(state->text);
	memset(state, 0, sizeof(*state));
}

const char *policy_mode_name(enum policy_mode mode)
{
	static const char *const names[] = {"no-policy", "deny-all", "proxy-only", "unknown"};

	return names[mode];
}

char *policy_list(const char *table, struct fault *fault)
{
	struct nft_result result;
	char command[64], *text;

	(void)snprintf(command, sizeof(command), "list table inet %s", table);
	nft_session_run(NULL, command, false, &result);
	if (result.outcome != NFT_DONE)
		(void)policy_fail_session(fault, command, &result);
	text = take_pointer(result.output);
	nft_result_release(&result);
	return text;
}

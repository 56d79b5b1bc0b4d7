// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a policy still is what it was made; see policy_judge.h. */
#include "policy_judge.h"

#include <errno.h>
#include <string.h>

#include "network_links.h"
#include "policy_check.h"
#include "policy_proxy.h"

int policy_inspect(struct policy_state *state, struct fault *fault)
{
	struct network_links links;
	int result;

	if (network_links_read(&links) != 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot list the devices");
	result = network_links_inspect(&links);
	if (result != 0)
		(void)fault_set(fault, CELL_SYSTEM, errno, "cannot inspect the devices");
	else if (policy_check_links(&links, state->beside, state->notes) != 0 ||
		 policy_check_legacy(state->notes) != 0)
		result = fault_set(fault, CELL_SYSTEM, ENOMEM, "cannot inspect the devices");
	network_links_release(&links);
	return result;
}

/* Appends the strings of FROM that LIST does not have. */
static int add_new(json_t *list, const json_t *from)
{
	json_t *item, *old;
	size_t i, j;
	int bad = 0;

	json_array_foreach (from, i, item) {
		bool known = false;

		json_array_foreach (list, j, old)
			known |= json_equal(old, item);
		if (!known)
			bad |= json_array_append(list, item);
	}
	return bad;
}

int policy_judge(const struct policy_state *state, const struct ruleset *expected,
		 const char *directory, const uint32_t *generation, json_t *differs,
		 struct fault *fault)
{
	struct ruleset full = *expected;
	bool missing, found = true;
	json_t *blocks = NULL;
	int bad = add_new(differs, state->beside);

	if (generation != NULL && state->netfilter.generation != *generation)
		bad |= json_array_append_new(differs, json_sprintf("the generation is %u, not %u",
								   state->netfilter.generation,
								   *generation));
	if (state->mode == POLICY_NONE) {
		bad |= json_array_append_new(
			differs, json_sprintf("there is no table inet %s: no policy", full.table));
		return bad == 0 ? 0
				: fault_set(fault, CELL_SYSTEM, ENOMEM, "cannot make the report");
	}
	if (!state->listed) /* what it has instead has been said */
		return bad == 0 && json_array_size(differs) > 0
			       ? 0
			       : fault_set(fault, CELL_SYSTEM, ENOMEM, "cannot make the report");
	bad |= policy_keep_resolvers(&full, state);
	full.has_proxy = state->listing.proxies > 0;
	if (full.has_proxy)
		found = policy_proxy_find(directory, &full.proxy, &missing, fault) == 0;
	if (!found)
		full.proxy = state->listing.read.proxy;
	blocks = ruleset_wanted(&full);
	bad |= blocks == NULL || ruleset_compare(blocks, state->listing.blocks, differs) != 0 ||
	       /* What was complained of while listing counts as well. */
	       add_new(differs, state->differs) != 0;
	json_decref(blocks);
	if (bad != 0)
		return fault_set(fault, CELL_SYSTEM, ENOMEM, "cannot make the report");
	if (!found && json_array_size(differs) == 0)
		return -1;
	if (!found)
		bad = json_array_append_new(
			differs, json_sprintf("%s%s%s", fault->text, fault->number != 0 ? ": " : "",
					      fault->number != 0 ? strerror(fault->number) : ""));
	return bad == 0 ? 0 : fault_set(fault, CELL_SYSTEM, ENOMEM, "cannot make the report");
}

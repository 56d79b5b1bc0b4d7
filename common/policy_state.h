/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The policy that is in force in this network namespace, as the kernel has it. */
#ifndef CELL_POLICY_STATE_H
#define CELL_POLICY_STATE_H

#include "netfilter_state.h"
#include "policy_fault.h"
#include "ruleset_listing.h"

enum policy_mode {
	POLICY_NONE,	   /* there is no table of ours */
	POLICY_DENY_ALL,   /* our ruleset, no proxy in its set */
	POLICY_PROXY_ONLY, /* our ruleset, one proxy in its set */
	POLICY_UNKNOWN,	   /* a table of our name that is not what we make */
};

struct policy_state {
	enum policy_mode mode;
	struct netfilter_state netfilter;
	bool listed; /* there is a table, and listing is of it */
	struct ruleset_listing listing;
	json_t *differs; /* how the table differs from one of ours, in words */
	json_t *beside;	 /* what else in the namespace opens it, in words */
	json_t *notes;	 /* what else could break it but not open it */
	char *text;	 /* the ruleset in canonical form; NULL where there is no table */
};

/*
 * Reads what is in force in one piece (nothing changed meanwhile). 0, or -1 with FAULT; release
 * STATE by policy_state_release either way. Needs NET_ADMIN over the namespace.
 */
int policy_state_read(const char *table, struct policy_state *state, struct fault *fault);

/*
 * As policy_state_read, where LISTED is `nft -j list table` made in one go with a transaction on a
 * ruleset whose generation was GENERATION: if that was the only change since, it is not listed
 * again.
 */
int policy_state_read_after(const char *table, uint32_t generation, const struct nft_result *listed,
			    struct policy_state *state, struct fault *fault);

/* Frees all that STATE holds; zeroed is fine. */
void policy_state_release(struct policy_state *state);

/* "no-policy", "deny-all", "proxy-only", "unknown". */
const char *policy_mode_name(enum policy_mode mode);

/*
 * The kernel's set of resolvers is the truth once there is a policy: adds it to RULESET's own.
 * 0, or -1 with errno.
 */
int policy_keep_resolvers(struct ruleset *ruleset, const struct policy_state *state);

/* The ruleset's text as the kernel lists it, malloc'd; NULL with FAULT. */
char *policy_list(const char *table, struct fault *fault);

#endif

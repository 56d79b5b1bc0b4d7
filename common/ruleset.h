/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one constant ruleset of a cell: what it is made of, its text, and how it differs from
 * another. A ruleset is an array of blocks (ruleset_blocks.h) in one fixed order; ruleset_wanted
 * makes it from parameters, ruleset_listing.h from what the kernel has, and both write a rule with
 * the very same words. So its text is what is loaded, compared and hashed.
 */
#ifndef CELL_RULESET_H
#define CELL_RULESET_H

#include <jansson.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULESET_DEFAULT_TABLE "cell_egress"
#define RULESET_PROXY_SET "proxy4"

enum { RULESET_RESOLVERS_MAX = 32, RULESET_TABLE_MAX = 32, RULESET_NO_LOG = -1 };

struct ruleset_proxy {
	char device[IF_NAMESIZE];
	struct in_addr address;
	uint16_t port; /* host byte order */
};

struct ruleset {
	const char *table;
	int log_group;						 /* or RULESET_NO_LOG */
	char resolvers[RULESET_RESOLVERS_MAX][INET6_ADDRSTRLEN]; /* canonical, sorted */
	size_t resolvers_count;
	bool has_proxy; /* false: deny-all */
	struct ruleset_proxy proxy;
};

/* True for a name that the ruleset language takes and that belongs to nobody we know of. */
bool ruleset_table_is_valid(const char *name);

/* True for a device name that can be written between quotes and means only itself. */
bool ruleset_device_is_valid(const char *name);

/*
 * Adds an IPv4 or IPv6 address (an IPv4-mapped one counts as IPv4, which is how its packets look)
 * to the refused resolvers. 0, or -1: ADDRESS is none (EINVAL), or there are too many (ENOSPC).
 */
int ruleset_add_resolver(struct ruleset *ruleset, const char *address);

/* The blocks that RULESET stands for; the caller owns them. NULL if memory is short. */
json_t *ruleset_wanted(const struct ruleset *ruleset);

/*
 * Transactions that lead to the wanted ruleset, malloc'd (NULL if memory is short): the first one
 * fails if the table exists, the second needs none, the third changes the proxy set and needs the
 * table. Each is one nf_tables batch: it happens wholly or not at all.
 */
char *ruleset_create(const struct ruleset *ruleset);
char *ruleset_replace(const struct ruleset *ruleset);
char *ruleset_switch(const struct ruleset *ruleset);

/*
 * Appends one line of words to DIFFERS for every block or line that only one side has, or that
 * stands elsewhere. 0, or -1 if memory is short.
 */
int ruleset_compare(const json_t *wanted, const json_t *found, json_t *differs);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's listing of our table says, put into the words of ruleset.h. Rules, statements
 * and objects that we never write keep their JSON, so that they differ from everything wanted; the
 * shapes that versions of nftables give to the same thing come out as one.
 */
#ifndef CELL_RULESET_LISTING_H
#define CELL_RULESET_LISTING_H

#include "ruleset.h"

struct ruleset_listing {
	json_t *blocks;	     /* as ruleset_wanted makes them */
	json_t *counters;    /* {"tcp": {"packets": 0, "bytes": 0}, ...}, those that are there */
	struct ruleset read; /* the parameters behind the blocks, as far as readable */
	size_t proxies;	     /* elements in the proxy set; read.proxy is the first */
	bool foreign; /* somebody else's: it has what we never make, and not all that we do */
	char foreign_name[80];
};

/*
 * Reads LENGTH bytes of `nft -j list table` output, numeric, for the inet table TABLE, into
 * LISTING, to be released by ruleset_listing_release. 0, or -1 with errno EBADMSG (it is not
 * that) or ENOMEM. Pure.
 */
int ruleset_listing_read(const char *json, size_t length, const char *table,
			 struct ruleset_listing *listing);

/* Gives up blocks and counters; zeroed is fine. */
void ruleset_listing_release(struct ruleset_listing *listing);

/*
 * One rule's array of statements in our words, malloc'd; COMMENT (or NULL) is kept where it is one
 * of ours. NULL if memory is short. Pure.
 */
char *ruleset_rule_text(const json_t *statements, const char *comment);

/* A proxy set element in our words, malloc'd. Pure. */
char *ruleset_element_text(const json_t *element);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every nf_tables table and base chain of this network namespace, asked of the kernel itself:
 * libnftables misprints table flags, and what it cannot parse it may not show.
 */
#ifndef CELL_NETFILTER_STATE_H
#define CELL_NETFILTER_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NETFILTER_NAME_MAX = 64 }; /* longer names (the kernel's limit is 256) are cut, with a ~ */

struct netfilter_table {
	uint8_t family; /* NFPROTO_* */
	char name[NETFILTER_NAME_MAX];
	uint32_t flags; /* NFT_TABLE_F_* */
	bool xt;	/* holds rules of iptables-nft: "match" or "target" expressions */
};

struct netfilter_chain { /* base chains only */
	uint8_t family;
	char table[NETFILTER_NAME_MAX], name[NETFILTER_NAME_MAX];
	char type[16]; /* filter, nat, route */
	uint32_t hook; /* NF_INET_* for inet, ip and ip6 */
	int32_t priority;
};

struct netfilter_state {
	uint32_t generation; /* NFT_MSG_GETGEN: moves with every change, never by looking */
	struct netfilter_table *tables;
	struct netfilter_chain *chains;
	size_t tables_count, chains_count;
};

/*
 * Fills STATE, to be released by netfilter_state_release. 0, or -1 with errno: EPERM (no
 * NET_ADMIN over this namespace), EOPNOTSUPP (the kernel has no nf_tables), EINTR (the ruleset
 * changes faster than it can be read), or the socket's.
 */
int netfilter_state_read(struct netfilter_state *state);

/* The generation number alone. 0, or -1 with errno. */
int netfilter_generation(uint32_t *generation);

/* Frees the lists and zeroes STATE; errno is kept. */
void netfilter_state_release(struct netfilter_state *state);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What nf_tables says of itself: the policy's named counters, the generation number of the ruleset,
 * and each change of it as it is made. Asked by netlink directly, because libnftables can end its
 * caller. Every question needs CAP_NET_ADMIN in the network namespace at the time it is asked.
 */
#ifndef CELL_WATCH_TABLES_H
#define CELL_WATCH_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch_class.h"

struct mnl_socket;

enum {
	WATCH_KINDS = 32,	/* nf_tables' message types are fewer */
	WATCH_TABLES = 8,	/* tables of one change that are named; the rest is only counted */
	WATCH_TABLE_NAME = 256, /* NFT_NAME_MAXLEN */
};

/* One transaction on the ruleset. */
struct watch_change {
	uint32_t generation;	     /* the ruleset's number from now on */
	uint32_t process;	     /* its pid in the initial pid namespace */
	char program[32];	     /* what that process calls itself */
	uint32_t kinds[WATCH_KINDS]; /* how many messages of each type (NFT_MSG_*) */
	uint32_t tables;	     /* how many tables were touched, as far as noted here */
	struct {
		uint8_t family; /* NFPROTO_* */
		char name[WATCH_TABLE_NAME];
	} table[WATCH_TABLES];
};

typedef void watch_change_handler(const struct watch_change *change, void *context);

/* A socket for questions; the caller closes it by mnl_socket_close. NULL with errno. */
struct mnl_socket *watch_tables_open(void);

/* The generation number. 0, or -1 with errno; EPERM: CAP_NET_ADMIN is missing. */
int watch_tables_generation(struct mnl_socket *socket, uint32_t *generation);

/*
 * Reads the packet counts of TABLE (family inet) into PACKETS. Returns how many of the classes'
 * counters exist, 0 if the table is not there; -1 with errno.
 */
int watch_tables_counters(struct mnl_socket *socket, const char *table,
			  uint64_t packets[static WATCH_COUNTED]);

/* A non-blocking socket that hears of each change; the caller closes it. NULL with errno. */
struct mnl_socket *watch_changes_open(void);

/*
 * Reads what has arrived on a socket of watch_changes_open. CHANGE keeps what is known of a
 * transaction whose end has not come yet: zeroed by the caller before the first call. HANDLER is
 * called once a transaction. 0, or -1 with errno; ENOBUFS: some were missed, go on.
 */
int watch_changes_read(struct mnl_socket *socket, struct watch_change *change,
		       watch_change_handler *handler, void *context);

/* "newtable", "delrule", ... for an index of watch_change.kinds; NULL if there is no such type. */
const char *watch_change_kind(unsigned int kind);

#endif

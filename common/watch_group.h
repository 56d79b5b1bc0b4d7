/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader's end of an NFLOG group: refused packets as the kernel hands them to user space. */
#ifndef CELL_WATCH_GROUP_H
#define CELL_WATCH_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch_class.h"

struct mnl_socket;

/* One logged packet. The payload is in the caller's buffer, valid until the next read. */
struct watch_entry {
	enum watch_class class;
	bool has_uid;	 /* false: no user's socket, the packet is the kernel's own */
	uint32_t uid;	 /* as the reader's user namespace sees it */
	uint32_t device; /* index of the device that it would have left by; 0: none */
	const uint8_t *payload;
	size_t length; /* of the copy; at most the rule's snaplen */
};

typedef void watch_entry_handler(const struct watch_entry *entry, void *context);

/*
 * Binds GROUP in the calling thread's network namespace and returns a non-blocking socket, which
 * the caller ends by watch_group_close. NULL with errno: EPERM means that the group has a reader
 * already *or* that CAP_NET_ADMIN is missing; a caller that could ask watch_tables_generation
 * knows which.
 */
struct mnl_socket *watch_group_open(uint16_t group);

/*
 * Reads at most LIMIT messages' worth of what has arrived and gives each packet to HANDLER.
 * 1: there may be more; 0: nothing is left; -1 with errno. That the kernel dropped packets because
 * this socket was full is no error here: the policy's counters tell how many.
 */
int watch_group_read(struct mnl_socket *socket, unsigned int limit, watch_entry_handler *handler,
		     void *context);

/* Gives the group back, whereupon the kernel delivers what it still held: read once more. */
int watch_group_unbind(struct mnl_socket *socket, uint16_t group);

#endif

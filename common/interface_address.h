/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The IPv4 addresses of this network namespace, and which of them a proxy is published at. */
#ifndef CELL_INTERFACE_ADDRESS_H
#define CELL_INTERFACE_ADDRESS_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

struct interface_address {
	char interface[IF_NAMESIZE];
	struct in_addr address;
	bool loopback; /* of a loopback device, whatever the address */
};

struct interface_address_list {
	struct interface_address *items; /* malloc'd */
	size_t count;
};

/* What narrows the choice; all NULL or 0: any. */
struct interface_address_wish {
	const char *interface;
	struct in_addr network;
	struct in_addr mask; /* 0 with network 0: any network */
	bool by_network;
};

enum interface_address_choice {
	INTERFACE_ADDRESS_ONE,
	INTERFACE_ADDRESS_NONE,
	INTERFACE_ADDRESS_SEVERAL,
};

/*
 * Every IPv4 address of an interface that is up (getifaddrs(3)). 0, or -1 with errno.
 * The caller releases the list.
 */
int interface_address_read(struct interface_address_list *list);
void interface_address_release(struct interface_address_list *list);

/* True if ADDRESS is in the list: an address of this host. */
bool interface_address_is_ours(const struct interface_address_list *list, struct in_addr address);

/*
 * Narrows LIST in place to what WISH asks for and a proxy could be published at: without a wish
 * for an interface or a network no loopback device, never a loopback, link-local or other address
 * that ipv4_classify refuses, each address once. The choice is clear if one is left. Pure.
 */
enum interface_address_choice interface_address_choose(struct interface_address_list *list,
						       const struct interface_address_wish *wish);

/* "eth0 172.17.0.3, eth1 172.18.0.3", at most eight; malloc'd, or NULL with errno. */
char *interface_address_text(const struct interface_address_list *list);

#endif

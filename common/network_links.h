/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The devices of this network namespace and what could move packets beside netfilter on them:
 * hardware behind them, XDP and tcx programs, traffic-control hooks and filters.
 */
#ifndef CELL_NETWORK_LINKS_H
#define CELL_NETWORK_LINKS_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

struct network_link {
	unsigned int index;
	char name[IF_NAMESIZE];
	char parent[64];  /* IFLA_PARENT_DEV_NAME: the bus device behind it; "" if there is none */
	bool xdp;	  /* an XDP program is attached */
	char hook[16];	  /* "clsact" or "ingress" if it has that qdisc */
	bool filtered;	  /* a qdisc of it has traffic-control filters */
	unsigned int tcx; /* programs attached by tcx or netkit */
	bool tcx_unknown; /* the kernel would not say (EPERM) */
};

struct network_links {
	struct network_link *links;
	size_t count;
};

/* Lists the devices with parent and XDP. 0, or -1 with errno. Release by network_links_release. */
int network_links_read(struct network_links *links);

/* Completes LINKS with qdiscs, filters and tcx programs. 0, or -1 with errno. */
int network_links_inspect(struct network_links *links);

/* Frees the list and zeroes LINKS; errno is kept. */
void network_links_release(struct network_links *links);

/* The first device with hardware behind it, borrowed; NULL if there is none. */
const struct network_link *network_links_hardware(const struct network_links *links);

enum network_route {
	NETWORK_ROUTE_OK,
	NETWORK_ROUTE_NONE,   /* the kernel knows no way there */
	NETWORK_ROUTE_LOCAL,  /* it is an address of this namespace */
	NETWORK_ROUTE_FAILED, /* errno tells */
};

/* Asks the kernel by which device packets to ADDRESS leave, into DEVICE. */
enum network_route network_route_device(struct in_addr address, char device[IF_NAMESIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* IPv4 addresses read strictly: one spelling per address, no octal, no shorthand. */
#ifndef CELL_IPV4_ADDRESS_H
#define CELL_IPV4_ADDRESS_H

#include <netinet/in.h>
#include <stddef.h>

enum ipv4_verdict {
	IPV4_OK,
	IPV4_MALFORMED,	  /* not four decimal octets 0-255 without leading zeros */
	IPV4_UNSPECIFIED, /* 0.0.0.0/8: "this network" (RFC 1122) */
	IPV4_LOOPBACK,	  /* 127.0.0.0/8 */
	IPV4_LINK_LOCAL,  /* 169.254.0.0/16 */
	IPV4_MULTICAST,	  /* 224.0.0.0/4 */
	IPV4_BROADCAST,	  /* 255.255.255.255 and the rest of 240.0.0.0/4, which nobody owns */
};

/*
 * Reads exactly LENGTH bytes of canonical dotted decimal into ADDRESS (network byte order), of any
 * kind of address. IPV4_OK or IPV4_MALFORMED.
 */
enum ipv4_verdict ipv4_parse(const char *text, size_t length, struct in_addr *address);

/*
 * A network as "172.18.0.0/16", length 0 to 32, no bit set behind it, into ADDRESS and MASK
 * (network byte order). IPV4_OK or IPV4_MALFORMED.
 */
enum ipv4_verdict ipv4_parse_network(const char *text, size_t length, struct in_addr *address,
				     struct in_addr *mask);

/* What kind of address it is: IPV4_OK if a proxy could be published at it. */
enum ipv4_verdict ipv4_classify(struct in_addr address);

/*
 * A published address: canonical, of a publishable kind, one optional newline behind it.
 * Pure: judges TEXT byte by byte.
 */
enum ipv4_verdict ipv4_parse_published(const char *text, size_t length, struct in_addr *address);

/* The reason in words, to stand behind "X is ": "not a canonical IPv4 address", "loopback", ... */
const char *ipv4_verdict_text(enum ipv4_verdict verdict);

#endif

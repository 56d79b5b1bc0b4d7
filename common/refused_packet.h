/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a refused packet says of itself: its addresses, protocol, ports and the DNS question in it.
 * The bytes are the subject's and often only the first few hundred of the packet, so everything
 * here is judged against the length that is really there.
 */
#ifndef CELL_REFUSED_PACKET_H
#define CELL_REFUSED_PACKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name of 255 bytes whose every byte is written as \xHH, and the NUL. */
enum { REFUSED_DNS_NAME = 4 * 256 };

struct refused_dns {
	bool present;		     /* the payload is one DNS question */
	bool cut;		     /* the packet's copy ended inside the question */
	char name[REFUSED_DNS_NAME]; /* as refused_dns_parse writes it */
	uint16_t type;		     /* 0 if it was cut off */
};

struct refused_packet {
	sa_family_t family; /* AF_INET or AF_INET6, by the first byte; AF_UNSPEC: not IP */
	bool cut;	    /* the copy ended before the headers did: what is missing is 0 */
	uint32_t length;    /* of the whole packet, by its own header */
	uint8_t protocol;   /* IPPROTO_*, behind any IPv6 extension headers */
	bool fragment;	    /* a later fragment: no ports, no payload of its own */
	union {
		struct in_addr v4;
		struct in6_addr v6;
	} source, destination;
	bool has_ports;
	uint16_t source_port, destination_port; /* host byte order */
	bool has_icmp;
	uint8_t icmp_type, icmp_code;
	struct refused_dns dns;
};

/* Reads LENGTH bytes that begin with an IP header into PACKET, which is always filled. Pure. */
void refused_packet_parse(const void *bytes, size_t length, struct refused_packet *packet);

/*
 * Reads a DNS message (RFC 1035, 4.1) if it is a query with exactly one question of a known class
 * and nothing that only answers have; else DNS->present is false. The name's labels are joined by
 * dots, the root is "."; bytes in a label that are not visible ASCII, dots, and backslashes are
 * written \xHH, so one text is one name. Pure.
 */
void refused_dns_parse(const void *bytes, size_t length, struct refused_dns *dns);

/* "A", "TXT", ...; NULL for a type that has no common name. */
const char *refused_dns_type(uint16_t type);

/* "tcp", "udp", "icmp", "icmpv6", ...; NULL for a protocol that has no common name. */
const char *refused_packet_protocol(uint8_t protocol);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a refused packet says of itself; see refused_packet.h. */
#include "refused_packet.h"

#include <string.h>

enum {
	IPV4_HEADER = 20,
	IPV6_HEADER = 40,
	MAX_EXTENSIONS = 16, /* a chain longer than any sender's that means well */
	TCP_HEADER = 20,
	UDP_HEADER = 8,
};

/* What is left of the copied bytes. */
struct rest {
	const uint8_t *at;
	size_t length;
};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* Steps over LENGTH bytes; false if that many are not there. */
static bool skip(struct rest *rest, size_t length)
{
	if (rest->length < length)
		return false;
	rest->at += length;
	rest->length -= length;
	return true;
}

static bool is_extension(uint8_t protocol)
{
	return protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
	       protocol == IPPROTO_FRAGMENT || protocol == IPPROTO_DSTOPTS ||
	       protocol == IPPROTO_AH || protocol == IPPROTO_MH;
}

/*
 * Steps over IPv6 extension headers (RFC 8200, 4) to the protocol behind them. False if the copy,
 * or our patience, ended before.
 */
static bool skip_extensions(struct rest *rest, struct refused_packet *packet)
{
	for (int i = 0; is_extension(packet->protocol); i++) {
		uint8_t this = packet->protocol;
		size_t length;

		if (i == MAX_EXTENSIONS || rest->length < 8)
			return false;
		packet->protocol = rest->at[0];
		if (this == IPPROTO_FRAGMENT) {
			length = 8;
			packet->fragment = (get16(rest->at + 2) & 0xfff8) != 0;
		} else if (this == IPPROTO_AH) {
			length = ((size_t)rest->at[1] + 2) *
				 4; /* RFC 4302, 2.2: in 4 bytes, minus 2 */
		} else {
			length = ((size_t)rest->at[1] + 1) * 8;
		}
		if (!skip(rest, length))
			return false;
		if (packet->fragment)
			return true;
	}
	return true;
}

/* DNS over TCP has two bytes of length in front (RFC 1035, 4.2.2). */
static void parse_tcp_payload(struct rest rest, struct refused_packet *packet)
{
	size_t header = (size_t)(rest.at[12] >> 4) * 4;

	if (header >= TCP_HEADER && skip(&rest, header) && rest.length > 2)
		refused_dns_parse(rest.at + 2, rest.length - 2, &packet->dns);
}

static void parse_transport(struct rest rest, struct refused_packet *packet)
{
	uint8_t protocol = packet->protocol;

	if (packet->fragment)
		return;
	switch (protocol) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		packet->cut = rest.length < 4;
		if (packet->cut)
			return;
		packet->has_ports = true;
		packet->source_port = get16(rest.at);
		packet->destination_port = get16(rest.at + 2);
		if (protocol == IPPROTO_TCP && rest.length >= TCP_HEADER)
			parse_tcp_payload(rest, packet);
		if ((protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE) &&
		    skip(&rest, UDP_HEADER))
			refused_dns_parse(rest.at, rest.length, &packet->dns);
		return;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		packet->cut = rest.length < 2;
		if (packet->cut)
			return;
		packet->has_icmp = true;
		packet->icmp_type = rest.at[0];
		packet->icmp_code = rest.at[1];
		return;
	default:
		return;
	}
}

static void parse_ipv4(struct rest rest, struct refused_packet *packet)
{
	size_t header = (size_t)(rest.at[0] & 15) * 4;

	packet->family = AF_INET;
	packet->cut = true;
	if (rest.length < IPV4_HEADER || header < IPV4_HEADER)
		return;
	packet->length = get16(rest.at + 2);
	packet->fragment = (get16(rest.at + 6) & 0x1fff) != 0;
	packet->protocol = rest.at[9];
	memcpy(&packet->source.v4, rest.at + 12, sizeof(packet->source.v4));
	memcpy(&packet->destination.v4, rest.at + 16, sizeof(packet->destination.v4));
	if (!skip(&rest, header))
		return;
	packet->cut = false;
	parse_transport(rest, packet);
}

static void parse_ipv6(struct rest rest, struct refused_packet *packet)
{
	packet->family = AF_INET6;
	packet->cut = true;
	if (rest.length < IPV6_HEADER)
		return;
	packet->length = (uint32_t)get16(rest.at + 4) + IPV6_HEADER;
	packet->protocol = rest.at[6];
	memcpy(&packet->source.v6, rest.at + 8, sizeof(packet->source.v6));
	memcpy(&packet->destination.v6, rest.at + 24, sizeof(packet->destination.v6));
	(void)skip(&rest, IPV6_HEADER);
	if (!skip_extensions(&rest, packet))
		return;
	packet->cut = false;
	parse_transport(rest, packet);
}

void refused_packet_parse(const void *bytes, size_t length, struct refused_packet *packet)
{
	struct rest rest = {bytes, length};

	memset(packet, 0, sizeof(*packet));
	packet->family = AF_UNSPEC;
	packet->cut = length == 0;
	if (length == 0)
		return;
	if (rest.at[0] >> 4 == 4)
		parse_ipv4(rest, packet);
	else if (rest.at[0] >> 4 == 6)
		parse_ipv6(rest, packet);
}

const char *refused_packet_protocol(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_ICMP:
		return "icmp";
	case IPPROTO_ICMPV6:
		return "icmpv6";
	case IPPROTO_UDPLITE:
		return "udplite";
	case IPPROTO_SCTP:
		return "sctp";
	case IPPROTO_DCCP:
		return "dccp";
	case IPPROTO_IGMP:
		return "igmp";
	case IPPROTO_GRE:
		return "gre";
	case IPPROTO_ESP:
		return "esp";
	case IPPROTO_IPIP:
		return "ipip";
	case IPPROTO_IPV6:
		return "ipv6";
	default:
		return NULL;
	}
}

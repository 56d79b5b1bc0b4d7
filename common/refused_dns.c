// SPDX-License-Identifier: GPL-2.0-or-later
/* The DNS question in a refused packet; see refused_packet.h. */
#include <string.h>

#include "refused_packet.h"

enum {
	HEADER = 12,	    /* id, flags, four counts */
	MAX_ADDITIONAL = 2, /* EDNS and a signature (RFC 6891, RFC 8945) */
	MAX_NAME = 255,	    /* on the wire, the root's byte included (RFC 1035, 2.3.4) */
	MAX_LABEL = 63,
};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static char *put_byte(char *out, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";

	if (byte > 0x20 && byte < 0x7f && byte != '.' && byte != '\\') {
		*out++ = (char)byte;
		return out;
	}
	*out++ = '\\';
	*out++ = 'x';
	*out++ = digits[byte >> 4];
	*out++ = digits[byte & 15];
	return out;
}

/* QR 0, opcode QUERY, one question, no answers; a name server's own bits do not matter. */
static bool is_query(const uint8_t *p)
{
	return (p[2] & 0xf8) == 0 && get16(p + 4) == 1 && get16(p + 6) == 0 && get16(p + 8) == 0 &&
	       get16(p + 10) <= MAX_ADDITIONAL;
}

static bool known_class(uint16_t class)
{
	class &=
		0x7fff; /* multicast DNS asks for a unicast answer in the top bit (RFC 6762, 5.4) */
	return class == 1 || class == 3 || class == 4 || class == 255;
}

void refused_dns_parse(const void *bytes, size_t length, struct refused_dns *dns)
{
	const uint8_t *p = bytes, *end = p + length, *name;
	char *out = dns->name;

	memset(dns, 0, sizeof(*dns));
	if (length < HEADER + 1 || !is_query(p))
		return;
	p += HEADER;
	name = p;
	while (p < end && *p != 0) {
		uint8_t label = *p++;

		/* A question has nothing before it that a pointer could point to. */
		if (label > MAX_LABEL || p + label - name >= MAX_NAME)
			return;
		if (out != dns->name)
			*out++ = '.';
		for (; label > 0 && p < end; label--)
			out = put_byte(out, *p++);
	}
	if (p < end) {
		p++;
		if (out == dns->name)
			*out = '.';
	}
	dns->cut = end - p < 4;
	if (!dns->cut && !known_class(get16(p + 2)))
		return;
	if (!dns->cut)
		dns->type = get16(p);
	dns->present = true;
}

const char *refused_dns_type(uint16_t type)
{
	/* IANA's table of resource record types, those that are asked for. */
	static const struct {
		uint16_t type;
		const char *name;
	} types[] = {
		{1, "A"},      {2, "NS"},     {5, "CNAME"},  {6, "SOA"},    {10, "NULL"},
		{12, "PTR"},   {13, "HINFO"}, {15, "MX"},    {16, "TXT"},   {25, "KEY"},
		{28, "AAAA"},  {29, "LOC"},   {33, "SRV"},   {35, "NAPTR"}, {39, "DNAME"},
		{43, "DS"},    {44, "SSHFP"}, {46, "RRSIG"}, {47, "NSEC"},  {48, "DNSKEY"},
		{52, "TLSA"},  {64, "SVCB"},  {65, "HTTPS"}, {99, "SPF"},   {251, "IXFR"},
		{252, "AXFR"}, {255, "ANY"},  {256, "URI"},  {257, "CAA"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == type)
			return types[i].name;
	return NULL;
}

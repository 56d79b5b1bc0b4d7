// SPDX-License-Identifier: GPL-2.0-or-later
/* IPv4 addresses read strictly: one spelling per address, no octal, no shorthand. */
#include "ipv4_address.h"

#include <arpa/inet.h>
#include <stdint.h>

enum ipv4_verdict ipv4_parse(const char *text, size_t length, struct in_addr *address)
{
	uint32_t value = 0;
	size_t i = 0;

	for (int octet = 0; octet < 4; octet++) {
		unsigned number = 0;
		size_t start;

		if (octet > 0 && (i >= length || text[i++] != '.'))
			return IPV4_MALFORMED;
		for (start = i; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
			if (i > start && text[start] == '0')
				return IPV4_MALFORMED; /* 010 is 8 to some readers, 10 to others */
			number = number * 10 + (unsigned)(text[i] - '0');
			if (number > 255)
				return IPV4_MALFORMED;
		}
		if (i == start)
			return IPV4_MALFORMED;
		value = value << 8 | number;
	}
	if (i != length)
		return IPV4_MALFORMED;
	address->s_addr = htonl(value);
	return IPV4_OK;
}

enum ipv4_verdict ipv4_parse_network(const char *text, size_t length, struct in_addr *address,
				     struct in_addr *mask)
{
	size_t slash = 0, digits;
	unsigned bits = 0;

	while (slash < length && text[slash] != '/')
		slash++;
	digits = slash < length ? length - slash - 1 : 0;
	if (digits < 1 || digits > 2 || (digits == 2 && text[slash + 1] == '0'))
		return IPV4_MALFORMED;
	for (size_t i = slash + 1; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return IPV4_MALFORMED;
		bits = bits * 10 + (unsigned)(text[i] - '0');
	}
	if (bits > 32 || ipv4_parse(text, slash, address) != IPV4_OK)
		return IPV4_MALFORMED;
	mask->s_addr = bits == 0 ? 0 : htonl(UINT32_MAX << (32 - bits));
	return (address->s_addr & ~mask->s_addr) == 0 ? IPV4_OK : IPV4_MALFORMED;
}

enum ipv4_verdict ipv4_classify(struct in_addr address)
{
	uint32_t value = ntohl(address.s_addr);

	if (value >> 24 == 0)
		return IPV4_UNSPECIFIED;
	if (value >> 24 == 127)
		return IPV4_LOOPBACK;
	if (value >> 16 == 0xa9fe)
		return IPV4_LINK_LOCAL;
	if (value >> 28 == 0xe)
		return IPV4_MULTICAST;
	if (value >> 28 == 0xf)
		return IPV4_BROADCAST;
	return IPV4_OK;
}

enum ipv4_verdict ipv4_parse_published(const char *text, size_t length, struct in_addr *address)
{
	enum ipv4_verdict verdict;

	if (length > 0 && text[length - 1] == '\n')
		length--;
	verdict = ipv4_parse(text, length, address);
	return verdict == IPV4_OK ? ipv4_classify(*address) : verdict;
}

const char *ipv4_verdict_text(enum ipv4_verdict verdict)
{
	switch (verdict) {
	case IPV4_OK:
		return "an IPv4 address";
	case IPV4_MALFORMED:
		return "not a canonical IPv4 address";
	case IPV4_UNSPECIFIED:
		return "an unspecified address";
	case IPV4_LOOPBACK:
		return "a loopback address";
	case IPV4_LINK_LOCAL:
		return "a link-local address";
	case IPV4_MULTICAST:
		return "a multicast address";
	case IPV4_BROADCAST:
		return "a broadcast or reserved address";
	}
	return "not an address";
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What can be probed, and how it is written; see probe_target.h. */
#include "probe_target.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "host_name.h"
#include "ipv4_address.h"
#include "probe_door.h"

/* The longest nonce label and its dot must fit in front of a DNS name (RFC 1035: 253 in all). */
enum { DNS_NAME_MAX = 253 - 32 };

struct span {
	const char *text;
	size_t length;
};

static bool starts_with(struct span span, const char *word)
{
	return span.length >= strlen(word) && memcmp(span.text, word, strlen(word)) == 0;
}

static struct span skip(struct span span, size_t length)
{
	return (struct span){span.text + length, span.length - length};
}

/* What stands in front of the first byte C; SPAN becomes what stands behind it. */
static bool split(struct span *span, char c, struct span *head)
{
	const char *found = memchr(span->text, c, span->length);

	if (found == NULL)
		return false;
	*head = (struct span){span->text, (size_t)(found - span->text)};
	*span = skip(*span, head->length + 1);
	return true;
}

static bool copy(char *out, size_t size, struct span span)
{
	if (span.length == 0 || span.length >= size)
		return false;
	memcpy(out, span.text, span.length);
	out[span.length] = '\0';
	return true;
}

static bool read_port(struct span span, in_port_t *port)
{
	unsigned number = 0;

	if (span.length == 0 || span.length > 5 || span.text[0] == '0')
		return false;
	for (size_t i = 0; i < span.length; i++) {
		if (span.text[i] < '0' || span.text[i] > '9')
			return false;
		number = number * 10 + (unsigned)(span.text[i] - '0');
	}
	*port = htons((uint16_t)number);
	return number <= 65535;
}

/* "10.0.0.1" or "[fd00::1]", with ":PORT" behind it if PORT is wanted. */
static const char *read_address(struct span span, bool with_port, union probe_address *address)
{
	struct span host = span;
	in_port_t port = 0;
	char text[INET6_ADDRSTRLEN];

	if (starts_with(span, "[")) {
		span = skip(span, 1);
		if (!split(&span, ']', &host) || !copy(text, sizeof(text), host) ||
		    inet_pton(AF_INET6, text, &address->inet6.sin6_addr) != 1)
			return "has no IPv6 address between its brackets";
		address->inet6.sin6_family = AF_INET6;
		if (with_port ? !starts_with(span, ":") : span.length != 0)
			return with_port ? "has no port" : "has something behind the address";
		if (with_port && !read_port(skip(span, 1), &port))
			return "has no port from 1 to 65535";
		address->inet6.sin6_port = port;
		return NULL;
	}
	if (with_port && !split(&span, ':', &host))
		return "has no port";
	if (ipv4_parse(host.text, host.length, &address->inet.sin_addr) != IPV4_OK)
		return "has no canonical IPv4 address, and no IPv6 address in brackets";
	address->inet.sin_family = AF_INET;
	if (with_port && !read_port(span, &port))
		return "has no port from 1 to 65535";
	address->inet.sin_port = port;
	return NULL;
}

/* What stands behind "://" of the kinds with an address. */
static const char *read_internet(struct span span, struct probe_target *target)
{
	bool dns = target->kind == PROBE_DNS || target->kind == PROBE_DNS_TCP;
	struct span front, name;

	if (split(&span, '?', &front)) {
		if (!starts_with(span, "dev=") ||
		    !copy(target->device, sizeof(target->device), skip(span, 4)))
			return "has something other than ?dev=NAME behind its question mark";
		if (strpbrk(target->device, "/:") != NULL)
			return "has no interface name behind ?dev=";
		span = front;
	}
	if (!dns)
		return read_address(span, target->kind != PROBE_ICMP, &target->address);
	if (!split(&span, '/', &front))
		return "has no /NAME to ask for";
	name = span;
	if (host_name_check(name.text, name.length) != HOST_NAME_OK || name.length > DNS_NAME_MAX)
		return "has no DNS name of at most 221 bytes behind its address";
	(void)copy(target->name, sizeof(target->name), name);
	return read_address(front, true, &target->address);
}

/* "HOST:PORT/http://..." */
static const char *read_proxy(struct span span, struct probe_target *target)
{
	struct span server, host;

	if (!split(&span, '/', &server) || !split(&server, ':', &host))
		return "is not http+proxy://HOST:PORT/URL";
	if (ipv4_parse(host.text, host.length, &target->address.inet.sin_addr) != IPV4_OK &&
	    host_name_check(host.text, host.length) != HOST_NAME_OK)
		return "has no host name or IPv4 address of the proxy";
	(void)copy(target->name, sizeof(target->name), host);
	target->address.inet.sin_family = AF_INET;
	if (!read_port(server, &target->address.inet.sin_port))
		return "has no port from 1 to 65535";
	if (!starts_with(span, "http://") || span.length <= strlen("http://") ||
	    !copy(target->url, sizeof(target->url), span))
		return "has no http:// URL behind the proxy (cell-proxycheck asks for https)";
	return NULL;
}

static const char *read_word(struct span span, struct probe_target *target)
{
	switch (target->kind) {
	case PROBE_LOOPBACK:
	case PROBE_POLICY:
		return span.length == 0 ? NULL : "takes nothing behind its colon";
	case PROBE_NAME:
		if (host_name_check(span.text, span.length) != HOST_NAME_OK)
			return "is not name: and a host name";
		break;
	case PROBE_UNIX: /* sun_path has 108 bytes, unix(7) */
		if (span.length > 107 || span.length < 2 || strchr("/@", span.text[0]) == NULL)
			return "is not unix:/PATH or unix:@NAME of at most 107 bytes";
		break;
	default:
		break;
	}
	if (!copy(target->name, sizeof(target->name), span))
		return "has nothing, or too much, behind its colon";
	if (target->kind == PROBE_FAMILY && !probe_family_exists(target->name))
		return "names no socket family that is known here";
	if (target->kind == PROBE_CALL && !probe_call_exists(target->name))
		return "names no call that is known here";
	return NULL;
}

const char *probe_target_parse(const char *text, size_t length, struct probe_target *target)
{
	static const struct {
		const char *prefix;
		const char *(*read)(struct span, struct probe_target *);
		enum probe_kind kind;
		enum probe_expect expect;
	} kinds[] = {
		{"tcp://", read_internet, PROBE_TCP, PROBE_EXPECT_CLOSED},
		{"udp://", read_internet, PROBE_UDP, PROBE_EXPECT_CLOSED},
		{"dns://", read_internet, PROBE_DNS, PROBE_EXPECT_CLOSED},
		{"dns+tcp://", read_internet, PROBE_DNS_TCP, PROBE_EXPECT_CLOSED},
		{"icmp://", read_internet, PROBE_ICMP, PROBE_EXPECT_CLOSED},
		{"family:", read_word, PROBE_FAMILY, PROBE_EXPECT_CLOSED},
		{"unix:", read_word, PROBE_UNIX, PROBE_EXPECT_CLOSED},
		{"call:", read_word, PROBE_CALL, PROBE_EXPECT_CLOSED},
		{"policy:", read_word, PROBE_POLICY, PROBE_EXPECT_CLOSED},
		{"loopback:", read_word, PROBE_LOOPBACK, PROBE_EXPECT_OPEN},
		{"name:", read_word, PROBE_NAME, PROBE_EXPECT_OPEN},
		{"http+proxy://", read_proxy, PROBE_PROXY, PROBE_EXPECT_OPEN},
	};
	struct span whole = {text, length};

	memset(target, 0, sizeof(*target));
	if (length == 0 || length > PROBE_TARGET_MAX)
		return length == 0 ? "is empty" : "is longer than 512 bytes";
	for (size_t i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return "has a byte that is not printable ASCII";
	(void)copy(target->text, sizeof(target->text), whole);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!starts_with(whole, kinds[i].prefix))
			continue;
		target->kind = kinds[i].kind;
		target->expect = kinds[i].expect;
		return kinds[i].read(skip(whole, strlen(kinds[i].prefix)), target);
	}
	return "is of no known kind (see cell-probe(1))";
}

const char *probe_target_family(const struct probe_target *target)
{
	switch (target->kind) {
	case PROBE_TCP:
	case PROBE_UDP:
	case PROBE_DNS:
	case PROBE_DNS_TCP:
	case PROBE_ICMP:
		return target->address.any.sa_family == AF_INET6 ? "inet6" : "inet";
	case PROBE_LOOPBACK:
	case PROBE_PROXY:
		return "inet";
	case PROBE_UNIX:
		return "unix";
	case PROBE_FAMILY:
		return target->name;
	case PROBE_POLICY:
		return "netlink";
	default:
		return NULL;
	}
}

bool probe_target_stays_here(const struct probe_target *target)
{
	const struct in6_addr *inet6 = &target->address.inet6.sin6_addr;

	if (target->kind > PROBE_ICMP || target->device[0] != '\0')
		return false;
	if (target->address.any.sa_family == AF_INET)
		return ntohl(target->address.inet.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(inet6) ||
	       (IN6_IS_ADDR_V4MAPPED(inet6) && inet6->s6_addr[12] == IN_LOOPBACKNET);
}

socklen_t probe_address_length(const union probe_address *address)
{
	return address->any.sa_family == AF_INET6 ? sizeof(address->inet6) : sizeof(address->inet);
}

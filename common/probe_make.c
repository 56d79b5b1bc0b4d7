// SPDX-License-Identifier: GPL-2.0-or-later
/* The ways of trying a target, what each sends, and what counts as its answer; see probe_run.h. */
#include <errno.h>
#include <inttypes.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "http_status.h"
#include "probe_dns.h"
#include "probe_run.h"

enum { MAX_WAYS = 9 };

static const char *const binding_names[] = {"", "SO_BINDTODEVICE", "IP_UNICAST_IF", "IP_PKTINFO"};

static bool holds_nonce(const struct probe_way *way, const unsigned char *answer, size_t length)
{
	return memmem(answer, length, way->nonce, strlen(way->nonce)) != NULL;
}

static void judge_echo(struct probe_way *way, const unsigned char *answer, size_t length)
{
	if (holds_nonce(way, answer, length))
		probe_way_end(way, PROBE_OPEN, 0, "echoed");
}

static void judge_tcp(struct probe_way *way, const unsigned char *answer, size_t length)
{
	int status = http_status(answer, length);

	if (status > 0)
		probe_way_end(way, PROBE_OPEN, 0, "answered HTTP %d", status);
	else
		judge_echo(way, answer, length);
}

static void judge_proxy(struct probe_way *way, const unsigned char *answer, size_t length)
{
	int status = http_status(answer, length);

	if (status == 0)
		probe_way_end(way, PROBE_REFUSED, 0, "answered, but not in HTTP");
	else if (status > 0)
		probe_way_end(way, http_status_is_served(status) ? PROBE_OPEN : PROBE_REFUSED, 0,
			      "answered HTTP %d", status);
}

static void judge_dns(struct probe_way *way, const unsigned char *answer, size_t length)
{
	size_t prefix = way->transport == PROBE_STREAM ? 2 : 0; /* RFC 1035, 4.2.2 */
	int code = probe_dns_answer(answer, length, way->request + prefix,
				    way->request_length - prefix);

	if (code < 0)
		return;
	/* A resolver in the cell answers whatever the policy; its code tells about its upstream. */
	if (way->family == AF_INET && (ntohl(way->address.inet.sin_addr.s_addr) >> 24) == 127)
		probe_way_end(way, PROBE_OPEN, 0, "answers locally with %s; its own upstream is %s",
			      probe_dns_code_name(code),
			      code == 2 ? "closed" : "open, or not needed");
	else
		probe_way_end(way, PROBE_OPEN, 0, "answered %s", probe_dns_code_name(code));
}

static void judge_dns_stream(struct probe_way *way, const unsigned char *answer, size_t length)
{
	size_t wanted = length < 2 ? 0 : (size_t)answer[0] << 8 | answer[1];

	/* A long answer is judged by what fits: the question is at its beginning. */
	if (length >= 2 && (length - 2 >= wanted || length == sizeof(way->answer)))
		judge_dns(way, answer + 2, length - 2);
}

static void judge_icmp(struct probe_way *way, const unsigned char *answer, size_t length)
{
	bool inet6 = way->family == AF_INET6;
	size_t header = 0;

	if (way->socket_type == SOCK_RAW && !inet6 && length > 0)
		header = (size_t)(answer[0] & 0x0f) * 4; /* raw(7): with the IPv4 header */
	if (length < header + sizeof(struct icmphdr) ||
	    answer[header] != (inet6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY))
		return;
	if (holds_nonce(way, answer + header, length - header))
		probe_way_end(way, PROBE_OPEN, 0, "echo reply");
}

static uint16_t internet_checksum(const unsigned char *bytes, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i++)
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* An echo request; the kernel fills in the id of ping sockets and the checksum of ICMPv6. */
static void make_icmp(struct probe_way *way)
{
	unsigned char *packet = way->request;
	uint16_t sum;

	packet[0] = way->family == AF_INET6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO;
	memcpy(packet + 4, way->nonce, 2); /* any id */
	packet[7] = 1;			   /* sequence */
	memcpy(packet + 8, way->nonce, strlen(way->nonce));
	way->request_length = 8 + strlen(way->nonce);
	sum = internet_checksum(packet, way->request_length);
	packet[2] = (unsigned char)(sum >> 8);
	packet[3] = (unsigned char)sum;
	way->judge = judge_icmp;
}

static void make_dns(struct probe_way *way)
{
	bool stream = way->transport == PROBE_STREAM;
	unsigned char *packet = way->request + (stream ? 2 : 0);
	uint16_t id = (uint16_t)strtoul(way->nonce + strlen(way->nonce) - 4, NULL, 16);
	size_t length = probe_dns_question(packet, sizeof(way->request) - 2, id, way->nonce,
					   way->target->name, way->query_type);

	if (stream) {
		way->request[0] = (unsigned char)(length >> 8);
		way->request[1] = (unsigned char)length;
	}
	way->request_length = length + (stream ? 2 : 0);
	way->judge = stream ? judge_dns_stream : judge_dns;
}

static void make_request(struct probe_way *way)
{
	const char *url = way->target->url + strlen("http://");
	char *out = (char *)way->request;
	int length;

	switch (way->target->kind) {
	case PROBE_UDP:
	case PROBE_LOOPBACK:
		length = snprintf(out, sizeof(way->request), "%s\n", way->nonce);
		way->judge = judge_echo;
		break;
	case PROBE_TCP: /* an echo server sends it back, a web server answers it */
		length = snprintf(out, sizeof(way->request),
				  "GET /%s HTTP/1.1\r\nHost: cell-probe\r\n"
				  "Connection: close\r\n\r\n",
				  way->nonce);
		way->judge = judge_tcp;
		break;
	case PROBE_PROXY:
		length = snprintf(out, sizeof(way->request),
				  "GET %s HTTP/1.1\r\nHost: %.*s\r\nUser-Agent: cell-probe %s\r\n"
				  "Connection: close\r\n\r\n",
				  way->target->url, (int)strcspn(url, "/?#"), url, way->nonce);
		way->judge = judge_proxy;
		break;
	case PROBE_ICMP:
		make_icmp(way);
		return;
	case PROBE_DNS:
	case PROBE_DNS_TCP:
		make_dns(way);
		return;
	default:
		return;
	}
	way->request_length = (size_t)length;
}

/* A new way of PROBE in the defaults of its kind; the name is put together later. */
static struct probe_way *add_way(struct probe *probe, const struct probe_settings *settings,
				 enum probe_transport transport)
{
	struct probe_way *way = &probe->ways[probe->ways_count++];

	way->target = &probe->target;
	way->settings = settings;
	way->transport = transport;
	way->fd = -1;
	way->address = probe->target.address;
	way->family = way->address.any.sa_family;
	way->socket_type = transport == PROBE_STREAM ? SOCK_STREAM : SOCK_DGRAM;
	(void)snprintf(way->nonce, sizeof(way->nonce), "c%016" PRIx64,
		       probe->seed + probe->ways_count);
	return way;
}

static void finish_way(struct probe_way *way, const char *what)
{
	const char *by = binding_names[way->binding];

	(void)snprintf(way->name, sizeof(way->name), "%s%s%s", what,
		       what[0] != '\0' && by[0] != '\0' ? " by " : "", by);
	make_request(way);
}

/* The ways with an address: every query or socket type, times every binding it can have. */
static void make_internet(struct probe *probe, const struct probe_settings *settings)
{
	static const struct {
		const char *name;
		uint16_t type;
	} queries[] = {{"A", PROBE_DNS_A}, {"AAAA", PROBE_DNS_AAAA}, {"TXT", PROBE_DNS_TXT}};
	static const struct {
		const char *name;
		int type;
	} icmp[] = {{"ping socket", SOCK_DGRAM}, {"raw socket", SOCK_RAW}};
	enum probe_kind kind = probe->target.kind;
	bool stream = kind == PROBE_TCP || kind == PROBE_DNS_TCP;
	bool bound = probe->target.device[0] != '\0',
	     dns = kind == PROBE_DNS || kind == PROBE_DNS_TCP;
	size_t forms = dns ? 3 : kind == PROBE_ICMP ? 2 : 1;
	int first = bound ? PROBE_BIND_DEVICE : PROBE_UNBOUND;
	/* ip(7): the other two bindings are for datagrams. */
	int last = bound && !stream ? PROBE_PKTINFO : first;

	for (size_t form = 0; form < forms; form++)
		for (int binding = first; binding <= last; binding++) {
			struct probe_way *way =
				add_way(probe, settings, stream ? PROBE_STREAM : PROBE_DATAGRAM);
			bool inet6 = way->family == AF_INET6;

			way->binding = (enum probe_binding)binding;
			if (kind == PROBE_ICMP) {
				way->socket_type = icmp[form].type;
				way->protocol = inet6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
			}
			way->query_type = dns ? queries[form].type : 0;
			finish_way(way, dns		     ? queries[form].name
					: kind == PROBE_ICMP ? icmp[form].name
							     : "");
		}
}

static void make_loopback(struct probe *probe, const struct probe_settings *settings)
{
	probe->target.address.inet = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	finish_way(add_way(probe, settings, PROBE_DATAGRAM), "udp");
	finish_way(add_way(probe, settings, PROBE_STREAM), "tcp");
}

int probe_make_ways(struct probe *probe, const struct probe_settings *settings)
{
	probe->ways = calloc(MAX_WAYS, sizeof(*probe->ways));
	if (probe->ways == NULL ||
	    getrandom(&probe->seed, sizeof(probe->seed), 0) != sizeof(probe->seed))
		return -1;
	switch (probe->target.kind) {
	case PROBE_TCP:
	case PROBE_UDP:
	case PROBE_DNS:
	case PROBE_DNS_TCP:
	case PROBE_ICMP:
		make_internet(probe, settings);
		break;
	case PROBE_LOOPBACK:
		make_loopback(probe, settings);
		break;
	case PROBE_POLICY:
		finish_way(add_way(probe, settings, PROBE_AT_ONCE), "nftables");
		finish_way(add_way(probe, settings, PROBE_AT_ONCE), "route");
		break;
	case PROBE_PROXY:
		finish_way(add_way(probe, settings, PROBE_STREAM), "");
		probe_way_resolve(&probe->ways[0]);
		break;
	default:
		finish_way(add_way(probe, settings, PROBE_AT_ONCE), "");
		break;
	}
	return 0;
}

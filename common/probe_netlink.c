// SPDX-License-Identifier: GPL-2.0-or-later
/* What rtnetlink tells anybody, and what it and nf_tables refuse; see probe_netlink.h,
 * probe_door.h.
 */
#include "probe_netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "probe_door.h"

enum { LOOPBACK_INDEX = 1 }; /* in every network namespace: lo is its first device */

/* One request, header first, built up by put(). */
struct request {
	struct nlmsghdr header;
	char rest[256];
};

static void *put(void *packet, size_t *length, const void *bytes, size_t size)
{
	char *at = (char *)packet + NLMSG_ALIGN(*length);

	memcpy(at, bytes, size);
	*length = NLMSG_ALIGN(*length) + size;
	return at;
}

static int netlink_open(int protocol)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
}

static int netlink_send(int fd, const void *bytes, size_t length)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	return sendto(fd, bytes, length, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0
		       ? -1
		       : 0;
}

/* Asks for a dump and hands every message of it to TAKE. 0, or -1 with errno. */
static int netlink_dump(uint16_t type, const void *body, size_t size,
			void (*take)(struct nlmsghdr *, void *), void *context)
{
	static _Alignas(struct nlmsghdr) char answer[32768];
	struct request request = {
		.header = {.nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP}};
	size_t length = sizeof(request.header);
	autoclose fd = netlink_open(NETLINK_ROUTE);

	(void)put(&request, &length, body, size);
	request.header.nlmsg_len = (uint32_t)length;
	if (fd < 0 || netlink_send(fd, &request, length) != 0)
		return -1;
	for (;;) {
		ssize_t got = recv(fd, answer, sizeof(answer), 0);
		struct nlmsghdr *message = (struct nlmsghdr *)answer;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		for (unsigned left = (unsigned)got; NLMSG_OK(message, left);
		     message = NLMSG_NEXT(message, left)) {
			if (message->nlmsg_type == NLMSG_DONE)
				return 0;
			if (message->nlmsg_type == NLMSG_ERROR) {
				const struct nlmsgerr *error = NLMSG_DATA(message);

				errno = -error->error;
				return -1;
			}
			take(message, context);
		}
	}
}

static void add_counters(struct nlmsghdr *message, void *context)
{
	struct probe_counters *counters = context;
	struct if_stats_msg *body = NLMSG_DATA(message);
	struct rtattr *attribute =
		(struct rtattr *)(void *)((char *)body + NLMSG_ALIGN(sizeof(*body)));
	unsigned left = (unsigned)NLMSG_PAYLOAD(message, sizeof(*body));

	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		struct rtnl_link_stats64 stats;

		if (attribute->rta_type != IFLA_STATS_LINK_64 ||
		    RTA_PAYLOAD(attribute) < sizeof(stats))
			continue;
		memcpy(&stats, RTA_DATA(attribute), sizeof(stats));
		if (body->ifindex == LOOPBACK_INDEX)
			counters->loopback += stats.tx_packets;
		else
			counters->others += stats.tx_packets + stats.rx_packets;
	}
}

struct probe_counters probe_counters_read(void)
{
	const struct if_stats_msg body = {.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)};
	struct probe_counters counters = {.known = false};

	counters.known =
		netlink_dump(RTM_GETSTATS, &body, sizeof(body), add_counters, &counters) == 0;
	return counters;
}

bool probe_counters_quiet(const struct probe_counters *before, const struct probe_counters *after)
{
	return before->known && after->known && before->others == after->others &&
	       after->loopback - before->loopback <= 1;
}

struct gateways {
	union probe_address *items;
	size_t size, count;
};

static void add_gateway(struct nlmsghdr *message, void *context)
{
	struct gateways *gateways = context;
	struct rtmsg *route = NLMSG_DATA(message);
	struct rtattr *attribute = RTM_RTA(route);
	unsigned left = (unsigned)RTM_PAYLOAD(message);

	if (message->nlmsg_type != RTM_NEWROUTE || route->rtm_dst_len != 0 ||
	    route->rtm_table != RT_TABLE_MAIN)
		return;
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		union probe_address *address = &gateways->items[gateways->count];

		if (attribute->rta_type != RTA_GATEWAY || gateways->count >= gateways->size)
			continue;
		memset(address, 0, sizeof(*address));
		address->any.sa_family = route->rtm_family;
		if (route->rtm_family == AF_INET &&
		    RTA_PAYLOAD(attribute) == sizeof(address->inet.sin_addr))
			memcpy(&address->inet.sin_addr, RTA_DATA(attribute), 4);
		else if (route->rtm_family == AF_INET6 &&
			 RTA_PAYLOAD(attribute) == sizeof(address->inet6.sin6_addr))
			memcpy(&address->inet6.sin6_addr, RTA_DATA(attribute), 16);
		else
			continue;
		gateways->count++;
	}
}

int probe_gateways_read(union probe_address *gateways, size_t size)
{
	struct gateways found = {gateways, size, 0};
	const unsigned char families[] = {AF_INET, AF_INET6};

	for (size_t i = 0; i < sizeof(families); i++) {
		const struct rtmsg body = {.rtm_family = families[i]};

		if (netlink_dump(RTM_GETROUTE, &body, sizeof(body), add_gateway, &found) != 0)
			return -1;
	}
	return (int)found.count;
}

/*
 * The acknowledgement's errno; the kernel answers within the send. 0 also for "no such thing",
 * which only somebody who may change things is told.
 */
static int acknowledgement(int fd)
{
	_Alignas(struct nlmsghdr) char answer[1024];
	ssize_t got = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	struct nlmsghdr *message = (struct nlmsghdr *)answer;

	if (got < 0)
		return errno;
	if (!NLMSG_OK(message, (unsigned)got) || message->nlmsg_type != NLMSG_ERROR)
		return EBADMSG;
	switch (-((const struct nlmsgerr *)NLMSG_DATA(message))->error) {
	case 0:
	case ENOENT:
	case ENODEV:
		return 0;
	default:
		return -((const struct nlmsgerr *)NLMSG_DATA(message))->error;
	}
}

/* RTM_DELLINK of a device index that no device can have by chance. */
static int try_route(void)
{
	const struct ifinfomsg body = {.ifi_family = AF_UNSPEC, .ifi_index = 0x7ffffff1};
	struct request request = {
		.header = {.nlmsg_type = RTM_DELLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK}};
	size_t length = sizeof(request.header);
	autoclose fd = netlink_open(NETLINK_ROUTE);

	(void)put(&request, &length, &body, sizeof(body));
	request.header.nlmsg_len = (uint32_t)length;
	if (fd < 0 || netlink_send(fd, &request, length) != 0)
		return errno;
	return acknowledgement(fd);
}

/* Appends a message of TYPE for subsystem RESOURCE to the batch; its header, to be finished. */
static struct nlmsghdr *put_message(char *batch, size_t *length, uint16_t type, uint16_t flags,
				    uint8_t family, uint16_t resource)
{
	const struct nlmsghdr header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct nfgenmsg)),
					.nlmsg_type = type,
					.nlmsg_flags = NLM_F_REQUEST | flags};
	const struct nfgenmsg body = {
		.nfgen_family = family, .version = NFNETLINK_V0, .res_id = htons(resource)};
	struct nlmsghdr *message = put(batch, length, &header, sizeof(header));

	(void)put(batch, length, &body, sizeof(body));
	return message;
}

/* A batch that deletes a table that is not there: the kernel gives the whole batch up. */
static int try_nftables(const char *nonce)
{
	_Alignas(struct nlmsghdr) char batch[512] = {0};
	char table[64];
	size_t length = 0;
	struct nlmsghdr *message;
	struct rtattr name = {.rta_type = NFTA_TABLE_NAME};
	autoclose fd = netlink_open(NETLINK_NETFILTER);

	if (fd < 0)
		return errno;
	(void)snprintf(table, sizeof(table), "cell_probe_%s", nonce);
	(void)put_message(batch, &length, NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	message = put_message(batch, &length, NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_DELTABLE,
			      NLM_F_ACK, NFPROTO_INET, 0);
	name.rta_len = (unsigned short)RTA_LENGTH(strlen(table) + 1);
	(void)put(batch, &length, &name, sizeof(name));
	(void)put(batch, &length, table, strlen(table) + 1);
	message->nlmsg_len = (uint32_t)(batch + length - (char *)message);
	(void)put_message(batch, &length, NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
	if (netlink_send(fd, batch, length) != 0)
		return errno;
	return acknowledgement(fd);
}

int probe_policy_try(bool route, const char *nonce)
{
	return route ? try_route() : try_nftables(nonce);
}

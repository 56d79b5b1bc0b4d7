// SPDX-License-Identifier: GPL-2.0-or-later
/* The devices of this network namespace; see network_links.h. */
#include "network_links.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "netlink_dump.h"

/* uapi/linux/bpf.h: BPF_PROG_QUERY, and attach types that older headers do not name. */
enum { PROG_QUERY = 16, TCX_INGRESS = 46, TCX_EGRESS = 47, NETKIT_PRIMARY = 54, NETKIT_PEER = 55 };

static void get_name(const struct nlattr *attribute, char *name, size_t size)
{
	size_t length;

	name[0] = '\0';
	if (attribute == NULL)
		return;
	length = strnlen(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute));
	if (length >= size)
		length = size - 1;
	memcpy(name, mnl_attr_get_payload(attribute), length);
	name[length] = '\0';
}

static int each_link(const struct nlmsghdr *message, void *data)
{
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
	struct network_links *links = data;
	struct netlink_attributes a = {0}, xdp = {0};
	struct network_link *link;

	if (mnl_attr_parse(message, sizeof(*header), netlink_collect, &a) < 0)
		return MNL_CB_ERROR;
	link = reallocarray(links->links, links->count + 1, sizeof(*link));
	if (link == NULL)
		return MNL_CB_ERROR;
	links->links = link;
	link += links->count++;
	memset(link, 0, sizeof(*link));
	link->index = (unsigned int)header->ifi_index;
	get_name(a.at[IFLA_IFNAME], link->name, sizeof(link->name));
	get_name(a.at[IFLA_PARENT_DEV_NAME], link->parent, sizeof(link->parent));
	if (a.at[IFLA_XDP] != NULL) {
		if (mnl_attr_parse_nested(a.at[IFLA_XDP], netlink_collect, &xdp) < 0)
			return MNL_CB_ERROR;
		link->xdp = xdp.at[IFLA_XDP_ATTACHED] != NULL &&
			    mnl_attr_get_u8(xdp.at[IFLA_XDP_ATTACHED]) != XDP_ATTACHED_NONE;
	}
	return MNL_CB_OK;
}

int network_links_read(struct network_links *links)
{
	char buffer[NETLINK_REQUEST_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	int result = -1;

	memset(links, 0, sizeof(*links));
	for (int i = 0; i < 10 && result != 0; i++) {
		struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);

		network_links_release(links);
		request->nlmsg_type = RTM_GETLINK;
		request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
		(void)mnl_nlmsg_put_extra_header(request, sizeof(struct ifinfomsg));
		result = netlink_dump(NETLINK_ROUTE, request, each_link, links);
		if (result != 0 && errno != EINTR)
			break;
	}
	if (result != 0)
		network_links_release(links);
	return result;
}

static struct network_link *find_link(struct network_links *links, int index)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->links[i].index == (unsigned int)index)
			return links->links + i;
	return NULL;
}

/* The qdiscs of all devices, to be asked for their filters one by one. */
struct disciplines {
	struct network_links *links;
	struct tcmsg *list;
	size_t count;
};

static int each_discipline(const struct nlmsghdr *message, void *data)
{
	const struct tcmsg *header = mnl_nlmsg_get_payload(message);
	struct disciplines *disciplines = data;
	struct network_link *link = find_link(disciplines->links, header->tcm_ifindex);
	struct netlink_attributes a = {0};
	struct tcmsg *grown;
	char kind[16];

	if (mnl_attr_parse(message, sizeof(*header), netlink_collect, &a) < 0)
		return MNL_CB_ERROR;
	grown = reallocarray(disciplines->list, disciplines->count + 1, sizeof(*grown));
	if (grown == NULL)
		return MNL_CB_ERROR;
	disciplines->list = grown;
	grown[disciplines->count++] = *header;
	get_name(a.at[TCA_KIND], kind, sizeof(kind));
	if (link != NULL && (strcmp(kind, "clsact") == 0 || strcmp(kind, "ingress") == 0))
		memcpy(link->hook, kind, sizeof(kind));
	return MNL_CB_OK;
}

static int each_filter(const struct nlmsghdr *message, void *data)
{
	(void)message;
	*(bool *)data = true;
	return MNL_CB_OK;
}

static struct nlmsghdr *traffic_request(char *buffer, uint16_t type, int index, uint32_t parent)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct tcmsg *header;

	request->nlmsg_type = type;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	header = mnl_nlmsg_put_extra_header(request, sizeof(*header));
	header->tcm_family = AF_UNSPEC;
	header->tcm_ifindex = index;
	header->tcm_parent = parent;
	return request;
}

static int inspect_filters(struct network_links *links)
{
	char buffer[NETLINK_REQUEST_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct disciplines disciplines = {.links = links};
	int result = netlink_dump(NETLINK_ROUTE, traffic_request(buffer, RTM_GETQDISC, 0, 0),
				  each_discipline, &disciplines);

	for (size_t i = 0; i < disciplines.count && result == 0; i++) {
		const struct tcmsg *one = disciplines.list + i;
		struct network_link *link = find_link(links, one->tcm_ifindex);

		/* Handle 0 is a default qdisc, which has no place for filters. */
		if (link == NULL || one->tcm_handle == 0)
			continue;
		result = netlink_dump(
			NETLINK_ROUTE,
			traffic_request(buffer, RTM_GETTFILTER, one->tcm_ifindex, one->tcm_handle),
			each_filter, &link->filtered);
		/* One that has no filters at all says so in these ways. */
		if (result != 0 && (errno == EOPNOTSUPP || errno == EINVAL || errno == ENOENT))
			result = 0;
	}
	free(disciplines.list);
	return result;
}

/* Programs of one attach type on one device: bpf(2), BPF_PROG_QUERY. */
static void inspect_programs(struct network_link *link, uint32_t attach_type)
{
	struct {
		uint32_t target, attach_type, query_flags, attach_flags;
		uint64_t ids;
		uint32_t count, pad;
		uint64_t id_flags, link_ids, link_flags, revision;
	} query = {.target = link->index, .attach_type = attach_type};

	if (syscall(SYS_bpf, PROG_QUERY, &query, sizeof(query)) == 0 || errno == ENOSPC)
		link->tcx += query.count;
	else if (errno == EPERM || errno == EACCES)
		link->tcx_unknown = true;
	/* EINVAL, ENOSYS: no such programs in this kernel; ENOENT: none on this device. */
}

int network_links_inspect(struct network_links *links)
{
	static const uint32_t types[] = {TCX_INGRESS, TCX_EGRESS, NETKIT_PRIMARY, NETKIT_PEER};

	for (size_t i = 0; i < links->count; i++)
		for (size_t j = 0; j < sizeof(types) / sizeof(types[0]); j++)
			inspect_programs(links->links + i, types[j]);
	return inspect_filters(links);
}

void network_links_release(struct network_links *links)
{
	int saved = errno;

	free(links->links);
	memset(links, 0, sizeof(*links));
	errno = saved;
}

const struct network_link *network_links_hardware(const struct network_links *links)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->links[i].parent[0] != '\0')
			return links->links + i;
	return NULL;
}

struct route {
	unsigned char type;
	unsigned int device;
};

static int each_route(const struct nlmsghdr *message, void *data)
{
	const struct rtmsg *header = mnl_nlmsg_get_payload(message);
	struct route *route = data;
	struct netlink_attributes a = {0};

	if (mnl_attr_parse(message, sizeof(*header), netlink_collect, &a) < 0)
		return MNL_CB_ERROR;
	route->type = header->rtm_type;
	if (a.at[RTA_OIF] != NULL && mnl_attr_get_payload_len(a.at[RTA_OIF]) == sizeof(uint32_t))
		route->device = mnl_attr_get_u32(a.at[RTA_OIF]);
	return MNL_CB_OK;
}

enum network_route network_route_device(struct in_addr address, char device[IF_NAMESIZE])
{
	char buffer[NETLINK_REQUEST_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct network_links links;
	struct route route = {0};
	struct rtmsg *header;
	const struct network_link *link;

	request->nlmsg_type = RTM_GETROUTE;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	header = mnl_nlmsg_put_extra_header(request, sizeof(*header));
	header->rtm_family = AF_INET;
	header->rtm_dst_len = 32;
	mnl_attr_put(request, RTA_DST, sizeof(address), &address);
	if (netlink_dump(NETLINK_ROUTE, request, each_route, &route) != 0)
		return errno == ENETUNREACH || errno == EHOSTUNREACH || errno == EACCES ||
				       errno == EINVAL
			       ? NETWORK_ROUTE_NONE
			       : NETWORK_ROUTE_FAILED;
	if (route.type == RTN_LOCAL)
		return NETWORK_ROUTE_LOCAL;
	if (route.type != RTN_UNICAST)
		return NETWORK_ROUTE_NONE;
	if (network_links_read(&links) != 0)
		return NETWORK_ROUTE_FAILED;
	link = find_link(&links, (int)route.device);
	if (link != NULL)
		memcpy(device, link->name, IF_NAMESIZE);
	network_links_release(&links);
	return link != NULL ? NETWORK_ROUTE_OK : NETWORK_ROUTE_NONE;
}

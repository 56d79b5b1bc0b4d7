// SPDX-License-Identifier: GPL-2.0-or-later
/* The policy's counters and generation; see watch_tables.h. Linux: net/netfilter/nf_tables_api.c */
#include "watch_tables.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>
#include <time.h>

enum {
	READ_BYTES = 64 * 1024,
	ATTEMPTS = 20, /* at a list that changed while it was read */
};

struct mnl_socket *watch_tables_open(void)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);

	if (socket == NULL || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) == 0)
		return socket;

	int saved = errno;

	(void)mnl_socket_close(socket);
	errno = saved;
	return NULL;
}

/* The head of a question to nf_tables in BUFFER. */
static struct nlmsghdr *put_question(char *buffer, uint16_t type, uint16_t flags, uint8_t family)
{
	static uint32_t sequence;
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	struct nfgenmsg *head;

	message->nlmsg_type = (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | type);
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	message->nlmsg_seq = ++sequence;
	head = mnl_nlmsg_put_extra_header(message, sizeof(*head));
	head->nfgen_family = family;
	head->version = NFNETLINK_V0;
	head->res_id = 0;
	return message;
}

/* Sends MESSAGE and gives each answer to CALLBACK. 0, or -1 with errno. */
static int ask(struct mnl_socket *socket, const struct nlmsghdr *message, mnl_cb_t callback,
	       void *context)
{
	static char buffer[READ_BYTES] __attribute__((aligned(8)));
	unsigned int port = mnl_socket_get_portid(socket);
	int more = MNL_CB_OK;

	if (mnl_socket_sendto(socket, message, message->nlmsg_len) < 0)
		return -1;
	while (more > MNL_CB_STOP) {
		ssize_t length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return -1;
		more = mnl_cb_run(buffer, (size_t)length, message->nlmsg_seq, port, callback,
				  context);
	}
	return more < 0 ? -1 : 0;
}

static int take_generation(const struct nlmsghdr *message, void *context)
{
	struct nlattr *attribute;
	uint32_t *generation = context;

	mnl_attr_for_each(attribute, message, sizeof(struct nfgenmsg))
	{
		if (mnl_attr_get_type(attribute) == NFTA_GEN_ID &&
		    mnl_attr_get_payload_len(attribute) >= sizeof(*generation))
			*generation = ntohl(mnl_attr_get_u32(attribute));
	}
	return MNL_CB_OK;
}

int watch_tables_generation(struct mnl_socket *socket, uint32_t *generation)
{
	char buffer[256] __attribute__((aligned(8)));
	struct nlmsghdr *message = put_question(buffer, NFT_MSG_GETGEN, NLM_F_ACK, AF_UNSPEC);

	return ask(socket, message, take_generation, generation);
}

struct counters {
	uint64_t *packets;
	int found;
};

/* The packet count in the nested data of a counter object; 0 if it is not there. */
static uint64_t packets_in(const struct nlattr *data)
{
	struct nlattr *attribute;
	uint64_t packets = 0;

	mnl_attr_for_each_nested(attribute, data)
	{
		if (mnl_attr_get_type(attribute) == NFTA_COUNTER_PACKETS &&
		    mnl_attr_get_payload_len(attribute) >= sizeof(packets))
			packets = be64toh(mnl_attr_get_u64(attribute));
	}
	return packets;
}

static int take_counter(const struct nlmsghdr *message, void *context)
{
	struct counters *counters = context;
	struct nlattr *attribute;
	const struct nlattr *name = NULL, *data = NULL;
	enum watch_class class;

	mnl_attr_for_each(attribute, message, sizeof(struct nfgenmsg))
	{
		if (mnl_attr_get_type(attribute) == NFTA_OBJ_NAME)
			name = attribute;
		if (mnl_attr_get_type(attribute) == NFTA_OBJ_DATA)
			data = attribute;
	}
	if (name == NULL || data == NULL)
		return MNL_CB_OK;
	class = watch_class_find(mnl_attr_get_payload(name), mnl_attr_get_payload_len(name));
	if (class < WATCH_COUNTED) {
		counters->packets[class] = packets_in(data);
		counters->found++;
	}
	return MNL_CB_OK;
}

int watch_tables_counters(struct mnl_socket *socket, const char *table,
			  uint64_t packets[static WATCH_COUNTED])
{
	const struct timespec pause = {0, 2000000};
	char buffer[512] __attribute__((aligned(8)));

	for (int i = 0; i < ATTEMPTS; i++) {
		struct counters counters = {packets, 0};
		struct nlmsghdr *message =
			put_question(buffer, NFT_MSG_GETOBJ, NLM_F_DUMP, NFPROTO_INET);

		memset(packets, 0, WATCH_COUNTED * sizeof(packets[0]));
		if (!mnl_attr_put_u32_check(message, sizeof(buffer), NFTA_OBJ_TYPE,
					    htonl(NFT_OBJECT_COUNTER)) ||
		    !mnl_attr_put_strz_check(message, sizeof(buffer), NFTA_OBJ_TABLE, table)) {
			errno = ENAMETOOLONG;
			return -1;
		}
		if (ask(socket, message, take_counter, &counters) == 0)
			return counters.found;
		/* The kernel's list was changed between two pieces of it (NLM_F_DUMP_INTR). */
		if (errno != EINTR)
			return -1;
		(void)nanosleep(&pause, NULL);
	}
	errno = EBUSY;
	return -1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Each change of the ruleset as it is made; see watch_tables.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

#include "watch_tables.h"

enum { READ_BYTES = 64 * 1024, QUEUE_BYTES = 1024 * 1024 };

struct mnl_socket *watch_changes_open(void)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	int group = NFNLGRP_NFTABLES, bytes = QUEUE_BYTES, saved;

	if (socket == NULL)
		return NULL;
	(void)setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVBUFFORCE, &bytes,
			 sizeof(bytes));
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) == 0 &&
	    mnl_socket_setsockopt(socket, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) == 0 &&
	    fcntl(mnl_socket_get_fd(socket), F_SETFL, O_NONBLOCK) == 0)
		return socket;
	saved = errno;
	(void)mnl_socket_close(socket);
	errno = saved;
	return NULL;
}

/* Copies a netlink string, which may lack its NUL, into a buffer of SIZE bytes. */
static void copy_text(char *to, size_t size, const struct nlattr *attribute)
{
	size_t length = mnl_attr_get_payload_len(attribute);

	if (length > size - 1)
		length = size - 1;
	memcpy(to, mnl_attr_get_payload(attribute), length);
	to[length] = '\0';
}

static void note_table(struct watch_change *change, uint8_t family, const struct nlattr *attribute)
{
	char name[WATCH_TABLE_NAME];

	copy_text(name, sizeof(name), attribute);
	for (uint32_t i = 0; i < change->tables && i < WATCH_TABLES; i++)
		if (change->table[i].family == family && strcmp(change->table[i].name, name) == 0)
			return;
	if (change->tables < WATCH_TABLES) {
		change->table[change->tables].family = family;
		memcpy(change->table[change->tables].name, name, sizeof(name));
	}
	if (change->tables <= WATCH_TABLES)
		change->tables++;
}

static void read_end(const struct nlmsghdr *message, struct watch_change *change)
{
	struct nlattr *attribute;

	mnl_attr_for_each(attribute, message, sizeof(struct nfgenmsg))
	{
		size_t length = mnl_attr_get_payload_len(attribute);

		switch (mnl_attr_get_type(attribute)) {
		case NFTA_GEN_ID:
			change->generation = length >= 4 ? ntohl(mnl_attr_get_u32(attribute)) : 0;
			break;
		case NFTA_GEN_PROC_PID:
			change->process = length >= 4 ? ntohl(mnl_attr_get_u32(attribute)) : 0;
			break;
		case NFTA_GEN_PROC_NAME:
			copy_text(change->program, sizeof(change->program), attribute);
			break;
		default:
			break;
		}
	}
}

/* Adds one message to CHANGE; true if it was the transaction's last. */
static bool add_message(const struct nlmsghdr *message, struct watch_change *change)
{
	unsigned int kind = message->nlmsg_type & 0xff;
	const struct nfgenmsg *head;
	struct nlattr *attribute;

	if (message->nlmsg_type >> 8 != NFNL_SUBSYS_NFTABLES ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(*head))
		return false;
	if (kind == NFT_MSG_NEWGEN) {
		read_end(message, change);
		return true;
	}
	if (kind < WATCH_KINDS)
		change->kinds[kind]++;
	head = mnl_nlmsg_get_payload(message);
	/* Each type but the generation's names its table first (NFTA_TABLE_NAME and others are 1).
	 */
	mnl_attr_for_each(attribute, message, sizeof(*head))
	{
		if (mnl_attr_get_type(attribute) == 1)
			note_table(change, head->nfgen_family, attribute);
	}
	return false;
}

int watch_changes_read(struct mnl_socket *socket, struct watch_change *change,
		       watch_change_handler *handler, void *context)
{
	static char buffer[READ_BYTES] __attribute__((aligned(8)));

	for (;;) {
		ssize_t received = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;
		int length = (int)received;

		if (received < 0 && errno == EINTR)
			continue;
		if (received < 0)
			return errno == EAGAIN ? 0 : -1;
		for (; mnl_nlmsg_ok(message, length); message = mnl_nlmsg_next(message, &length))
			if (add_message(message, change)) {
				handler(change, context);
				memset(change, 0, sizeof(*change));
			}
	}
}

const char *watch_change_kind(unsigned int kind)
{
	static const char *const names[] = {
		[NFT_MSG_NEWTABLE] = "newtable",
		[NFT_MSG_DELTABLE] = "deltable",
		[NFT_MSG_NEWCHAIN] = "newchain",
		[NFT_MSG_DELCHAIN] = "delchain",
		[NFT_MSG_NEWRULE] = "newrule",
		[NFT_MSG_DELRULE] = "delrule",
		[NFT_MSG_NEWSET] = "newset",
		[NFT_MSG_DELSET] = "delset",
		[NFT_MSG_NEWSETELEM] = "newelement",
		[NFT_MSG_DELSETELEM] = "delelement",
		[NFT_MSG_NEWOBJ] = "newobject",
		[NFT_MSG_DELOBJ] = "delobject",
		[NFT_MSG_NEWFLOWTABLE] = "newflowtable",
		[NFT_MSG_DELFLOWTABLE] = "delflowtable",
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

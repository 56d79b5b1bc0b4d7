// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader's end of an NFLOG group; see watch_group.h. Kernel: net/netfilter/nfnetlink_log.c. */
#include "watch_group.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <libnetfilter_log/libnetfilter_log.h>
#include <linux/netfilter/nfnetlink.h>
#include <string.h>

enum {
	COPY = 256,		 /* bytes of a packet; enough for headers and a DNS question */
	BATCH = 64,		 /* packets to a message */
	BATCH_BYTES = 32 * 1024, /* the kernel's buffer for one message */
	BATCH_DELAY = 5,	 /* 1/100 s that the kernel may wait to fill one */
	QUEUE_BYTES = 8 * 1024 * 1024, /* what the kernel may hold for us in a burst */
	READ_BYTES = 160 * 1024, /* more than the largest message (NFULNL_NLBUFSIZ_MAX is 128 K) */
};

/* Waits for the answer to a request that asked for one. 0, or -1 with the kernel's errno. */
static int wait_for_answer(struct mnl_socket *socket)
{
	static char buffer[READ_BYTES] __attribute__((aligned(8)));
	unsigned int port = mnl_socket_get_portid(socket);

	for (;;) {
		ssize_t length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return -1;
		/* A packet can be faster than the answer; it stays counted, and counts as lost. */
		if (message->nlmsg_type == NLMSG_ERROR)
			return mnl_cb_run(buffer, (size_t)length, 0, port, NULL, NULL) < 0 ? -1 : 0;
	}
}

/* One message with the command and every setting, so that the group is never bound half set. */
static int bind_group(struct mnl_socket *socket, uint16_t group)
{
	char buffer[256];
	struct nlmsghdr *message =
		nflog_nlmsg_put_header(buffer, NFULNL_MSG_CONFIG, AF_UNSPEC, group);

	message->nlmsg_flags |= NLM_F_ACK;
	if (nflog_attr_put_cfg_cmd(message, NFULNL_CFG_CMD_BIND) < 0 ||
	    nflog_attr_put_cfg_mode(message, NFULNL_COPY_PACKET, COPY) < 0)
		return -1;
	mnl_attr_put_u32(message, NFULA_CFG_TIMEOUT, htonl(BATCH_DELAY));
	mnl_attr_put_u32(message, NFULA_CFG_QTHRESH, htonl(BATCH));
	mnl_attr_put_u32(message, NFULA_CFG_NLBUFSIZ, htonl(BATCH_BYTES));
	if (mnl_socket_sendto(socket, message, message->nlmsg_len) < 0)
		return -1;
	return wait_for_answer(socket);
}

/* A deep queue, and after an overrun go on at once instead of dropping until it is empty. */
static int prepare_queue(struct mnl_socket *socket)
{
	int fd = mnl_socket_get_fd(socket), bytes = QUEUE_BYTES, on = 1;

	/* socket(7): SO_RCVBUFFORCE wants CAP_NET_ADMIN; without it the system's bound holds. */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	return mnl_socket_setsockopt(socket, NETLINK_NO_ENOBUFS, &on, sizeof(on));
}

struct mnl_socket *watch_group_open(uint16_t group)
{
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);

	if (socket == NULL)
		return NULL;
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) == 0 && prepare_queue(socket) == 0 &&
	    bind_group(socket, group) == 0 &&
	    fcntl(mnl_socket_get_fd(socket), F_SETFL, O_NONBLOCK) == 0)
		return socket;

	int saved = errno;

	(void)mnl_socket_close(socket);
	errno = saved;
	return NULL;
}

int watch_group_unbind(struct mnl_socket *socket, uint16_t group)
{
	char buffer[256];
	struct nlmsghdr *message =
		nflog_nlmsg_put_header(buffer, NFULNL_MSG_CONFIG, AF_UNSPEC, group);

	if (nflog_attr_put_cfg_cmd(message, NFULNL_CFG_CMD_UNBIND) < 0)
		return -1;
	return mnl_socket_sendto(socket, message, message->nlmsg_len) < 0 ? -1 : 0;
}

/* Reads one netlink message into ENTRY; false if it is no packet. */
static bool parse(const struct nlmsghdr *message, struct watch_entry *entry)
{
	struct nlattr *attribute;

	memset(entry, 0, sizeof(*entry));
	entry->class = WATCH_FOREIGN;
	if (message->nlmsg_type != (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET) ||
	    mnl_nlmsg_get_payload_len(message) < sizeof(struct nfgenmsg))
		return false;
	mnl_attr_for_each(attribute, message, sizeof(struct nfgenmsg))
	{
		const void *value = mnl_attr_get_payload(attribute);
		size_t length = mnl_attr_get_payload_len(attribute);

		switch (mnl_attr_get_type(attribute)) {
		case NFULA_PREFIX:
			entry->class = watch_class_find(value, length);
			break;
		case NFULA_UID:
			entry->has_uid = length >= 4;
			entry->uid = length >= 4 ? ntohl(mnl_attr_get_u32(attribute)) : 0;
			break;
		case NFULA_IFINDEX_OUTDEV:
			entry->device = length >= 4 ? ntohl(mnl_attr_get_u32(attribute)) : 0;
			break;
		case NFULA_PAYLOAD:
			entry->payload = value;
			entry->length = length;
			break;
		default:
			break;
		}
	}
	return true;
}

/* The messages of one datagram; they come packed, the last one a NLMSG_DONE. */
static void handle_datagram(const char *buffer, int length, watch_entry_handler *handler,
			    void *context)
{
	const struct nlmsghdr *message = (const struct nlmsghdr *)buffer;
	struct watch_entry entry;

	for (; mnl_nlmsg_ok(message, length); message = mnl_nlmsg_next(message, &length))
		if (parse(message, &entry))
			handler(&entry, context);
}

int watch_group_read(struct mnl_socket *socket, unsigned int limit, watch_entry_handler *handler,
		     void *context)
{
	static char buffer[READ_BYTES] __attribute__((aligned(8)));

	for (unsigned int i = 0; i < limit; i++) {
		ssize_t length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0)
			return errno == EAGAIN ? 0 : -1;
		handle_datagram(buffer, (int)length, handler, context);
	}
	return 1;
}

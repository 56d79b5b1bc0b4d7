// SPDX-License-Identifier: GPL-2.0-or-later
/* One netlink request and all of its answers; see netlink_dump.h. */
#include "netlink_dump.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>

int netlink_collect(const struct nlattr *attribute, void *data)
{
	struct netlink_attributes *attributes = data;
	unsigned int type = mnl_attr_get_type(attribute);

	if (type < sizeof(attributes->at) / sizeof(attributes->at[0]))
		attributes->at[type] = attribute;
	return MNL_CB_OK;
}

static int exchange(struct mnl_socket *socket, struct nlmsghdr *request, mnl_cb_t each, void *data)
{
	/* netlink(7): a dump's message fits in 32 KiB whatever the page size. */
	char buffer[32768] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct timeval patience = {.tv_sec = 10};
	int turn = MNL_CB_OK;

	request->nlmsg_seq = 1;
	if (setsockopt(mnl_socket_get_fd(socket), SOL_SOCKET, SO_RCVTIMEO, &patience,
		       sizeof(patience)) != 0 ||
	    mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) != 0 ||
	    mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		return -1;
	while (turn > MNL_CB_STOP) {
		ssize_t n = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));

		if (n < 0)
			return errno = errno == EAGAIN ? ETIMEDOUT : errno, -1;
		turn = mnl_cb_run(buffer, (size_t)n, request->nlmsg_seq,
				  mnl_socket_get_portid(socket), each, data);
	}
	return turn == MNL_CB_STOP ? 0 : -1;
}

int netlink_dump(int protocol, struct nlmsghdr *request, mnl_cb_t each, void *data)
{
	struct mnl_socket *socket = mnl_socket_open2(protocol, SOCK_CLOEXEC);
	int result, saved;

	if (socket == NULL)
		return -1;
	result = exchange(socket, request, each, data);
	saved = errno;
	(void)mnl_socket_close(socket);
	errno = saved;
	return result;
}

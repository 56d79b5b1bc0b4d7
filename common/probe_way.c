// SPDX-License-Identifier: GPL-2.0-or-later
/* One way of trying a target: its socket, its device, its end; see probe_way.h. */
#include "probe_way.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "cleanup.h"

int64_t probe_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

void probe_way_end(struct probe_way *way, enum probe_result result, int number, const char *format,
		   ...)
{
	va_list list;

	if (way->fd >= 0)
		(void)close(take_fd(&way->fd));
	way->ended = true;
	way->ended_at = probe_now();
	if (way->began == 0)
		way->began = way->ended_at; /* it never got as far */
	way->result = result;
	way->number = number;
	way->detail[0] = '\0';
	if (format == NULL)
		return;
	va_start(list, format);
	(void)vsnprintf(way->detail, sizeof(way->detail), format, list);
	va_end(list);
}

bool probe_address_is_ours(const union probe_address *address)
{
	union probe_address at = *address;
	autoclose fd = socket(at.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	at.inet.sin_port = 0; /* in the same place in both forms */
	return fd >= 0 && bind(fd, &at.any, probe_address_length(&at)) == 0;
}

static int set_option(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value));
}

/* Errors of both families are queued: an IPv6 socket may speak IPv4 (v4-mapped). */
static void queue_errors(const struct probe_way *way)
{
	(void)set_option(way->fd, IPPROTO_IP, IP_RECVERR, 1);
	if (way->family == AF_INET6)
		(void)set_option(way->fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
}

static int bind_to_device(struct probe_way *way, unsigned index)
{
	const char *device = way->target->device;
	/* ip(7), ipv6(7): this option takes the index in network byte order. */
	int network_index = (int)htonl(index);

	switch (way->binding) {
	case PROBE_BIND_DEVICE:
		return setsockopt(way->fd, SOL_SOCKET, SO_BINDTODEVICE, device,
				  (socklen_t)strlen(device) + 1);
	case PROBE_UNICAST_IF:
		if (way->family == AF_INET6) {
			/* For a v4-mapped address the IPv4 option counts. */
			(void)set_option(way->fd, IPPROTO_IP, IP_UNICAST_IF, network_index);
			return set_option(way->fd, IPPROTO_IPV6, IPV6_UNICAST_IF, network_index);
		}
		return set_option(way->fd, IPPROTO_IP, IP_UNICAST_IF, network_index);
	default:
		return 0;
	}
}

bool probe_way_socket(struct probe_way *way)
{
	unsigned index = 0;

	if (way->target->device[0] != '\0') {
		index = if_nametoindex(way->target->device);
		if (index == 0) {
			probe_way_end(way, PROBE_UNUSABLE, errno, "no device %s",
				      way->target->device);
			return false;
		}
		if (way->family == AF_INET6 &&
		    (IN6_IS_ADDR_LINKLOCAL(&way->address.inet6.sin6_addr) ||
		     IN6_IS_ADDR_MULTICAST(&way->address.inet6.sin6_addr)))
			way->address.inet6.sin6_scope_id = index;
	}
	way->fd =
		socket(way->family, way->socket_type | SOCK_CLOEXEC | SOCK_NONBLOCK, way->protocol);
	if (way->fd < 0) {
		probe_way_end(way, probe_result_of_socket(errno), errno, "no socket");
		return false;
	}
	queue_errors(way);
	(void)set_option(way->fd, SOL_SOCKET, SO_BROADCAST, 1);
	if (bind_to_device(way, index) != 0) {
		probe_way_end(way, probe_result_of_socket(errno), errno, "no binding to %s",
			      way->target->device);
		return false;
	}
	return true;
}

bool probe_way_own_port(struct probe_way *way)
{
	socklen_t length = sizeof(way->address);

	if (bind(way->fd, &way->address.any, length) == 0 &&
	    getsockname(way->fd, &way->address.any, &length) == 0)
		return true;
	probe_way_end(way, probe_result_of_send(errno), errno, NULL);
	return false;
}

ssize_t probe_way_send(struct probe_way *way, void *bytes, size_t length)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct in6_pktinfo))] = {0};
	struct iovec part = {.iov_base = bytes, .iov_len = length};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *header;

	if (!way->connected) {
		message.msg_name = &way->address;
		message.msg_namelen = probe_address_length(&way->address);
	}
	if (way->binding == PROBE_PKTINFO) {
		bool inet6 = way->family == AF_INET6;
		int index = (int)if_nametoindex(way->target->device);
		struct in_pktinfo info = {.ipi_ifindex = index};
		struct in6_pktinfo info6 = {.ipi6_ifindex = (unsigned)index};
		size_t size = inet6 ? sizeof(info6) : sizeof(info);

		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(size);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = inet6 ? IPPROTO_IPV6 : IPPROTO_IP;
		header->cmsg_type = inet6 ? IPV6_PKTINFO : IP_PKTINFO;
		header->cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(header), inet6 ? (void *)&info6 : (void *)&info, size);
	}
	return sendmsg(way->fd, &message, MSG_NOSIGNAL);
}

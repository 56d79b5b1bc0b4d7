// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Datagram probes: UDP, DNS over UDP, ICMP echo by raw and ping sockets. A send that works proves
 * nothing; an error on a later call is read from the error queue, which tells who made it (ip(7),
 * IP_RECVERR). About multicast no error is ever sent: there only the devices tell (RFC 4443, 2.4).
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe_way.h"

/* Sends the request once; what fails at once ends the way. */
static void send_request(struct probe_way *way)
{
	if (probe_way_send(way, way->request, way->request_length) >= 0)
		return;
	switch (errno) {
	case EAGAIN:
	case ENOBUFS: /* a full queue: the second packet may do better */
		return;
	case ECONNREFUSED: /* left over from the packet before: its error says by whom */
		if (probe_way_read_error(way))
			return;
		errno = ECONNREFUSED;
		break;
	default:
		break;
	}
	probe_way_end(way, probe_result_of_send(errno), errno, NULL);
}

void probe_datagram_begin(struct probe_way *way)
{
	bool connects = way->binding == PROBE_UNBOUND || way->binding == PROBE_BIND_DEVICE;

	way->began = probe_now();
	if (!probe_way_socket(way))
		return;
	/* To itself: one socket is both ends. */
	if (way->target->kind == PROBE_LOOPBACK && !probe_way_own_port(way))
		return;
	/* A connected socket takes answers from its peer alone; but connect(2) picks the source
	 * before these two bindings speak, so they stay unconnected. */
	if (connects &&
	    connect(way->fd, &way->address.any, probe_address_length(&way->address)) != 0) {
		probe_way_end(way, probe_result_of_send(errno), errno, NULL);
		return;
	}
	way->connected = connects;
	way->events = POLLIN;
	send_request(way);
}

static bool from_the_target(const struct probe_way *way, const union probe_address *from)
{
	if (way->connected)
		return true;
	if (from->any.sa_family != way->address.any.sa_family)
		return false;
	if (way->family == AF_INET6)
		return memcmp(&from->inet6.sin6_addr, &way->address.inet6.sin6_addr, 16) == 0;
	return from->inet.sin_addr.s_addr == way->address.inet.sin_addr.s_addr;
}

void probe_datagram_ready(struct probe_way *way, short revents)
{
	union probe_address from = {.any = {.sa_family = AF_UNSPEC}};
	socklen_t length = sizeof(from);
	ssize_t got;

	if (revents == 0) { /* half the time is gone: a packet may have been lost */
		send_request(way);
		return;
	}
	if ((revents & POLLERR) != 0 && probe_way_read_error(way))
		return;
	got = recvfrom(way->fd, way->answer, sizeof(way->answer), 0, &from.any, &length);
	if (got >= 0) {
		if (from_the_target(way, &from))
			way->judge(way, way->answer, (size_t)got);
		return;
	}
	if (errno == EAGAIN || errno == EINTR)
		return;
	probe_way_end(way, PROBE_REFUSED, errno, NULL);
}

static bool is_multicast(const struct probe_way *way)
{
	if (way->family == AF_INET6)
		return IN6_IS_ADDR_MULTICAST(&way->address.inet6.sin6_addr);
	return IN_MULTICAST(ntohl(way->address.inet.sin_addr.s_addr));
}

bool probe_datagram_is_doubtful(const struct probe_way *way)
{
	/* Nobody is asked for a neighbour's address first, so that what is sent shows at once. */
	return way->transport == PROBE_DATAGRAM && way->ended && way->result == PROBE_SILENT &&
	       is_multicast(way);
}

void probe_datagram_repeat(struct probe_way *way)
{
	way->connected = false;
	if (!probe_way_socket(way))
		return;
	(void)probe_way_send(way, way->request, way->request_length);
	(void)close(way->fd);
	way->fd = -1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stream probes: TCP, DNS over TCP, HTTP through a proxy. A connection that opens proves nothing
 * (a redirect may have swallowed it): only an answer does. A policy's reset and a target's look
 * alike to the sender; they are told apart by what the devices moved meanwhile.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe_way.h"

enum {
	SETTLE_WAIT = 20, /* ms; a reset made here comes back before connect(2) returns */
};

static int socket_error(const struct probe_way *way)
{
	int number = 0;
	socklen_t length = sizeof(number);

	if (getsockopt(way->fd, SOL_SOCKET, SO_ERROR, &number, &length) != 0)
		return errno;
	return number;
}

/* The connection failed with errno NUMBER: by whom? */
static void judge_refusal(struct probe_way *way, int number)
{
	struct probe_counters after = probe_counters_read();

	if (probe_way_read_error(way))
		return;
	if (number == ETIMEDOUT) {
		probe_way_end(way, PROBE_SILENT, number, NULL);
		return;
	}
	if (probe_counters_quiet(&way->before, &after)) {
		probe_way_end(way, PROBE_BLOCKED, number, "refused here: no device sent a byte");
		return;
	}
	probe_way_end(way, PROBE_REFUSED, number, NULL);
	way->doubtful = way->before.known && after.known;
}

static void begin_connect(struct probe_way *way)
{
	struct pollfd at_once;

	way->before = probe_counters_read();
	if (connect(way->fd, &way->address.any, probe_address_length(&way->address)) != 0 &&
	    errno != EINPROGRESS) {
		probe_way_end(way, probe_result_of_send(errno), errno, NULL);
		return;
	}
	/* A refusal made here is already back: judged now, the window is some microseconds. */
	at_once = (struct pollfd){.fd = way->fd, .events = POLLOUT};
	if (poll(&at_once, 1, 0) == 1 && (at_once.revents & (POLLERR | POLLHUP)) != 0) {
		int number = socket_error(way);

		if (number != 0)
			judge_refusal(way, number);
	}
}

void probe_stream_begin(struct probe_way *way)
{
	way->began = probe_now();
	if (!probe_way_socket(way))
		return;
	/* A TCP socket that connects to its own port is its own peer (RFC 793, 3.4). */
	if (way->target->kind == PROBE_LOOPBACK && !probe_way_own_port(way))
		return;
	way->events = POLLOUT;
	begin_connect(way);
}

/* Sends what is left of the request; then listens. */
static void send_rest(struct probe_way *way)
{
	while (way->request_sent < way->request_length) {
		ssize_t sent = send(way->fd, way->request + way->request_sent,
				    way->request_length - way->request_sent, MSG_NOSIGNAL);

		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (sent < 0) {
			probe_way_end(way, PROBE_SILENT, errno, "connected, then reset");
			return;
		}
		way->request_sent += (size_t)sent;
	}
	way->events = POLLIN;
}

void probe_stream_end(struct probe_way *way)
{
	if (way->answer_length > 0)
		probe_way_end(way, PROBE_SILENT, 0, "%zu bytes came back, none of them an answer",
			      way->answer_length);
	else
		probe_way_end(way, PROBE_SILENT, 0, "%s",
			      way->connected ? "connected, but nothing came back" : "");
}

static void receive(struct probe_way *way)
{
	size_t space = sizeof(way->answer) - way->answer_length;
	ssize_t got = recv(way->fd, way->answer + way->answer_length, space, 0);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got < 0) {
		/* Connected all the same: what leaves is not known to be stopped. */
		probe_way_end(way, PROBE_SILENT, errno, "connected, then reset");
		return;
	}
	way->answer_length += (size_t)got;
	if (got > 0)
		way->judge(way, way->answer, way->answer_length);
	if (way->ended || (got > 0 && way->answer_length < sizeof(way->answer)))
		return;
	probe_stream_end(way);
}

void probe_stream_ready(struct probe_way *way, short revents)
{
	int number;

	if (revents == 0)
		return; /* TCP repeats by itself */
	if (way->connected && way->events == POLLIN) {
		receive(way);
		return;
	}
	if (!way->connected) {
		number = socket_error(way);
		if (number != 0) {
			judge_refusal(way, number);
			return;
		}
		way->connected = true;
	}
	send_rest(way);
}

/* One more attempt at what was refused, alone; true if the devices now tell that it was here. */
static bool refused_here(struct probe_way *way)
{
	struct probe_counters after;
	struct pollfd wait;

	way->before = probe_counters_read();
	(void)connect(way->fd, &way->address.any, probe_address_length(&way->address));
	wait = (struct pollfd){.fd = way->fd, .events = POLLOUT};
	if (poll(&wait, 1, SETTLE_WAIT) != 1 || socket_error(way) == 0)
		return false;
	after = probe_counters_read();
	return probe_counters_quiet(&way->before, &after);
}

void probe_stream_settle(struct probe_way *way)
{
	const int number = way->number;
	const int64_t took = way->ended_at - way->began;

	if (probe_way_socket(way) && refused_here(way)) {
		probe_way_end(way, PROBE_BLOCKED, number, "refused here: no device sent a byte");
		way->doubtful = false;
	} else {
		probe_way_end(way, PROBE_REFUSED, number, NULL);
	}
	way->ended_at = way->began + took;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* All targets of a run at once, in one event loop; see probe_run.h. */
#include "probe_run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>

#include "cleanup.h"

static void begin(struct probe_way *way)
{
	if (way->ended)
		return;
	switch (way->transport) {
	case PROBE_STREAM:
		probe_stream_begin(way);
		break;
	case PROBE_DATAGRAM:
		probe_datagram_begin(way);
		break;
	case PROBE_AT_ONCE:
		probe_at_once(way);
		break;
	}
}

static void ready(struct probe_way *way, short revents)
{
	if (way->transport == PROBE_STREAM)
		probe_stream_ready(way, revents);
	else
		probe_datagram_ready(way, revents);
}

static void time_is_up(struct probe_way *way)
{
	if (way->transport == PROBE_STREAM)
		probe_stream_end(way);
	else
		probe_way_end(way, PROBE_SILENT, 0, NULL);
}

/* Waits until TIME for one of the COUNT ways and lets those that can go on. 0, or -1. */
static int turn(struct probe_way **ways, size_t count, struct pollfd *polls, int64_t time)
{
	int64_t left = time - probe_now();
	struct timespec wait = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};

	if (left <= 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		polls[i] = (struct pollfd){.fd = ways[i]->fd, .events = ways[i]->events};
	if (ppoll(polls, count, &wait, NULL) < 0)
		return errno == EINTR ? 0 : -1;
	for (size_t i = 0; i < count; i++)
		if (polls[i].revents != 0)
			ready(ways[i], polls[i].revents);
	return 0;
}

/* Drops the ways that have ended from the list; how many are left. */
static size_t drop_ended(struct probe_way **ways, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		if (!ways[i]->ended)
			ways[left++] = ways[i];
	return left;
}

static int wait_for_all(struct probe_way **ways, size_t count, int64_t timeout)
{
	autofree struct pollfd *polls = calloc(count + 1, sizeof(*polls));
	int64_t start = probe_now();
	bool repeated = false;

	if (polls == NULL)
		return -1;
	for (count = drop_ended(ways, count); count > 0; count = drop_ended(ways, count)) {
		int64_t now = probe_now();

		if (now >= start + timeout)
			break;
		if (!repeated && now >= start + timeout / 2) {
			repeated = true;
			for (size_t i = 0; i < count; i++)
				ready(ways[i], 0);
			continue;
		}
		if (turn(ways, count, polls, start + (repeated ? timeout : timeout / 2)) != 0)
			return -1;
	}
	for (size_t i = 0; i < count; i++)
		time_is_up(ways[i]);
	return 0;
}

static void decide(struct probe *probe)
{
	bool all_must_work = probe->target.kind == PROBE_LOOPBACK;

	probe->decisive = &probe->ways[0];
	for (size_t i = 1; i < probe->ways_count; i++)
		if (all_must_work ? probe->ways[i].result > probe->decisive->result
				  : probe->ways[i].result < probe->decisive->result)
			probe->decisive = &probe->ways[i];
}

int probe_run(struct probe *probes, size_t count, const struct probe_settings *settings)
{
	static const enum probe_transport order[] = {PROBE_AT_ONCE, PROBE_STREAM, PROBE_DATAGRAM};
	autofree struct probe_way **ways = NULL, **waiting = NULL;
	size_t total = 0, filled = 0;

	for (size_t i = 0; i < count; i++)
		total += probes[i].ways_count;
	ways = calloc(total + 1, sizeof(*ways));
	waiting = calloc(total + 1, sizeof(*waiting));
	if (ways == NULL || waiting == NULL)
		return -1;
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < probes[i].ways_count; k++)
			ways[filled++] = &probes[i].ways[k];
	/* Calls first, for they keep the loop from looking; then connections: while nothing else is
	 * under way, a refusal's author shows at once. */
	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (size_t i = 0; i < total; i++)
			if (ways[i]->transport == order[k])
				begin(ways[i]);
	for (size_t i = 0; i < total; i++)
		waiting[i] = ways[i];
	if (wait_for_all(waiting, total, settings->timeout) != 0)
		return -1;
	for (size_t i = 0; i < total; i++) {
		if (ways[i]->doubtful)
			probe_stream_settle(ways[i]);
		else if (ways[i]->transport == PROBE_DATAGRAM)
			probe_datagram_settle(ways[i]);
		if (ways[i]->result != PROBE_OPEN && probe_errno_is_trouble(ways[i]->number)) {
			errno = ways[i]->number;
			return -1;
		}
	}
	for (size_t i = 0; i < count; i++)
		decide(&probes[i]);
	return 0;
}

void probe_release(struct probe *probes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < probes[i].ways_count; k++)
			cleanup_close(&probes[i].ways[k].fd);
		free(probes[i].ways);
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* All targets of a run at once, in one event loop; see probe_run.h. */
#include "probe_run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"

/* How often what is doubtful is tried again; ms between rounds, and for devices that count late. */
enum { SETTLE_ROUNDS = 8, SETTLE_PAUSE = 3, SETTLE_WAIT = 15 };

/* A way that is waited for. */
struct slot {
	struct probe_way *way;
};

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
static int turn(const struct slot *slots, size_t count, struct pollfd *polls, int64_t time)
{
	int64_t left = time - probe_now();
	struct timespec wait = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};

	if (left <= 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		polls[i] = (struct pollfd){.fd = slots[i].way->fd, .events = slots[i].way->events};
	if (ppoll(polls, count, &wait, NULL) < 0)
		return errno == EINTR ? 0 : -1;
	for (size_t i = 0; i < count; i++)
		if (polls[i].revents != 0)
			ready(slots[i].way, polls[i].revents);
	return 0;
}

/* Drops the ways that have ended from the list; how many are left. */
static size_t drop_ended(struct slot *slots, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		if (!slots[i].way->ended)
			slots[left++] = slots[i];
	return left;
}

/* POLLS has room for *COUNT; then *COUNT are left in SLOTS whose time was up. 0, or -1. */
static int wait_for_all(struct slot *slots, size_t *count, struct pollfd *polls, int64_t timeout)
{
	int64_t start = probe_now();
	bool repeated = false;

	for (*count = drop_ended(slots, *count); *count > 0; *count = drop_ended(slots, *count)) {
		int64_t now = probe_now();

		if (now >= start + timeout)
			break;
		if (!repeated && now >= start + timeout / 2) {
			repeated = true;
			for (size_t i = 0; i < *count; i++)
				ready(slots[i].way, 0);
			continue;
		}
		if (turn(slots, *count, polls, start + (repeated ? timeout : timeout / 2)) != 0)
			return -1;
	}
	for (size_t i = 0; i < *count; i++)
		time_is_up(slots[i].way);
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

/* Tries what was refused by nobody knows whom again, alone, until the devices are quiet. */
static void settle_refusals(struct probe *probes, size_t count)
{
	bool doubtful = true;

	for (int i = 0; i < SETTLE_ROUNDS && doubtful; i++) {
		doubtful = false;
		for (size_t p = 0; p < count; p++)
			for (size_t k = 0; k < probes[p].ways_count; k++)
				if (probes[p].ways[k].doubtful) {
					probe_stream_settle(&probes[p].ways[k]);
					doubtful |= probes[p].ways[k].doubtful;
				}
		if (doubtful) /* others' traffic comes in bursts */
			(void)poll(NULL, 0, SETTLE_PAUSE);
	}
}

/* Sends all that is doubtful about multicast once more: if no device moves, it was refused here. */
static void settle_multicast(struct slot *slots, size_t count)
{
	for (int i = 0; i < SETTLE_ROUNDS; i++) {
		struct probe_counters before = probe_counters_read(), after;
		size_t left = 0;

		for (size_t k = 0; k < count; k++)
			if (probe_datagram_is_doubtful(slots[k].way)) {
				probe_datagram_repeat(slots[k].way);
				slots[left++] = slots[k];
			}
		count = left;
		if (count == 0)
			return;
		(void)poll(NULL, 0, SETTLE_WAIT);
		after = probe_counters_read();
		if (!probe_counters_quiet(&before, &after))
			continue;
		for (size_t k = 0; k < count; k++)
			probe_way_end(slots[k].way, PROBE_BLOCKED, 0, "no device sent a byte");
	}
}

/* -1 with errno if a way's end was our own trouble: then nothing was found out. */
static int find_trouble(const struct probe *probe)
{
	for (size_t i = 0; i < probe->ways_count; i++) {
		const struct probe_way *way = &probe->ways[i];

		if (way->result == PROBE_OPEN || !fault_is_shortage(way->number))
			continue;
		errno = way->number;
		return -1;
	}
	return 0;
}

/* Begins the ways of TRANSPORT and adds them to SLOTS; the new count. */
static size_t begin_all(struct probe *probes, size_t count, enum probe_transport transport,
			struct slot *slots, size_t filled)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < probes[i].ways_count; k++)
			if (probes[i].ways[k].transport == transport) {
				begin(&probes[i].ways[k]);
				slots[filled++].way = &probes[i].ways[k];
			}
	return filled;
}

int probe_run(struct probe *probes, size_t count, const struct probe_settings *settings)
{
	/* Calls first, for they keep the loop from looking; then connections: while nothing else is
	 * under way, a refusal's author shows at once. */
	static const enum probe_transport order[] = {PROBE_AT_ONCE, PROBE_STREAM, PROBE_DATAGRAM};
	size_t total = 0, filled = 0;
	struct pollfd *polls;
	struct slot *slots;
	int result = -1;

	for (size_t i = 0; i < count; i++)
		total += probes[i].ways_count;
	slots = calloc(total + 1, sizeof(*slots));
	polls = calloc(total + 1, sizeof(*polls));
	if (slots != NULL && polls != NULL) {
		for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
			filled = begin_all(probes, count, order[k], slots, filled);
		result = wait_for_all(slots, &filled, polls, settings->timeout);
	}
	if (result == 0) {
		settle_refusals(probes, count);
		settle_multicast(slots, filled);
	}
	free(slots);
	free(polls);
	for (size_t i = 0; i < count && result == 0; i++) {
		result = find_trouble(&probes[i]);
		decide(&probes[i]);
	}
	return result;
}

void probe_release(struct probe *probes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < probes[i].ways_count; k++)
			if (probes[i].ways[k].fd >= 0)
				(void)close(probes[i].ways[k].fd);
		free(probes[i].ways);
	}
}

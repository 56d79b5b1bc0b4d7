/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rtnetlink tells anybody: the devices' counters and the default gateways. */
#ifndef CELL_PROBE_NETLINK_H
#define CELL_PROBE_NETLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe_target.h"

/* Packets so far in this namespace. */
struct probe_counters {
	uint64_t loopback; /* sent by lo */
	uint64_t others;   /* sent and received by every other device */
	bool known;
};

/* Reads the counters (RTM_GETSTATS, Linux 4.7, no privilege). Not readable: known is false. */
struct probe_counters probe_counters_read(void);

/*
 * True if a TCP connection that was refused between the two readings was refused here: no device
 * but lo moved a packet, and lo carried nothing but the refusal. (A local address that nobody
 * listens at takes two packets on lo, the question and the refusal.)
 */
bool probe_counters_quiet(const struct probe_counters *before, const struct probe_counters *after);

/*
 * The gateways of the main table's default routes, at most SIZE of them; how many, or -1 with
 * errno.
 */
int probe_gateways_read(union probe_address *gateways, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a probe can find, what can be expected of it, and what errno says about it. Pure. */
#ifndef CELL_PROBE_RESULT_H
#define CELL_PROBE_RESULT_H

#include <stdbool.h>
#include <stddef.h>

/* Ordered: of several ways to one target the first in this order is the target's result. */
enum probe_result {
	PROBE_OPEN,	/* an answer to what we sent came back; the socket or call can be had */
	PROBE_SILENT,	/* it may have left; nothing that proves anything came back */
	PROBE_REFUSED,	/* somebody refused it; errno tells how */
	PROBE_BLOCKED,	/* refused here, before it left */
	PROBE_DENIED,	/* the socket or the call itself is refused */
	PROBE_UNUSABLE, /* no route, no interface, no support, no such thing */
};

enum probe_expect {
	PROBE_EXPECT_NOTHING,
	PROBE_EXPECT_CLOSED,
	PROBE_EXPECT_OPEN,
	PROBE_EXPECT_BLOCKED, /* it need not have answered before, but then it is refused here */
};

/* "open", "silent", ... */
const char *probe_result_name(enum probe_result result);

/* The result of that name; -1 if there is none. */
int probe_result_find(const char *name, size_t length);

/* "closed", "open", "blocked"; NULL for PROBE_EXPECT_NOTHING. */
const char *probe_expect_name(enum probe_expect expect);

/* The expectation of that name; -1 if there is none. */
int probe_expect_find(const char *name, size_t length);

/* What a failed socket(2), or a failed call behind a door, means: denied or unusable. */
enum probe_result probe_result_of_socket(int number);

/* What a connect(2) or send(2) that fails at once means: blocked, refused or unusable. */
enum probe_result probe_result_of_send(int number);

#endif

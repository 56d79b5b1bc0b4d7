/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether what is published can be used: the health question of cell-publish --check. */
#ifndef CELL_PROXY_HEALTH_H
#define CELL_PROXY_HEALTH_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "certificate_authority.h"

enum proxy_health {
	PROXY_HEALTHY,
	PROXY_UNHEALTHY, /* reason says what is wrong */
	PROXY_UNKNOWN,	 /* reason and number (errno) say what could not be looked at */
};

struct proxy_health_question {
	const char *dir;     /* the published directory's path */
	const char *state;   /* the state directory's path */
	bool state_is_named; /* it must be visible; else its key is compared only where it is */
	bool connect;
	uint16_t port;
	int64_t timeout; /* nanoseconds, for the connection alone */
	time_t now;
};

struct proxy_health_answer {
	char reason[512]; /* one clause */
	int number;
	bool is_mount; /* a published file is a mount of its own: it cannot follow a change */
	bool address_known;
	struct in_addr address;
	struct certificate certificate; /* released by the caller */
	json_t *unlisted;		/* an array that the caller provides */
};

/* Asks everything in turn; the first thing that is wrong is the answer. */
enum proxy_health proxy_health_ask(const struct proxy_health_question *question,
				   struct proxy_health_answer *answer);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All of a publish in its order: what cell-publish does before it becomes the proxy. */
#ifndef CELL_PUBLISHER_H
#define CELL_PUBLISHER_H

#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <time.h>

#include "fault.h"
#include "interface_address.h"
#include "state_dir.h"

struct publisher_wish {
	const char *state, *dir; /* paths */
	const char *ca_name;	 /* common name of a new authority */
	bool renew;
	bool by_address; /* this ADDRESS and no other */
	struct in_addr address;
	struct interface_address_wish choice;
	time_t now;
};

struct publisher_result {
	int directory; /* the published one, open and not locked; the caller owns it */
	struct in_addr address;
	struct state_authority authority; /* released by the caller */
	json_t *unlisted;		  /* names in the directory that nobody publishes; owned */
	bool changed;
	bool closed; /* not everybody can enter the directory, and it is not ours to open */
};

/*
 * Locks both directories, takes a stale address away, chooses an address, reads or makes the
 * authority, publishes. 0, or -1 with FAULT; then nothing that was right has changed.
 */
int publisher_run(const struct publisher_wish *wish, struct publisher_result *result,
		  struct fault *fault);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Putting an authority, its certificate and an address in place, in the one order that is safe. */
#ifndef CELL_PUBLICATION_H
#define CELL_PUBLICATION_H

#include <netinet/in.h>
#include <stdbool.h>

#include "interface_address.h"
#include "state_dir.h"

struct publication {
	int directory, state; /* both locked by the caller */
	struct in_addr address;
	/* Results. */
	bool changed;
	const char *verb; /* after a failure: what could not be done to NAME */
	const char *name;
	bool in_state; /* NAME is in the state directory */
	bool is_mount; /* NAME is a mount of its own: the directory should be mounted instead */
};

/*
 * First of all: takes away a published address that is none of OURS, or none at all. 0, or -1 with
 * errno and the failure in PUBLICATION.
 */
int publication_remove_stale(struct publication *publication,
			     const struct interface_address_list *ours);

/*
 * Keeps a new authority, then publishes certificate and address where they are not right already.
 * 0, or -1 with errno and the failure in PUBLICATION; then no temporary file is left.
 */
int publication_put(struct publication *publication, const struct state_authority *authority);

#endif

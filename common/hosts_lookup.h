/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a hosts file alone answers for a name, without any resolver library (hosts(5)). */
#ifndef CELL_HOSTS_LOOKUP_H
#define CELL_HOSTS_LOOKUP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

struct hosts_lookup {
	struct in_addr address; /* the first canonical IPv4 address */
	bool found;		/* there is one */
	size_t others;		/* places where the name stands for anything else */
};

/* Looks NAME up in LENGTH bytes of hosts file, in any spelling a resolver takes. Pure. */
struct hosts_lookup hosts_lookup(const char *text, size_t length, const char *name);

/* The same in /etc/hosts. NULL, or the reason why it cannot be read; errno or 0 in *NUMBER. */
const char *hosts_lookup_here(const char *name, struct hosts_lookup *lookup, int *number);

#endif

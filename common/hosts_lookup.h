/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a hosts file alone answers for a name, without any resolver library (hosts(5)). */
#ifndef CELL_HOSTS_LOOKUP_H
#define CELL_HOSTS_LOOKUP_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

struct hosts_answer {
	struct in_addr address; /* the first IPv4 address */
	size_t inet, inet6;	/* how many different IPv4, how many IPv6 entries the name has */
};

/* Looks NAME up in LENGTH bytes of hosts file. Pure. True if it has an IPv4 address. */
bool hosts_lookup(const char *text, size_t length, const char *name, struct hosts_answer *answer);

/*
 * True if nsswitch.conf (LENGTH bytes) has a "hosts:" line whose first source is not "files", so
 * that programs ask somebody else before the hosts file (nsswitch.conf(5)). Pure.
 */
bool hosts_are_asked_later(const char *text, size_t length);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The classes of refused packets, and how the policy and its watcher agree on them: each class has
 * one named counter in the ruleset, and the log statement beside it carries that counter's name as
 * its NFLOG prefix (`log prefix "refused_tcp" group 5 snaplen 256`). So a record's class is the
 * counter that counted it, never a guess from the packet.
 */
#ifndef CELL_WATCH_CLASS_H
#define CELL_WATCH_CLASS_H

#include <stddef.h>

enum watch_class {
	WATCH_RESOLVER, /* an engine's or host's resolver on a loopback address */
	WATCH_TCP,
	WATCH_UDP,
	WATCH_ICMP,
	WATCH_OTHER,   /* any other protocol */
	WATCH_LATE,    /* let through by the output chain, stopped by the second lock */
	WATCH_FORWARD, /* to be forwarded by the cell */
	WATCH_INBOUND, /* from outside, and not the proxy's reply */
	WATCH_KERNEL,  /* no user's socket stands behind it */
	WATCH_FOREIGN, /* logged to our group by a rule that is not the policy's: has no counter */
	WATCH_CLASSES,
	WATCH_COUNTED = WATCH_FOREIGN, /* the classes below this one have a counter */
};

/* The class as records write it: "tcp". */
const char *watch_class_name(enum watch_class class);

/* The named counter, which is the NFLOG prefix too: "refused_tcp"; NULL for WATCH_FOREIGN. */
const char *watch_class_counter(enum watch_class class);

/*
 * The class whose counter is called by exactly these LENGTH bytes (a NUL or blanks at the end do
 * not count); WATCH_FOREIGN if there is none. Pure.
 */
enum watch_class watch_class_find(const char *text, size_t length);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether programs look into the hosts file before anything else, as nsswitch.conf(5) tells. */
#ifndef CELL_NSSWITCH_H
#define CELL_NSSWITCH_H

#include <stddef.h>

enum nsswitch_hosts {
	NSSWITCH_FILES_FIRST, /* and what is found there is the answer */
	NSSWITCH_OTHER_FIRST, /* or a success of "files" is not the end */
	NSSWITCH_UNSET,	      /* no line for hosts: glibc's default, which may ask DNS first */
};

/* Judges LENGTH bytes of an nsswitch.conf; of several lines for hosts the last counts. Pure. */
enum nsswitch_hosts nsswitch_judge_hosts(const char *text, size_t length);

#endif

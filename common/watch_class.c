// SPDX-License-Identifier: GPL-2.0-or-later
/* The classes of refused packets; see watch_class.h. */
#include "watch_class.h"

#include <string.h>

static const struct {
	const char *name, *counter;
} classes[WATCH_CLASSES] = {
	[WATCH_RESOLVER] = {"resolver", "refused_resolver"},
	[WATCH_TCP] = {"tcp", "refused_tcp"},
	[WATCH_UDP] = {"udp", "refused_udp"},
	[WATCH_ICMP] = {"icmp", "refused_icmp"},
	[WATCH_OTHER] = {"other", "refused_other"},
	[WATCH_LATE] = {"late", "refused_late"},
	[WATCH_FORWARD] = {"forward", "refused_forward"},
	[WATCH_INBOUND] = {"inbound", "inbound"},
	[WATCH_KERNEL] = {"kernel", "kernel"},
	[WATCH_FOREIGN] = {"foreign", NULL},
};

const char *watch_class_name(enum watch_class class)
{
	return classes[class].name;
}

const char *watch_class_counter(enum watch_class class)
{
	return classes[class].counter;
}

enum watch_class watch_class_find(const char *text, size_t length)
{
	while (length > 0 && (text[length - 1] == '\0' || text[length - 1] == ' '))
		length--;
	for (int i = 0; i < WATCH_COUNTED; i++)
		if (strlen(classes[i].counter) == length &&
		    memcmp(classes[i].counter, text, length) == 0)
			return (enum watch_class)i;
	return WATCH_FOREIGN;
}

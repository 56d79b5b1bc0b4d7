// SPDX-License-Identifier: GPL-2.0-or-later
/* The IPv4 addresses of this network namespace; see interface_address.h. */
#include "interface_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "ipv4_address.h"

enum { SHOWN = 8 };

int interface_address_read(struct interface_address_list *list)
{
	struct ifaddrs *all = NULL;
	size_t number = 0;

	list->items = NULL;
	list->count = 0;
	if (getifaddrs(&all) != 0)
		return -1;
	for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next)
		number++;
	list->items = calloc(number + 1, sizeof(*list->items));
	if (list->items == NULL) {
		freeifaddrs(all);
		return -1;
	}
	for (const struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
		struct interface_address *item = &list->items[list->count];
		struct sockaddr_in address;

		if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET ||
		    !(one->ifa_flags & IFF_UP))
			continue;
		memcpy(&address, one->ifa_addr, sizeof(address));
		(void)snprintf(item->interface, sizeof(item->interface), "%.*s", IF_NAMESIZE - 1,
			       one->ifa_name);
		item->address = address.sin_addr;
		item->loopback = one->ifa_flags & IFF_LOOPBACK;
		list->count++;
	}
	freeifaddrs(all);
	return 0;
}

void interface_address_release(struct interface_address_list *list)
{
	free(list->items);
	list->items = NULL;
	list->count = 0;
}

bool interface_address_is_ours(const struct interface_address_list *list, struct in_addr address)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].address.s_addr == address.s_addr)
			return true;
	return false;
}

static bool is_wanted(const struct interface_address *item,
		      const struct interface_address_wish *wish)
{
	if (ipv4_classify(item->address) != IPV4_OK)
		return false;
	if (wish->interface != NULL)
		return strcmp(item->interface, wish->interface) == 0;
	if (wish->by_network)
		return (item->address.s_addr & wish->mask.s_addr) == wish->network.s_addr;
	return !item->loopback;
}

enum interface_address_choice interface_address_choose(struct interface_address_list *list,
						       const struct interface_address_wish *wish)
{
	struct interface_address_list kept = {list->items, 0};

	for (size_t i = 0; i < list->count; i++)
		if (is_wanted(&list->items[i], wish) &&
		    !interface_address_is_ours(&kept, list->items[i].address))
			kept.items[kept.count++] = list->items[i];
	list->count = kept.count;
	if (kept.count == 1)
		return INTERFACE_ADDRESS_ONE;
	return kept.count == 0 ? INTERFACE_ADDRESS_NONE : INTERFACE_ADDRESS_SEVERAL;
}

char *interface_address_text(const struct interface_address_list *list)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return NULL;
	for (size_t i = 0; i < list->count && i < SHOWN; i++) {
		char shown[INET_ADDRSTRLEN];

		(void)fprintf(stream, "%s%s %s", i > 0 ? ", " : "", list->items[i].interface,
			      inet_ntop(AF_INET, &list->items[i].address, shown, sizeof(shown)));
	}
	if (list->count > SHOWN)
		(void)fprintf(stream, " and %zu more", list->count - SHOWN);
	if (fclose(stream) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

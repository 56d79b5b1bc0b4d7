// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the choice among a host's addresses, and of networks as they are written. */
#include "interface_address.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "ipv4_address.h"
#include "unit.h"

static struct interface_address items[8];
static struct interface_address_list list;

static void begin(void)
{
	memset(items, 0, sizeof(items));
	list.items = items;
	list.count = 0;
}

static void add(const char *interface, const char *address, bool loopback)
{
	struct interface_address *item = &items[list.count++];

	(void)snprintf(item->interface, sizeof(item->interface), "%s", interface);
	CHECK(inet_pton(AF_INET, address, &item->address) == 1);
	item->loopback = loopback;
}

static enum interface_address_choice choose(const char *interface, const char *network)
{
	struct interface_address_wish wish = {.interface = interface};

	if (network != NULL) {
		wish.by_network = true;
		CHECK(ipv4_parse_network(network, strlen(network), &wish.network, &wish.mask) ==
		      IPV4_OK);
	}
	return interface_address_choose(&list, &wish);
}

static void test_the_only_address_is_chosen(void)
{
	begin();
	add("lo", "127.0.0.1", true);
	add("eth0", "172.18.0.3", false);
	CHECK(choose(NULL, NULL) == INTERFACE_ADDRESS_ONE);
	CHECK(list.items[0].address.s_addr == inet_addr("172.18.0.3"));
}

static void test_several_addresses_are_no_choice(void)
{
	char *text;

	begin();
	add("eth0", "172.17.0.3", false);
	add("eth1", "172.18.0.3", false);
	CHECK(choose(NULL, NULL) == INTERFACE_ADDRESS_SEVERAL);
	text = interface_address_text(&list);
	CHECK(text != NULL && strcmp(text, "eth0 172.17.0.3, eth1 172.18.0.3") == 0);
	free(text);
}

static void test_an_interface_or_a_network_narrows(void)
{
	begin();
	add("eth0", "172.17.0.3", false);
	add("eth1", "172.18.0.3", false);
	CHECK(choose("eth1", NULL) == INTERFACE_ADDRESS_ONE);
	CHECK(list.items[0].address.s_addr == inet_addr("172.18.0.3"));
	begin();
	add("eth0", "172.17.0.3", false);
	add("eth1", "172.18.0.3", false);
	CHECK(choose(NULL, "172.17.0.0/16") == INTERFACE_ADDRESS_ONE);
	CHECK(list.items[0].address.s_addr == inet_addr("172.17.0.3"));
	begin();
	add("eth0", "172.17.0.3", false);
	CHECK(choose("eth", NULL) == INTERFACE_ADDRESS_NONE);
}

static void test_addresses_nobody_can_publish_are_none(void)
{
	begin();
	add("lo", "127.0.0.1", true);
	add("lo", "10.9.9.9", true);
	add("eth0", "169.254.7.7", false);
	CHECK(choose(NULL, NULL) == INTERFACE_ADDRESS_NONE);
	begin();
	add("lo", "127.0.0.1", true);
	add("lo", "10.9.9.9", true);
	CHECK(choose("lo", NULL) == INTERFACE_ADDRESS_ONE);
	begin();
	CHECK(choose(NULL, NULL) == INTERFACE_ADDRESS_NONE);
}

static void test_one_address_on_two_interfaces_is_one(void)
{
	begin();
	add("eth0", "10.0.0.1", false);
	add("eth1", "10.0.0.1", false);
	CHECK(choose(NULL, NULL) == INTERFACE_ADDRESS_ONE);
}

static void test_networks_are_read_strictly(void)
{
	static const char *const good[] = {"0.0.0.0/0", "10.0.0.0/8", "172.18.0.0/16",
					   "10.1.2.3/32", "128.0.0.0/1"};
	static const char *const bad[] = {"",
					  "/8",
					  "10.0.0.0",
					  "10.0.0.0/",
					  "10.0.0.1/8",
					  "10.0.0.0/33",
					  "10.0.0.0/08",
					  "10.0.0.0/-1",
					  "10.0.0.0/8 ",
					  "10.0.0.0/8/8",
					  "10.0/8",
					  "010.0.0.0/8",
					  "1.2.3.4/031",
					  "10.0.0.0/4294967304"};
	struct in_addr address, mask;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(ipv4_parse_network(good[i], strlen(good[i]), &address, &mask) == IPV4_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(ipv4_parse_network(bad[i], strlen(bad[i]), &address, &mask) ==
		      IPV4_MALFORMED);
	CHECK(ipv4_parse_network("172.18.0.0/16", 13, &address, &mask) == IPV4_OK);
	CHECK(mask.s_addr == inet_addr("255.255.0.0"));
	CHECK(ipv4_parse_network("0.0.0.0/0", 9, &address, &mask) == IPV4_OK);
	CHECK(mask.s_addr == 0);
}

int main(void)
{
	RUN(test_the_only_address_is_chosen);
	RUN(test_several_addresses_are_no_choice);
	RUN(test_an_interface_or_a_network_narrows);
	RUN(test_addresses_nobody_can_publish_are_none);
	RUN(test_one_address_on_two_interfaces_is_one);
	RUN(test_networks_are_read_strictly);
	return unit_end();
}

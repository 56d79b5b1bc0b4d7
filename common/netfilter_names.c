// SPDX-License-Identifier: GPL-2.0-or-later
/* Families and hooks by name; see netfilter_names.h. */
#include "netfilter_names.h"

#include <linux/netfilter.h>
#include <stddef.h>

const char *netfilter_family_name(uint8_t family)
{
	switch (family) {
	case NFPROTO_INET:
		return "inet";
	case NFPROTO_IPV4:
		return "ip";
	case NFPROTO_ARP:
		return "arp";
	case NFPROTO_NETDEV:
		return "netdev";
	case NFPROTO_BRIDGE:
		return "bridge";
	case NFPROTO_IPV6:
		return "ip6";
	default:
		return NULL;
	}
}

const char *netfilter_hook_name(uint8_t family, uint32_t hook)
{
	static const char *const names[] = {"prerouting", "input",	 "forward",
					    "output",	  "postrouting", "ingress"};

	if (family != NFPROTO_INET && family != NFPROTO_IPV4 && family != NFPROTO_IPV6)
		return "hook";
	return hook < sizeof(names) / sizeof(names[0]) ? names[hook] : "hook";
}

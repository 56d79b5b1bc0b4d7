// SPDX-License-Identifier: GPL-2.0-or-later
/* What else in a network namespace bears on the policy; see policy_check.h. */
#include "policy_check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "netfilter_names.h"
#include "report_record.h"

/* NF_INET_INGRESS of newer headers: inet chains that see frames of a device, like netdev's. */
enum { INET_INGRESS = 5 };

static const char *family_name(uint8_t family)
{
	const char *name = netfilter_family_name(family);

	return name != NULL ? name : "unknown";
}

/* Appends TEXT, taken over; jansson refuses one that could not be made. */
static int say(json_t *list, json_t *text)
{
	return json_array_append_new(list, text);
}

/* Sentences hold foreign names: bytes that are not UTF-8 become \xHH. */
__attribute__((format(printf, 1, 2))) static json_t *words(const char *format, ...)
{
	autofree char *text = NULL;
	va_list list;
	int made;

	va_start(list, format);
	made = vasprintf(&text, format, list);
	va_end(list);
	return made < 0 ? NULL : report_string(text);
}

/* A base chain that is not ours. */
static int check_chain(const struct netfilter_chain *chain, json_t *differs, json_t *notes)
{
	const char *family = family_name(chain->family);
	bool is_ip = chain->family == NFPROTO_INET || chain->family == NFPROTO_IPV4 ||
		     chain->family == NFPROTO_IPV6;

	if (chain->family == NFPROTO_NETDEV)
		return 0; /* said of its table */
	if (chain->family == NFPROTO_INET && chain->hook == INET_INGRESS)
		return say(differs, words("chain inet %s %s hooks a device's ingress", chain->table,
					  chain->name));
	if (is_ip && chain->hook == NF_INET_POST_ROUTING &&
	    chain->priority >= POLICY_POSTROUTING_PRIORITY)
		return say(differs, words("chain %s %s %s comes at or after our postrouting chain "
					  "(priority %d)",
					  family, chain->table, chain->name, chain->priority));
	return say(notes, words("foreign chain %s %s %s: type %s hook %s priority %d", family,
				chain->table, chain->name, chain->type,
				netfilter_hook_name(chain->family, chain->hook), chain->priority));
}

int policy_check_hooks(const struct netfilter_state *state, const char *table, json_t *differs,
		       json_t *notes)
{
	int bad = 0;

	for (size_t i = 0; i < state->tables_count; i++) {
		const struct netfilter_table *one = state->tables + i;
		bool ours = one->family == NFPROTO_INET && strcmp(one->name, table) == 0;

		if (one->family == NFPROTO_NETDEV)
			bad |= say(differs, words("table netdev %s sees frames that no chain of "
						  "ours sees",
						  one->name));
		if (ours && one->flags & NFT_TABLE_F_DORMANT)
			bad |= say(differs, words("table inet %s is dormant", table));
		if (ours && one->flags & ~(uint32_t)NFT_TABLE_F_DORMANT)
			bad |= say(differs,
				   words("table inet %s has flags 0x%x", table, one->flags));
		if (one->xt)
			bad |= say(notes, words("table %s %s holds rules of iptables-nft",
						family_name(one->family), one->name));
	}
	for (size_t i = 0; i < state->chains_count; i++)
		if (state->chains[i].family != NFPROTO_INET ||
		    strcmp(state->chains[i].table, table) != 0)
			bad |= check_chain(state->chains + i, differs, notes);
	return bad == 0 ? 0 : -1;
}

int policy_check_links(const struct network_links *links, json_t *differs, json_t *notes)
{
	bool unknown = false;
	int bad = 0;

	for (size_t i = 0; i < links->count; i++) {
		const struct network_link *link = links->links + i;

		if (link->xdp)
			bad |= say(differs, words("device %s has an XDP program", link->name));
		if (link->tcx > 0)
			bad |= say(differs, words("device %s has %u tcx or netkit programs",
						  link->name, link->tcx));
		if (link->hook[0] != '\0')
			bad |= say(differs,
				   words("device %s has a %s qdisc", link->name, link->hook));
		if (link->filtered)
			bad |= say(differs,
				   words("device %s has traffic-control filters", link->name));
		unknown |= link->tcx_unknown;
	}
	if (unknown)
		bad |= say(notes, words("tcx programs cannot be asked for here: bpf is refused"));
	return bad == 0 ? 0 : -1;
}

int policy_check_legacy(json_t *notes)
{
	static const char *const lists[] = {"/proc/self/net/ip_tables_names",
					    "/proc/self/net/ip6_tables_names"};
	int bad = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *family = i == 0 ? "iptables" : "ip6tables";
		autoclose fd = open(lists[i], O_RDONLY | O_CLOEXEC);
		char names[256] = "";
		ssize_t n = fd < 0 ? 0 : read(fd, names, sizeof(names) - 1);

		/* A kernel without them has no such file; but are all the others missing too? */
		if (n < 0 || (fd < 0 && (errno != ENOENT || access("/proc/self/net", X_OK) != 0)))
			bad |= say(notes, words("legacy %s tables cannot be looked for: %s", family,
						strerror(errno)));
		for (ssize_t j = 0; j < n; j++)
			if (names[j] == '\n')
				names[j] = j + 1 < n ? ' ' : '\0';
		if (n > 0)
			bad |= say(notes,
				   words("legacy %s tables, which nftables does not list: %s",
					 family, names));
	}
	return bad == 0 ? 0 : -1;
}

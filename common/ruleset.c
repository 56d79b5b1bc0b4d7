// SPDX-License-Identifier: GPL-2.0-or-later
/* The one constant ruleset of a cell; see ruleset.h. cell-policy(1) explains it rule by rule. */
#include "ruleset.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "ruleset_blocks.h"
#include "sha256.h"
#include "watch_class.h"

enum { SNAPLEN = 256, SEAL_DIGITS = 16 };

#define TO_PROXY "oifname . ip daddr . tcp dport @" RULESET_PROXY_SET " accept"
#define FROM_PROXY "iifname . ip saddr . tcp sport @" RULESET_PROXY_SET " accept"

bool ruleset_table_is_valid(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");

	return length > 0 && length < RULESET_TABLE_MAX && name[length] == '\0' &&
	       /* An underscore keeps it clear of the language's own words. */
	       strchr(name, '_') != NULL && (name[0] < '0' || name[0] > '9') &&
	       /* The table that Harbor's entrypoint deletes when it stops. */
	       strcmp(name, "gost_egress") != 0;
}

bool ruleset_device_is_valid(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_.-+@");

	return length > 0 && length < IF_NAMESIZE && name[length] == '\0';
}

int ruleset_add_resolver(struct ruleset *ruleset, const char *address)
{
	union {
		struct in_addr v4;
		struct in6_addr v6;
	} parsed;
	char text[INET6_ADDRSTRLEN];
	size_t i = 0;

	if (inet_pton(AF_INET, address, &parsed.v4) == 1)
		(void)inet_ntop(AF_INET, &parsed.v4, text, sizeof(text));
	else if (inet_pton(AF_INET6, address, &parsed.v6) != 1)
		return errno = EINVAL, -1;
	else if (IN6_IS_ADDR_V4MAPPED(&parsed.v6))
		(void)inet_ntop(AF_INET, parsed.v6.s6_addr + 12, text, sizeof(text));
	else
		(void)inet_ntop(AF_INET6, &parsed.v6, text, sizeof(text));
	while (i < ruleset->resolvers_count && strcmp(ruleset->resolvers[i], text) < 0)
		i++;
	if (i < ruleset->resolvers_count && strcmp(ruleset->resolvers[i], text) == 0)
		return 0;
	if (ruleset->resolvers_count == RULESET_RESOLVERS_MAX)
		return errno = ENOSPC, -1;
	memmove(ruleset->resolvers + i + 1, ruleset->resolvers + i,
		(ruleset->resolvers_count - i) * sizeof(ruleset->resolvers[0]));
	memcpy(ruleset->resolvers[i], text, sizeof(text));
	ruleset->resolvers_count++;
	return 0;
}

__attribute__((format(printf, 2, 3))) static int add_line(json_t *lines, const char *format, ...)
{
	va_list list;
	json_t *line;

	va_start(list, format);
	line = json_vsprintf(format, list);
	va_end(list);
	return json_array_append_new(lines, line);
}

/* What a class's refusal does first: log if it is wanted, and count. */
struct tally {
	char text[96];
};

static struct tally tally(const struct ruleset *ruleset, enum watch_class class)
{
	struct tally made;
	const char *counter = watch_class_counter(class);

	if (ruleset->log_group == RULESET_NO_LOG)
		(void)snprintf(made.text, sizeof(made.text), "counter name \"%s\"", counter);
	else
		(void)snprintf(made.text, sizeof(made.text),
			       "log prefix \"%s\" group %d snaplen %d counter name \"%s\"", counter,
			       ruleset->log_group, SNAPLEN, counter);
	return made;
}

/*
 * A mark of the resolvers as they were when the table was made. From then on the kernel's set is
 * the truth; the mark beside it shows whether somebody edited that truth.
 */
static void make_seal(const struct ruleset *ruleset, char seal[static SHA256_TEXT])
{
	char all[RULESET_RESOLVERS_MAX * (INET6_ADDRSTRLEN + 1)];
	size_t length = 0;

	for (size_t i = 0; i < ruleset->resolvers_count; i++)
		length += (size_t)snprintf(all + length, sizeof(all) - length, "%s\n",
					   ruleset->resolvers[i]);
	sha256_hex(all, length, seal);
	seal[SEAL_DIGITS] = '\0';
}

/* One rule for the resolvers of one family; none where there are none of it. */
static int add_resolvers(json_t *lines, const struct ruleset *ruleset, bool ipv6)
{
	char set[RULESET_RESOLVERS_MAX * (INET6_ADDRSTRLEN + 2)] = "", seal[SHA256_TEXT];
	size_t length = 0;

	for (size_t i = 0; i < ruleset->resolvers_count; i++)
		if ((strchr(ruleset->resolvers[i], ':') != NULL) == ipv6)
			length += (size_t)snprintf(set + length, sizeof(set) - length, "%s%s",
						   length > 0 ? ", " : "", ruleset->resolvers[i]);
	if (length == 0)
		return 0;
	make_seal(ruleset, seal);
	return add_line(lines, "%s daddr { %s } goto refuse_resolver comment \"resolvers %s\"",
			ipv6 ? "ip6" : "ip", set, seal);
}

/* `"eth0" . 10.77.0.2 . 8080`, as an element is written; malloc'd. */
static char *element_text(const struct ruleset_proxy *proxy)
{
	char address[INET_ADDRSTRLEN], *text;

	(void)inet_ntop(AF_INET, &proxy->address, address, sizeof(address));
	if (asprintf(&text, "\"%s\" . %s . %u", proxy->device, address, (unsigned int)proxy->port) <
	    0)
		return NULL;
	return text;
}

static int add_objects(json_t *blocks, const struct ruleset *r)
{
	autofree char *element = r->has_proxy ? element_text(&r->proxy) : NULL;
	char header[64];
	json_t *lines;
	int bad = 0;

	for (int class = 0; class < WATCH_COUNTED; class ++) {
		(void)snprintf(header, sizeof(header), "counter %s",
			       watch_class_counter((enum watch_class) class));
		bad |= ruleset_blocks_add(blocks, header) == NULL;
	}
	lines = ruleset_blocks_add(blocks, "set " RULESET_PROXY_SET);
	bad |= add_line(lines, "type ifname . ipv4_addr . inet_service");
	if (r->has_proxy)
		bad |= element == NULL || add_line(lines, "elements = { %s }", element);
	return bad;
}

static int add_refusals(json_t *blocks, const struct ruleset *r)
{
	json_t *lines = ruleset_blocks_add(blocks, "chain refuse_resolver");
	int bad = add_line(lines, "%s", tally(r, WATCH_RESOLVER).text);

	bad |= add_line(lines, "meta l4proto tcp reject with tcp reset");
	bad |= add_line(lines, "reject with icmpx type admin-prohibited");
	lines = ruleset_blocks_add(blocks, "chain refuse");
	bad |= add_line(lines, "meta skuid != 4294967295 jump refuse_subject");
	bad |= add_line(lines, "%s drop", tally(r, WATCH_KERNEL).text);
	lines = ruleset_blocks_add(blocks, "chain refuse_subject");
	bad |= add_line(lines, "meta l4proto tcp %s reject with tcp reset",
			tally(r, WATCH_TCP).text);
	bad |= add_line(lines, "meta l4proto udp %s reject with icmpx type admin-prohibited",
			tally(r, WATCH_UDP).text);
	bad |= add_line(lines,
			"meta l4proto { icmp, icmpv6 } %s reject with icmpx type admin-prohibited",
			tally(r, WATCH_ICMP).text);
	bad |= add_line(lines, "%s reject with icmpx type admin-prohibited",
			tally(r, WATCH_OTHER).text);
	return bad;
}

static int add_hooks(json_t *blocks, const struct ruleset *r)
{
	json_t *lines = ruleset_blocks_add(blocks, "chain output");
	int bad = add_line(lines, "type filter hook output priority 0; policy drop;");

	bad |= add_resolvers(lines, r, false);
	bad |= add_resolvers(lines, r, true);
	bad |= add_line(lines, "oif \"lo\" accept");
	bad |= add_line(lines, TO_PROXY);
	bad |= add_line(lines, "goto refuse");
	lines = ruleset_blocks_add(blocks, "chain postrouting");
	bad |= add_line(lines, "type filter hook postrouting priority 2147483646; policy drop;");
	bad |= add_line(lines, "oif \"lo\" accept");
	bad |= add_line(lines, TO_PROXY);
	bad |= add_line(lines, "%s", tally(r, WATCH_LATE).text);
	lines = ruleset_blocks_add(blocks, "chain forward");
	bad |= add_line(lines, "type filter hook forward priority 0; policy drop;");
	bad |= add_line(lines, "%s", tally(r, WATCH_FORWARD).text);
	lines = ruleset_blocks_add(blocks, "chain input");
	bad |= add_line(lines, "type filter hook input priority 0; policy drop;");
	bad |= add_line(lines, "iif \"lo\" accept");
	bad |= add_line(lines, FROM_PROXY);
	bad |= add_line(lines, "icmp type { destination-unreachable, time-exceeded, "
			       "parameter-problem } accept");
	bad |= add_line(lines, "%s", tally(r, WATCH_INBOUND).text);
	return bad;
}

json_t *ruleset_wanted(const struct ruleset *ruleset)
{
	json_t *blocks = json_array();

	if (add_objects(blocks, ruleset) != 0 || add_refusals(blocks, ruleset) != 0 ||
	    add_hooks(blocks, ruleset) != 0) {
		json_decref(blocks);
		return errno = ENOMEM, NULL;
	}
	return blocks;
}

/* PREFIX with the table's name in it, and the whole ruleset behind it. */
static char *transaction(const struct ruleset *ruleset, const char *prefix)
{
	json_t *blocks = ruleset_wanted(ruleset);
	autofree char *text = blocks == NULL ? NULL : ruleset_blocks_text(ruleset->table, blocks);
	char *whole = NULL;

	json_decref(blocks);
	if (text == NULL || asprintf(&whole, "%s%s", prefix, text) < 0)
		return NULL;
	return whole;
}

char *ruleset_create(const struct ruleset *ruleset)
{
	char prefix[64];

	/* Not add: of two first ones the slower must not put its rules below the other's. */
	(void)snprintf(prefix, sizeof(prefix), "create table inet %s\n", ruleset->table);
	return transaction(ruleset, prefix);
}

char *ruleset_replace(const struct ruleset *ruleset)
{
	char prefix[128];

	(void)snprintf(prefix, sizeof(prefix), "add table inet %s\ndelete table inet %s\n",
		       ruleset->table, ruleset->table);
	return transaction(ruleset, prefix);
}

char *ruleset_switch(const struct ruleset *ruleset)
{
	autofree char *element = ruleset->has_proxy ? element_text(&ruleset->proxy) : NULL;
	char *text = NULL;
	int made;

	if (ruleset->has_proxy && element == NULL)
		return NULL;
	if (element == NULL)
		made = asprintf(&text, "flush set inet %s %s\n", ruleset->table, RULESET_PROXY_SET);
	else
		made = asprintf(&text, "flush set inet %s %s\nadd element inet %s %s { %s }\n",
				ruleset->table, RULESET_PROXY_SET, ruleset->table,
				RULESET_PROXY_SET, element);
	return made < 0 ? NULL : text;
}

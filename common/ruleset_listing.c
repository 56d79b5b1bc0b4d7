// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's listing of our table in our own words; see ruleset_listing.h. */
#include "ruleset_listing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "ruleset_blocks.h"
#include "watch_class.h"

static bool is_text(const json_t *value, const char *text)
{
	return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/* The lines of the block "KIND NAME", borrowed; an absent block is added. NULL: no memory. */
static json_t *lines_of(json_t *blocks, const char *kind, const char *name)
{
	autofree char *header = NULL;
	json_t *lines;

	if (asprintf(&header, "%s %s", kind, name) < 0)
		return NULL;
	lines = ruleset_blocks_lines(blocks, header);
	return lines != NULL ? lines : ruleset_blocks_add(blocks, header);
}

static int add_text(json_t *lines, const char *text)
{
	return text == NULL ? -1 : json_array_append_new(lines, json_string(text));
}

/* The keys of OBJECT that change what it does and that we never set, as one more line. */
static int add_unexpected(json_t *lines, const json_t *object, const char *const *harmful)
{
	int bad = 0;

	for (; *harmful != NULL; harmful++) {
		const json_t *value = json_object_get(object, *harmful);
		autofree char *text = NULL;

		if (value == NULL)
			continue;
		text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
		bad |= json_array_append_new(
			lines, json_sprintf("%s %s", *harmful, text != NULL ? text : "?"));
	}
	return bad;
}

static int read_chain(json_t *blocks, const json_t *chain)
{
	static const char *const harmful[] = {"dev", "flags", NULL};
	json_t *lines =
		lines_of(blocks, "chain", json_string_value(json_object_get(chain, "name")));
	const json_t *hook = json_object_get(chain, "hook"), *prio = json_object_get(chain, "prio");
	const json_t *type = json_object_get(chain, "type");
	const json_t *policy = json_object_get(chain, "policy");
	autofree char *number = NULL;
	int bad = 0;

	if (hook != NULL || type != NULL || prio != NULL || policy != NULL) {
		/* Asked for numbers, a version that says "filter" all the same means 0. */
		number = json_dumps(prio, JSON_COMPACT | JSON_ENCODE_ANY);
		/* In front, in whatever order the listing came. */
		bad |= json_array_insert_new(
			lines, 0,
			json_sprintf("type %s hook %s priority %s; policy %s;",
				     json_is_string(type) ? json_string_value(type) : "?",
				     json_is_string(hook) ? json_string_value(hook) : "?",
				     number == NULL	       ? "?"
				     : is_text(prio, "filter") ? "0"
							       : number,
				     json_is_string(policy) ? json_string_value(policy) : "?"));
	}
	return bad | add_unexpected(lines, chain, harmful);
}

static int read_rule(json_t *blocks, const json_t *rule)
{
	const char *chain = json_string_value(json_object_get(rule, "chain"));
	json_t *lines = chain == NULL ? NULL : lines_of(blocks, "chain", chain);
	autofree char *text = ruleset_rule_text(
		json_object_get(rule, "expr"), json_string_value(json_object_get(rule, "comment")));

	return add_text(lines, text);
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* One line "elements = { a, b }", sorted. */
static int read_elements(json_t *lines, const json_t *elements)
{
	size_t count = json_array_size(elements), size;
	char **sorted = calloc(count + 1, sizeof(char *));
	autofree char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	int bad = sorted == NULL || out == NULL;

	for (size_t i = 0; i < count && !bad; i++)
		bad |= (sorted[i] = ruleset_element_text(json_array_get(elements, i))) == NULL;
	if (!bad) {
		qsort(sorted, count, sizeof(char *), by_text);
		for (size_t i = 0; i < count; i++)
			(void)fprintf(out, "%s%s", i > 0 ? ", " : "elements = { ", sorted[i]);
		(void)fputs(" }", out);
	}
	for (size_t i = 0; i < count && sorted != NULL; i++)
		free(sorted[i]);
	free(sorted);
	bad |= out == NULL || fclose(out) != 0;
	return bad || add_text(lines, text) != 0 ? -1 : 0;
}

/* The first element as a proxy, if it reads as one. */
static void read_proxy(const json_t *elements, struct ruleset_listing *listing)
{
	const json_t *concat = json_object_get(json_array_get(elements, 0), "concat");
	const char *device = json_string_value(json_array_get(concat, 0));
	const char *address = json_string_value(json_array_get(concat, 1));
	json_int_t port = json_integer_value(json_array_get(concat, 2));
	struct ruleset_proxy *proxy = &listing->read.proxy;

	listing->proxies = json_array_size(elements);
	if (device == NULL || address == NULL || strlen(device) >= sizeof(proxy->device) ||
	    inet_pton(AF_INET, address, &proxy->address) != 1 || port < 1 || port > 65535)
		return;
	memcpy(proxy->device, device, strlen(device) + 1);
	proxy->port = (uint16_t)port;
	listing->read.has_proxy = true;
}

static int read_set(struct ruleset_listing *listing, const char *kind, const json_t *set)
{
	static const char *const harmful[] = {"flags",	  "timeout", "gc-interval", "size",
					      "policy",	  "map",     "stmt",	    "auto-merge",
					      "interval", NULL};
	const char *name = json_string_value(json_object_get(set, "name"));
	const json_t *type = json_object_get(set, "type"), *elements = json_object_get(set, "elem");
	json_t *lines = lines_of(listing->blocks, kind, name), *part;
	char text[256] = "type ";
	size_t i;
	int bad = 0;

	json_array_foreach (type, i, part) {
		const char *word = json_is_string(part) ? json_string_value(part) : "?";

		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
			       i > 0 ? " . " : "", word);
	}
	if (json_is_string(type))
		(void)snprintf(text, sizeof(text), "type %s", json_string_value(type));
	bad |= add_text(lines, text);
	bad |= add_unexpected(lines, set, harmful);
	if (json_array_size(elements) > 0)
		bad |= read_elements(lines, elements);
	if (strcmp(kind, "set") == 0 && strcmp(name, RULESET_PROXY_SET) == 0)
		read_proxy(elements, listing);
	return bad;
}

static int read_counter(struct ruleset_listing *listing, const json_t *counter)
{
	const char *name = json_string_value(json_object_get(counter, "name"));
	enum watch_class class = watch_class_find(name, strlen(name));
	int bad = lines_of(listing->blocks, "counter", name) == NULL;

	if (class != WATCH_FOREIGN)
		bad |= json_object_set_new(listing->counters, watch_class_name(class),
					   json_pack("{s:O, s:O}", "packets",
						     json_object_get(counter, "packets"), "bytes",
						     json_object_get(counter, "bytes")));
	return bad;
}

/* One entry of the listing, {"chain": {...}}. */
static int read_entry(struct ruleset_listing *listing, json_t *entry, const char *table)
{
	const char *kind = json_object_iter_key(json_object_iter(entry));
	const json_t *object = kind == NULL ? NULL : json_object_get(entry, kind);
	const char *name = json_string_value(json_object_get(object, "name"));
	bool is_rule = kind != NULL && strcmp(kind, "rule") == 0;

	if (kind == NULL || strcmp(kind, "metainfo") == 0)
		return 0;
	if (strcmp(kind, "table") == 0)
		return name != NULL && strcmp(name, table) == 0 ? 0 : -1;
	if (!is_text(json_object_get(object, "table"), table) ||
	    !is_text(json_object_get(object, "family"), "inet") || (name == NULL && !is_rule))
		return -1;
	if (is_rule)
		return read_rule(listing->blocks, object);
	if (strcmp(kind, "chain") == 0)
		return read_chain(listing->blocks, object);
	if (strcmp(kind, "set") == 0 || strcmp(kind, "map") == 0)
		return read_set(listing, kind, object);
	if (strcmp(kind, "counter") == 0)
		return read_counter(listing, object);
	return lines_of(listing->blocks, kind, name) == NULL ? -1 : 0;
}

/* Puts the blocks in the order of the ones that we would make, and judges whose table it is. */
static int sort_blocks(struct ruleset_listing *listing)
{
	json_t *model = ruleset_wanted(&listing->read);
	int ours = model == NULL ? -1 : ruleset_blocks_sort(listing->blocks, model);
	const json_t *other = json_array_get(listing->blocks, ours < 0 ? 0 : (size_t)ours);

	if (ours >= 0 && other != NULL) {
		(void)snprintf(listing->foreign_name, sizeof(listing->foreign_name), "%s",
			       json_string_value(json_object_get(other, "header")));
		/* All of ours and something besides is a change of ours, not another's table. */
		listing->foreign = (size_t)ours < json_array_size(model);
	}
	json_decref(model);
	return ours < 0 ? -1 : 0;
}

/* The parameters that stand in the rules: refused resolvers, log group. */
static void read_parameters(struct ruleset_listing *listing)
{
	json_t *line;
	size_t i;
	const char *text = json_string_value(
		json_array_get(ruleset_blocks_lines(listing->blocks, "chain refuse_resolver"), 0));
	const char *group = text == NULL ? NULL : strstr(text, " group ");

	long number = group == NULL ? RULESET_NO_LOG : strtol(group + strlen(" group "), NULL, 10);

	listing->read.log_group =
		number >= 0 && number <= UINT16_MAX ? (int)number : RULESET_NO_LOG;
	json_array_foreach (ruleset_blocks_lines(listing->blocks, "chain output"), i, line) {
		const char *rule = json_string_value(line), *end = strstr(rule, " } goto refuse_r");
		const char *at = strstr(rule, "daddr { ");

		for (at = at != NULL ? at + strlen("daddr { ") : NULL; at != NULL && at < end;) {
			size_t length = strcspn(at, ", ");
			char address[INET6_ADDRSTRLEN] = "";

			if (length < sizeof(address))
				memcpy(address, at, length);
			(void)ruleset_add_resolver(&listing->read, address);
			at += length + strspn(at + length, ", ");
		}
	}
}

int ruleset_listing_read(const char *json, size_t length, const char *table,
			 struct ruleset_listing *listing)
{
	json_t *root, *entries, *entry;
	size_t i;
	int bad;

	errno = 0; /* what finds no memory sets it, and says no more */
	root = json_loadb(json, length, JSON_REJECT_DUPLICATES, NULL);
	entries = json_object_get(root, "nftables");
	bad = !json_is_array(entries);
	memset(listing, 0, sizeof(*listing));
	listing->read.table = table;
	listing->read.log_group = RULESET_NO_LOG;
	listing->blocks = json_array();
	listing->counters = json_object();
	json_array_foreach (entries, i, entry)
		bad |= read_entry(listing, entry, table);
	json_decref(root);
	if (bad || sort_blocks(listing) != 0) {
		ruleset_listing_release(listing);
		return errno = errno == ENOMEM ? ENOMEM : EBADMSG, -1;
	}
	read_parameters(listing);
	return 0;
}

void ruleset_listing_release(struct ruleset_listing *listing)
{
	json_decref(listing->blocks);
	json_decref(listing->counters);
	listing->blocks = listing->counters = NULL;
}

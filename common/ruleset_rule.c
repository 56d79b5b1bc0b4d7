// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A listed rule put into our own words; see ruleset_listing.h. Only exactly the statements that we
 * write are translated, anything else stays JSON: what is not understood never looks like ours.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "ruleset_listing.h"

/* Numbers that numeric listings give for the words in our rules. */
static const struct {
	const char *left;
	int number;
	const char *word;
} words[] = {
	{"meta l4proto", 6, "tcp"},
	{"meta l4proto", 17, "udp"},
	{"meta l4proto", 1, "icmp"},
	{"meta l4proto", 58, "icmpv6"},
	{"meta l4proto", 58, "ipv6-icmp"}, /* the same: the first one of a number is ours */
	{"icmp type", 3, "destination-unreachable"},
	{"icmp type", 11, "time-exceeded"},
	{"icmp type", 12, "parameter-problem"},
};

static bool is_text(const json_t *value, const char *text)
{
	return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/*
 * True for text that can stand in a rule without a second meaning: what comes by netlink may hold
 * any byte, and a name like `proxy4 accept` must not read like two words of ours.
 */
static bool is_plain(const char *text)
{
	return *text != '\0' && text[strcspn(text, " \t\r\n\"'\\{};,")] == '\0';
}

static bool is_plain_text(const json_t *value)
{
	return json_is_string(value) && is_plain(json_string_value(value));
}

static void put_raw(FILE *out, const json_t *value)
{
	autofree char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

	(void)fputs(text != NULL ? text : "?", out);
}

/* meta, payload, or several of them joined (one deep). 0, or -1: not one of ours. */
// NOLINTNEXTLINE(misc-no-recursion)
static int left_text(json_t *left, char *text, size_t size)
{
	const char *key, *protocol, *field;
	json_t *part;
	size_t i, length = 0;

	if (json_object_size(left) != 1)
		return -1;
	if (json_unpack_ex(left, NULL, JSON_STRICT, "{s:{s:s}}", "meta", "key", &key) == 0) {
		bool bare = strcmp(key, "oif") == 0 || strcmp(key, "iif") == 0 ||
			    strcmp(key, "oifname") == 0 || strcmp(key, "iifname") == 0;

		return is_plain(key) && snprintf(text, size, "%s%s", bare ? "" : "meta ", key) <
						(int)size
			       ? 0
			       : -1;
	}
	if (json_unpack_ex(left, NULL, JSON_STRICT, "{s:{s:s, s:s}}", "payload", "protocol",
			   &protocol, "field", &field) == 0)
		return snprintf(text, size, "%s %s", protocol, field) < (int)size ? 0 : -1;
	if (!json_is_array(json_object_get(left, "concat")))
		return -1;
	text[0] = '\0';
	json_array_foreach (json_object_get(left, "concat"), i, part) {
		char one[64];

		if (json_object_get(part, "concat") != NULL ||
		    left_text(part, one, sizeof(one)) != 0) // NOLINT(misc-no-recursion)
			return -1;
		length += (size_t)snprintf(text + length, size - length, "%s%s", i > 0 ? " . " : "",
					   one);
		if (length >= size)
			return -1;
	}
	return i > 0 ? 0 : -1;
}

/* VALUE as a number, if it is one that is not negative or our word for one; else -1. */
static json_int_t number_of(const char *left, const json_t *value)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].left, left) == 0 && is_text(value, words[i].word))
			return words[i].number;
	return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* One constant: a number (or its word), a quoted device, or a bare word or address. */
static void put_constant(FILE *out, const char *left, const json_t *value)
{
	json_int_t number = number_of(left, value);

	if (number >= 0) {
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strcmp(words[i].left, left) == 0 && words[i].number == number) {
				(void)fputs(words[i].word, out);
				return;
			}
		(void)fprintf(out, "%" JSON_INTEGER_FORMAT, number);
	} else if (!is_plain_text(value)) {
		put_raw(out, value);
	} else if (strcmp(left, "oif") == 0 || strcmp(left, "iif") == 0 ||
		   strcmp(left, "oifname") == 0 || strcmp(left, "iifname") == 0) {
		(void)fprintf(out, "\"%s\"", json_string_value(value));
	} else {
		(void)fputs(json_string_value(value), out);
	}
}

struct member {
	json_int_t number; /* -1: none */
	const json_t *value;
};

/* By number, then by text. */
static int by_value(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (json_is_string(a->value) && json_is_string(b->value))
		return strcmp(json_string_value(a->value), json_string_value(b->value));
	return 0;
}

/* An anonymous set, in one order whatever the kernel's. */
static void put_set(FILE *out, const char *left, const json_t *set)
{
	size_t count = json_array_size(set);
	autofree struct member *sorted = calloc(count + 1, sizeof(struct member));

	if (sorted == NULL) {
		put_raw(out, set);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		sorted[i].value = json_array_get(set, i);
		sorted[i].number = number_of(left, sorted[i].value);
	}
	qsort(sorted, count, sizeof(struct member), by_value);
	(void)fputs("{ ", out);
	for (size_t i = 0; i < count; i++) {
		(void)fputs(i > 0 ? ", " : "", out);
		put_constant(out, left, sorted[i].value);
	}
	(void)fputs(" }", out);
}

/* True if MATCH was written. */
static bool put_match(FILE *out, json_t *match)
{
	json_t *left = json_object_get(match, "left"), *right, *set;
	const json_t *op = json_object_get(match, "op");
	bool unequal = is_text(op, "!=");
	char text[160];

	right = json_object_get(match, "right");
	set = json_object_get(right, "set");
	if (json_object_size(match) != 3 || right == NULL || left_text(left, text, sizeof(text)) ||
	    !(unequal || is_text(op, "==") || (is_text(op, "in") && set != NULL)))
		return false;
	if (json_is_object(right) && (json_object_size(right) != 1 || !json_is_array(set)))
		return false;
	(void)fprintf(out, "%s %s", text, unequal ? "!= " : "");
	if (set != NULL)
		put_set(out, text, set);
	else if (!unequal && (strcmp(text, "ip daddr") == 0 || strcmp(text, "ip6 daddr") == 0)) {
		/* A set of one is listed as its element. */
		(void)fputs("{ ", out);
		put_constant(out, text, right);
		(void)fputs(" }", out);
	} else {
		put_constant(out, text, right);
	}
	return true;
}

static bool put_log(FILE *out, json_t *log)
{
	const char *prefix;
	json_int_t group, snaplen;

	if (json_unpack_ex(log, NULL, JSON_STRICT, "{s:s, s:I, s:I}", "prefix", &prefix, "group",
			   &group, "snaplen", &snaplen) != 0 ||
	    !is_plain(prefix))
		return false;
	(void)fprintf(out,
		      "log prefix \"%s\" group %" JSON_INTEGER_FORMAT
		      " snaplen %" JSON_INTEGER_FORMAT,
		      prefix, group, snaplen);
	return true;
}

static bool put_reject(FILE *out, const json_t *reject)
{
	const json_t *code = json_object_get(reject, "expr");

	if (json_object_size(reject) == 1 && is_text(json_object_get(reject, "type"), "tcp reset"))
		return fputs("reject with tcp reset", out) >= 0;
	/* NFT_REJECT_ICMPX_ADMIN_PROHIBITED is 3 in uapi/linux/netfilter/nf_tables.h. */
	if (json_object_size(reject) == 2 && is_text(json_object_get(reject, "type"), "icmpx") &&
	    (is_text(code, "admin-prohibited") ||
	     (json_is_integer(code) && json_integer_value(code) == 3)))
		return fputs("reject with icmpx type admin-prohibited", out) >= 0;
	return false;
}

static bool put_statement(FILE *out, json_t *statement)
{
	const char *key = json_object_iter_key(json_object_iter(statement));
	json_t *value = key == NULL ? NULL : json_object_get(statement, key);

	if (key == NULL || json_object_size(statement) != 1)
		return false;
	if (strcmp(key, "match") == 0)
		return put_match(out, value);
	if (strcmp(key, "log") == 0)
		return put_log(out, value);
	if (strcmp(key, "reject") == 0)
		return put_reject(out, value);
	if (strcmp(key, "counter") == 0 && is_plain_text(value))
		return fprintf(out, "counter name \"%s\"", json_string_value(value)) > 0;
	if ((strcmp(key, "accept") == 0 || strcmp(key, "drop") == 0) && json_is_null(value))
		return fputs(key, out) >= 0;
	if ((strcmp(key, "goto") == 0 || strcmp(key, "jump") == 0) &&
	    json_object_size(value) == 1 && is_plain_text(json_object_get(value, "target")))
		return fprintf(out, "%s %s", key,
			       json_string_value(json_object_get(value, "target"))) > 0;
	return false;
}

char *ruleset_rule_text(const json_t *statements, const char *comment)
{
	static const char seal[] = "resolvers ";
	char *text = NULL;
	size_t length, i;
	json_t *statement;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	json_array_foreach (statements, i, statement) {
		(void)fputs(i > 0 ? " " : "", out);
		if (!put_statement(out, statement))
			put_raw(out, statement);
	}
	if (!json_is_array(statements))
		put_raw(out, statements);
	if (comment != NULL && strncmp(comment, seal, strlen(seal)) == 0 &&
	    is_plain(comment + strlen(seal)))
		(void)fprintf(out, " comment \"%s\"", comment);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

char *ruleset_element_text(const json_t *element)
{
	const json_t *parts = json_object_get(element, "concat");
	const json_t *port = json_array_get(parts, 2);
	char *text = NULL;

	if (json_object_size(element) == 1 && json_array_size(parts) == 3 &&
	    is_plain_text(json_array_get(parts, 0)) && is_plain_text(json_array_get(parts, 1)) &&
	    json_is_integer(port)) {
		if (asprintf(&text, "\"%s\" . %s . %" JSON_INTEGER_FORMAT,
			     json_string_value(json_array_get(parts, 0)),
			     json_string_value(json_array_get(parts, 1)),
			     json_integer_value(port)) < 0)
			return NULL;
		return text;
	}
	return json_dumps(element, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

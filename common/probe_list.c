// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of targets and their placeholders; see probe_list.h. */
#include "probe_list.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

const char probe_list_usual[] = "loopback:\n"
				"name:{proxy_host}\n"
				"tcp://{proxy}:{proxy_port} open\n"
				"dns://{nameserver}:53/{name}\n"
				"dns+tcp://{nameserver}:53/{name}\n"
				"dns://127.0.0.11:53/{name}\n"
				"dns+tcp://127.0.0.11:53/{name}\n"
				"icmp://{gateway}\n"
				"tcp://{gateway}:80\n"
				"family:packet\nfamily:vsock\nfamily:pppox\nfamily:qipcrtr\n"
				"family:tipc\nfamily:rds\nfamily:can\nfamily:smc\n"
				"family:bluetooth\nfamily:xdp\nfamily:llc\n"
				"call:request_key\ncall:pidfd_getfd\ncall:bpf\n"
				"call:io_uring\ncall:unshare\n"
				"policy:\n";

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool probe_values_add(struct probe_values *values, const char *name, size_t name_length,
		      const char *text)
{
	struct probe_value *value = &values->items[values->count];

	for (size_t i = 0; i < values->count; i++)
		if (strncmp(values->items[i].name, name, name_length) == 0 &&
		    values->items[i].name[name_length] == '\0' &&
		    strcmp(values->items[i].text, text) == 0)
			return true;
	/* A value that held a placeholder would be filled in for ever. */
	if (values->count >= PROBE_VALUES_MAX || strchr(text, '{') != NULL || name_length == 0 ||
	    name_length >= sizeof(value->name) || strlen(text) >= sizeof(value->text))
		return false;
	for (size_t i = 0; i < name_length; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyz0123456789_", name[i]) == NULL ||
		    name[i] == 0)
			return false;
	memcpy(value->name, name, name_length);
	value->name[name_length] = '\0';
	memcpy(value->text, text, strlen(text) + 1);
	values->count++;
	return true;
}

bool probe_values_has(const struct probe_values *values, const char *name)
{
	for (size_t i = 0; i < values->count; i++)
		if (strcmp(values->items[i].name, name) == 0 && values->items[i].text[0] != '\0')
			return true;
	return false;
}

/* The next word of [*at, end), which *at is then behind; its length, 0 at the end. */
static size_t next_word(const char **at, const char *end, const char **word)
{
	while (*at < end && is_blank(**at))
		(*at)++;
	*word = *at;
	while (*at < end && !is_blank(**at))
		(*at)++;
	return (size_t)(*at - *word);
}

static bool is_word(const char *word, size_t length, const char *wanted)
{
	return length == strlen(wanted) && memcmp(word, wanted, length) == 0;
}

void probe_values_add_nameservers(struct probe_values *values, const char *name, const char *text,
				  size_t length)
{
	const char *end = text + length;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline != NULL ? newline : end, *word;
		size_t n = next_word(&text, line_end, &word);
		unsigned char address[16];
		char copy[64], shown[72];

		if (is_word(word, n, "nameserver") && (n = next_word(&text, line_end, &word)) > 0 &&
		    n < sizeof(copy)) {
			memcpy(copy, word, n);
			copy[n] = '\0';
			copy[strcspn(copy, "%")] = '\0'; /* a scope is not an address */
			(void)snprintf(shown, sizeof(shown), "[%s]", copy);
			if (inet_pton(AF_INET, copy, address) == 1)
				(void)probe_values_add(values, name, strlen(name), copy);
			else if (inet_pton(AF_INET6, copy, address) == 1)
				(void)probe_values_add(values, name, strlen(name), shown);
		}
		text = newline != NULL ? newline + 1 : end;
	}
}

static int add_target(struct probe_list *list, const char *text, enum probe_expect expect,
		      bool known, struct probe_list_fault *fault)
{
	struct probe_target *target;
	const char *reason;

	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].target.text, text) == 0)
			return 0;
	if (list->count >= PROBE_LIST_MAX) {
		(void)snprintf(fault->reason, sizeof(fault->reason), "more than %d targets",
			       PROBE_LIST_MAX);
		return -1;
	}
	target = &list->items[list->count].target;
	memset(&list->items[list->count], 0, sizeof(list->items[0]));
	if (known) {
		reason = probe_target_parse(text, strlen(text), target);
		if (reason != NULL) {
			(void)snprintf(fault->reason, sizeof(fault->reason), "target %.64s %s",
				       text, reason);
			return -1;
		}
	} else {
		target->kind = PROBE_UNKNOWN;
		target->expect = PROBE_EXPECT_CLOSED;
		(void)snprintf(target->text, sizeof(target->text), "%s", text);
	}
	if (expect != PROBE_EXPECT_NOTHING)
		target->expect = expect;
	list->count++;
	return 0;
}

/* Replaces the first placeholder of TEXT by each of its values and goes on with the result. */
// NOLINTNEXTLINE(misc-no-recursion): one placeholder less each time
static int expand(struct probe_list *list, const char *text, enum probe_expect expect,
		  const struct probe_values *values, struct probe_list_fault *fault)
{
	const char *open = strchr(text, '{'), *close = open != NULL ? strchr(open, '}') : NULL;
	size_t length = close != NULL ? (size_t)(close - open - 1) : 0;
	bool named = false, valued = false;

	if (open == NULL)
		return add_target(list, text, expect, true, fault);
	for (size_t i = 0; i < values->count && close != NULL; i++) {
		const struct probe_value *value = &values->items[i];
		char filled[PROBE_TARGET_MAX + 1];

		if (!is_word(open + 1, length, value->name))
			continue;
		named = true;
		if (value->text[0] == '\0')
			continue;
		valued = true;
		if (++list->expansions > PROBE_EXPANSIONS_MAX ||
		    (size_t)snprintf(filled, sizeof(filled), "%.*s%s%s", (int)(open - text), text,
				     value->text, close + 1) >= sizeof(filled)) {
			(void)snprintf(fault->reason, sizeof(fault->reason),
				       "target %.64s is too long, or too many, when filled in",
				       text);
			return -1;
		}
		if (expand(list, filled, expect, values, fault) != 0)
			return -1;
	}
	if (!named) {
		(void)snprintf(fault->reason, sizeof(fault->reason),
			       "target %.64s has a placeholder that nothing defines", text);
		return -1;
	}
	return valued ? 0 : add_target(list, text, expect, false, fault);
}

int probe_list_add(struct probe_list *list, const char *text, size_t length,
		   enum probe_expect expect, const struct probe_values *values,
		   struct probe_list_fault *fault)
{
	char copy[PROBE_TARGET_MAX + 1];

	fault->line = 0;
	if (length >= sizeof(copy) || memchr(text, '\0', length) != NULL) {
		(void)snprintf(fault->reason, sizeof(fault->reason),
			       "a target is longer than %d bytes or holds a NUL", PROBE_TARGET_MAX);
		return -1;
	}
	memcpy(copy, text, length);
	copy[length] = '\0';
	return expand(list, copy, expect, values, fault);
}

int probe_list_read(struct probe_list *list, const char *text, size_t length,
		    const struct probe_values *values, struct probe_list_fault *fault)
{
	const char *end = text + length;

	for (size_t line = 1; text < end; line++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline != NULL ? newline : end,
			   *words[3] = {text, text, text};
		size_t lengths[3] = {0};
		int expect = PROBE_EXPECT_NOTHING;

		for (int i = 0; i < 3; i++) {
			lengths[i] = next_word(&text, line_end, &words[i]);
			if (lengths[i] > 0 && words[i][0] == '#') {
				lengths[i] = 0;
				break;
			}
		}
		if (lengths[1] > 0)
			expect = probe_expect_find(words[1], lengths[1]);
		if (lengths[2] > 0 || expect < 0) {
			(void)snprintf(fault->reason, sizeof(fault->reason),
				       "behind the target stands something other than closed, open "
				       "or blocked");
			fault->line = line;
			return -1;
		}
		if (lengths[0] > 0 && probe_list_add(list, words[0], lengths[0],
						     (enum probe_expect)expect, values, fault)) {
			fault->line = line;
			return -1;
		}
		text = newline != NULL ? newline + 1 : end;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a hosts file alone answers for a name; see hosts_lookup.h. */
#include "hosts_lookup.h"

#include <arpa/inet.h>
#include <string.h>

#include "host_name.h"

struct cursor {
	const char *at, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The next line, without its comment; false at the end. */
static bool next_line(struct cursor *text, struct cursor *line)
{
	const char *newline, *comment;

	if (text->at == text->end)
		return false;
	newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	line->at = text->at;
	line->end = newline != NULL ? newline : text->end;
	text->at = newline != NULL ? newline + 1 : text->end;
	comment = memchr(line->at, '#', (size_t)(line->end - line->at));
	if (comment != NULL)
		line->end = comment;
	return true;
}

/* The next word of the line and its length; 0 at the end. */
static size_t next_word(struct cursor *line, const char **word)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
	*word = line->at;
	while (line->at < line->end && !is_blank(*line->at))
		line->at++;
	return (size_t)(line->at - *word);
}

bool hosts_lookup(const char *text, size_t length, const char *name, struct hosts_answer *answer)
{
	struct cursor rest = {text, text + length}, line;
	struct in_addr address, last = {0};
	struct in6_addr address6;
	const char *word;
	char copy[INET6_ADDRSTRLEN];

	memset(answer, 0, sizeof(*answer));
	while (next_line(&rest, &line)) {
		size_t n = next_word(&line, &word);
		bool inet, inet6;

		if (n == 0 || n >= sizeof(copy))
			continue;
		memcpy(copy, word, n);
		copy[n] = '\0';
		inet = inet_pton(AF_INET, copy, &address) == 1;
		inet6 = !inet && inet_pton(AF_INET6, copy, &address6) == 1;
		while ((inet || inet6) && (n = next_word(&line, &word)) > 0) {
			if (!host_name_equal(word, n, name, strlen(name)))
				continue;
			answer->inet6 += inet6;
			if (inet && (answer->inet == 0 || address.s_addr != last.s_addr))
				answer->inet++;
			if (inet && answer->inet == 1)
				answer->address = address;
			if (inet)
				last = address;
			break;
		}
	}
	return answer->inet > 0;
}

bool hosts_are_asked_later(const char *text, size_t length)
{
	struct cursor rest = {text, text + length}, line;
	const char *word;

	while (next_line(&rest, &line)) {
		size_t n = next_word(&line, &word);

		if (n != strlen("hosts:") || memcmp(word, "hosts:", n) != 0)
			continue;
		n = next_word(&line, &word);
		return n != strlen("files") || memcmp(word, "files", n) != 0;
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether programs look into the hosts file before anything else; see nsswitch.h. */
#include "nsswitch.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
		at++;
	return at;
}

/* True if LENGTH bytes of WORD are in what lies between *AT and END; *AT is then behind them. */
static bool take_word(const char **at, const char *end, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(end - *at) < length || strncasecmp(*at, word, length) != 0)
		return false;
	*at += length;
	return true;
}

/* What stands behind "hosts:", up to a comment or the line's end. */
static enum nsswitch_hosts judge_services(const char *at, const char *end)
{
	at = skip_space(at, end);
	if (!take_word(&at, end, "files") || (at < end && *at != '[' && skip_space(at, end) == at))
		return NSSWITCH_OTHER_FIRST;
	at = skip_space(at, end);
	if (at == end || *at != '[')
		return NSSWITCH_FILES_FIRST;
	/* Reactions: any word on success but return makes the next service count too. */
	while (at < end && *at != ']') {
		at = skip_space(at + 1, end);
		if (!take_word(&at, end, "success"))
			continue;
		at = skip_space(at, end);
		if (!take_word(&at, end, "="))
			continue;
		at = skip_space(at, end);
		if (!take_word(&at, end, "return"))
			return NSSWITCH_OTHER_FIRST;
	}
	return NSSWITCH_FILES_FIRST;
}

enum nsswitch_hosts nsswitch_judge_hosts(const char *text, size_t length)
{
	enum nsswitch_hosts verdict = NSSWITCH_UNSET;
	const char *end = text + length;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline != NULL ? newline : end;
		const char *comment = memchr(text, '#', (size_t)(line_end - text));
		const char *stop = comment != NULL ? comment : line_end;
		const char *at = skip_space(text, stop);

		if (take_word(&at, stop, "hosts")) {
			at = skip_space(at, stop);
			if (take_word(&at, stop, ":"))
				verdict = judge_services(at, stop);
		}
		text = newline != NULL ? newline + 1 : end;
	}
	return verdict;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Foreign bytes made fit to print: valid UTF-8, and one line. */
#include "text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 sequence at S (1 to 4), or 0 if it is not valid (RFC 3629). */
static size_t sequence_length(const unsigned char *s, size_t available)
{
	static const struct {
		unsigned char first_min, first_max, second_min, second_max;
		size_t length;
	} forms[] = {
		{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
		{0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
		{0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	if (s[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (s[0] < forms[i].first_min || s[0] > forms[i].first_max)
			continue;
		if (available < forms[i].length || s[1] < forms[i].second_min ||
		    s[1] > forms[i].second_max)
			return 0;
		for (size_t k = 2; k < forms[i].length; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

/* True for what would end or repaint a terminal line: C0, DEL, C1, U+2028 and U+2029. */
static bool is_control(const unsigned char *s, size_t length)
{
	if (length == 1)
		return s[0] < 0x20 || s[0] == 0x7f;
	if (length == 2)
		return s[0] == 0xc2 && s[1] < 0xa0;
	return length == 3 && s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9);
}

static char *escape(const unsigned char *bytes, size_t length, bool one_line)
{
	char *text, *out;

	if (length > (SIZE_MAX - 1) / 4) {
		errno = ENOMEM;
		return NULL;
	}
	text = malloc(4 * length + 1);
	if (text == NULL)
		return NULL;
	out = text;
	for (size_t i = 0; i < length;) {
		size_t n = sequence_length(bytes + i, length - i);
		bool hide = n == 0 || bytes[i] == '\0' || (one_line && is_control(bytes + i, n));

		if (n == 0)
			n = 1;
		for (size_t k = 0; k < n; k++) {
			if (hide)
				out += sprintf(out, "\\x%02x", bytes[i + k]);
			else
				*out++ = (char)bytes[i + k];
		}
		i += n;
	}
	*out = '\0';
	return text;
}

char *text_to_utf8(const void *bytes, size_t length)
{
	return escape(bytes, length, false);
}

char *text_to_line(const void *bytes, size_t length)
{
	return escape(bytes, length, true);
}

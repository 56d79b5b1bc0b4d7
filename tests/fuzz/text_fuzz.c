// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the escaping of foreign bytes: the result is UTF-8, one line, and says every byte. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Walks input and output side by side: each byte stands there as it is or as its escape. */
static void check_bytes(const uint8_t *bytes, size_t length, const char *text)
{
	for (size_t i = 0; i < length; i++) {
		char escape[5];

		if (*text != '\0' && (uint8_t)*text == bytes[i]) {
			text++;
			continue;
		}
		(void)snprintf(escape, sizeof(escape), "\\x%02x", bytes[i]);
		if (strncmp(text, escape, 4) != 0)
			abort();
		text += 4;
	}
	if (*text != '\0')
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char *utf8 = text_to_utf8(bytes, length), *line = text_to_line(bytes, length);
	json_t *value;

	if (utf8 == NULL || line == NULL)
		abort();
	check_bytes(bytes, length, utf8);
	check_bytes(bytes, length, line);
	/* jansson takes nothing that is not UTF-8 (RFC 3629). */
	value = json_string(utf8);
	if (value == NULL)
		abort();
	json_decref(value);
	value = json_string(line);
	if (value == NULL)
		abort();
	json_decref(value);
	for (const char *c = line; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == '\x7f' ||
		    (c[0] == '\xc2' && (unsigned char)c[1] < 0xa0))
			abort();
	if (strstr(line, "\xe2\x80\xa8") != NULL || strstr(line, "\xe2\x80\xa9") != NULL)
		abort();
	free(utf8);
	free(line);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the reading of capability lists: one that is accepted is the sum of its items. */
#include <stdlib.h>
#include <string.h>

#include "capability_set.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* TEXT read again, item by item; the mask, or 0 if one is wrong. */
static uint64_t read_again(char *text)
{
	uint64_t mask = 0, item;
	bool adds = *text == '+';

	if (adds)
		mask = capability_denied_default;
	for (char *word = text; word != NULL;) {
		char *comma = strchr(word, ',');

		if (comma != NULL)
			*comma = '\0';
		word += adds && *word == '+';
		if (!capability_parse(word, strlen(word), &item))
			return 0;
		mask |= item;
		word = comma == NULL ? NULL : comma + 1;
	}
	return mask;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const char *bad = NULL;
	size_t bad_length = 0;
	uint64_t mask;
	char *text = fuzz_text(bytes, length);

	if (text == NULL)
		return 0;
	if (capability_parse_deny(text, &mask, &bad, &bad_length)) {
		if (mask == 0 || read_again(text) != mask)
			abort();
	} else {
		if (bad < text || bad + bad_length > text + strlen(text))
			abort();
		if (read_again(text) != 0)
			abort();
	}
	free(text);
	return 0;
}

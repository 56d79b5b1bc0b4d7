// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the reading of nsswitch.conf: plain lines are read a second time, word by word. */
#include "nsswitch.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Only for text without reactions, NUL and colons but the first: else what it can't tell. */
static bool read_again(char *text, enum nsswitch_hosts *verdict)
{
	static const char space[] = " \t\v\f\r";
	char *line, *lines;

	*verdict = NSSWITCH_UNSET;
	for (line = strtok_r(text, "\n", &lines); line != NULL;
	     line = strtok_r(NULL, "\n", &lines)) {
		char *colon, *word, *rest;

		line[strcspn(line, "#")] = '\0';
		colon = strchr(line, ':');
		if (colon == NULL)
			continue;
		*colon = '\0';
		word = strtok_r(line, space, &rest);
		if (word == NULL || strcasecmp(word, "hosts") != 0 ||
		    strtok_r(NULL, space, &rest) != NULL)
			continue;
		word = strtok_r(colon + 1, space, &rest);
		*verdict = word != NULL && strcasecmp(word, "files") == 0 ? NSSWITCH_FILES_FIRST
									  : NSSWITCH_OTHER_FIRST;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	enum nsswitch_hosts verdict = nsswitch_judge_hosts((const char *)bytes, length), again;
	char *text = fuzz_text(bytes, length);

	if (text == NULL)
		return 0;
	if (strlen(text) == length && strchr(text, '[') == NULL && read_again(text, &again) &&
	    verdict != again)
		abort();
	free(text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the reading of status text: what is accepted is compared with a second, simple reading. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "process_power.h"
#include "process_status.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The set on the only line that begins with KEY and a colon, by way of the C library. */
static uint64_t read_again(const char *text, const char *key)
{
	uint64_t mask = 0;
	int lines = 0;

	for (const char *line = text; line != NULL && *line != '\0';) {
		const char *value = line + strlen(key);
		char digits[18], rest[2];

		if (strncmp(line, key, strlen(key)) == 0 && *value == ':') {
			lines++;
			if (sscanf(value + 1, " %17[0-9a-f]%1[^\n]", digits, rest) != 1 ||
			    strlen(digits) != 16)
				abort();
			mask = strtoull(digits, NULL, 16);
		}
		line = strchr(line, '\n');
		line += line != NULL;
	}
	if (lines != 1)
		abort();
	return mask;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const char *const keys[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
	struct process_status status;
	struct process_status_fault wrong;
	static struct process_power power;
	struct process_fault fault;
	char *text = fuzz_text(bytes, length);

	if (text == NULL)
		return 0;
	if (process_status_parse((const char *)bytes, length, &status, &wrong)) {
		if (strlen(text) != length)
			abort();
		for (int set = 0; set < PROCESS_SETS; set++)
			if (status.sets[set] != read_again(text, keys[set]))
				abort();
		if (!process_power_parse((const char *)bytes, length, &power, &fault) ||
		    memcmp(power.sets, status.sets, sizeof(power.sets)) != 0)
			abort();
	} else if (*wrong.line == '\0' || *wrong.reason == '\0') {
		abort();
	}
	free(text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the reading of written identities: one that is accepted is spelt in the only way. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "namespace_id.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct namespace_id id;
	enum namespace_verdict verdict = namespace_parse((const char *)bytes, length, &id);
	char spelt[NAMESPACE_TEXT + 32], *text = malloc(length + 1);

	if (text == NULL)
		return 0;
	if (length > 0)
		memcpy(text, bytes, length);
	text[length] = '\0';
	if (verdict == NAMESPACE_OK) {
		namespace_format("net", &id, spelt);
		if (id.cookie != 0)
			(void)sprintf(spelt + strlen(spelt), " %" PRIu64, id.cookie);
		if (strlen(text) != length || strcmp(text, spelt) != 0)
			abort();
		if (namespace_compare(&id, &id) != NAMESPACE_SAME)
			abort();
	}
	free(text);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What several fuzzers need. */
#ifndef CELL_FUZZ_H
#define CELL_FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The input as a string, malloc'd; it may hold further NULs. NULL if memory is short. */
static inline char *fuzz_text(const uint8_t *bytes, size_t length)
{
	char *text = malloc(length + 1);

	if (text == NULL)
		return NULL;
	if (length > 0)
		memcpy(text, bytes, length);
	text[length] = '\0';
	return text;
}

#endif

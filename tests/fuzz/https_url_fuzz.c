// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes https URLs: one that is accepted puts nothing into a request that ends a line. */
#include <stdlib.h>
#include <string.h>

#include "https_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct https_url url;
	char *text = malloc(length + 1);

	if (text == NULL)
		return 0;
	memcpy(text, bytes, length);
	text[length] = '\0';
	if (https_url_parse(text, &url) == NULL &&
	    (url.host[0] == '\0' || url.port == 0 || url.target[0] != '/' ||
	     strpbrk(url.host, " \r\n/@?#") != NULL || strpbrk(url.target, " \r\n#") != NULL))
		abort();
	free(text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the reading of addresses against inet_pton, which takes the same spellings alone. */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ipv4_address.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const char *text = (const char *)bytes;
	struct in_addr ours, theirs, published;
	char copy[64];
	bool accepted = ipv4_parse(text, length, &ours) == IPV4_OK;
	enum ipv4_verdict verdict = ipv4_parse_published(text, length, &published);

	if (length < sizeof(copy)) {
		if (length > 0)
			memcpy(copy, text, length);
		copy[length] = '\0';
		if (accepted != (strlen(copy) == length && inet_pton(AF_INET, copy, &theirs) == 1))
			abort();
		if (accepted && ours.s_addr != theirs.s_addr)
			abort();
	} else if (accepted) {
		abort();
	}
	if (accepted && verdict != ipv4_classify(ours))
		abort();
	if (verdict == IPV4_OK && !accepted &&
	    (length == 0 || text[length - 1] != '\n' ||
	     ipv4_parse(text, length - 1, &ours) != IPV4_OK || ours.s_addr != published.s_addr))
		abort();
	return 0;
}

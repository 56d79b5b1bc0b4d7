// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the judging of host names: none that is accepted is an address to the C library. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The contract once more, label by label. */
static void check_accepted(const char *name)
{
	size_t length = strlen(name);
	struct in_addr address;

	if (length == 0 || length > 253 || inet_aton(name, &address) != 0 ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") !=
		    length)
		abort();
	for (const char *label = name;; label++) {
		size_t n = strcspn(label, ".");

		if (n == 0 || n > 63 || label[0] == '-' || label[n - 1] == '-')
			abort();
		label += n;
		if (*label == '\0')
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const char *text = (const char *)bytes;
	enum host_name_verdict verdict = host_name_check(text, length);
	char copy[300], other[300];

	if (*host_name_verdict_text(verdict) == '\0')
		abort();
	if (length >= sizeof(copy)) {
		if (verdict == HOST_NAME_OK)
			abort();
		return 0;
	}
	if (length > 0)
		memcpy(copy, text, length);
	copy[length] = '\0';
	if (verdict == HOST_NAME_OK) {
		if (strlen(copy) != length)
			abort();
		check_accepted(copy);
	}
	/* The same name in the other case is the same name, and no more and no less accepted. */
	for (size_t i = 0; i <= length; i++)
		other[i] =
			(char)(isupper((unsigned char)copy[i]) ? tolower((unsigned char)copy[i])
							       : toupper((unsigned char)copy[i]));
	if (!host_name_equal(copy, length, other, length) ||
	    host_name_check(other, length) != verdict)
		abort();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes what the policy reads of a resolv.conf. */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolver_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* What is found is an address that a rule can hold, and on loopback. */
static int check(const char *address, void *data)
{
	struct ruleset ruleset = {0};

	(void)data;
	if (ruleset_add_resolver(&ruleset, address) != 0 ||
	    strncmp(ruleset.resolvers[0], "127.", 4) != 0 ||
	    strcmp(ruleset.resolvers[0], "127.0.0.1") == 0)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char *copy = malloc(length > 0 ? length : 1);

	if (copy == NULL)
		return 0;
	if (length > 0)
		memcpy(copy, bytes, length);
	(void)resolver_file_loopback(copy, length, check, NULL);
	free(copy);
	return 0;
}

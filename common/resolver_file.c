// SPDX-License-Identifier: GPL-2.0-or-later
/* The resolvers on loopback addresses that a resolv.conf names; see resolver_file.h. */
#include "resolver_file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "shared_file.h"

/* True for 127/8 and its IPv4-mapped form, but not 127.0.0.1; ::1 is IPv6's only one. */
static bool is_other_loopback(const char *address)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, address, &v4) != 1) {
		if (inet_pton(AF_INET6, address, &v6) != 1 || !IN6_IS_ADDR_V4MAPPED(&v6))
			return false;
		memcpy(&v4, v6.s6_addr + 12, sizeof(v4));
	}
	return ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET && ntohl(v4.s_addr) != INADDR_LOOPBACK;
}

int resolver_file_loopback(const char *text, size_t length,
			   int (*each)(const char *address, void *data), void *data)
{
	static const char keyword[] = "nameserver";
	const char *end = text + length;
	int result = 0;

	while (text < end && result == 0) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline != NULL ? newline : end, *word = text;
		char address[INET6_ADDRSTRLEN];
		size_t size;

		text = stop + 1;
		/* The keyword begins the line; blanks are spaces and tabs. */
		if ((size_t)(stop - word) <= strlen(keyword) ||
		    memcmp(word, keyword, strlen(keyword)) != 0)
			continue;
		word += strlen(keyword);
		if (*word != ' ' && *word != '\t')
			continue;
		while (word < stop && (*word == ' ' || *word == '\t'))
			word++;
		for (size = 0; word + size < stop; size++)
			if (strchr(" \t\r#;%", word[size]) != NULL)
				break;
		if (size == 0 || size >= sizeof(address))
			continue;
		memcpy(address, word, size);
		address[size] = '\0';
		if (is_other_loopback(address))
			result = each(address, data);
	}
	return result;
}

static int add(const char *address, void *ruleset)
{
	return ruleset_add_resolver(ruleset, address);
}

int resolver_file_read(const char *path, struct ruleset *ruleset)
{
	autofree char *real = realpath(path, NULL);
	struct shared_file file;

	if (real == NULL)
		return -1;
	switch (shared_file_read(AT_FDCWD, real, &file)) {
	case SHARED_FILE_OK:
		return resolver_file_loopback(file.bytes, file.length, add, ruleset);
	case SHARED_FILE_FAILED:
		return -1;
	case SHARED_FILE_NOT_REGULAR:
		return errno = ENOTSUP, -1;
	default:
		return errno = EFBIG, -1;
	}
}

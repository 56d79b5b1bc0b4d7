// SPDX-License-Identifier: GPL-2.0-or-later
/* What a probe can find, what can be expected of it, and what errno says about it. */
#include "probe_result.h"

#include <errno.h>
#include <string.h>

static const char *const results[] = {"open", "silent", "refused", "blocked", "denied", "unusable"};
static const char *const expects[] = {NULL, "closed", "open", "blocked"};

static int find(const char *const *names, size_t count, const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (names[i] != NULL && strlen(names[i]) == length &&
		    memcmp(names[i], name, length) == 0)
			return (int)i;
	return -1;
}

const char *probe_result_name(enum probe_result result)
{
	return results[result];
}

int probe_result_find(const char *name, size_t length)
{
	return find(results, sizeof(results) / sizeof(results[0]), name, length);
}

const char *probe_expect_name(enum probe_expect expect)
{
	return expects[expect];
}

int probe_expect_find(const char *name, size_t length)
{
	return find(expects, sizeof(expects) / sizeof(expects[0]), name, length);
}

enum probe_result probe_result_of_socket(int number)
{
	return number == EPERM || number == EACCES ? PROBE_DENIED : PROBE_UNUSABLE;
}

enum probe_result probe_result_of_send(int number)
{
	/* EPERM: a netfilter hook (or a cgroup filter) refused it. EACCES: a "prohibit" route. */
	if (number == EPERM || number == EACCES)
		return PROBE_BLOCKED;
	return number == ECONNREFUSED || number == ECONNRESET ? PROBE_REFUSED : PROBE_UNUSABLE;
}

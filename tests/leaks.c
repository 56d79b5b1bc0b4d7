// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Linked into what `make sanitize` builds: LeakSanitizer judges the C tests, where every allocation
 * is freed by whoever owns it. It does not judge the tools. A tool ends where it has its answer,
 * holding what it made the answer of, and whether some local variable still points there is chance.
 * (Nor could it: it ends a process that is traced, or has no /proc, as if it had leaked.)
 */
#include <errno.h>
#include <string.h>

/* The name is the sanitizer's (sanitizer/lsan_interface.h). */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	const char *end = strrchr(program_invocation_short_name, '_');

	return end == NULL || strcmp(end, "_test") != 0;
}

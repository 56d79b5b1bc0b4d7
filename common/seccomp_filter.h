/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that a subject does not get: one list, installed as a seccomp filter or written
 * as a Docker seccomp profile. What the list refuses, and with which errno, is in
 * seccomp_filter_rules.c.
 */
#ifndef CELL_SECCOMP_FILTER_H
#define CELL_SECCOMP_FILTER_H

#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>

struct seccomp_filter_rule {
	const char *call;
	int number;	     /* for calls younger than the library's names; else -1 */
	int error;	     /* errno that the caller gets */
	unsigned conditions; /* all of them must hold; none: the call is refused as such */
	struct scmp_arg_cmp condition[2];
};

struct seccomp_filter {
	size_t count;
	struct seccomp_filter_rule rules[192];
};

/*
 * The highest call number of Linux 6.18 (file_setattr), the same on every architecture that this
 * builds for. A younger call may be a door that nobody here has looked at: it answers ENOSYS.
 */
enum { SECCOMP_FILTER_LAST_CALL = 469 };

/*
 * True if NAME can be opened: a refused call ("bpf"), a socket family by the end of its AF_ name in
 * lower case ("vsock"), or a terminal request ("tiocsti").
 */
bool seccomp_filter_knows(const char *name);

/* Fills FILTER with the list, less what the COUNT names in ALLOWED open. Pure. */
void seccomp_filter_build(struct seccomp_filter *filter, const char *const *allowed, size_t count);

/*
 * Installs FILTER for this thread and all that comes after it, for ever. Any other architecture
 * than the native one, x32 included, is killed. 0, or -1 with errno: EACCES or EPERM: neither
 * no_new_privs is set nor CAP_SYS_ADMIN held (seccomp(2)); EINVAL or ENOSYS: no such kernel.
 */
int seccomp_filter_install(const struct seccomp_filter *filter);

/*
 * FILTER as a Docker seccomp profile, one rule a line. Returns malloc'd text that the caller frees,
 * or NULL with errno.
 */
char *seccomp_filter_profile(const struct seccomp_filter *filter);

#endif

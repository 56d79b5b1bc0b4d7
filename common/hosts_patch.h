/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a hosts file answer one address for one name without moving a byte of another entry. */
#ifndef CELL_HOSTS_PATCH_H
#define CELL_HOSTS_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patched_file.h"

enum { HOSTS_PATCH_LISTED = 100 }; /* removed addresses that are told */

struct hosts_patch_request {
	const char *file;
	const char *host;
	const char *address; /* canonical IPv4 text; NULL: HOST is to have no address */
	int64_t timeout;     /* nanoseconds to wait for the lock */
};

/* What was found and done; filled after every verdict. hosts_patch_release frees what it holds. */
struct hosts_patch_result {
	struct patched_file file; /* what failed, whether it was changed, is missing, is readable */
	size_t removed_count;	  /* places from which the name was taken away */
	char *removed[HOSTS_PATCH_LISTED]; /* the addresses that stood there, as far as they fit */
	/* hosts_patch_check: */
	bool right;	/* the one place that names HOST gives it the wanted address */
	size_t found;	/* places that name HOST */
	char *unwanted; /* the first address found that is not the wanted entry's; or NULL */
};

/* Patches the file; see the theory of operation in hosts_patch.c. */
enum patch_verdict hosts_patch_apply(const struct hosts_patch_request *request,
				     struct hosts_patch_result *result);

/* Only reads. A missing file is PATCH_OK, and not right. */
enum patch_verdict hosts_patch_check(const struct hosts_patch_request *request,
				     struct hosts_patch_result *result);

/* Frees what either has put in RESULT, and closes the file. */
void hosts_patch_release(struct hosts_patch_result *result);

#endif

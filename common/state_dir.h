/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The proxy's private directory: the authority with its key, and the audit's file. */
#ifndef CELL_STATE_DIR_H
#define CELL_STATE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "certificate_authority.h"
#include "fault.h"

#define STATE_AUTHORITY "mitmproxy-ca.pem" /* private key, then certificate; mitmproxy's name */
#define STATE_HITS "hits.jsonl"

struct state_authority {
	struct certificate certificate;
	char *made; /* a new authority's text, still to be kept; NULL: it was there already */
	size_t length;
};

/*
 * Opens PATH, made 0700 if it is not there. 100 if it lies in the directory PUBLISHED: everything
 * in it would be published. A descriptor that the caller owns, or -1 with FAULT.
 */
int state_dir_open(const char *path, int published, struct fault *fault);

/* Makes the key its owner's alone and the audit's file, which is never cut. 0, or -1 with FAULT. */
int state_dir_prepare(int state, const char *path, struct fault *fault);

/*
 * Reads and judges the authority as of NOW, or makes one called COMMON_NAME if there is none or
 * RENEW is set. One that can't be used is 103. 0, or -1 with FAULT; the caller releases it.
 */
int state_dir_authority(int state, const char *path, bool renew, const char *common_name,
			time_t now, struct state_authority *authority, struct fault *fault);
void state_authority_release(struct state_authority *authority);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 (FIPS 180-4) of a buffer, for tools that must not link a cryptographic library. */
#ifndef CELL_SHA256_H
#define CELL_SHA256_H

#include <stddef.h>

enum { SHA256_TEXT = 65 }; /* 64 hex digits and the NUL */

/* Writes the digest of LENGTH bytes as lower-case hex, as sha256sum(1) prints it. Pure. */
void sha256_hex(const void *bytes, size_t length, char text[static SHA256_TEXT]);

#endif

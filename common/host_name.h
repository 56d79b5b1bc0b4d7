/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the toolkit accepts as a host name; the same in every tool. */
#ifndef CELL_HOST_NAME_H
#define CELL_HOST_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum host_name_verdict {
	HOST_NAME_OK,
	HOST_NAME_EMPTY,
	HOST_NAME_TOO_LONG,    /* more than 253 bytes */
	HOST_NAME_BAD_BYTE,    /* not an ASCII letter, digit, '-', '.' or '_' */
	HOST_NAME_EMPTY_LABEL, /* two dots in a row, or a dot at either end */
	HOST_NAME_LONG_LABEL,  /* more than 63 bytes */
	HOST_NAME_HYPHEN,      /* a label begins or ends with '-' */
	HOST_NAME_NUMBER,      /* the last label is all digits or 0x and hex: an address to some */
	HOST_NAME_LOCALHOST,   /* localhost, or a name under it (RFC 6761) */
};

/* Judges exactly LENGTH bytes. Pure. */
enum host_name_verdict host_name_check(const char *name, size_t length);

/* The reason in words, to stand behind "host name X ": "has an empty label". */
const char *host_name_verdict_text(enum host_name_verdict verdict);

/* True if the two names are the same without regard to ASCII case. */
bool host_name_equal(const char *a, size_t a_length, const char *b, size_t b_length);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of capabilities as bit masks, their names, and the lists that the gate refuses. */
#ifndef CELL_CAPABILITY_SET_H
#define CELL_CAPABILITY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CAPABILITY_BITS = 64, CAPABILITY_NAME = 24 /* bytes for any name */ };

/* Bits that have a name here; the others are reported by number (capabilities(7)). */
extern const uint64_t capability_known;

/* Refused unless allowed: each gets past a policy, or is total; cell-capcheck(1) tells why. */
extern const uint64_t capability_denied_default;

/* The default and what helps to get past a policy only together with something else. */
extern const uint64_t capability_denied_all_bypass;

/*
 * Writes bit BIT's name ("cap_net_raw"), or its number if it has none, into TEXT.
 * Returns TEXT.
 */
const char *capability_name(unsigned bit, char text[CAPABILITY_NAME]);

/*
 * Reads one item of a list: a name with or without "cap_" in any case, a bit number 0 to 63,
 * "all-bypass", or "unknown" (every bit without a name). False if it is none of these. Pure.
 */
bool capability_parse(const char *text, size_t length, uint64_t *mask);

/*
 * Reads a list as --deny takes it: items separated by commas, in place of the default list; with
 * "+" before the first item they are added to it, and so is "all-bypass" alone. On failure false,
 * and BAD and BAD_LENGTH show the item that is wrong. Pure.
 */
bool capability_parse_deny(const char *text, uint64_t *mask, const char **bad, size_t *bad_length);

#endif

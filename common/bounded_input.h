/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading what the caller names, a pipe or standard input too, whole but up to a bound. */
#ifndef CELL_BOUNDED_INPUT_H
#define CELL_BOUNDED_INPUT_H

#include <stddef.h>

/*
 * Reads the file NAME, or standard input if NAME is "-", to its end into malloc'd *BYTES, which the
 * caller frees. 0, or -1 with errno; EFBIG if there are more than MAX bytes.
 */
int bounded_input_open(const char *name, size_t max, char **bytes, size_t *length);

#endif

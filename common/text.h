/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Foreign bytes made fit to print: valid UTF-8, and one line. */
#ifndef CELL_TEXT_H
#define CELL_TEXT_H

#include <stddef.h>

/*
 * Copies LENGTH bytes; each byte that is not part of valid UTF-8 becomes the four characters \xHH.
 * Returns malloc'd, NUL-terminated text that the caller frees, or NULL with errno ENOMEM.
 * A NUL byte in the input becomes \x00.
 */
char *text_to_utf8(const void *bytes, size_t length);

/* As text_to_utf8, and control characters (C0, DEL, C1, line separators) become \xHH as well. */
char *text_to_line(const void *bytes, size_t length);

#endif

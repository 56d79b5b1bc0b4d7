/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record's field as lines for people; a part of report, which alone may print. */
#ifndef CELL_REPORT_TEXT_H
#define CELL_REPORT_TEXT_H

#include <jansson.h>

/*
 * Prints VALUE on stdout under KEY: "KEY VALUE", "KEY.SUB VALUE" for objects, one line an element
 * for arrays. 0, or -1 with ENOMEM; a failed write is for the caller to find on stdout.
 */
int report_text_field(const char *key, json_t *value);

#endif

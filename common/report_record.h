/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The form of a record: what each begins with, what an error in it looks like, and values for its
 * fields. Nothing here ends the tool: what could not be made whole is NULL.
 */
#ifndef CELL_REPORT_RECORD_H
#define CELL_REPORT_RECORD_H

#include <jansson.h>
#include <stdio.h>

#include "exit_code.h"

/* A new object with the fields that every record begins with; the caller owns it. */
json_t *report_new_record(enum cell_exit code);

/* What goes into a record as "error" when CODE is a failure; no "errno" if NUMBER is 0. */
json_t *report_error(enum cell_exit code, const char *message, int number);

/* RECORD as one line, without a newline; the caller frees it. NULL with errno ENOMEM. */
char *report_record_text(const json_t *record);

/* Prints RECORD as one line on STREAM and releases it. 0, or -1 with errno. */
int report_print_record(FILE *stream, json_t *record);

/*
 * OBJECT if RESULT, what jansson's functions that filled it answered in all, is 0; else some of it
 * is missing: NULL, and OBJECT is released.
 */
json_t *report_whole(json_t *object, int result);

/* Values. What is not UTF-8 becomes \xHH (see text.h). */
json_t *report_string(const char *text);
json_t *report_bytes(const void *bytes, size_t length);
json_t *report_decimal(unsigned long long number); /* as a string: safe above 2^53 */
json_t *report_mask(unsigned long long mask);	   /* 16 hex digits */

#endif

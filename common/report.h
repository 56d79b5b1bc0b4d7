/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a tool says and how it ends: the answer and its facts on stdout, one error line on stderr,
 * or with --json one record on stdout. Only this, arguments.h and settings.h print or exit here.
 */
#ifndef CELL_REPORT_H
#define CELL_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdnoreturn.h>

#include "exit_code.h"
#include "fault.h"
#include "report_record.h"

/*
 * Call first in main. TOOL is the fixed name, not argv[0]. Makes sure that descriptors 0 to 2
 * exist (a closed stdout stays unwritable, so it shows as 111) and refuses set-uid use.
 */
void report_begin(const char *tool);

/* Chooses the form; arguments_begin calls it, tools need not. */
void report_mode(bool json, bool quiet);
bool report_is_json(void);

/* The name given to report_begin. */
const char *report_tool(void);

/* One line on stderr ("cell-x: message"), an error record with --json, then exit CODE. */
noreturn void die(enum cell_exit code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* As die, with ": " and the text of errno behind it; the record then has error.errno. */
noreturn void die_errno(enum cell_exit code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* As die or die_errno, with what FAULT says. */
noreturn void die_fault(const struct fault *fault);

/* A warning line on stderr; silent with --quiet. Control characters are escaped. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The first line of the text form; with CELL_NO it is also the record's error message. */
void report_answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Adds a field to the record and, in the text form, its lines: "KEY VALUE", "KEY.SUB VALUE" for
 * objects, one line an element for arrays. Takes over VALUE; NULL (it could not be made) is 111.
 */
void report_field(const char *key, json_t *value);

/* As report_field for each field of the object FIELDS, which it takes over; NULL is 111. */
void report_fields(json_t *fields);

/* As report_field, but only in the record. */
void report_json_field(const char *key, json_t *value);

/* Text for the text form only, printed as it is behind the answer (a ruleset, a listing). */
void report_body(const char *text);

/* Prints the record or the text, flushes, and exits with CODE, or 111 if output was lost. */
noreturn void report_finish(enum cell_exit code);

/*
 * Prints the record or the text of a step that is done, for tools that then become another
 * program, and flushes. If output was lost UNDO is called, and then it is 111. Behind it only warn
 * and report_exec_failed.
 */
void report_before_exec(void (*undo)(void));

/* execvp failed for PROGRAM (errno): one line on stderr, then exit 126 or 127. */
noreturn void report_exec_failed(const char *program);

/* Flushes stdout and exits with CODE, or 111 if output was lost. For tools that printed already. */
noreturn void report_close(enum cell_exit code);

#endif

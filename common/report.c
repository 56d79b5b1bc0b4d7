// SPDX-License-Identifier: GPL-2.0-or-later
/* What a tool says and how it ends; see report.h. */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cleanup.h"
#include "report_text.h"
#include "text.h"

/* What has been gathered so far; one process, one report. */
static struct {
	const char *tool;
	bool json, quiet;
	json_t *fields;	   /* the tool's own fields, in order */
	json_t *json_only; /* the keys among them that the text form leaves out */
	char *answer, *body, *error_line;
	void (*undo)(void); /* of report_before_exec */
} report = {.tool = "cell"};

/* Last resort, when not even a record can be made: no memory is needed. */
static noreturn void lost(const char *what)
{
	if (!report.quiet)
		(void)fprintf(stderr, "%s: cannot %s: %s\n", report.tool, what, strerror(errno));
	if (report.undo != NULL)
		report.undo();
	_exit(CELL_SYSTEM);
}

void report_begin(const char *tool)
{
	static char buffer[64 * 1024];

	report.tool = tool;
	/* Made here, not by the C library: where it finds no memory, stdout has none, and what is
	 * said before an error could not be taken back. */
	(void)setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	/* Else jansson reads /dev/urandom, which in a subject's image may be anything. */
	json_object_seed(1);
	/* O_PATH needs no file that an empty root lacks, and reads and writes on it are EBADF. */
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/", O_PATH | O_DIRECTORY) != fd) /* 0 to 2 are inherited on purpose */
			_exit(CELL_SYSTEM);
	if (getauxval(AT_SECURE) != 0)
		die(CELL_USAGE, "refuses to run set-uid, set-gid or with file capabilities");
}

void report_mode(bool json, bool quiet)
{
	report.json = json;
	report.quiet = quiet;
}

bool report_is_json(void)
{
	return report.json;
}

const char *report_tool(void)
{
	return report.tool;
}

static void must_make(bool made)
{
	if (made)
		return;
	errno = ENOMEM;
	lost("make the record");
}

/* Sets KEY in OBJECT; jansson refuses a value that could not be made, and an object. */
static void set_field(json_t *object, const char *key, json_t *value)
{
	must_make(json_object_set_new(object, key, value) == 0);
}

/*
 * The whole record: its beginning, the tool's fields, and what is wrong (MESSAGE, and errno NUMBER
 * unless that is 0) if CODE is a failure.
 */
static void print_record(enum cell_exit code, const char *message, int number)
{
	json_t *record = report_new_record(code);

	must_make(record != NULL);
	must_make(report.fields == NULL || json_object_update(record, report.fields) == 0);
	if (code != CELL_OK)
		set_field(record, "error", report_error(code, message, number));
	if (report_print_record(stdout, record) != 0)
		lost("write the record");
}

/* FORMAT with its arguments, and the text of errno NUMBER if that is not 0, as one line. */
static char *make_line(const char *format, va_list list, int number)
	__attribute__((format(printf, 1, 0)));
static char *make_line(const char *format, va_list list, int number)
{
	autofree char *text = NULL, *whole = NULL;
	char *line;

	if (vasprintf(&text, format, list) < 0 ||
	    asprintf(&whole, "%s%s%s", text, number != 0 ? ": " : "",
		     number != 0 ? strerror(number) : "") < 0)
		lost("make a message");
	line = text_to_line(whole, strlen(whole));
	if (line == NULL)
		lost("make a message");
	return line;
}

static noreturn void end_with(enum cell_exit code, char *line, int number)
{
	report.error_line = line; /* stays reachable until the process is gone */
	if (!report.json)
		__fpurge(stdout);
	if (!report.quiet)
		(void)fprintf(stderr, "%s: %s\n", report.tool, line);
	if (report.json)
		print_record(code, line, number);
	report_close(code);
}

void die(enum cell_exit code, const char *format, ...)
{
	va_list list;
	char *line;

	va_start(list, format);
	line = make_line(format, list, 0);
	va_end(list);
	end_with(code, line, 0);
}

void die_errno(enum cell_exit code, const char *format, ...)
{
	int number = errno;
	va_list list;
	char *line;

	va_start(list, format);
	line = make_line(format, list, number);
	va_end(list);
	end_with(code, line, number);
}

void die_fault(const struct fault *fault)
{
	if (fault->number == 0)
		die(fault->code, "%s", fault->text);
	errno = fault->number;
	die_errno(fault->code, "%s", fault->text);
}

void warn(const char *format, ...)
{
	autofree char *line = NULL;
	va_list list;

	va_start(list, format);
	line = make_line(format, list, 0);
	va_end(list);
	if (!report.quiet)
		(void)fprintf(stderr, "%s: warning: %s\n", report.tool, line);
}

void report_answer(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	free(report.answer);
	report.answer = make_line(format, list, 0);
	va_end(list);
}

void report_field(const char *key, json_t *value)
{
	if (report.fields == NULL)
		report.fields = json_object();
	set_field(report.fields, key, value);
}

void report_fields(json_t *fields)
{
	const char *key;
	json_t *value;

	must_make(fields != NULL);
	json_object_foreach (fields, key, value) {
		report_field(key, json_incref(value));
	}
	json_decref(fields);
}

void report_json_field(const char *key, json_t *value)
{
	if (report.json_only == NULL)
		report.json_only = json_object();
	set_field(report.json_only, key, json_true());
	report_field(key, value);
}

void report_body(const char *text)
{
	free(report.body);
	report.body = strdup(text);
	if (report.body == NULL)
		lost("make the text");
}

static void print_text(void)
{
	const char *key;
	json_t *value;

	if (report.answer != NULL)
		(void)printf("%s\n", report.answer);
	if (report.body != NULL)
		(void)fputs(report.body, stdout);
	json_object_foreach (report.fields, key, value)
		if (json_object_get(report.json_only, key) == NULL &&
		    report_text_field(key, value) != 0)
			lost("make a line");
}

void report_finish(enum cell_exit code)
{
	if (!report.json)
		print_text();
	else
		print_record(code, report.answer != NULL ? report.answer : "no", 0);
	report_close(code);
}

void report_before_exec(void (*undo)(void))
{
	report.undo = undo;
	if (report.json)
		print_record(CELL_OK, NULL, 0);
	else
		print_text();
	if (ferror(stdout) || fflush(stdout) != 0) {
		if (errno == 0)
			errno = EIO;
		lost("write to standard output");
	}
	report.undo = NULL;
}

void report_exec_failed(const char *program)
{
	const int number = errno;
	enum cell_exit code = number == ENOENT ? CELL_EXEC_NOT_FOUND : CELL_EXEC_UNUSABLE;
	autofree char *line = text_to_line(program, strlen(program));

	if (!report.quiet)
		(void)fprintf(stderr, "%s: cannot run %s: %s\n", report.tool,
			      line != NULL ? line : "the program", strerror(number));
	exit(code);
}

void report_close(enum cell_exit code)
{
	/* A write that failed earlier, one that fails now, and one that only close() tells of. */
	if (ferror(stdout) || fflush(stdout) != 0 || fclose(stdout) != 0) {
		if (errno == 0)
			errno = EIO;
		lost("write to standard output");
	}
	exit(code);
}

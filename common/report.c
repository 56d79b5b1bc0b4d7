// SPDX-License-Identifier: GPL-2.0-or-later
/* What a tool says and how it ends; see report.h. */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <unistd.h>

#include "cleanup.h"
#include "report_text.h"
#include "text.h"

#ifndef CELL_VERSION
#define CELL_VERSION "unknown"
#endif

/* What has been gathered so far; one process, one report. */
static struct {
	const char *tool;
	bool json, quiet;
	json_t *fields;	   /* the tool's own fields, in order */
	json_t *json_only; /* the keys among them that the text form leaves out */
	char *answer, *body, *error_line;
} report = {.tool = "cell"};

static const char *kind_of(enum cell_exit code)
{
	switch (code) {
	case CELL_NO:
		return "no";
	case CELL_TIMEOUT:
		return "timeout";
	case CELL_USAGE:
		return "usage";
	case CELL_UNSUPPORTED:
		return "unsupported";
	case CELL_EVIDENCE:
		return "evidence";
	default:
		return "system";
	}
}

/* Last resort, when not even a record can be made: no memory is needed. */
static noreturn void lost(const char *what)
{
	if (!report.quiet)
		(void)fprintf(stderr, "%s: cannot %s: %s\n", report.tool, what, strerror(errno));
	_exit(CELL_SYSTEM);
}

void report_begin(const char *tool)
{
	report.tool = tool;
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

json_t *report_bytes(const void *bytes, size_t length)
{
	autofree char *text = text_to_utf8(bytes, length);

	return text == NULL ? NULL : json_string(text);
}

json_t *report_string(const char *text)
{
	return report_bytes(text, strlen(text));
}

json_t *report_decimal(unsigned long long number)
{
	return json_sprintf("%llu", number);
}

json_t *report_mask(unsigned long long mask)
{
	return json_sprintf("%016llx", mask);
}

/* Sets KEY in OBJECT; a value that could not be made, or put in, ends the tool. */
static void set_field(json_t *object, const char *key, json_t *value)
{
	if (value == NULL || json_object_set_new(object, key, value) != 0) {
		errno = ENOMEM;
		lost("make the record");
	}
}

/*
 * RFC 3339 in UTC. Reckoned here because gmtime and strftime read the file that TZ names, or
 * /etc/localtime (tzset(3)): in a subject's image that is the subject's file.
 */
static json_t *time_now(void)
{
	static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	struct timeval now;
	long long days, seconds;
	int year = 1970, month = 0;

	if (gettimeofday(&now, NULL) != 0 || now.tv_sec < 0)
		return NULL;
	days = now.tv_sec / 86400;
	seconds = now.tv_sec % 86400;
	for (;;) {
		bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
		int length = month_days[month] + (leap && month == 1);

		if (days < length)
			break;
		days -= length;
		month = (month + 1) % 12;
		year += month == 0;
	}
	return json_sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month + 1, (int)days + 1,
			    (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60),
			    (int)(now.tv_usec / 1000));
}

static json_t *environment_value(const char *name)
{
	const char *value = getenv(name);

	return value == NULL ? json_null() : report_string(value);
}

json_t *report_new_record(enum cell_exit code)
{
	json_t *record = json_object();

	set_field(record, "tool", json_string(report.tool));
	set_field(record, "format", json_integer(1));
	set_field(record, "version", json_string(CELL_VERSION));
	set_field(record, "time", time_now());
	set_field(record, "ok", json_boolean(code == CELL_OK));
	set_field(record, "exit", json_integer(code));
	set_field(record, "trial", environment_value("CELL_TRIAL"));
	set_field(record, "step", environment_value("CELL_STEP"));
	return record;
}

int report_print_record(FILE *stream, json_t *record)
{
	/* 15 digits: as many as a double holds of any decimal fraction, so 0.413 stays 0.413. */
	int result = json_dumpf(record, stream, JSON_COMPACT | JSON_REAL_PRECISION(15));

	json_decref(record);
	if (result != 0 || putc('\n', stream) == EOF || ferror(stream))
		return -1;
	return 0;
}

/* The whole record: header, the tool's fields, and ERROR (taken over) if there is one. */
static void print_record(enum cell_exit code, json_t *error)
{
	json_t *record = report_new_record(code);

	if (report.fields != NULL && json_object_update(record, report.fields) != 0)
		lost("make the record");
	if (error != NULL)
		set_field(record, "error", error);
	if (report_print_record(stdout, record) != 0)
		lost("write the record");
}

static json_t *make_error(enum cell_exit code, const char *message, int number)
{
	json_t *error = json_object();

	set_field(error, "kind", json_string(kind_of(code)));
	set_field(error, "message", report_string(message));
	if (number != 0)
		set_field(error, "errno", json_integer(number));
	return error;
}

json_t *report_error(enum cell_exit code, const char *message)
{
	return make_error(code, message, 0);
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
	if (!report.quiet)
		(void)fprintf(stderr, "%s: %s\n", report.tool, line);
	if (report.json)
		print_record(code, make_error(code, line, number));
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
	else if (code == CELL_OK)
		print_record(code, NULL);
	else
		print_record(code, report_error(code, report.answer ? report.answer : "no"));
	report_close(code);
}

void report_before_exec(void)
{
	if (report.json)
		print_record(CELL_OK, NULL);
	else
		print_text();
	if (ferror(stdout) || fflush(stdout) != 0) {
		if (errno == 0)
			errno = EIO;
		lost("write to standard output");
	}
}

void report_exec_failed(const char *program)
{
	enum cell_exit code = errno == ENOENT ? CELL_EXEC_NOT_FOUND : CELL_EXEC_UNUSABLE;
	autofree char *line = text_to_line(program, strlen(program));

	if (!report.quiet)
		(void)fprintf(stderr, "%s: cannot run %s: %s\n", report.tool,
			      line != NULL ? line : "the program", strerror(errno));
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

// SPDX-License-Identifier: GPL-2.0-or-later
/* The form of a record; see report_record.h. */
#include "report_record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "cleanup.h"
#include "report.h"
#include "text.h"

#ifndef CELL_VERSION
#define CELL_VERSION "unknown"
#endif

/* json_object_set_new refuses a value that is NULL, and an object that is. */
#define put(object, key, value) json_object_set_new(object, key, value)

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

json_t *report_whole(json_t *object, int result)
{
	if (result == 0)
		return object;
	json_decref(object);
	return NULL;
}

json_t *report_new_record(enum cell_exit code)
{
	json_t *record = json_object();

	return report_whole(record, put(record, "tool", json_string(report_tool())) |
					    put(record, "format", json_integer(1)) |
					    put(record, "version", json_string(CELL_VERSION)) |
					    put(record, "time", time_now()) |
					    put(record, "ok", json_boolean(code == CELL_OK)) |
					    put(record, "exit", json_integer(code)) |
					    put(record, "trial", environment_value("CELL_TRIAL")) |
					    put(record, "step", environment_value("CELL_STEP")));
}

json_t *report_error(enum cell_exit code, const char *message, int number)
{
	json_t *error = json_object();
	int result = put(error, "kind", json_string(kind_of(code))) |
		     put(error, "message", report_string(message));

	if (number != 0)
		result |= put(error, "errno", json_integer(number));
	return report_whole(error, result);
}

/* Text that grows; LOST once a piece found no memory. */
struct growing {
	char *text;
	size_t length, size;
	bool lost;
};

static int append(const char *piece, size_t length, void *data)
{
	struct growing *growing = data;

	if (growing->length + length >= growing->size) {
		size_t size = 2 * (growing->length + length) + 256;
		char *text = growing->lost ? NULL : realloc(growing->text, size);

		growing->lost = text == NULL;
		if (growing->lost)
			return -1;
		growing->text = text;
		growing->size = size;
	}
	memcpy(growing->text + growing->length, piece, length);
	growing->length += length;
	growing->text[growing->length] = '\0';
	return 0;
}

char *report_record_text(const json_t *record)
{
	struct growing growing = {.text = NULL};
	/* 15 digits: as many as a double holds of any decimal fraction, so 0.413 stays 0.413. */
	int result = json_dump_callback(record, append, &growing,
					JSON_COMPACT | JSON_REAL_PRECISION(15));

	/* Jansson goes on behind a key that found no memory: its json_dumps would leave a hole. */
	if (result == 0 && !growing.lost)
		return growing.text;
	free(growing.text);
	errno = ENOMEM;
	return NULL;
}

int report_print_record(FILE *stream, json_t *record)
{
	autofree char *line = report_record_text(record);

	json_decref(record);
	if (line == NULL || fputs(line, stream) == EOF || putc('\n', stream) == EOF)
		return -1;
	return ferror(stream) ? -1 : 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The watcher's log as lines for people; see watch_follow.h. */
#include "watch_follow.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "text.h"

enum { MAX_LINE = 64 * 1024 }; /* far more than any record of ours */

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "?";
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* "10.0.0.2:5353", "[fe80::1]:53", or the address alone. */
static void write_end(FILE *out, const json_t *record, const char *end)
{
	const json_t *port = json_object_get(json_object_get(record, "ports"), end);
	const char *address = text_of(record, end);

	if (port == NULL)
		(void)fputs(address, out);
	else
		(void)fprintf(out, strchr(address, ':') != NULL ? "[%s]:%lld" : "%s:%lld", address,
			      (long long)json_integer_value(port));
}

static void write_packet(FILE *out, const json_t *record)
{
	const json_t *dns = json_object_get(record, "dns"), *icmp = json_object_get(record, "icmp");
	const char *class = text_of(record, "class"), *protocol = text_of(record, "protocol");

	(void)fprintf(out, "%-8s ", class);
	if (strcmp(class, protocol) != 0)
		(void)fprintf(out, "%s ", protocol);
	write_end(out, record, "source");
	(void)fputs(" > ", out);
	write_end(out, record, "destination");
	if (icmp != NULL)
		(void)fprintf(out, " type %lld", (long long)number_of(icmp, "type"));
	if (json_is_integer(json_object_get(record, "uid")))
		(void)fprintf(out, " uid %lld", (long long)number_of(record, "uid"));
	(void)fprintf(out, " %lld bytes", (long long)number_of(record, "length"));
	if (dns != NULL)
		(void)fprintf(out, " asks for %s %s", text_of(dns, "name"), text_of(dns, "type"));
}

/* "3 tcp, 1 udp": the classes that have refused something. */
static void write_totals(FILE *out, const json_t *record)
{
	const json_t *packets = json_object_get(record, "packets"), *counts;
	json_t *classes = json_object_get(record, "classes");
	const char *class, *comma = ": ";

	(void)fprintf(out, "%lld refused, %lld recorded", (long long)number_of(packets, "total"),
		      (long long)number_of(packets, "recorded"));
	json_object_foreach (classes, class, counts) {
		json_int_t total = number_of(counts, "total");

		if (total > 0) {
			(void)fprintf(out, "%s%lld %s", comma, (long long)total, class);
			comma = ", ";
		}
	}
}

static void write_change(FILE *out, const json_t *record)
{
	const json_t *table;
	size_t index;

	(void)fputs("ruleset  changed by ", out);
	(void)fprintf(out, "%s (pid %lld), generation %lld", text_of(record, "program"),
		      (long long)number_of(record, "process"),
		      (long long)number_of(record, "generation"));
	json_array_foreach (json_object_get(record, "tables"), index, table) {
		(void)fprintf(out, ", %s", json_string_value(table));
	}
}

static void write_record(FILE *out, const json_t *record)
{
	const char *kind = text_of(record, "record"), *time = strchr(text_of(record, "time"), 'T');

	/* The time of day; the date is the log's. */
	(void)fprintf(out, "%.12s ", time != NULL ? time + 1 : "?");
	if (strcmp(kind, "packet") == 0) {
		write_packet(out, record);
	} else if (strcmp(kind, "change") == 0) {
		write_change(out, record);
	} else if (strcmp(kind, "totals") == 0 || strcmp(kind, "summary") == 0) {
		(void)fprintf(out, "%-8s ", kind);
		write_totals(out, record);
	} else if (strcmp(kind, "truncated") == 0) {
		(void)fprintf(out, "%-8s the %s bound is reached: not every packet has a line now",
			      "bound", text_of(record, "bound"));
	} else if (strcmp(kind, "start") == 0) {
		(void)fprintf(out, "%-8s group %lld is bound", "start",
			      (long long)number_of(record, "group"));
	} else {
		(void)fprintf(out, "%s", kind);
	}
}

char *watch_line(const json_t *record)
{
	autofree char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	write_record(out, record);
	if (fclose(out) != 0)
		return NULL;
	return text_to_line(text, length);
}

/* One whole line into follow->line: 1; none yet: 0; -1 with errno. */
static int read_line(struct watch_follow *follow)
{
	int byte;

	if (follow->line == NULL && (follow->line = malloc(MAX_LINE)) == NULL)
		return -1;
	while ((byte = getc(follow->file)) != EOF && byte != '\n')
		if (follow->length <
		    MAX_LINE - 1) /* what is longer is no record, and shows as such */
			follow->line[follow->length++] = (char)byte;
	if (byte == '\n')
		return 1;
	if (ferror(follow->file))
		return -1;
	clearerr(follow->file); /* getc(3): the end of the file is sticky */
	return 0;
}

char *watch_follow_next(struct watch_follow *follow)
{
	const struct timespec pause = {0, 200000000};
	json_t *record;
	char *text;
	int result;

	while (!follow->ended && (result = read_line(follow)) <= 0) {
		if (result < 0)
			return NULL;
		(void)nanosleep(&pause, NULL);
	}
	if (follow->ended)
		return NULL;
	follow->number++;
	record = json_loadb(follow->line, follow->length, 0, NULL);
	follow->length = 0;
	if (json_object_get(record, "record") == NULL) {
		json_decref(record);
		return asprintf(&text, "line %lu is no record", follow->number) < 0 ? NULL : text;
	}
	follow->ended = strcmp(text_of(record, "record"), "summary") == 0;
	text = watch_line(record);
	json_decref(record);
	return text;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* A record's field as lines for people; see report_text.h. */
#include "report_text.h"

#include <stdbool.h>
#include <stdio.h>

#include "cleanup.h"
#include "text.h"

/* One scalar, without a newline. */
static int print_scalar(const json_t *value)
{
	autofree char *line = NULL;

	if (json_is_string(value)) {
		line = text_to_line(json_string_value(value), json_string_length(value));
		if (line == NULL)
			return -1;
		(void)fputs(line, stdout);
	} else if (json_is_integer(value)) {
		(void)printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
	} else if (json_is_real(value)) {
		(void)printf("%.3f", json_real_value(value));
	} else if (json_is_boolean(value)) {
		(void)fputs(json_is_true(value) ? "yes" : "no", stdout);
	} else {
		(void)fputs("none", stdout);
	}
	return 0;
}

/* An array element that is an object: its values in one line; deeper ones are not made by us. */
static int print_element(json_t *element)
{
	const char *key;
	json_t *value;
	bool first = true;

	if (!json_is_object(element))
		return print_scalar(element);
	json_object_foreach (element, key, value) {
		if (!first)
			(void)putchar(' ');
		if (print_scalar(value) != 0)
			return -1;
		first = false;
	}
	return 0;
}

/* "KEY ELEMENT" and the end of the line. */
static int print_line(const char *key, json_t *element)
{
	int result;

	(void)printf("%s ", key);
	result = print_element(element);
	(void)putchar('\n');
	return result;
}

/* Records nest as deep as report.h says: objects in fields. */
// NOLINTNEXTLINE(misc-no-recursion)
int report_text_field(const char *key, json_t *value)
{
	const char *name;
	json_t *item;
	size_t index;

	if (json_is_array(value)) {
		json_array_foreach (value, index, item)
			if (print_line(key, item) != 0)
				return -1;
		return 0;
	}
	if (!json_is_object(value))
		return print_line(key, value);
	json_object_foreach (value, name, item) {
		autofree char *path = NULL;

		if (asprintf(&path, "%s.%s", key, name) < 0 || report_text_field(path, item) != 0)
			return -1;
	}
	return 0;
}

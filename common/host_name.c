// SPDX-License-Identifier: GPL-2.0-or-later
/* What the toolkit accepts as a host name; the same in every tool. */
#include "host_name.h"

#include <string.h>

/* The C locale's classes, whatever the locale and the sign of char. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char to_lower(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c;
}

static bool is_letter(char c)
{
	return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

/* True for "123" and for "0x1f" (and "0x"), which inet_aton(3) would read as an address. */
static bool is_number(const char *label, size_t length)
{
	bool hex = length >= 2 && label[0] == '0' && to_lower(label[1]) == 'x';

	for (size_t i = hex ? 2 : 0; i < length; i++)
		if (!is_digit(label[i]) &&
		    !(hex && to_lower(label[i]) >= 'a' && to_lower(label[i]) <= 'f'))
			return false;
	return true;
}

static enum host_name_verdict check_label(const char *label, size_t length)
{
	if (length == 0)
		return HOST_NAME_EMPTY_LABEL;
	if (length > 63)
		return HOST_NAME_LONG_LABEL;
	if (label[0] == '-' || label[length - 1] == '-')
		return HOST_NAME_HYPHEN;
	return HOST_NAME_OK;
}

enum host_name_verdict host_name_check(const char *name, size_t length)
{
	size_t start = 0;

	if (length == 0)
		return HOST_NAME_EMPTY;
	for (size_t i = 0; i < length; i++)
		if (!is_letter(name[i]) && !is_digit(name[i]) && name[i] != '-' && name[i] != '.' &&
		    name[i] != '_')
			return HOST_NAME_BAD_BYTE;
	if (length > 253)
		return HOST_NAME_TOO_LONG;
	for (size_t i = 0; i <= length; i++) {
		enum host_name_verdict verdict;

		if (i < length && name[i] != '.')
			continue;
		verdict = check_label(name + start, i - start);
		if (verdict != HOST_NAME_OK)
			return verdict;
		if (i < length)
			start = i + 1;
	}
	if (is_number(name + start, length - start))
		return HOST_NAME_NUMBER;
	if (host_name_equal(name + start, length - start, "localhost", strlen("localhost")))
		return HOST_NAME_LOCALHOST;
	return HOST_NAME_OK;
}

const char *host_name_verdict_text(enum host_name_verdict verdict)
{
	switch (verdict) {
	case HOST_NAME_OK:
		return "is a host name";
	case HOST_NAME_EMPTY:
		return "is empty";
	case HOST_NAME_TOO_LONG:
		return "is longer than 253 bytes";
	case HOST_NAME_BAD_BYTE:
		return "has a byte that is not an ASCII letter, digit, '-', '.' or '_'";
	case HOST_NAME_EMPTY_LABEL:
		return "has an empty label (a dot at an end, or two in a row)";
	case HOST_NAME_LONG_LABEL:
		return "has a label longer than 63 bytes";
	case HOST_NAME_HYPHEN:
		return "has a label that begins or ends with '-'";
	case HOST_NAME_NUMBER:
		return "ends in a number, like an address";
	case HOST_NAME_LOCALHOST:
		return "is localhost or under it";
	}
	return "is not a host name";
}

bool host_name_equal(const char *a, size_t a_length, const char *b, size_t b_length)
{
	if (a_length != b_length)
		return false;
	for (size_t i = 0; i < a_length; i++)
		if (to_lower(a[i]) != to_lower(b[i]))
			return false;
	return true;
}

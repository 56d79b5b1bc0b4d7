// SPDX-License-Identifier: GPL-2.0-or-later
/* What /proc/PID/status says of a process's capabilities; see process_status.h. */
#include "process_status.h"

#include <ctype.h>
#include <string.h>

const char *const process_set_names[PROCESS_SETS] = {
	"inheritable", "permitted", "effective", "bounding", "ambient",
};

/* The lines that are read; the first five are the sets, in their order. */
enum line { LINE_NAME = PROCESS_SETS, LINE_STATE, LINE_PID, LINE_UID, LINE_NO_NEW_PRIVS, LINES };

static const char *const keys[LINES] = {
	"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
	"Name",	  "State",  "Pid",    "Uid",	"NoNewPrivs",
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Exactly 16 lower-case hexadecimal digits: the kernel has never printed fewer or more. */
static bool parse_mask(const char *text, size_t length, uint64_t *mask)
{
	static const char digits[] = "0123456789abcdef";

	*mask = 0;
	for (size_t i = 0; i < length; i++) {
		const char *digit = memchr(digits, text[i], sizeof(digits) - 1);

		if (digit == NULL)
			return false;
		*mask = *mask << 4 | (uint64_t)(digit - digits);
	}
	return length == 16;
}

/* A decimal number of at most 32 bits at the start of TEXT; its length, 0 if there is none. */
static size_t parse_number(const char *text, size_t length, int64_t *number)
{
	size_t n = 0;

	for (*number = 0; n < length && isdigit((unsigned char)text[n]); n++) {
		*number = *number * 10 + (text[n] - '0');
		if (*number > UINT32_MAX)
			return 0;
	}
	return n;
}

/* The four numbers "real effective saved file-system". */
static bool parse_uids(const char *text, size_t length, int64_t uids[4])
{
	for (int i = 0; i < 4; i++) {
		size_t n = parse_number(text, length, &uids[i]);

		if (n == 0 || (i < 3 && (n == length || !is_blank(text[n]))))
			return false;
		n += i < 3;
		text += n;
		length -= n;
	}
	return length == 0;
}

/* Takes the value of LINE over into STATUS; false if it is malformed. */
static bool take(enum line line, const char *value, size_t length, struct process_status *status)
{
	int64_t number;

	switch (line) {
	case LINE_NAME:
		status->name = value;
		status->name_length = length;
		return true;
	case LINE_STATE:
		if (length > 0)
			status->state = value[0];
		return length > 0;
	case LINE_PID:
		return parse_number(value, length, &status->pid) == length && length > 0;
	case LINE_UID:
		if (!parse_uids(value, length, status->uids))
			return false;
		status->uid = status->uids[1];
		return true;
	case LINE_NO_NEW_PRIVS:
		status->no_new_privs = length == 1 && value[0] == '1';
		return parse_number(value, length, &number) == 1 && length == 1 && number <= 1;
	default:
		return parse_mask(value, length, &status->sets[line]);
	}
}

bool process_status_parse(const char *text, size_t length, struct process_status *status,
			  struct process_status_fault *fault)
{
	bool seen[LINES] = {false};
	const char *end = text + length, *newline;

	*status = (struct process_status){.pid = -1, .uid = -1, .no_new_privs = -1};
	*fault = (struct process_status_fault){"the text", "holds a NUL byte"};
	if (memchr(text, '\0', length) != NULL)
		return false;
	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		*fault =
			(struct process_status_fault){"the text", "is cut in the middle of a line"};
		if (newline == NULL)
			return false;
		for (int line = 0; line < LINES; line++) {
			size_t key = strlen(keys[line]);
			const char *value = text + key + 1;

			if (value > newline || memcmp(text, keys[line], key) != 0 ||
			    text[key] != ':')
				continue;
			while (value < newline && is_blank(*value))
				value++;
			*fault = (struct process_status_fault){keys[line], "stands twice"};
			if (seen[line])
				return false;
			seen[line] = true;
			fault->reason = line < PROCESS_SETS ? "is not 16 hexadecimal digits"
							    : "is malformed";
			if (!take((enum line)line, value, (size_t)(newline - value), status))
				return false;
		}
	}
	for (int line = 0; line < PROCESS_SETS; line++)
		if (!seen[line]) {
			*fault = (struct process_status_fault){keys[line], "is missing"};
			return false;
		}
	return true;
}

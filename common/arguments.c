// SPDX-License-Identifier: GPL-2.0-or-later
/* Strict command lines; see arguments.h. */
#include "arguments.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ipv4_address.h"
#include "report.h"

enum { MAX_OPTIONS = 64 };

/* True if NAME (LENGTH bytes) stands in the comma-separated LIST. */
static bool in_list(const char *list, const char *name, size_t length)
{
	for (const char *item = list; item != NULL && *item != '\0';) {
		size_t n = strcspn(item, ",");

		if (n == length && memcmp(item, name, n) == 0)
			return true;
		item += n + (item[n] == ',');
	}
	return false;
}

/* Index in the table of the option that NAME (up to LENGTH bytes) spells out in full, or -1. */
static int find_option(const struct option *table, const char *name, size_t length)
{
	for (int i = 0; table[i].name != NULL; i++)
		if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
			return i;
	return -1;
}

/*
 * One walk over the command line as getopt_long would take it. With JUDGE false it only learns
 * whether --json and --quiet stand anywhere, so that the faults found next are said in that form.
 */
static void walk(const struct arguments *a, bool judge, bool *json, bool *quiet)
{
	bool seen[MAX_OPTIONS] = {false};

	for (int i = 1; i < a->argc; i++) {
		const char *word = a->argv[i], *name = word + 2, *value;
		size_t length;
		int index;

		if (strcmp(word, "--") == 0)
			return;
		if (word[0] != '-' || word[1] == '\0') {
			if (a->stop_at_operand)
				return;
			continue;
		}
		length = word[1] == '-' ? strcspn(name, "=") : 0;
		index = word[1] == '-' ? find_option(a->table, name, length) : -1;
		if (index < 0) {
			if (judge)
				die(CELL_USAGE, "unknown option %s (see --help)", word);
			continue;
		}
		value = name[length] == '=' ? name + length + 1 : NULL;
		if (a->table[index].has_arg == required_argument && value == NULL)
			value = i + 1 < a->argc ? a->argv[++i] : NULL;
		if (a->table[index].val == ARGUMENTS_JSON)
			*json = true;
		if (a->table[index].val == ARGUMENTS_QUIET)
			*quiet = true;
		if (!judge)
			continue;
		if (a->table[index].has_arg == required_argument && value == NULL)
			die(CELL_USAGE, "option --%s needs a value", a->table[index].name);
		if (a->table[index].has_arg == no_argument && value != NULL)
			die(CELL_USAGE, "option --%s takes no value", a->table[index].name);
		if (value != NULL && *value == '\0')
			die(CELL_USAGE, "option --%s has an empty value", a->table[index].name);
		if (seen[index] && !in_list(a->repeatable, name, length))
			die(CELL_USAGE, "option --%s is given twice", a->table[index].name);
		seen[index] = true;
	}
}

void arguments_begin(const struct arguments *arguments)
{
	bool json = false, quiet = false;

	if (arguments->argc < 1)
		die(CELL_USAGE, "called without a name for itself");
	walk(arguments, false, &json, &quiet);
	report_mode(json, quiet);
	walk(arguments, true, &json, &quiet);
	opterr = 0;
	/* getopt(3): with POSIXLY_CORRECT even the permuting tools would stop at an operand. */
	if (!arguments->stop_at_operand)
		(void)unsetenv("POSIXLY_CORRECT");
}

int arguments_next(const struct arguments *arguments)
{
	for (;;) {
		int value =
			getopt_long(arguments->argc, arguments->argv,
				    arguments->stop_at_operand ? "+" : "", arguments->table, NULL);

		switch (value) {
		case ARGUMENTS_JSON:
		case ARGUMENTS_QUIET:
			continue; /* arguments_begin took them */
		case ARGUMENTS_HELP:
			(void)fputs(arguments->usage, stdout);
			report_close(CELL_OK);
		case ARGUMENTS_VERSION:
			(void)printf("%s %s\n", report_tool(), CELL_VERSION);
			report_close(CELL_OK);
		case '?': /* arguments_begin let only whole options through */
			die(CELL_USAGE, "unknown option %s", arguments->argv[optind - 1]);
		default:
			return value;
		}
	}
}

uint64_t arguments_number(const char *name, const char *text, uint64_t min, uint64_t max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	/* strtoull(3) would take blanks and a sign in front. */
	if (!isdigit((unsigned char)text[0]) || *end != '\0')
		die(CELL_USAGE, "%s %s is not a whole number", name, text);
	if (errno != 0 || number < min || number > max)
		die(CELL_USAGE, "%s %s is not in %llu to %llu", name, text, (unsigned long long)min,
		    (unsigned long long)max);
	return number;
}

int64_t arguments_seconds(const char *name, const char *text)
{
	const int64_t second = 1000000000, year = 366LL * 24 * 3600;
	int64_t whole = 0, part = 0, unit = second;
	const char *s = text;

	for (; isdigit((unsigned char)*s) && whole <= year; s++)
		whole = whole * 10 + (*s - '0');
	if (s != text && *s == '.' && isdigit((unsigned char)s[1]))
		for (s++; isdigit((unsigned char)*s); s++) {
			unit /= 10; /* below a nanosecond it is 0 and the digit counts no more */
			part += unit * (*s - '0');
		}
	if (s == text || *s != '\0')
		die(CELL_USAGE, "%s %s is not a number of seconds", name, text);
	if (whole > year)
		die(CELL_USAGE, "%s %s is more than a year", name, text);
	return whole * second + part;
}

pid_t arguments_pid(const char *name, const char *text)
{
	return (pid_t)arguments_number(name, text, 1, 4194304);
}

uint16_t arguments_port(const char *name, const char *text)
{
	return (uint16_t)arguments_number(name, text, 1, 65535);
}

struct in_addr arguments_address(const char *name, const char *text)
{
	struct in_addr address;
	enum ipv4_verdict verdict = ipv4_parse(text, strlen(text), &address);

	if (verdict == IPV4_OK)
		verdict = ipv4_classify(address);
	if (verdict != IPV4_OK)
		die(CELL_USAGE, "%s %s is %s", name, text, ipv4_verdict_text(verdict));
	return address;
}

const char *arguments_environment(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	if (value == NULL)
		return fallback;
	if (*value == '\0')
		die(CELL_USAGE, "environment variable %s is empty", name);
	return value;
}

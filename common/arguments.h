/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strict command lines: getopt_long without abbreviations, repeats or empty values, and parsers
 * of values that end the tool with 100 and a line that names the option.
 */
#ifndef CELL_ARGUMENTS_H
#define CELL_ARGUMENTS_H

#include <getopt.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Values that the common options carry; a tool's own options start at ARGUMENTS_FIRST. */
enum { ARGUMENTS_HELP = 256, ARGUMENTS_VERSION, ARGUMENTS_JSON, ARGUMENTS_QUIET, ARGUMENTS_FIRST };

/* The last lines of every tool's one option table. */
#define ARGUMENTS_COMMON                                           \
	{"json", no_argument, NULL, ARGUMENTS_JSON},               \
		{"quiet", no_argument, NULL, ARGUMENTS_QUIET},     \
		{"help", no_argument, NULL, ARGUMENTS_HELP},       \
		{"version", no_argument, NULL, ARGUMENTS_VERSION}, \
	{                                                          \
		NULL, 0, NULL, 0                                   \
	}

struct arguments {
	int argc;
	char **argv;
	const struct option *table; /* long options only, ends in a zero entry */
	const char *usage;	    /* --help prints it: the man page's SYNOPSIS and the options */
	const char *repeatable; /* names that may stand more than once, "allow,refuse"; or NULL */
	bool stop_at_operand;	/* true: what follows the first operand is not ours */
};

/*
 * Judges the whole command line and sets --json and --quiet before anything can be said.
 * Any fault ends the tool with 100.
 */
void arguments_begin(const struct arguments *arguments);

/*
 * The next option's value from the table, with its argument in optarg; -1 at the end, when
 * argv[optind...] are the operands. Answers --help and --version itself (stdout, 0).
 */
int arguments_next(const struct arguments *arguments);

/* A whole decimal number in MIN..MAX with nothing around it; else 100. NAME as "--port". */
uint64_t arguments_number(const char *name, const char *text, uint64_t min, uint64_t max);

/* Seconds, fractions allowed ("0.25"), not negative, at most a year; returned in nanoseconds. */
int64_t arguments_seconds(const char *name, const char *text);

/* A process id, 1 to 4194304 (the kernel's PID_MAX_LIMIT, proc_sys_kernel(5)). */
pid_t arguments_pid(const char *name, const char *text);

/* A port, 1 to 65535. */
uint16_t arguments_port(const char *name, const char *text);

/* A canonical IPv4 address that a proxy can be published at (ipv4_classify). */
struct in_addr arguments_address(const char *name, const char *text);

/*
 * The value of environment variable NAME, or FALLBACK if it is not set. Set but empty is 100:
 * a script that lost a value must not be served with a guess.
 */
const char *arguments_environment(const char *name, const char *fallback);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads a hosts file again and again, in pieces, as a resolver does, and counts the readings in
 * which another entry was missing, changed or glued to something.
 *
 * usage: hosts_reader FILE HOST PIECE EXPECTED     until standard input ends
 * What is left of FILE without its blank lines, its lines that begin with "#" and those that hold
 * HOST must be EXPECTED's content. Prints "READINGS BAD"; the first bad one goes to standard error.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

static size_t read_in_pieces(const char *path, char *text, size_t piece)
{
	size_t length = 0;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		exit(111);
	while (length + piece < TEXT_MAX && (n = read(fd, text + length, piece)) > 0)
		length += (size_t)n;
	(void)close(fd);
	text[length] = '\0';
	return length;
}

/* Leaves out in place what may come and go while HOST is pinned. */
static void leave_out(char *text, const char *host)
{
	char *to = text;

	for (char *line = text; *line != '\0';) {
		size_t length = strcspn(line, "\n") + 1;
		char *end = line + length;
		char last = end[-1];
		bool keep;

		if (last == '\0')
			length--, end--;
		else
			end[-1] = '\0';
		keep = line[strspn(line, " ")] != '\0' && line[0] != '#' &&
		       strstr(line, host) == NULL;
		if (last != '\0')
			end[-1] = last;
		if (keep) {
			memmove(to, line, length);
			to += length;
		}
		line = end;
	}
	*to = '\0';
}

/* The first line that differs, with one line before and behind it at most. */
static void print_difference(const char *text, const char *expected)
{
	size_t same = 0;

	while (text[same] != '\0' && text[same] == expected[same])
		same++;
	while (same > 0 && text[same - 1] != '\n')
		same--;
	(void)fprintf(stderr, "read:\n%.200s\nexpected:\n%.200s\n", text + same, expected + same);
}

int main(int argc, char **argv)
{
	static char text[TEXT_MAX + 1], expected[TEXT_MAX + 1];
	struct pollfd input = {.fd = 0, .events = POLLIN};
	unsigned long readings = 0, bad = 0;
	size_t piece;

	if (argc != 5)
		return 100;
	piece = strtoul(argv[3], NULL, 10);
	(void)read_in_pieces(argv[4], expected, 4096);
	do {
		(void)read_in_pieces(argv[1], text, piece);
		readings++;
		leave_out(text, argv[2]);
		if (strcmp(text, expected) == 0)
			continue;
		if (bad++ == 0)
			print_difference(text, expected);
	} while (poll(&input, 1, 0) == 0);
	(void)printf("%lu %lu\n", readings, bad);
	return fflush(stdout) == 0 ? 0 : 111;
}

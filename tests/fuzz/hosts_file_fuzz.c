// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the hosts file: parse, pin, parse, remove, parse. What glibc and musl read in the file is
 * told by second, simple readings: HOST must get exactly the new address and then none, other names
 * must keep theirs, and no byte may move.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "hosts_file.h"
#include "hosts_patch.h"

#define HOST "proxy"
#define NEW "172.18.0.2"

enum { INPUT_MAX = 8192, ANSWER_MAX = 65536 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static const char *const others[] = {"db", "a", "proxy.", "x-proxy", "172.18.0.2"};
enum { OTHERS = sizeof(others) / sizeof(*others) };

struct answer {
	char text[ANSWER_MAX]; /* the addresses as written, a comma behind each */
	size_t length;
};

static void add(struct answer *answer, const char *address)
{
	int n = snprintf(answer->text + answer->length, ANSWER_MAX - answer->length, "%s,",
			 address);

	answer->length += (size_t)n;
	if (answer->length >= ANSWER_MAX)
		abort();
}

static bool is_ipv6(const char *address)
{
	struct in6_addr binary;

	return inet_pton(AF_INET6, address, &binary) == 1;
}

static void read_glibc_line(char *line, const char *name, struct answer *answer)
{
	static const char space[] = " \t\n\v\f\r";
	struct in_addr binary;
	char *address, *word, *rest;
	bool named = false;

	line[strcspn(line, "#\n")] = '\0';
	address = strtok_r(line, space, &rest);
	if (address == NULL || (inet_pton(AF_INET, address, &binary) != 1 && !is_ipv6(address)))
		return;
	while ((word = strtok_r(NULL, space, &rest)) != NULL)
		named = named || strcasecmp(word, name) == 0;
	if (named)
		add(answer, address);
}

/* LINE ends in a newline, if not cut off by the buffer. */
static void read_musl_line(char *line, const char *name, struct answer *answer)
{
	size_t length = strlen(name);
	char *end = strchr(line, '#'), *at = line + 1;
	struct in_addr binary;

	if (end != NULL) {
		end[0] = '\n';
		end[1] = '\0';
	}
	if (*line == '\0')
		return;
	while ((at = strstr(at, name)) != NULL &&
	       (!isspace((unsigned char)at[-1]) || !isspace((unsigned char)at[length])))
		at++;
	if (at == NULL)
		return;
	for (end = line; *end != '\0' && !isspace((unsigned char)*end); end++)
		;
	*end = '\0';
	if (inet_aton(line, &binary) != 0) {
		add(answer, line);
		return;
	}
	line[strcspn(line, "%")] = '\0';
	if (is_ipv6(line))
		add(answer, line);
}

/* What a library with a buffer of PIECE bytes (0: any) reads of NAME in TEXT, whose end is LF. */
static void read_text(const char *text, size_t length, const char *name, size_t piece,
		      struct answer *answer)
{
	static char line[INPUT_MAX + 2 * HOSTS_ENTRY_MAX];

	answer->length = 0;
	answer->text[0] = '\0';
	for (size_t at = 0; at < length;) {
		const char *newline = memchr(text + at, '\n', length - at);
		size_t size = (size_t)(newline - (text + at)) + 1;

		if (piece != 0 && size > piece)
			size = piece;
		memcpy(line, text + at, size);
		line[size] = '\0';
		line[size + 1] = '\0';
		if (piece == 0)
			read_glibc_line(line, name, answer);
		else
			read_musl_line(line, name, answer);
		at += size;
	}
}

struct reading {
	struct answer glibc[OTHERS], musl[OTHERS], host_glibc, host_musl;
};

static void read_all(const char *text, size_t length, struct reading *reading)
{
	static char whole[INPUT_MAX + 2 * HOSTS_ENTRY_MAX];

	memcpy(whole, text, length);
	if (length > 0 && whole[length - 1] != '\n')
		whole[length++] = '\n'; /* as the pin will */
	for (size_t i = 0; i < OTHERS; i++) {
		read_text(whole, length, others[i], 0, &reading->glibc[i]);
		read_text(whole, length, others[i], HOSTS_PIECE, &reading->musl[i]);
	}
	read_text(whole, length, HOST, 0, &reading->host_glibc);
	read_text(whole, length, HOST, HOSTS_PIECE, &reading->host_musl);
}

static void compare_others(const struct reading *a, const struct reading *b)
{
	for (size_t i = 0; i < OTHERS; i++)
		if (strcmp(a->glibc[i].text, b->glibc[i].text) != 0 ||
		    strcmp(a->musl[i].text, b->musl[i].text) != 0)
			abort();
}

/* The walk finds places in order and in bounds. */
static void walk(const char *text, size_t length)
{
	struct hosts_walk state;
	struct hosts_name name;
	size_t last = 0;

	hosts_walk_begin(&state, text, length, HOST);
	while (hosts_walk_next(&state, &name)) {
		if (name.name < last || name.name + strlen(HOST) > name.line_end ||
		    name.line_end > length || name.line > name.address ||
		    name.address_length == 0 || name.address + name.address_length > name.name ||
		    name.content_end > name.line_end ||
		    strncasecmp(text + name.name, HOST, strlen(HOST)) != 0)
			abort();
		last = name.name + strlen(HOST);
	}
}

static char path[] = "/dev/shm/cell-fuzz.XXXXXX"; /* memory: a disk is 20 times as slow */

static void remove_file(void)
{
	(void)unlink(path);
}

/* Pins HOST to ADDRESS (NULL: takes it out), and reads the file again. */
static size_t patch(int fd, const char *address, char *text, size_t size)
{
	const struct hosts_patch_request request = {path, HOST, address, 0};
	struct hosts_patch_result result;
	ssize_t length;

	if (hosts_patch_apply(&request, &result) != PATCH_OK)
		abort();
	hosts_patch_release(&result);
	length = pread(fd, text, size, 0);
	if (length < 0 || (size_t)length == size)
		abort();
	return (size_t)length;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct reading before, pinned, removed;
	static char text[INPUT_MAX + 2 * HOSTS_ENTRY_MAX];
	static int fd = -1;
	struct hosts_answer answer;
	size_t after;

	if (length > INPUT_MAX)
		return 0;
	if (fd < 0) {
		fd = mkostemp(path, O_CLOEXEC);
		if (fd < 0 || atexit(remove_file) != 0)
			abort();
	}
	walk((const char *)bytes, length);
	read_all((const char *)bytes, length, &before);
	if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, length, 0) != (ssize_t)length)
		abort();

	after = patch(fd, NEW, text, sizeof(text));
	if (after < length || after > length + 1 + HOSTS_ENTRY_MAX)
		abort();
	answer = hosts_file_answer(text, after, HOST, NEW);
	if (answer.kept == HOSTS_NONE || answer.others != 0)
		abort();
	read_all(text, after, &pinned);
	if (strcmp(pinned.host_glibc.text, NEW ",") != 0 ||
	    strcmp(pinned.host_musl.text, NEW ",") != 0)
		abort();
	compare_others(&before, &pinned);

	after = patch(fd, NULL, text, sizeof(text));
	read_all(text, after, &removed);
	if (removed.host_glibc.length != 0 || removed.host_musl.length != 0)
		abort();
	compare_others(&before, &removed);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gives a fuzzer's function every input of its corpus once, each cut at every length and with
 * single bytes changed: what the whole suite can afford of fuzzing, with or without sanitizers. It
 * runs at the top of the tree and is called X_corpus_test for the corpus X. A fault ends it by a
 * signal, which the runner counts as a failure.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/unit.h"

enum { INPUT_MAX = 65536, CHANGED_MAX = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The function with a copy of exactly that size, so that a sanitizer sees the smallest overrun. */
static void give(const unsigned char *bytes, size_t length)
{
	unsigned char *copy = malloc(length > 0 ? length : 1);

	if (copy == NULL)
		abort();
	if (length > 0)
		memcpy(copy, bytes, length);
	(void)LLVMFuzzerTestOneInput(copy, length);
	free(copy);
}

static void give_neighbours(unsigned char *bytes, size_t length)
{
	static const unsigned char others[] = {0, '\n', ' ', '#', '0', 'a', 0x80, 0xff};
	size_t changed = length < CHANGED_MAX ? length : CHANGED_MAX;

	for (size_t i = 0; i <= changed; i++)
		give(bytes, i);
	for (size_t i = 0; i < changed; i++) {
		unsigned char kept = bytes[i];

		for (size_t k = 0; k < sizeof(others); k++) {
			bytes[i] = others[k];
			give(bytes, length);
		}
		bytes[i] = kept;
	}
}

static void test_every_input_of_the_corpus(void)
{
	static unsigned char bytes[INPUT_MAX];
	const char *name = program_invocation_short_name; /* program_invocation_name(3) */
	int name_length = (int)(strlen(name) - strlen("_corpus_test")), inputs = 0;
	const struct dirent *entry;
	char path[256];
	DIR *corpus;

	(void)snprintf(path, sizeof(path), "tests/fuzz/corpus/%.*s", name_length, name);
	corpus = opendir(path);
	CHECK(corpus != NULL);
	while (corpus != NULL && (entry = readdir(corpus)) != NULL) {
		int fd = openat(dirfd(corpus), entry->d_name, O_RDONLY | O_CLOEXEC);
		ssize_t length = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

		if (fd >= 0)
			(void)close(fd);
		if (length < 0)
			continue; /* a directory */
		give(bytes, (size_t)length);
		give_neighbours(bytes, (size_t)length);
		inputs++;
	}
	if (corpus != NULL)
		(void)closedir(corpus);
	CHECK(inputs > 0);
}

int main(void)
{
	RUN(test_every_input_of_the_corpus);
	return unit_end();
}

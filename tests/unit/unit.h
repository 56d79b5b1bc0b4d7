/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C unit tests: CHECK in functions run by RUN; one result line a test where the runner reads it. */
#ifndef CELL_UNIT_H
#define CELL_UNIT_H

#include <stdio.h>
#include <stdlib.h>

static int unit_failed_checks, unit_failed_tests;

#define CHECK(condition)                                                                       \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			(void)printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			unit_failed_checks++;                                                  \
		}                                                                              \
	} while (0)

#define RUN(test) unit_run(#test, test)

static inline void unit_run(const char *name, void (*test)(void))
{
	const char *path = getenv("CELL_TEST_RESULTS");
	FILE *results = path != NULL ? fopen(path, "ae") : NULL;
	const char *word;

	unit_failed_checks = 0;
	test();
	word = unit_failed_checks == 0 ? "pass" : "fail";
	(void)printf("%s %s\n", word, name);
	if (results != NULL) {
		(void)fprintf(results, "%s %s\n", word, name);
		(void)fclose(results);
	}
	unit_failed_tests += unit_failed_checks != 0;
}

static inline int unit_end(void)
{
	return unit_failed_tests == 0 ? 0 : 1;
}

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the comparison of two runs: the counts add up, and only good verdicts do not offend. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "probe_compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The two files are one input, cut at the first empty line. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const char *text = (const char *)bytes;
	const char *cut = length > 0 ? memmem(text, length, "\n\n", 2) : NULL;
	size_t first = cut != NULL ? (size_t)(cut - text) + 1 : length;
	struct probe_records before, after;
	struct probe_comparison comparison;
	size_t total = 0;
	bool good = probe_records_parse(text, first, &before) == 0;

	good &= probe_records_parse(cut != NULL ? text + first + 1 : text,
				    cut != NULL ? length - first - 1 : length, &after) == 0;
	if (good) {
		if (probe_compare_runs(&before, &after, &comparison) != 0)
			abort();
		for (size_t i = 0; i < PROBE_VERDICTS; i++)
			total += comparison.counts[i];
		if (total != json_array_size(comparison.targets) || total < before.count ||
		    total - comparison.counts[PROBE_CLOSED] - comparison.counts[PROBE_KEPT] -
				    comparison.counts[PROBE_ABSENT] !=
			    json_array_size(comparison.offending))
			abort();
		probe_comparison_release(&comparison);
	}
	probe_records_release(&before);
	probe_records_release(&after);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes how a listing of the kernel's ruleset is read, compared and printed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nft_session.h"
#include "ruleset_blocks.h"
#include "ruleset_listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* What is taken for ours must print the text that we would write for the same parameters. */
static void check(const struct ruleset_listing *listing)
{
	json_t *wanted = ruleset_wanted(&listing->read), *differs = json_array();
	char *ours = ruleset_blocks_text("cell_egress", wanted);
	char *theirs = ruleset_blocks_text("cell_egress", listing->blocks);

	if (wanted == NULL || ours == NULL || theirs == NULL ||
	    ruleset_compare(wanted, listing->blocks, differs) != 0)
		abort();
	if ((json_array_size(differs) == 0) != (strcmp(ours, theirs) == 0))
		abort();
	free(ours);
	free(theirs);
	json_decref(wanted);
	json_decref(differs);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct ruleset_listing listing;
	char *text = malloc(length + 1), *line;
	int number;

	if (text == NULL)
		return 0;
	if (length > 0)
		memcpy(text, bytes, length);
	text[length] = '\0';
	if (ruleset_listing_read(text, length, "cell_egress", &listing) == 0) {
		check(&listing);
		ruleset_listing_release(&listing);
	}
	line = nft_session_complaint(text, &number);
	if (line != NULL && strchr(line, '\n') != NULL)
		abort();
	free(line);
	free(text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the reading of certificates: what is accepted and published reads the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "certificate_authority.h"

enum { NOW = 1800000000 }; /* January 2027: within the corpus's validity */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct certificate first, second;
	enum certificate_verdict verdict;
	char *words;

	(void)certificate_begin();
	verdict = certificate_read((const char *)bytes, length, length % 2 == 1, NOW, &first);
	words = certificate_verdict_text(verdict, &first, NOW);
	if (words == NULL || strlen(first.sha256) != (first.pem == NULL ? 0 : 64) ||
	    (verdict == CERTIFICATE_OK && first.pem == NULL))
		abort();
	free(words);
	if (first.pem != NULL) {
		enum certificate_verdict again =
			certificate_read(first.pem, first.pem_length, false, NOW, &second);

		if (second.pem == NULL || strcmp(first.pem, second.pem) != 0 ||
		    strcmp(first.sha256, second.sha256) != 0 || strchr(first.pem, '\r') != NULL ||
		    first.pem[first.pem_length - 1] != '\n' ||
		    (verdict == CERTIFICATE_OK && again != CERTIFICATE_OK))
			abort();
		certificate_release(&second);
	}
	certificate_release(&first);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the judgement of DNS answers: one that is taken has our id and our question, or none. */
#include <stdlib.h>
#include <string.h>

#include "http_status.h"
#include "probe_dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	unsigned char question[512];
	size_t question_length = probe_dns_question(question, sizeof(question), 0x6364, "c0ffee",
						    "a.test", PROBE_DNS_TXT);
	unsigned char *packet = malloc(length + 1); /* its own, so that a read beyond it shows */
	int code, status;

	if (packet == NULL)
		return 0;
	memcpy(packet, bytes, length);
	code = probe_dns_answer(packet, length, question, question_length);
	if (code >= 0 && (length < 12 || packet[0] != 0x63 || packet[1] != 0x64 || code > 15 ||
			  (packet[5] == 1 && length < question_length)))
		abort();
	(void)probe_dns_code_name(code);
	status = http_status(packet, length);
	if (status > 999 || (status > 0 && memcmp(packet, "HTTP/1.", 7) != 0))
		abort();
	free(packet);
	return 0;
}

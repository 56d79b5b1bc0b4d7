/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One DNS question and the judgement of what comes back for it (RFC 1035). Pure. */
#ifndef CELL_PROBE_DNS_H
#define CELL_PROBE_DNS_H

#include <stddef.h>
#include <stdint.h>

enum { PROBE_DNS_A = 1, PROBE_DNS_TXT = 16, PROBE_DNS_AAAA = 28 };

/*
 * Writes the question LABEL.NAME of TYPE with ID (recursion desired) into PACKET. Its length, or
 * 0 if it does not fit. LABEL is at most 63 bytes, NAME is a checked host name.
 */
size_t probe_dns_question(unsigned char *packet, size_t size, uint16_t id, const char *label,
			  const char *name, uint16_t type);

/*
 * Judges LENGTH bytes as the answer to QUESTION: its response code (0 to 15), or -1 if it answers
 * something else. An error may come without the question, as servers that cannot parse one do.
 */
int probe_dns_answer(const unsigned char *packet, size_t length, const unsigned char *question,
		     size_t question_length);

/* "NOERROR", "NXDOMAIN", ...; "RCODE" for one without a name. */
const char *probe_dns_code_name(int code);

#endif

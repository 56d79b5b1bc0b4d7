// SPDX-License-Identifier: GPL-2.0-or-later
/* One DNS question and the judgement of what comes back for it; see probe_dns.h. */
#include "probe_dns.h"

#include <string.h>

enum { HEADER = 12 };

/* Appends NAME as labels (without the root); the new length, or 0 if it does not fit. */
static size_t put_labels(unsigned char *packet, size_t size, size_t at, const char *name)
{
	while (*name != '\0') {
		size_t length = strcspn(name, ".");

		if (length == 0 || length > 63 || at + 1 + length > size)
			return 0;
		packet[at] = (unsigned char)length;
		memcpy(packet + at + 1, name, length);
		at += 1 + length;
		name += length + (name[length] == '.');
	}
	return at;
}

size_t probe_dns_question(unsigned char *packet, size_t size, uint16_t id, const char *label,
			  const char *name, uint16_t type)
{
	const unsigned char tail[] = {0, (unsigned char)(type >> 8), (unsigned char)type, 0, 1};
	size_t at = HEADER;

	if (size < HEADER)
		return 0;
	memset(packet, 0, HEADER);
	packet[0] = (unsigned char)(id >> 8);
	packet[1] = (unsigned char)id;
	packet[2] = 1; /* recursion desired */
	packet[5] = 1; /* one question */
	at = put_labels(packet, size, at, label);
	if (at != 0)
		at = put_labels(packet, size, at, name);
	if (at == 0 || at + sizeof(tail) > size)
		return 0;
	memcpy(packet + at, tail, sizeof(tail)); /* the root, the type, class IN */
	return at + sizeof(tail);
}

static unsigned char to_lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c - 'A' + 'a') : c;
}

int probe_dns_answer(const unsigned char *packet, size_t length, const unsigned char *question,
		     size_t question_length)
{
	int code;

	if (length < HEADER || question_length < HEADER || packet[0] != question[0] ||
	    packet[1] != question[1])
		return -1;
	if ((packet[2] & 0xf8) != 0x80) /* a response, to a standard query */
		return -1;
	code = packet[3] & 0x0f;
	if (packet[4] == 0 && packet[5] == 0)
		return code != 0 ? code : -1;
	if (packet[4] != 0 || packet[5] != 1 || length < question_length)
		return -1;
	/* Length bytes of labels are below 'A': comparing without case leaves them alone. */
	for (size_t i = HEADER; i < question_length; i++)
		if (to_lower(packet[i]) != to_lower(question[i]))
			return -1;
	return code;
}

const char *probe_dns_code_name(int code)
{
	static const char *const names[] = {"NOERROR",	"FORMERR", "SERVFAIL",
					    "NXDOMAIN", "NOTIMP",  "REFUSED"};

	return code >= 0 && (size_t)code < sizeof(names) / sizeof(names[0]) ? names[code] : "RCODE";
}

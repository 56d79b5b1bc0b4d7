// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes what the watcher reads of a refused packet, up to the text that a person sees of it. */
#include <stdlib.h>
#include <string.h>

#include "refused_packet.h"
#include "watch_follow.h"
#include "watch_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* A record must be valid JSON whatever the packet was, and its line one line. */
static void check_record(const uint8_t *bytes, size_t length)
{
	struct watch_entry entry = {.class = WATCH_UDP, .payload = bytes, .length = length};
	json_t *record = watch_record_packet(&entry, NULL);
	char *text = json_dumps(record, JSON_COMPACT), *line;
	json_t *again;

	if (text == NULL)
		abort();
	again = json_loads(text, 0, NULL);
	if (again == NULL || !json_equal(again, record))
		abort();
	if (json_object_set_new(record, "record", json_string("packet")) != 0)
		abort();
	line = watch_line(record);
	for (const char *c = line; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			abort();
	free(line);
	free(text);
	json_decref(again);
	json_decref(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct refused_packet packet;

	refused_packet_parse(bytes, length, &packet);
	if (packet.has_ports && packet.cut)
		abort();
	if (packet.dns.present && strlen(packet.dns.name) >= REFUSED_DNS_NAME)
		abort();
	check_record(bytes, length);
	return 0;
}

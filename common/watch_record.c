// SPDX-License-Identifier: GPL-2.0-or-later
/* What the watcher has counted, and the fields of its records; see watch_record.h. */
#include "watch_record.h"

#include <arpa/inet.h>
#include <string.h>

#include "cleanup.h"
#include "netfilter_names.h"
#include "refused_packet.h"
#include "report_record.h"
#include "text.h"

/* json_object_set_new refuses a NULL value by itself. */
#define put(object, key, value) json_object_set_new(object, key, value)

static json_t *make_text(const char *text)
{
	autofree char *line = text == NULL ? NULL : text_to_utf8(text, strlen(text));

	return text == NULL ? json_null() : json_string(line);
}

/* A named number, or the number itself as text where it has no common name. */
static json_t *make_name(const char *name, const char *prefix, unsigned int number)
{
	return name != NULL ? json_string(name) : json_sprintf("%s%u", prefix, number);
}

void watch_tally_counters(struct watch_tally *tally, int found,
			  const uint64_t packets[static WATCH_COUNTED])
{
	if (found == 0)
		return;
	tally->has_counters = true;
	for (int i = 0; i < WATCH_COUNTED; i++) {
		bool restarted = packets[i] < tally->latest[i];

		tally->counter[i] += packets[i] - (restarted ? 0 : tally->latest[i]);
		tally->latest[i] = packets[i];
	}
}

/* COUNTER NULL: nobody counted them, so nobody can say how many are missing. */
static json_t *make_counts(const uint64_t *counter, uint64_t received, uint64_t recorded)
{
	json_t *counts = json_object();
	/* What reached us was counted, even if the counter went away before it was read again. */
	uint64_t total = counter != NULL && *counter > received ? *counter : received;
	json_int_t lost = (json_int_t)(total - recorded);

	return report_whole(
		counts,
		put(counts, "total",
		    counter != NULL ? json_integer((json_int_t)total) : json_null()) |
			put(counts, "received", json_integer((json_int_t)received)) |
			put(counts, "recorded", json_integer((json_int_t)recorded)) |
			put(counts, "lost", counter != NULL ? json_integer(lost) : json_null()));
}

/* The policy's own classes; foreign packets are told apart, and only if there are some. */
static json_t *make_classes(const struct watch_tally *tally)
{
	json_t *classes = json_object();
	int result = 0;

	for (int i = 0; i < WATCH_CLASSES; i++) {
		bool counted = i < WATCH_COUNTED;

		if (!counted && tally->received[i] == 0)
			continue;
		result |=
			put(classes, watch_class_name((enum watch_class)i),
			    make_counts(counted && tally->has_counters ? &tally->counter[i] : NULL,
					tally->received[i], tally->recorded[i]));
	}
	return report_whole(classes, result);
}

json_t *watch_record_tally(const struct watch_tally *tally)
{
	json_t *fields = json_object();
	uint64_t total = 0, received = 0, recorded = 0;
	uint64_t changes = (uint32_t)(tally->generation - tally->first_generation);

	for (int i = 0; i < WATCH_COUNTED; i++) {
		total += tally->counter[i] > tally->received[i] ? tally->counter[i]
								: tally->received[i];
		received += tally->received[i];
		recorded += tally->recorded[i];
	}
	return report_whole(
		fields, put(fields, "packets",
			    make_counts(tally->has_counters ? &total : NULL, received, recorded)) |
				put(fields, "classes", make_classes(tally)) |
				put(fields, "changes",
				    make_counts(&changes, tally->changes, tally->changes)) |
				put(fields, "generation", json_integer(tally->generation)));
}

static json_t *make_address(const struct refused_packet *packet, const void *address)
{
	char text[INET6_ADDRSTRLEN];

	if (packet->family == AF_UNSPEC ||
	    inet_ntop(packet->family, address, text, sizeof(text)) == NULL)
		return json_null();
	return json_string(text);
}

static json_t *make_protocol(const struct refused_packet *packet)
{
	if (packet->family == AF_UNSPEC)
		return json_null();
	return make_name(refused_packet_protocol(packet->protocol), "", packet->protocol);
}

static json_t *make_ports(const struct refused_packet *packet)
{
	if (!packet->has_ports)
		return json_null();
	return json_pack("{s:i, s:i}", "source", packet->source_port, "destination",
			 packet->destination_port);
}

static json_t *make_dns(const struct refused_dns *dns)
{
	json_t *type = dns->type == 0 && dns->cut
			       ? json_null()
			       : make_name(refused_dns_type(dns->type), "TYPE", dns->type);

	return json_pack("{s:s, s:o, s:b}", "name", dns->name, "type", type, "cut", dns->cut);
}

json_t *watch_record_packet(const struct watch_entry *entry, const char *device)
{
	json_t *fields = json_object();
	struct refused_packet packet;
	const char *family;
	int result;

	refused_packet_parse(entry->payload, entry->length, &packet);
	family = packet.family == AF_INET ? "ipv4" : packet.family == AF_INET6 ? "ipv6" : NULL;
	result = put(fields, "class", json_string(watch_class_name(entry->class))) |
		 put(fields, "family", make_text(family)) |
		 put(fields, "protocol", make_protocol(&packet)) |
		 put(fields, "source", make_address(&packet, &packet.source)) |
		 put(fields, "destination", make_address(&packet, &packet.destination)) |
		 put(fields, "ports", make_ports(&packet)) |
		 put(fields, "device", make_text(device)) |
		 put(fields, "uid", entry->has_uid ? json_integer(entry->uid) : json_null()) |
		 put(fields, "length", json_integer(packet.length));
	if (packet.has_icmp)
		result |= put(fields, "icmp",
			      json_pack("{s:i, s:i}", "type", packet.icmp_type, "code",
					packet.icmp_code));
	if (packet.dns.present)
		result |= put(fields, "dns", make_dns(&packet.dns));
	if (packet.fragment)
		result |= put(fields, "fragment", json_true());
	if (packet.cut)
		result |= put(fields, "cut", json_true());
	return report_whole(fields, result);
}

static json_t *make_kinds(const struct watch_change *change)
{
	json_t *kinds = json_object();
	json_int_t others = 0;
	int result = 0;

	for (unsigned int kind = 0; kind < WATCH_KINDS; kind++) {
		const char *name = watch_change_kind(kind);

		if (name == NULL)
			others += change->kinds[kind];
		else if (change->kinds[kind] > 0)
			result |= put(kinds, name, json_integer(change->kinds[kind]));
	}
	if (others > 0)
		result |= put(kinds, "other", json_integer(others));
	return report_whole(kinds, result);
}

static json_t *make_tables(const struct watch_change *change)
{
	json_t *tables = json_array();

	for (uint32_t i = 0; i < change->tables && i < WATCH_TABLES; i++) {
		const char *family = netfilter_family_name(change->table[i].family);
		autofree char *name =
			text_to_utf8(change->table[i].name, strlen(change->table[i].name));

		if (name == NULL ||
		    json_array_append_new(
			    tables, family != NULL ? json_sprintf("%s %s", family, name)
						   : json_sprintf("%u %s", change->table[i].family,
								  name)) != 0) {
			json_decref(tables);
			return NULL;
		}
	}
	return tables;
}

json_t *watch_record_change(const struct watch_change *change, uint32_t missed)
{
	json_t *fields = json_object();
	int result = put(fields, "generation", json_integer(change->generation)) |
		     put(fields, "tables", make_tables(change)) |
		     put(fields, "objects", make_kinds(change)) |
		     put(fields, "process", json_integer(change->process)) |
		     put(fields, "program", make_text(change->program));

	if (missed > 0)
		result |= put(fields, "missed", json_integer(missed));
	return report_whole(fields, result);
}

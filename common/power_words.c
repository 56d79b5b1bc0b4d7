// SPDX-License-Identifier: GPL-2.0-or-later
/* What a process may do, as fields and as a sentence; see power_words.h. */
#include "power_words.h"

#include <stdio.h>
#include <stdlib.h>

#include "report_record.h"

/* The denied and the nameless capabilities in each set, with the thread that holds them. */
static json_t *held_array(const struct process_power *power, uint64_t denied)
{
	json_t *held = json_array();
	char name[CAPABILITY_NAME];

	for (int set = 0; set < PROCESS_SETS; set++)
		for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++) {
			uint64_t shown = power->sets[set] & (denied | ~capability_known);
			pid_t thread = power->holder[set][bit];

			if ((shown >> bit & 1) != 0 &&
			    json_array_append_new(
				    held,
				    json_pack("{s:s, s:s, s:i, s:o}", "set", process_set_names[set],
					      "capability", capability_name(bit, name), "bit",
					      (int)bit, "thread",
					      power->threads > 0 ? json_integer(thread)
								 : json_null())) != 0) {
				json_decref(held);
				return NULL;
			}
		}
	return held;
}

static json_t *name_array(uint64_t mask)
{
	json_t *array = json_array();
	char name[CAPABILITY_NAME];

	for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++)
		if ((mask >> bit & 1) != 0 &&
		    json_array_append_new(array, json_string(capability_name(bit, name))) != 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *namespace_string(const char *kind, const struct namespace_id *id)
{
	char text[NAMESPACE_TEXT];

	namespace_format(kind, id, text);
	return json_string(text);
}

/* Power by ownership: null, or the user namespace, its owner, and how that comes about. */
static json_t *ownership_object(const struct process_power *power)
{
	if (power->ownership == PROCESS_OWNS_NOTHING)
		return json_null();
	return json_pack("{s:o, s:I, s:s}", "userns", namespace_string("user", &power->owner.below),
			 "uid", (json_int_t)power->owner.uid, "by",
			 power->ownership == PROCESS_OWNS ? "uid" : "capability");
}

static json_t *sets_object(const struct process_power *power)
{
	json_t *sets = json_object();
	int bad = 0;

	for (int set = 0; set < PROCESS_SETS; set++)
		bad |= json_object_set_new(sets, process_set_names[set],
					   report_mask(power->sets[set]));
	return report_whole(sets, bad);
}

/* The user namespace that owns the network namespace; it can be seen only from inside or below. */
static json_t *owner_string(const struct process_power *power)
{
	if (power->owner.owner_visible)
		return namespace_string("user", &power->owner.owner);
	return power->threads > 0 ? json_string("above") : json_null();
}

json_t *power_fields(const struct process_power *power, uint64_t denied)
{
	const struct process_status *status = &power->status;

	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "pid",
		status->pid > 0 ? json_integer(status->pid) : json_null(), "comm",
		report_bytes(status->name, status->name_length), "uid",
		status->uid >= 0 ? json_integer(status->uid) : json_null(), "no_new_privs",
		status->no_new_privs < 0 ? json_null() : json_boolean(status->no_new_privs), "sets",
		sets_object(power), "held", held_array(power, denied), "denied", name_array(denied),
		"userns",
		power->threads > 0 ? namespace_string("user", &power->owner.process) : json_null(),
		"netns_userns", owner_string(power), "ownership", ownership_object(power),
		"threads", power->threads > 0 ? json_integer(power->threads) : json_null());
}

/* "cap_net_raw (inheritable, bounding), cap_net_admin (bounding)" to STREAM. */
static void print_holdings(FILE *stream, const struct process_power *power, uint64_t denied)
{
	const char *between = "";
	char name[CAPABILITY_NAME];

	for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++) {
		const char *separator = " (";

		for (int set = 0; set < PROCESS_SETS; set++) {
			if (((power->sets[set] & denied) >> bit & 1) == 0)
				continue;
			if (*separator == ' ')
				(void)fprintf(stream, "%s%s", between, capability_name(bit, name));
			(void)fprintf(stream, "%s%s", separator, process_set_names[set]);
			separator = ", ";
			between = ", ";
		}
		if (*separator == ',')
			(void)fputc(')', stream);
	}
}

char *power_sentence(const struct process_power *power, uint64_t denied)
{
	bool bad = process_power_holds(power, denied),
	     owns = power->ownership != PROCESS_OWNS_NOTHING;
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	if (stream == NULL)
		return NULL;
	(void)fputs(power->threads > 0 ? "process" : "status text of process", stream);
	if (power->status.pid > 0)
		(void)fprintf(stream, " %lld", (long long)power->status.pid);
	(void)fprintf(stream, " (%s", power->name);
	if (power->status.uid >= 0)
		(void)fprintf(stream, ", uid %lld", (long long)power->status.uid);
	(void)fputs(") ", stream);
	if (bad) {
		(void)fputs("holds ", stream);
		print_holdings(stream, power, denied);
	}
	if (bad && owns)
		(void)fputs("; ", stream);
	if (owns)
		(void)fprintf(stream,
			      "%s user:[%llu], and with it every capability over its network "
			      "namespace",
			      power->ownership == PROCESS_OWNS ? "owns" : "can become the owner of",
			      (unsigned long long)power->owner.below.inode);
	if (!bad && !owns)
		(void)fputs("holds no denied capability", stream);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the reading of target lists and of resolv.conf: whatever is accepted is whole, bounded,
 * and reads the same again.
 */
#include <stdlib.h>
#include <string.h>

#include "probe_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static struct probe_list list;

static void check_target(const struct probe_target *target)
{
	struct probe_target again;
	size_t length = strlen(target->text);

	if (length == 0 || length > PROBE_TARGET_MAX)
		abort();
	if (target->kind == PROBE_UNKNOWN)
		return;
	if (probe_target_parse(target->text, length, &again) != NULL ||
	    again.kind != target->kind || strcmp(again.name, target->name) != 0 ||
	    strcmp(again.device, target->device) != 0 || strcmp(again.url, target->url) != 0 ||
	    memcmp(&again.address, &target->address, sizeof(again.address)) != 0)
		abort();
	(void)probe_target_family(target);
	(void)probe_target_stays_here(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	const char *text = (const char *)bytes;
	struct probe_values values = {.count = 0};
	struct probe_list_fault fault = {.line = 0};

	probe_values_add_nameservers(&values, "nameserver", text, length);
	for (size_t i = 0; i < values.count; i++)
		if (strspn(values.items[i].text, "0123456789abcdefABCDEF.:[]") !=
		    strlen(values.items[i].text))
			abort();
	(void)probe_values_add(&values, "a", 1, "10.0.0.1");
	(void)probe_values_add(&values, "a", 1, "[fd00::1]");
	(void)probe_values_add(&values, "none", 4, "");
	list.count = list.expansions = 0;
	if (probe_list_read(&list, text, length, &values, &fault) != 0 &&
	    (fault.line == 0 || fault.reason[0] == '\0'))
		abort();
	if (list.count > PROBE_LIST_MAX)
		abort();
	for (size_t i = 0; i < list.count; i++)
		check_target(&list.items[i].target);
	return 0;
}

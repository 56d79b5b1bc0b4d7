// SPDX-License-Identifier: GPL-2.0-or-later
/* What a hosts file alone answers for a name; see hosts_lookup.h. */
#include "hosts_lookup.h"

#include <errno.h>
#include <fcntl.h>

#include "hosts_file.h"
#include "ipv4_address.h"
#include "shared_file.h"

struct hosts_lookup hosts_lookup(const char *text, size_t length, const char *name)
{
	struct hosts_lookup lookup = {.found = false};
	struct hosts_walk walk;
	struct hosts_name place;
	struct in_addr address;

	hosts_walk_begin(&walk, text, length, name);
	while (hosts_walk_next(&walk, &place)) {
		bool plain =
			ipv4_parse(text + place.address, place.address_length, &address) == IPV4_OK;

		if (plain && !lookup.found) {
			lookup.address = address;
			lookup.found = true;
		} else if (!plain || address.s_addr != lookup.address.s_addr) {
			lookup.others++;
		}
	}
	return lookup;
}

const char *hosts_lookup_here(const char *name, struct hosts_lookup *lookup, int *number)
{
	static struct shared_file file;
	enum shared_file_verdict verdict = shared_file_read(AT_FDCWD, "/etc/hosts", &file);

	*number = verdict == SHARED_FILE_FAILED ? errno : 0;
	if (verdict != SHARED_FILE_OK)
		return shared_file_verdict_text(verdict, *number);
	*lookup = hosts_lookup(file.bytes, file.length, name);
	return NULL;
}

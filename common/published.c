// SPDX-License-Identifier: GPL-2.0-or-later
/* The certificate volume: how its address file is read; see published.h. */
#include "published.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "ipv4_address.h"
#include "shared_file.h"
#include "text.h"

int published_address_read(int directory, const char *name, struct in_addr *address,
			   struct published_fault *fault)
{
	struct shared_file file;
	enum shared_file_verdict read_verdict = shared_file_read(directory, name, &file);
	enum ipv4_verdict verdict;
	autofree char *shown = NULL;
	size_t length;

	memset(fault, 0, sizeof(*fault));
	if (read_verdict != SHARED_FILE_OK) {
		fault->number = read_verdict == SHARED_FILE_FAILED ? errno : 0;
		fault->missing = fault->number == ENOENT;
		(void)snprintf(fault->reason, sizeof(fault->reason), "%s",
			       shared_file_verdict_text(read_verdict, fault->number));
		return -1;
	}
	verdict = ipv4_parse_published(file.bytes, file.length, address);
	if (verdict == IPV4_OK)
		return 0;
	/* Enough of it to recognise, on one line. */
	length = file.length < 24 ? file.length : 24;
	if (length > 0 && length == file.length && file.bytes[length - 1] == '\n')
		length--;
	shown = text_to_line(file.bytes, length);
	(void)snprintf(fault->reason, sizeof(fault->reason), "\"%s%s\" is %s",
		       shown != NULL ? shown : "", file.length > 24 ? "..." : "",
		       ipv4_verdict_text(verdict));
	return -1;
}

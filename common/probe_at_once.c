// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes that need not wait: doors, and what the hosts file says; see probe_way.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "host_name.h"
#include "hosts_lookup.h"
#include "ipv4_address.h"
#include "nsswitch.h"
#include "probe_door.h"
#include "probe_way.h"
#include "shared_file.h"

static void end_door(struct probe_way *way, int number)
{
	if (number == 0)
		probe_way_end(way, PROBE_OPEN, 0, "can be had");
	else
		probe_way_end(way, probe_result_of_socket(number), number, NULL);
}

static void try_unix(struct probe_way *way)
{
	int number = probe_unix_try(way->target->name);

	if (number == 0)
		probe_way_end(way, PROBE_OPEN, 0, "accepts");
	else if (number == EAGAIN)
		probe_way_end(way, PROBE_SILENT, number, "somebody listens, and does not accept");
	else if (number == ECONNREFUSED && way->target->name[0] == '/')
		probe_way_end(way, PROBE_REFUSED, number, "nobody listens");
	else if (number == ECONNREFUSED) /* unix(7): an abstract name that nobody has */
		probe_way_end(way, PROBE_UNUSABLE, number, "nobody has this name");
	else
		probe_way_end(way, probe_result_of_socket(number), number, NULL);
}

/* Looks the name up; an end without an address is told here. */
static bool look_up(struct probe_way *way, const char *name, struct hosts_lookup *lookup)
{
	int number;
	const char *reason = hosts_lookup_here(name, lookup, &number);

	if (reason != NULL)
		probe_way_end(way, PROBE_UNUSABLE, number, "cannot read /etc/hosts: %s", reason);
	else if (!lookup->found)
		probe_way_end(way, PROBE_UNUSABLE, 0,
			      "/etc/hosts gives it no IPv4 address: DNS would be asked");
	return reason == NULL && lookup->found;
}

/* True if programs here look the name up elsewhere before the hosts file. */
static bool hosts_come_later(void)
{
	static struct shared_file file;

	return shared_file_read(AT_FDCWD, "/etc/nsswitch.conf", &file) == SHARED_FILE_OK &&
	       nsswitch_judge_hosts(file.bytes, file.length) != NSSWITCH_FILES_FIRST;
}

static void try_name(struct probe_way *way)
{
	const struct in_addr *published = way->settings->published;
	const char *name = way->target->name, *proxy = way->settings->proxy_host;
	struct hosts_lookup lookup;
	char address[INET_ADDRSTRLEN], wanted[INET_ADDRSTRLEN];

	if (!look_up(way, name, &lookup))
		return;
	(void)inet_ntop(AF_INET, &lookup.address, address, sizeof(address));
	if (lookup.others > 0) {
		probe_way_end(way, PROBE_REFUSED, 0,
			      "/etc/hosts gives it more than one address: %s, ...", address);
		return;
	}
	if (published != NULL && published->s_addr != lookup.address.s_addr &&
	    host_name_equal(name, strlen(name), proxy, strlen(proxy))) {
		(void)inet_ntop(AF_INET, published, wanted, sizeof(wanted));
		probe_way_end(way, PROBE_REFUSED, 0, "is %s, but the published address is %s",
			      address, wanted);
		return;
	}
	probe_way_end(way, PROBE_OPEN, 0, "is %s%s", address,
		      hosts_come_later() ? "; but nsswitch.conf asks others before /etc/hosts"
					 : "");
}

void probe_way_resolve(struct probe_way *way)
{
	struct hosts_lookup lookup;
	const char *name = way->target->name;

	if (ipv4_parse(name, strlen(name), &way->address.inet.sin_addr) != IPV4_OK &&
	    look_up(way, name, &lookup))
		way->address.inet.sin_addr = lookup.address;
}

void probe_at_once(struct probe_way *way)
{
	way->began = probe_now();
	switch (way->target->kind) {
	case PROBE_FAMILY:
		end_door(way, probe_family_try(way->target->name));
		break;
	case PROBE_CALL:
		end_door(way, probe_call_try(way->target->name));
		break;
	case PROBE_POLICY:
		end_door(way, probe_policy_try(way->name[0] == 'r', way->nonce));
		break;
	case PROBE_UNIX:
		try_unix(way);
		break;
	case PROBE_NAME:
		try_name(way);
		break;
	default: /* PROBE_UNKNOWN: the only other kind without a wait */
		probe_way_end(way, PROBE_UNUSABLE, 0, "nothing is known here for its placeholder");
		break;
	}
}

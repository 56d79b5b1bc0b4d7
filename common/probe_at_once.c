// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes that need not wait: doors, and what the hosts file says; see probe_way.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "host_name.h"
#include "hosts_lookup.h"
#include "ipv4_address.h"
#include "probe_door.h"
#include "probe_way.h"
#include "shared_file.h"

static const char hosts_path[] = "/etc/hosts", switch_path[] = "/etc/nsswitch.conf";

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
static bool look_up(struct probe_way *way, const char *name, struct hosts_answer *answer)
{
	static struct shared_file file;
	enum shared_file_verdict verdict = shared_file_read(AT_FDCWD, hosts_path, &file);
	int number = errno;

	if (verdict != SHARED_FILE_OK) {
		number = verdict == SHARED_FILE_FAILED ? number : 0;
		probe_way_end(way, PROBE_UNUSABLE, number, "cannot read %s: %s", hosts_path,
			      shared_file_verdict_text(verdict, number));
		return false;
	}
	if (hosts_lookup(file.bytes, file.length, name, answer))
		return true;
	probe_way_end(way, PROBE_UNUSABLE, 0, "%s gives it no IPv4 address: DNS would be asked",
		      hosts_path);
	return false;
}

static void try_name(struct probe_way *way)
{
	static struct shared_file file;
	const struct in_addr *published = way->settings->published;
	const char *name = way->target->name, *proxy = way->settings->proxy_host;
	struct hosts_answer answer;
	char address[INET_ADDRSTRLEN], wanted[INET_ADDRSTRLEN];

	if (!look_up(way, name, &answer))
		return;
	(void)inet_ntop(AF_INET, &answer.address, address, sizeof(address));
	if (answer.inet > 1 || answer.inet6 > 0) {
		probe_way_end(way, PROBE_REFUSED, 0, "%s gives it more than one address: %s, ...",
			      hosts_path, address);
		return;
	}
	if (published != NULL && published->s_addr != answer.address.s_addr &&
	    host_name_equal(name, strlen(name), proxy, strlen(proxy))) {
		(void)inet_ntop(AF_INET, published, wanted, sizeof(wanted));
		probe_way_end(way, PROBE_REFUSED, 0, "is %s, but the published address is %s",
			      address, wanted);
		return;
	}
	if (shared_file_read(AT_FDCWD, switch_path, &file) == SHARED_FILE_OK &&
	    hosts_are_asked_later(file.bytes, file.length))
		probe_way_end(way, PROBE_OPEN, 0, "is %s; but %s asks others before %s", address,
			      switch_path, hosts_path);
	else
		probe_way_end(way, PROBE_OPEN, 0, "is %s", address);
}

void probe_way_resolve(struct probe_way *way)
{
	struct hosts_answer answer;
	const char *name = way->target->name;

	if (ipv4_parse(name, strlen(name), &way->address.inet.sin_addr) != IPV4_OK &&
	    look_up(way, name, &answer))
		way->address.inet.sin_addr = answer.address;
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

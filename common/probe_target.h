/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be probed, and how it is written: "udp://10.0.0.1:7?dev=eth0", "family:vsock". Pure. */
#ifndef CELL_PROBE_TARGET_H
#define CELL_PROBE_TARGET_H

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "probe_result.h"

enum { PROBE_TARGET_MAX = 512 }; /* bytes of a target as written */

enum probe_kind {
	PROBE_TCP,
	PROBE_UDP,
	PROBE_DNS,
	PROBE_DNS_TCP,
	PROBE_ICMP,
	PROBE_FAMILY,
	PROBE_UNIX,
	PROBE_CALL,
	PROBE_POLICY,
	PROBE_LOOPBACK,
	PROBE_NAME,
	PROBE_PROXY,
	PROBE_UNKNOWN, /* it holds a placeholder that has no value here */
};

union probe_address {
	struct sockaddr any;
	struct sockaddr_in inet;
	struct sockaddr_in6 inet6;
};

struct probe_target {
	enum probe_kind kind;
	enum probe_expect expect;
	char text[PROBE_TARGET_MAX + 1]; /* as written, placeholders filled in */
	union probe_address address;	 /* tcp, udp, dns, icmp; the port alone for http+proxy */
	char device[IFNAMSIZ];		 /* of "?dev="; empty: none */
	char name[256]; /* DNS name, host, family, call, or path; "@x" is an abstract socket */
	char url[PROBE_TARGET_MAX + 1]; /* http+proxy: what is asked of the proxy */
};

/*
 * Reads exactly LENGTH bytes into TARGET, with the kind's usual expectation. NULL, or the reason
 * why it is not a target, to stand behind "target X ".
 */
const char *probe_target_parse(const char *text, size_t length, struct probe_target *target);

/* "inet", "inet6", "unix", the family's own name, or NULL where no socket is in play. */
const char *probe_target_family(const struct probe_target *target);

/*
 * True if what is sent there never leaves the loopback device, whoever listens: a loopback address
 * without a device of its own.
 */
bool probe_target_stays_here(const struct probe_target *target);

/* Length of the address in TARGET as connect(2) wants it. */
socklen_t probe_address_length(const union probe_address *address);

#endif

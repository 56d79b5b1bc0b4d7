// SPDX-License-Identifier: GPL-2.0-or-later
/* The proxy as the policy writes it down; see policy_proxy.h. */
#include "policy_proxy.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host_name.h"
#include "network_links.h"
#include "published.h"

enum { PAUSE_NS = 20 * 1000 * 1000 };

static int find_device(struct ruleset_proxy *proxy, struct fault *fault)
{
	char address[INET_ADDRSTRLEN];
	int code = CELL_EVIDENCE, number = 0;
	const char *reason = "";

	(void)inet_ntop(AF_INET, &proxy->address, address, sizeof(address));
	switch (network_route_device(proxy->address, proxy->device)) {
	case NETWORK_ROUTE_OK:
		if (ruleset_device_is_valid(proxy->device))
			return 0;
		code = CELL_UNSUPPORTED;
		reason = ": the device on the way has a name that no rule can hold";
		break;
	case NETWORK_ROUTE_NONE:
		reason = ": this namespace has no route to it";
		break;
	case NETWORK_ROUTE_LOCAL:
		reason = ": it is an address of the policed namespace itself";
		break;
	case NETWORK_ROUTE_FAILED:
		code = CELL_SYSTEM;
		number = errno;
		break;
	}
	return fault_set(fault, code, number, "cannot allow the published address %s%s", address,
			 reason);
}

int policy_proxy_find(const char *directory, struct ruleset_proxy *proxy, bool *missing,
		      struct fault *fault)
{
	struct published_fault published;
	char path[PATH_MAX];

	*missing = false;
	if (snprintf(path, sizeof(path), "%s/%s", directory, PUBLISHED_ADDRESS) >=
	    (int)sizeof(path))
		path[0] = '\0';
	if (published_address_read(AT_FDCWD, path, &proxy->address, &published) == 0)
		return find_device(proxy, fault);
	*missing = published.missing;
	/* ELOOP's own text would not say that a link is what was found. */
	if (published.number != 0 && published.number != ELOOP)
		return fault_set(fault, CELL_EVIDENCE, published.number, "cannot open %s", path);
	return fault_set(fault, CELL_EVIDENCE, 0, "cannot use %s: %s", path, published.reason);
}

static int64_t now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int policy_proxy_wait(const char *directory, int64_t nanoseconds, struct ruleset_proxy *proxy,
		      struct fault *fault)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int64_t deadline = now() + nanoseconds;
	bool missing;

	while (policy_proxy_find(directory, proxy, &missing, fault) != 0) {
		if (!missing)
			return -1;
		if (now() >= deadline) {
			if (nanoseconds > 0)
				fault->code = CELL_TIMEOUT;
			return -1;
		}
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

/* A port as arguments_port takes it; 0 if it is none. */
static uint16_t parse_port(const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	return isdigit((unsigned char)*text) && *end == '\0' && port <= UINT16_MAX ? (uint16_t)port
										   : 0;
}

int policy_proxy_operand(const char *operand, const char *host, uint16_t default_port,
			 uint16_t *port, struct fault *fault)
{
	const char *colon = strrchr(operand, ':');
	size_t length = colon != NULL ? (size_t)(colon - operand) : strlen(operand);
	enum host_name_verdict verdict = host_name_check(operand, length);
	uint16_t number = colon != NULL ? parse_port(colon + 1) : default_port;

	if (verdict != HOST_NAME_OK)
		return fault_set(fault, CELL_USAGE, 0, "host name %.300s %s", operand,
				 host_name_verdict_text(verdict));
	if (!host_name_equal(operand, length, host, strlen(host)))
		return fault_set(fault, CELL_USAGE, 0,
				 "host %.*s is not the proxy, %s (CELL_PROXY_HOST): nothing else "
				 "can be allowed",
				 (int)length, operand, host);
	if (number == 0)
		return fault_set(fault, CELL_USAGE, 0, "port %.64s is not in 1 to 65535",
				 colon + 1);
	if (*port != 0 && *port != number)
		return fault_set(fault, CELL_USAGE, 0,
				 "host %.300s has another port than the one before it", operand);
	*port = number;
	return 0;
}

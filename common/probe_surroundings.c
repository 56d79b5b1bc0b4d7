// SPDX-License-Identifier: GPL-2.0-or-later
/* What this cell is made of, as placeholders' values; see probe_surroundings.h. */
#include "probe_surroundings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "fault.h"
#include "probe_netlink.h"
#include "shared_file.h"

static void add(struct probe_values *values, const char *name, const char *text)
{
	(void)probe_values_add(values, name, strlen(name), text);
}

static int add_gateways(struct probe_values *values)
{
	union probe_address gateways[8];
	int count = probe_gateways_read(gateways, 8);

	/* A cell may refuse netlink: then no gateway is known. */
	if (count < 0)
		return fault_is_shortage(errno) ? -1 : 0;
	for (int i = 0; i < count; i++) {
		char address[INET6_ADDRSTRLEN], shown[INET6_ADDRSTRLEN + 2];

		if (gateways[i].any.sa_family == AF_INET &&
		    inet_ntop(AF_INET, &gateways[i].inet.sin_addr, address, sizeof(address))) {
			add(values, "gateway", address);
		} else if (inet_ntop(AF_INET6, &gateways[i].inet6.sin6_addr, address,
				     sizeof(address))) {
			(void)snprintf(shown, sizeof(shown), "[%s]", address);
			add(values, "gateway6", shown);
		}
	}
	return 0;
}

static int add_devices(struct probe_values *values)
{
	autoclose fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct if_nameindex *devices = if_nameindex();

	if (devices == NULL)
		return fault_is_shortage(errno) ? -1 : 0;
	for (const struct if_nameindex *device = devices; device->if_index != 0; device++) {
		struct ifreq request = {.ifr_flags = 0};

		(void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device->if_name);
		if (fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0 &&
		    (request.ifr_flags & IFF_UP) != 0 && (request.ifr_flags & IFF_LOOPBACK) == 0)
			add(values, "dev", device->if_name);
	}
	if_freenameindex(devices);
	return 0;
}

int probe_surroundings(struct probe_values *values, const struct in_addr *published,
		       const char *proxy_host, uint16_t proxy_port)
{
	/* The last ones only the caller knows: --define. */
	static const char *const known[] = {"proxy",	  "gateway", "gateway6", "dev",
					    "nameserver", "sibling", "outside",	 "resolver"};
	static struct shared_file file;
	char address[INET_ADDRSTRLEN], port[8];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		add(values, known[i], "");
	if (published != NULL && inet_ntop(AF_INET, published, address, sizeof(address)))
		add(values, "proxy", address);
	if (!probe_values_has(values, "name"))
		add(values, "name", "example.com"); /* RFC 2606: nobody's */
	add(values, "proxy_host", proxy_host);
	(void)snprintf(port, sizeof(port), "%u", (unsigned int)proxy_port);
	add(values, "proxy_port", port);
	if (shared_file_read(AT_FDCWD, "/etc/resolv.conf", &file) == SHARED_FILE_OK)
		probe_values_add_nameservers(values, "nameserver", file.bytes, file.length);
	return add_gateways(values) != 0 || add_devices(values) != 0 ? -1 : 0;
}

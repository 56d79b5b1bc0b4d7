/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this cell is made of, as placeholders' values: proxy, gateways, devices, name servers. */
#ifndef CELL_PROBE_SURROUNDINGS_H
#define CELL_PROBE_SURROUNDINGS_H

#include <netinet/in.h>

#include "probe_list.h"

/*
 * Adds to VALUES: proxy (PUBLISHED, if not NULL), proxy_host, proxy_port, gateway, gateway6, dev
 * (every device that is up, but lo), nameserver (those of /etc/resolv.conf), name (a DNS name to
 * ask for). What is not there or cannot be read has no value; sibling, outside and resolver have
 * one only if the caller gave it. 0, or -1 with errno if we lack something ourselves.
 */
int probe_surroundings(struct probe_values *values, const struct in_addr *published,
		       const char *proxy_host, uint16_t proxy_port);

#endif

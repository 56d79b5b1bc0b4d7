/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's numbers of families and hooks as nft(8) names them. Pure. */
#ifndef CELL_NETFILTER_NAMES_H
#define CELL_NETFILTER_NAMES_H

#include <stdint.h>

/* "inet", "netdev", ... for NFPROTO_*; NULL for a number that has no name here. */
const char *netfilter_family_name(uint8_t family);

/* "output", ... for the families inet, ip and ip6; "hook" for the rest. */
const char *netfilter_hook_name(uint8_t family, uint32_t hook);

#endif

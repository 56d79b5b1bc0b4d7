/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What else in a network namespace bears on the policy: things beside our table that open a cell
 * ("differs"), and things that can only break one ("notes"). cell-policy(1) says why for each.
 */
#ifndef CELL_POLICY_CHECK_H
#define CELL_POLICY_CHECK_H

#include <jansson.h>

#include "netfilter_state.h"
#include "network_links.h"

enum { POLICY_POSTROUTING_PRIORITY = 2147483646 };

/*
 * Judges the tables and base chains beside our inet table TABLE; appends sentences to DIFFERS and
 * NOTES. 0, or -1 if memory is short. Pure.
 */
int policy_check_hooks(const struct netfilter_state *state, const char *table, json_t *differs,
		       json_t *notes);

/* Judges devices that network_links_inspect completed; as above. Pure. */
int policy_check_links(const struct network_links *links, json_t *differs, json_t *notes);

/* Notes the legacy x_tables that nf_tables does not show (/proc/net/ip_tables_names); as above. */
int policy_check_legacy(json_t *notes);

#endif

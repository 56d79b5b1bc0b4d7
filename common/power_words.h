/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process may do, as a record's fields and as one sentence. */
#ifndef CELL_POWER_WORDS_H
#define CELL_POWER_WORDS_H

#include <jansson.h>

#include "process_power.h"

/*
 * An object with pid, comm, uid, no_new_privs, sets, held (those of DENIED, and those that have no
 * name, with their set and thread), denied, userns, netns_userns, ownership and threads, in that
 * order; the caller owns it. NULL if memory is short.
 */
json_t *power_fields(const struct process_power *power, uint64_t denied);

/*
 * Who was judged, and what it holds of DENIED or by owning a namespace, malloc'd:
 * "process 7 (sh, uid 0) holds cap_net_raw (permitted, bounding)". NULL if memory is short.
 */
char *power_sentence(const struct process_power *power, uint64_t denied);

#endif

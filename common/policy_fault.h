/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel or libnftables refused, as a fault: the code it deserves and words that help. */
#ifndef CELL_POLICY_FAULT_H
#define CELL_POLICY_FAULT_H

#include "fault.h"
#include "nft_session.h"

/* "cannot WHAT" for errno NUMBER of a system call or of netlink. Always -1. */
int policy_fail_errno(struct fault *fault, const char *what, int number);

/* "cannot WHAT: ..." for a session of libnftables that did not do its work. Always -1. */
int policy_fail_session(struct fault *fault, const char *what, const struct nft_result *result);

#endif

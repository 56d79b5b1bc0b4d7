/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What went wrong with a policy: the exit code it deserves and a sentence that says it. */
#ifndef CELL_POLICY_FAULT_H
#define CELL_POLICY_FAULT_H

#include "exit_code.h"
#include "nft_session.h"

struct policy_fault {
	enum cell_exit code;
	char text[640]; /* "cannot list table inet cell_egress: ..." */
};

/* Each fills FAULT and returns -1. */
int policy_fail(struct policy_fault *fault, enum cell_exit code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "cannot WHAT: ..." for errno NUMBER of a system call or of netlink. */
int policy_fail_errno(struct policy_fault *fault, const char *what, int number);

/* "cannot WHAT: ..." for a session of libnftables that did not do its work. */
int policy_fail_session(struct policy_fault *fault, const char *what,
			const struct nft_result *result);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The proxy as the policy writes it down: the published address and the device on the way. */
#ifndef CELL_POLICY_PROXY_H
#define CELL_POLICY_PROXY_H

#include <stdbool.h>

#include "policy_state.h"

/*
 * Reads the published address from DIRECTORY (a path) and asks the kernel by which device its
 * packets leave: never DNS or a hosts file, which a subject can write. Fills PROXY but for the
 * port. 0, or -1 with FAULT: 103 for an address that is missing, malformed, our own or without a
 * way to it; *missing tells that there is no such file (yet).
 */
int policy_proxy_find(const char *directory, struct ruleset_proxy *proxy, bool *missing,
		      struct fault *fault);

/* As policy_proxy_find, again and again while the file is missing, for NANOSECONDS; then 99. */
int policy_proxy_wait(const char *directory, int64_t nanoseconds, struct ruleset_proxy *proxy,
		      struct fault *fault);

/*
 * Judges OPERAND, "HOST" or "HOST:PORT": HOST must be the proxy's, the same ASCII case or not. PORT
 * (or DEFAULT_PORT) goes to *port, which is 0 before the first operand and else must be the same.
 * 0, or -1 with FAULT, CELL_USAGE. Pure.
 */
int policy_proxy_operand(const char *operand, const char *host, uint16_t default_port,
			 uint16_t *port, struct fault *fault);

#endif

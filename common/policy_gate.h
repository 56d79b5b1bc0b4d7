/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a namespace must be before a policy is put in it: the subject's, and no host's. */
#ifndef CELL_POLICY_GATE_H
#define CELL_POLICY_GATE_H

#include "policy_state.h"

/*
 * 0 if SUBJECT (a process id, a path, "net:[N]" or "net:[N] COOKIE") is this process's network
 * namespace; else -1 with FAULT: CELL_NO if it is another, CELL_EVIDENCE if that cannot be told.
 */
int policy_gate_subject(const char *subject, struct fault *fault);

/*
 * 0 if no device of this namespace has hardware behind it (IFLA_PARENT_DEV_NAME: PCI, USB, virtio
 * and the like; veth, bridges and tunnels have none); else -1 with FAULT: CELL_USAGE, or
 * CELL_SYSTEM if it cannot be told.
 */
int policy_gate_hardware(struct fault *fault);

#endif

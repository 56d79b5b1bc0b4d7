/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One command to the policy, carried out: gates first, then the one thing that its verb says.
 *
 * Theory of operation. Before: NET_ADMIN over this network namespace, whatever is in force in it.
 * After a success: what the verb says is in force, and was read back. A failure at any step, and a
 * kill, leave what was in force, but for one case: while the proxy's address is waited for, and if
 * it never comes, a namespace without a policy refuses everything.
 */
#ifndef CELL_POLICY_COMMAND_H
#define CELL_POLICY_COMMAND_H

#include "policy_state.h"

enum policy_verb {
	POLICY_SHOW,
	POLICY_RULES,
	POLICY_DENY,
	POLICY_ALLOW,
	POLICY_REMOVE,
	POLICY_CHECK,
	POLICY_VERBS
};

struct policy_command {
	enum policy_verb verb;
	const char *subject;	    /* as policy_gate_subject; NULL: not asked */
	const char *resolver_file;  /* of which the first apply refuses resolvers too, or NULL */
	const char *directory;	    /* the certificate volume */
	int64_t wait;		    /* for the published address, nanoseconds */
	const uint32_t *generation; /* that a check insists on, or NULL */
	bool allow_hardware, dry_run;
	struct ruleset wanted; /* table, log group, resolvers and the proxy's port */
};

/* Zero it before, and release `state` behind policy_command_run, whatever that returned. */
struct policy_result {
	struct policy_state state; /* what is in force; not read for a dry run */
	json_t *differs;	   /* of a check, in words: what is not as it should be */
	char *rules;		   /* of POLICY_RULES and of a dry run: the ruleset's text */
	bool waited;		   /* the proxy was not there: meanwhile is what was in force */
	enum policy_mode meanwhile;
};

/* The verb that NAME ("show", "deny-all", ...) is; POLICY_VERBS if it is none. Pure. */
enum policy_verb policy_verb_find(const char *name);

/* Carries out COMMAND and fills RESULT. 0, or -1 with FAULT; CELL_NO: --subject's answer. */
int policy_command_run(const struct policy_command *command, struct policy_result *result,
		       struct fault *fault);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* One command to the policy, carried out; see policy_command.h. */
#include "policy_command.h"

#include <errno.h>
#include <string.h>

#include "policy_apply.h"
#include "policy_gate.h"
#include "policy_judge.h"
#include "policy_proxy.h"
#include "resolver_file.h"

enum policy_verb policy_verb_find(const char *name)
{
	static const char *const names[POLICY_VERBS] = {"show",	 "rules",     "deny-all",
							"allow", "allow-all", "check"};
	int verb = 0;

	while (verb < POLICY_VERBS && strcmp(name, names[verb]) != 0)
		verb++;
	return (enum policy_verb)verb;
}

static int no_memory(struct fault *fault)
{
	return fault_set(fault, CELL_SYSTEM, ENOMEM, "cannot make the report");
}

static int look(const struct policy_command *command, struct policy_result *result,
		struct fault *fault)
{
	if (policy_state_read(command->wanted.table, &result->state, fault) != 0)
		return -1;
	if (command->verb == POLICY_SHOW)
		return 0;
	if (result->state.mode != POLICY_NONE) {
		result->rules = policy_list(command->wanted.table, fault);
		return result->rules == NULL ? -1 : 0;
	}
	result->rules = strdup("");
	return result->rules == NULL ? no_memory(fault) : 0;
}

static int check(const struct policy_command *command, struct policy_result *result,
		 struct fault *fault)
{
	result->differs = json_array();
	if (policy_state_read(command->wanted.table, &result->state, fault) != 0 ||
	    policy_inspect(&result->state, fault) != 0)
		return -1;
	return policy_judge(&result->state, &command->wanted, command->directory,
			    command->generation, result->differs, fault);
}

/* Finds the proxy. Until it is found, and if it never is, a namespace without policy is closed. */
static int find_proxy(const struct policy_command *command, struct ruleset *wanted,
		      const struct ruleset *first, struct policy_result *result,
		      struct fault *fault)
{
	bool missing;

	if (policy_proxy_find(command->directory, &wanted->proxy, &missing, fault) != 0) {
		if (!command->dry_run &&
		    policy_close_meanwhile(wanted, first, &result->meanwhile, fault) != 0)
			return -1;
		result->waited = !command->dry_run;
		if (policy_proxy_wait(command->directory, command->wait, &wanted->proxy, fault) !=
		    0)
			return -1;
	}
	wanted->has_proxy = true;
	return 0;
}

static int put_in_force(const struct policy_command *command, struct policy_result *result,
			struct fault *fault)
{
	struct ruleset wanted = command->wanted, first = {0};

	if (!command->allow_hardware && !command->dry_run && policy_gate_hardware(fault) != 0)
		return -1;
	if (command->resolver_file != NULL &&
	    resolver_file_read(command->resolver_file, &first) != 0)
		return fault_set(fault, CELL_EVIDENCE, errno, "cannot read %s",
				 command->resolver_file);
	if (command->verb == POLICY_ALLOW &&
	    find_proxy(command, &wanted, &first, result, fault) != 0)
		return -1;
	if (!command->dry_run)
		return policy_apply(&wanted, &first, &result->state, fault);
	result->rules = policy_preview(&wanted, &first);
	return result->rules == NULL ? no_memory(fault) : 0;
}

int policy_command_run(const struct policy_command *command, struct policy_result *result,
		       struct fault *fault)
{
	if (command->subject != NULL && policy_gate_subject(command->subject, fault) != 0)
		return -1;
	switch (command->verb) {
	case POLICY_SHOW:
	case POLICY_RULES:
		return look(command, result, fault);
	case POLICY_CHECK:
		return check(command, result, fault);
	case POLICY_REMOVE:
		return policy_remove(command->wanted.table, &result->state, fault);
	default:
		return put_in_force(command, result, fault);
	}
}

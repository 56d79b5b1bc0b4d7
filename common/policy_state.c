// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The policy of this network namespace; see policy_state.h.
 *
 * Theory of operation. Before: any state. What is in force is read whole (the generation number
 * did not move meanwhile), compared with what is wanted, and brought there by one transaction: a
 * first table with `create`, which fails if another instance was faster; a change of mode or of
 * the proxy by its set alone; anything else by replacing the table. After: the ruleset is read
 * again and must be the wanted one. Instances take turns by a lock on the namespace's own file,
 * but nothing rests on it (a subject can hold that lock): who lost a race reads again and goes on.
 * A kill leaves the old policy or the new one, each whole, because each change is one transaction.
 */
#include "policy_state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "cleanup.h"
#include "net_admin.h"
#include "nft_session.h"
#include "policy_check.h"

enum { ATTEMPTS = 8, LOCK_TRIES = 100, LOCK_PAUSE_NS = 20 * 1000 * 1000 };

__attribute__((format(printf, 3, 4))) static int fail(struct policy_fault *fault,
						      enum cell_exit code, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vsnprintf(fault->text, sizeof(fault->text), format, list);
	va_end(list);
	fault->code = code;
	return -1;
}

/* Words and code for a system call's or the kernel's errno. */
static int fail_errno(struct policy_fault *fault, const char *what, int number)
{
	if (number == EPERM || number == EACCES)
		return fail(fault, CELL_SYSTEM, "cannot %s: %s: %s", what, strerror(number),
			    net_admin_text(net_admin_state()));
	if (number == EOPNOTSUPP || number == EPROTONOSUPPORT || number == EAFNOSUPPORT)
		return fail(fault, CELL_UNSUPPORTED, "cannot %s: this kernel has no nf_tables",
			    what);
	return fail(fault, CELL_SYSTEM, "cannot %s: %s", what, strerror(number));
}

/* Words and code for a child that did not do its work. */
static int fail_session(struct policy_fault *fault, const char *what, const struct nft_result *r)
{
	const char *said =
		r->errors != NULL && r->errors[0] != '\0' ? r->errors : "no reason given";

	switch (r->outcome) {
	case NFT_CRASHED:
		return fail(fault, CELL_UNSUPPORTED,
			    "cannot %s: libnftables crashed (signal %d, %s); some versions do on "
			    "a set that a newer one made",
			    what, r->number, strsignal(r->number));
	case NFT_ENDED:
		return fail(fault, CELL_SYSTEM,
			    "cannot %s: libnftables ended its process with code %d: %s", what,
			    r->number, said);
	case NFT_TIMED_OUT:
		return fail(fault, CELL_TIMEOUT, "cannot %s: libnftables gave no answer in %d s",
			    what, NFT_SESSION_SECONDS);
	case NFT_REFUSED:
		break;
	default:
		return fail_errno(fault, what, r->number);
	}
	switch (r->number) {
	case EPERM:
	case EACCES:
		return fail_errno(fault, what, r->number);
	case 0:
	case ENOENT:
	case EINVAL:
	case EOPNOTSUPP:
	case EPROTONOSUPPORT:
	case EAFNOSUPPORT:
		return fail(fault, CELL_UNSUPPORTED,
			    "cannot %s: this kernel or libnftables does not take it: %s; nothing "
			    "was changed",
			    what, said);
	default:
		return fail(fault, CELL_SYSTEM, "cannot %s: %s; nothing was changed", what, said);
	}
}

static const struct netfilter_table *find_table(const struct netfilter_state *state,
						const char *name)
{
	for (size_t i = 0; i < state->tables_count; i++)
		if (state->tables[i].family == NFPROTO_INET &&
		    strcmp(state->tables[i].name, name) == 0)
			return state->tables + i;
	return NULL;
}

int policy_keep_resolvers(struct ruleset *ruleset, const struct policy_state *state)
{
	int bad = 0;

	for (size_t i = 0; i < state->listing.read.resolvers_count; i++)
		bad |= ruleset_add_resolver(ruleset, state->listing.read.resolvers[i]);
	return bad;
}

/* Compares the table with one of ours that has the same parameters, and names its mode. */
static int judge(struct policy_state *state)
{
	struct ruleset same = state->listing.read;
	json_t *wanted;
	int bad = ruleset_add_resolver(&same, "127.0.0.11");

	wanted = ruleset_wanted(&same);
	bad |= wanted == NULL || ruleset_compare(wanted, state->listing.blocks, state->differs);
	json_decref(wanted);
	state->text = ruleset_text(same.table, state->listing.blocks);
	if (json_array_size(state->differs) > 0)
		state->mode = POLICY_UNKNOWN;
	else
		state->mode = same.has_proxy ? POLICY_PROXY_ONLY : POLICY_DENY_ALL;
	return bad != 0 || state->text == NULL ? -1 : 0;
}

/* One attempt. 1: something changed meanwhile, again; 0, or -1 with FAULT. */
static int read_once(const char *table, struct policy_state *state, struct policy_fault *fault)
{
	const struct netfilter_table *ours;
	struct nft_result result;
	char command[64];
	uint32_t after;
	int bad;

	if (netfilter_state_read(&state->netfilter) != 0)
		return fail_errno(fault, "read the ruleset", errno);
	ours = find_table(&state->netfilter, table);
	if (ours == NULL)
		return 0;
	(void)snprintf(command, sizeof(command), "list table inet %s", table);
	nft_session_run(NULL, command, true, &result);
	if (netfilter_generation(&after) != 0 || after != state->netfilter.generation) {
		nft_result_release(&result);
		return 1;
	}
	if (result.outcome != NFT_DONE) {
		(void)fail_session(fault, command, &result);
		nft_result_release(&result);
		return -1;
	}
	/* A library that complains while it lists has left something out. */
	if (result.errors != NULL && result.errors[0] != '\0')
		(void)json_array_append_new(
			state->differs,
			json_sprintf("it cannot be read wholly: %s", result.errors));
	bad = ruleset_listing_read(result.output, result.output_length, table, &state->listing);
	nft_result_release(&result);
	if (bad != 0)
		return fail(fault, CELL_UNSUPPORTED, "cannot %s: the answer is not understood",
			    command);
	if (judge(state) != 0)
		return fail_errno(fault, command, ENOMEM);
	if (ours->flags != 0)
		state->mode = POLICY_UNKNOWN;
	return 0;
}

int policy_state_read(const char *table, struct policy_state *state, struct policy_fault *fault)
{
	memset(state, 0, sizeof(*state));
	for (int i = 0; i < ATTEMPTS; i++) {
		int result;

		policy_state_release(state);
		state->differs = json_array();
		state->beside = json_array();
		state->notes = json_array();
		if (state->differs == NULL || state->beside == NULL || state->notes == NULL)
			return fail_errno(fault, "read the ruleset", ENOMEM);
		result = read_once(table, state, fault);
		if (result == 0 &&
		    policy_check_hooks(&state->netfilter, table, state->beside, state->notes) != 0)
			return fail_errno(fault, "read the ruleset", ENOMEM);
		if (result <= 0)
			return result;
	}
	return fail(fault, CELL_SYSTEM, "cannot read the ruleset: it changes all the time");
}

void policy_state_release(struct policy_state *state)
{
	netfilter_state_release(&state->netfilter);
	ruleset_listing_release(&state->listing);
	json_decref(state->differs);
	json_decref(state->beside);
	json_decref(state->notes);
	free(state->text);
	memset(state, 0, sizeof(*state));
}

const char *policy_mode_name(enum policy_mode mode)
{
	static const char *const names[] = {"no-policy", "deny-all", "proxy-only", "unknown"};

	return names[mode];
}

/* Waits a bounded time for other instances in this namespace; see the theory above. */
static int take_turn(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};

	for (int i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; i++)
		(void)nanosleep(&pause, NULL);
	return fd;
}

/* True if the table is exactly WANTED. */
static bool is_wanted(const struct ruleset *wanted, const struct policy_state *state)
{
	json_t *blocks = ruleset_wanted(wanted);
	bool equal = blocks != NULL && state->mode != POLICY_NONE &&
		     state->mode != POLICY_UNKNOWN && json_equal(blocks, state->listing.blocks);

	json_decref(blocks);
	return equal;
}

/* The smallest transaction from STATE to WANTED; NULL if memory is short. */
static char *plan(const struct ruleset *wanted, const struct policy_state *state)
{
	struct ruleset apart = *wanted;

	if (state->mode == POLICY_NONE)
		return ruleset_create(wanted);
	apart.has_proxy = state->listing.read.has_proxy;
	apart.proxy = state->listing.read.proxy;
	return is_wanted(&apart, state) ? ruleset_switch(wanted) : ruleset_replace(wanted);
}

/* Runs one transaction. 1: lost a race, again; 0, or -1 with FAULT. */
static int transact(const char *text, const char *what, bool first, struct policy_fault *fault)
{
	struct nft_result result;
	int answer = 0;

	if (text == NULL)
		return fail_errno(fault, what, ENOMEM);
	nft_session_run(text, NULL, false, &result);
	if (result.outcome == NFT_REFUSED && (result.number == EEXIST || result.number == EBUSY ||
					      (result.number == ENOENT && !first)))
		answer = 1;
	/* Kept in any case: it is what is said if every attempt ends so. */
	if (result.outcome != NFT_DONE && fail_session(fault, what, &result) != 0 && answer == 0)
		answer = -1;
	nft_result_release(&result);
	return answer;
}

static int refuse_foreign(const struct policy_state *state, const char *table,
			  struct policy_fault *fault)
{
	return fail(fault, CELL_USAGE,
		    "cannot use table inet %s: it is somebody else's (%s is not ours); see --table",
		    table, state->listing.foreign_name);
}

int policy_apply(const struct ruleset *wanted, const struct ruleset *first,
		 struct policy_state *state, struct policy_fault *fault)
{
	autoclose turn = take_turn();
	char what[64];

	(void)snprintf(what, sizeof(what), "apply table inet %s", wanted->table);
	(void)fail(fault, CELL_SYSTEM, "cannot %s: something else keeps changing it", what);
	for (int i = 0; i < ATTEMPTS; i++) {
		struct ruleset merged = *wanted;
		autofree char *text = NULL;
		int result;

		if (policy_state_read(wanted->table, state, fault) != 0)
			return -1;
		if (state->listing.foreign)
			return refuse_foreign(state, wanted->table, fault);
		result = policy_keep_resolvers(&merged, state);
		if (state->mode == POLICY_NONE || state->mode == POLICY_UNKNOWN)
			for (size_t j = 0; first != NULL && j < first->resolvers_count; j++)
				result |= ruleset_add_resolver(&merged, first->resolvers[j]);
		if (result != 0)
			return fail(fault, CELL_USAGE, "cannot %s: more than %d resolver addresses",
				    what, RULESET_RESOLVERS_MAX);
		if (is_wanted(&merged, state))
			return 0;
		text = plan(&merged, state);
		result = transact(text, what, state->mode == POLICY_NONE, fault);
		policy_state_release(state);
		if (result < 0)
			return -1;
	}
	return -1;
}

int policy_remove(const char *table, struct policy_state *state, struct policy_fault *fault)
{
	autoclose turn = take_turn();
	char what[64], text[80];

	(void)snprintf(what, sizeof(what), "delete table inet %s", table);
	(void)snprintf(text, sizeof(text), "%s\n", what);
	(void)fail(fault, CELL_SYSTEM, "cannot %s: something else keeps making it", what);
	for (int i = 0; i < ATTEMPTS; i++) {
		int result;

		if (policy_state_read(table, state, fault) != 0)
			return -1;
		if (state->mode == POLICY_NONE)
			return 0;
		if (state->listing.foreign)
			return refuse_foreign(state, table, fault);
		result = transact(text, what, false, fault);
		policy_state_release(state);
		if (result < 0)
			return -1;
	}
	return -1;
}

char *policy_list(const char *table, struct policy_fault *fault)
{
	struct nft_result result;
	char command[64], *text;

	(void)snprintf(command, sizeof(command), "list table inet %s", table);
	nft_session_run(NULL, command, false, &result);
	if (result.outcome != NFT_DONE)
		(void)fail_session(fault, command, &result);
	text = take_pointer(result.output);
	nft_result_release(&result);
	return text;
}

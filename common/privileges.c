// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Giving up ids, groups and capabilities; see privileges.h.
 *
 * Theory of operation. Before: any process with one thread, root or not. The order is forced by
 * what each step needs: the bounding set takes SETPCAP, the groups SETGID, the ids SETUID, and a
 * change of uid from 0 clears sets by itself; so the permitted, effective and inheritable sets come
 * last, and need nothing; what leaves one of them leaves the ambient set as well. After: what the
 * plan says has left, in all sets, as read back from the kernel by prctl, capget and getres*id;
 * /proc need not be there. Nothing outside this process is changed, and a kill in the middle leaves
 * nothing.
 *
 * The kernel's own calls are used, not libcap's: its sets end at the last capability that the
 * library was built with, the kernel's do not.
 */
#include "privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LAST_POSSIBLE = 63 };

/* Bits of capabilities, as the kernel numbers them (capabilities(7)). */
struct five_sets {
	uint64_t inheritable, permitted, effective, bounding, ambient;
};

/* capget(2) and capset(2), version 3: two halves of 64 bits. */
struct kernel_sets {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static uint64_t join(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

static bool is_in(uint64_t set, unsigned capability)
{
	return (set >> capability & 1) != 0;
}

/* The three sets that capget(2) knows. */
static int read_own(struct five_sets *sets)
{
	struct kernel_sets kernel = {.header = {.version = _LINUX_CAPABILITY_VERSION_3}};

	if (syscall(SYS_capget, &kernel.header, kernel.data) != 0)
		return -1;
	*sets = (struct five_sets){
		.inheritable = join(kernel.data[0].inheritable, kernel.data[1].inheritable),
		.permitted = join(kernel.data[0].permitted, kernel.data[1].permitted),
		.effective = join(kernel.data[0].effective, kernel.data[1].effective),
	};
	return 0;
}

/* The other two, one question a capability: EINVAL is the answer behind the last (prctl(2)). */
static int read_asked(struct five_sets *sets)
{
	for (unsigned i = 0; i <= LAST_POSSIBLE; i++) {
		int bounding = prctl(PR_CAPBSET_READ, i, 0, 0, 0);
		int ambient;

		if (bounding < 0)
			return errno == EINVAL && i > 0 ? 0 : -1;
		ambient = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, i, 0, 0);
		if (ambient < 0)
			return -1;
		sets->bounding |= (uint64_t)(bounding > 0) << i;
		sets->ambient |= (uint64_t)(ambient > 0) << i;
	}
	return 0;
}

/* The calling thread's five sets, without /proc. 0, or -1 with errno. */
static int read_sets(struct five_sets *sets)
{
	return read_own(sets) == 0 ? read_asked(sets) : -1;
}

int privileges_effective(uint64_t *set)
{
	struct five_sets sets;

	if (read_own(&sets) != 0)
		return -1;
	*set = sets.effective;
	return 0;
}

static enum privileges_verdict drop_bounding(const struct five_sets *sets, uint64_t drop,
					     bool lenient)
{
	for (unsigned i = 0; i <= LAST_POSSIBLE; i++)
		if (is_in(sets->bounding & drop, i) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) != 0) {
			if (errno == EPERM && lenient)
				return PRIVILEGES_OK;
			return PRIVILEGES_BOUNDING;
		}
	return PRIVILEGES_OK;
}

static enum privileges_verdict drop_sets(uint64_t drop)
{
	struct kernel_sets kernel = {.header = {.version = _LINUX_CAPABILITY_VERSION_3}};

	if (syscall(SYS_capget, &kernel.header, kernel.data) != 0)
		return PRIVILEGES_READ;
	for (unsigned half = 0; half < _LINUX_CAPABILITY_U32S_3; half++) {
		uint32_t keep = (uint32_t) ~(drop >> (32 * half));

		kernel.data[half].effective &= keep;
		kernel.data[half].permitted &= keep;
		kernel.data[half].inheritable &= keep;
	}
	if (syscall(SYS_capset, &kernel.header, kernel.data) != 0)
		return PRIVILEGES_SETS;
	return PRIVILEGES_OK;
}

int privileges_renounce(uint64_t kept)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return kept == UINT64_MAX || drop_sets(~kept) == PRIVILEGES_OK ? 0 : -1;
}

static enum privileges_verdict set_ids(const struct privileges_plan *plan)
{
	/* An empty list may be emptied by anybody: by nobody asking. */
	if (plan->empty_groups && getgroups(0, NULL) != 0 && setgroups(0, NULL) != 0 &&
	    !(errno == EPERM && plan->lenient))
		return PRIVILEGES_GROUPS;
	if (plan->set_ids && setresgid(plan->group, plan->group, plan->group) != 0)
		return PRIVILEGES_GROUP_ID;
	if (plan->set_ids && setresuid(plan->user, plan->user, plan->user) != 0)
		return PRIVILEGES_USER_ID;
	return PRIVILEGES_OK;
}

/* What the kernel shows now against the plan. */
static enum privileges_verdict verify(const struct privileges_plan *plan)
{
	struct five_sets sets;
	uid_t real, effective, saved;
	gid_t real_group, effective_group, saved_group;

	if (read_sets(&sets) != 0 || getresuid(&real, &effective, &saved) != 0 ||
	    getresgid(&real_group, &effective_group, &saved_group) != 0)
		return PRIVILEGES_READ;
	errno = EPERM;
	if (((sets.inheritable | sets.permitted | sets.effective | sets.ambient) & plan->drop) != 0)
		return PRIVILEGES_KEPT;
	if (!plan->lenient &&
	    ((sets.bounding & plan->drop) != 0 || (plan->empty_groups && getgroups(0, NULL) != 0)))
		return PRIVILEGES_KEPT;
	if (plan->set_ids && (real != plan->user || effective != plan->user ||
			      saved != plan->user || real_group != plan->group ||
			      effective_group != plan->group || saved_group != plan->group))
		return PRIVILEGES_KEPT;
	return PRIVILEGES_OK;
}

enum privileges_verdict privileges_drop(const struct privileges_plan *plan)
{
	struct five_sets sets;
	enum privileges_verdict verdict = read_sets(&sets) == 0 ? PRIVILEGES_OK : PRIVILEGES_READ;

	if (verdict == PRIVILEGES_OK)
		verdict = drop_bounding(&sets, plan->drop, plan->lenient);
	if (verdict == PRIVILEGES_OK)
		verdict = set_ids(plan);
	if (verdict == PRIVILEGES_OK)
		verdict = drop_sets(plan->drop);
	return verdict == PRIVILEGES_OK ? verify(plan) : verdict;
}

const char *privileges_verdict_text(enum privileges_verdict verdict)
{
	switch (verdict) {
	case PRIVILEGES_READ:
		return "read the capability sets";
	case PRIVILEGES_BOUNDING:
		return "empty the bounding set";
	case PRIVILEGES_SETS:
		return "empty the permitted, effective and inheritable sets";
	case PRIVILEGES_GROUPS:
		return "empty the supplementary groups";
	case PRIVILEGES_GROUP_ID:
		return "set the group id";
	case PRIVILEGES_USER_ID:
		return "set the user id";
	case PRIVILEGES_KEPT:
		return "give up what was given up: the kernel still shows some of it";
	default:
		return "go on";
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Power over a network namespace by owning a user namespace; see netns_owner.h. */
#include "netns_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>

enum { MAX_DEPTH = 33 }; /* user_namespaces(7): at most 32 levels */

static bool same(const struct namespace_id *a, const struct namespace_id *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/*
 * True if the user namespace behind FD is the asking process's own or below it: only then does the
 * kernel show a parent (ioctl_ns(2): EPERM outside), and only then does EPERM on another namespace
 * say anything about it. -1 with errno if that can't be found out.
 */
static int is_ours_or_below(int fd, const struct namespace_id *id)
{
	struct namespace_id own;
	autoclose self = -1;
	autoclose parent = -1;

	errno = EINVAL; /* for what opens, but is no user namespace */
	if (namespace_open(AT_FDCWD, "/proc/self/ns/user", CLONE_NEWUSER, &self) != NAMESPACE_OK ||
	    namespace_identify(self, &own) != 0)
		return -1;
	if (same(&own, id))
		return 1;
	parent = ioctl(fd, NS_GET_PARENT);
	if (parent < 0 && errno != EPERM)
		return -1;
	return parent >= 0;
}

/* Walks from the owning user namespace, whose handle it takes over, up to the process's own. */
static enum netns_owner_verdict walk(int owning, struct netns_owner *owner)
{
	autoclose below = owning;
	struct namespace_id below_id = owner->owner;

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		struct namespace_id parent_id;
		autoclose parent = ioctl(below, NS_GET_PARENT);

		owner->what = "the parent of a user namespace";
		if (parent < 0)
			/* The top of what can be seen: the process is not on the path. */
			return errno == EPERM ? NETNS_OWNER_NOT_ABOVE : NETNS_OWNER_FAILED;
		if (namespace_identify(parent, &parent_id) != 0)
			return NETNS_OWNER_FAILED;
		if (same(&parent_id, &owner->process)) {
			owner->what = "the owner of a user namespace";
			if (ioctl(below, NS_GET_OWNER_UID, &owner->uid) != 0)
				return NETNS_OWNER_FAILED;
			owner->below = below_id;
			return NETNS_OWNER_ABOVE;
		}
		cleanup_close(&below);
		below = take_fd(&parent);
		below_id = parent_id;
	}
	errno = ELOOP;
	return NETNS_OWNER_FAILED;
}

enum netns_owner_verdict netns_owner_judge(int netns, int userns, struct netns_owner *owner)
{
	autoclose owning = -1;
	int visible;

	*owner = (struct netns_owner){.what = "its user namespace"};
	if (namespace_identify(userns, &owner->process) != 0)
		return NETNS_OWNER_FAILED;
	visible = is_ours_or_below(userns, &owner->process);
	if (visible < 0)
		return NETNS_OWNER_FAILED;
	owner->what = "the owner of its network namespace";
	owning = ioctl(netns, NS_GET_USERNS);
	if (owning < 0 && errno != EPERM)
		return NETNS_OWNER_FAILED;
	if (owning >= 0 && namespace_identify(owning, &owner->owner) != 0)
		return NETNS_OWNER_FAILED;
	owner->owner_visible = owning >= 0;
	if (!visible)
		return NETNS_OWNER_HIDDEN;
	/* EPERM: owned above us or beside us, so the process, which is ours or below, is no
	 * ancestor. Owned by its own user namespace: its sets decide. */
	if (owning < 0 || same(&owner->owner, &owner->process))
		return NETNS_OWNER_NOT_ABOVE;
	return walk(take_fd(&owning), owner);
}

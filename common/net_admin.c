// SPDX-License-Identifier: GPL-2.0-or-later
/* Why the kernel says EPERM to netlink; see net_admin.h. */
#include "net_admin.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"

static bool is_effective(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[0].effective & 1U << CAP_NET_ADMIN) != 0;
}

/* True if the owner of our network namespace is known not to be our user namespace. */
static bool is_owned_elsewhere(void)
{
	struct stat ours, owners;
	autoclose net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	autoclose user = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	autoclose owner = net < 0 ? -1 : ioctl(net, NS_GET_USERNS);

	/* EPERM: the owner is not our user namespace or one below it. */
	if (net >= 0 && owner < 0)
		return errno == EPERM;
	return owner >= 0 && user >= 0 && fstat(user, &ours) == 0 && fstat(owner, &owners) == 0 &&
	       (ours.st_dev != owners.st_dev || ours.st_ino != owners.st_ino);
}

enum net_admin net_admin_state(void)
{
	if (!is_effective())
		return NET_ADMIN_MISSING;
	return is_owned_elsewhere() ? NET_ADMIN_ELSEWHERE : NET_ADMIN_HELD;
}

const char *net_admin_text(enum net_admin state)
{
	switch (state) {
	case NET_ADMIN_MISSING:
		return "this process lacks the capability NET_ADMIN";
	case NET_ADMIN_ELSEWHERE:
		return "this network namespace belongs to another user namespace";
	default:
		return "a seccomp filter or a security module refuses it";
	}
}

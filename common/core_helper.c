// SPDX-License-Identifier: GPL-2.0-or-later
/* No helper of the host's for a subject that crashes; see core_helper.h. */
#include "core_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cleanup.h"

/* core(5): a pattern that begins with | is a program; with @, a socket (Linux 6.16). */
static bool cores_are_files(void)
{
	autoclose fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char first;

	return fd >= 0 && read(fd, &first, 1) == 1 && first != '|' && first != '@';
}

int core_helper_refuse(void)
{
	const struct rlimit one = {1, 1};
	struct rlimit now;

	if (cores_are_files() || setrlimit(RLIMIT_CORE, &one) == 0)
		return 0;
	/* A hard limit of 0 takes CAP_SYS_RESOURCE to raise: engines set it, and mean well. */
	return errno == EPERM && getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_max == 0 ? 0 : -1;
}

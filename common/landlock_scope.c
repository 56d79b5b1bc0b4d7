// SPDX-License-Identifier: GPL-2.0-or-later
/* A wall around one process and all that it starts; see landlock_scope.h. */
#include "landlock_scope.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"

/* landlock(7), interface 6: headers of older systems lack the last member and its bits. */
struct ruleset {
	uint64_t files, networks, scoped;
};
enum {
	VERSION_ONLY = 1 << 0,
	SCOPED_INTERFACE = 6,
	SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0,
	SCOPE_SIGNAL = 1 << 1
};

enum landlock_scope_verdict landlock_scope_enter(void)
{
	const struct ruleset ruleset = {.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL};
	autoclose fd = -1;
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0UL, VERSION_ONLY);

	if (version < SCOPED_INTERFACE && (version >= 0 || errno == ENOSYS || errno == EOPNOTSUPP))
		return LANDLOCK_SCOPE_UNSUPPORTED;
	if (version < 0)
		return LANDLOCK_SCOPE_FAILED;
	fd = (int)syscall(SYS_landlock_create_ruleset, &ruleset, sizeof(ruleset), 0);
	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) != 0)
		return LANDLOCK_SCOPE_FAILED;
	return LANDLOCK_SCOPE_OK;
}

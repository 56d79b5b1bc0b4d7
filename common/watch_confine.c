// SPDX-License-Identifier: GPL-2.0-or-later
/* What the watcher gives up once everything is open; see watch_confine.h. */
#include "watch_confine.h"

#include <errno.h>
#include <linux/sockios.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/capability.h>
#include <sys/prctl.h>

/* What instruments the program makes calls of its own at the end, which are not ours to list. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define CELL_INSTRUMENTED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(CELL_COVERAGE)
#define CELL_INSTRUMENTED 1
#endif
#ifndef CELL_INSTRUMENTED
#define CELL_INSTRUMENTED 0
#endif

/* prctl(2): the bounding set needs CAP_SETPCAP, which a process without it can't gain either. */
static void drop_bounding(void)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (cap != CAP_NET_ADMIN)
			(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

static int drop_capabilities(void)
{
	const cap_value_t kept[] = {CAP_NET_ADMIN};
	cap_t caps = cap_init();
	int result = -1;

	drop_bounding();
	if (caps != NULL && cap_set_flag(caps, CAP_PERMITTED, 1, kept, CAP_SET) == 0 &&
	    cap_set_flag(caps, CAP_EFFECTIVE, 1, kept, CAP_SET) == 0)
		result = cap_set_proc(caps);
	(void)cap_free(caps);
	return result;
}

/* The loop's calls, and those that glibc makes for it (time, memory, exit). 0 or -errno. */
static int add_rules(scmp_filter_ctx filter)
{
	static const int calls[] = {
		SCMP_SYS(read),		SCMP_SYS(write),	  SCMP_SYS(close),
		SCMP_SYS(poll),		SCMP_SYS(ppoll),	  SCMP_SYS(recvmsg),
		SCMP_SYS(recvfrom),	SCMP_SYS(sendto),	  SCMP_SYS(sendmsg),
		SCMP_SYS(ftruncate),	SCMP_SYS(fsync),	  SCMP_SYS(fstat),
		SCMP_SYS(newfstatat),	SCMP_SYS(lseek),	  SCMP_SYS(clock_gettime),
		SCMP_SYS(gettimeofday), SCMP_SYS(nanosleep),	  SCMP_SYS(clock_nanosleep),
		SCMP_SYS(brk),		SCMP_SYS(mmap),		  SCMP_SYS(munmap),
		SCMP_SYS(mremap),	SCMP_SYS(madvise),	  SCMP_SYS(rt_sigreturn),
		SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(restart_syscall),
		SCMP_SYS(futex),	SCMP_SYS(exit_group),	  SCMP_SYS(exit),
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);

		if (result != 0)
			return result;
	}
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				SCMP_A1(SCMP_CMP_EQ, SIOCGIFNAME));
}

/* EPERM instead of a kill: a call that a later C library makes must not end a trial. */
static int filter_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int result;

	if (filter == NULL) {
		errno = ENOMEM;
		return -1;
	}
	result = add_rules(filter);
	if (result == 0)
		result = seccomp_load(filter);
	seccomp_release(filter);
	if (result == 0)
		return 0;
	errno = -result;
	return -1;
}

int watch_confine(const char **step)
{
	*step = "drop capabilities";
	if (drop_capabilities() != 0)
		return -1;
	*step = "set no_new_privs";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	*step = "load the system call filter";
	return CELL_INSTRUMENTED ? 0 : filter_calls();
}

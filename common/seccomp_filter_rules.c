// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list behind seccomp_filter.h: doors that a packet filter does not see.
 *
 * Refused calls answer EPERM, as an ordinary kernel does to an ordinary user, so programs take the
 * way round that they have for that. Where the way round hangs on another answer it is that one:
 * clone3 ENOSYS (the C libraries then use clone, whose flags a filter can read), a socket family
 * EAFNOSUPPORT and a netlink protocol EPROTONOSUPPORT (as a kernel without them; su and libaudit
 * go on after it, and would end after EPERM).
 *
 * The kernel reads many arguments as 32 bits and never looks at the upper half of the register. A
 * comparison of all 64 bits that refuses one value is then passed by any other upper half; so every
 * rule that names a value masks, and the rest refuse all but what they name.
 */
#include "seccomp_filter.h"

#include <asm/unistd.h>
#include <errno.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#if defined(__mips__) || defined(__alpha__)
#error "call numbers are not the common ones here: SECCOMP_FILTER_LAST_CALL does not hold"
#endif

/* clone(2): s390 takes the stack first. */
#ifdef __s390__
enum { CLONE_FLAGS_ARGUMENT = 1 };
#else
enum { CLONE_FLAGS_ARGUMENT = 0 };
#endif

enum {
	LAST_FAMILY = 45,   /* AF_MCTP, the last of Linux 6.18; all above are refused too */
	PROTOCOL_SMC = 256, /* IPPROTO_SMC: AF_SMC by another name (Linux 6.11) */
};
static const scmp_datum_t LOW_HALF = 0xffffffff;

/* Refused as such, in groups of one kind. */
static const struct {
	const char *call;
	int number;
	int error;
} calls[] = {
	/* Keys: request_key starts a helper of the host, outside every namespace, by our words. */
	{"add_key", -1, EPERM},
	{"keyctl", -1, EPERM},
	{"request_key", -1, EPERM},
	/* What another process has: its descriptors and its memory. */
	{"pidfd_getfd", 438, EPERM},
	{"process_vm_readv", -1, EPERM},
	{"process_vm_writev", -1, EPERM},
	/* Files and namespaces by handle, not by a path that the mounts would have hidden. */
	{"open_by_handle_at", -1, EPERM},
	{"setns", -1, EPERM},
	/* Mounts: what is read-only or hidden stays so. */
	{"fsconfig", 431, EPERM},
	{"fsmount", 432, EPERM},
	{"fsopen", 430, EPERM},
	{"fspick", 433, EPERM},
	{"mount", -1, EPERM},
	{"mount_setattr", 442, EPERM},
	{"move_mount", 429, EPERM},
	{"open_tree", 428, EPERM},
	{"open_tree_attr", 467, EPERM},
	{"pivot_root", -1, EPERM},
	{"umount", -1, EPERM},
	{"umount2", -1, EPERM},
	/* Code and eyes in the kernel. */
	{"bpf", -1, EPERM},
	{"delete_module", -1, EPERM},
	{"finit_module", -1, EPERM},
	{"init_module", -1, EPERM},
	{"kexec_file_load", -1, EPERM},
	{"kexec_load", -1, EPERM},
	{"perf_event_open", -1, EPERM},
	{"userfaultfd", -1, EPERM},
	/* A second way to nearly every call, which a filter does not see. */
	{"io_uring_enter", 426, EPERM},
	{"io_uring_register", 427, EPERM},
	{"io_uring_setup", 425, EPERM},
	/* Arguments behind a pointer, which a filter cannot read; clone and socket do the same. */
	{"clone3", 435, ENOSYS},
	{"socketcall", -1, ENOSYS},
};

/* Calls of which only these flags are refused; the rest is every day's work. */
static const struct {
	const char *call;
	unsigned argument;
	scmp_datum_t flags;
} flagged[] = {
	{"clone", CLONE_FLAGS_ARGUMENT,
	 CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
		 CLONE_NEWPID | CLONE_NEWNET},
	{"unshare", 0,
	 CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
		 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME},
};

/* Words typed into a terminal that somebody else reads: the shell of a kept session. */
static const struct {
	const char *name;
	scmp_datum_t request;
} requests[] = {{"tiocsti", TIOCSTI}, {"tioclinux", TIOCLINUX}};

/* Families by number; those without a name are long gone. */
static const char *const families[LAST_FAMILY + 1] = {
	[AF_AX25] = "ax25",
	[AF_IPX] = "ipx",
	[AF_APPLETALK] = "appletalk",
	[AF_NETROM] = "netrom",
	[AF_ATMPVC] = "atmpvc",
	[AF_X25] = "x25",
	[AF_ROSE] = "rose",
	[AF_KEY] = "key",
	[AF_NETLINK] = "netlink",
	[AF_PACKET] = "packet",
	[AF_ATMSVC] = "atmsvc",
	[AF_RDS] = "rds",
	[AF_PPPOX] = "pppox",
	[AF_LLC] = "llc",
	[AF_IB] = "ib",
	[AF_MPLS] = "mpls",
	[AF_CAN] = "can",
	[AF_TIPC] = "tipc",
	[AF_BLUETOOTH] = "bluetooth",
	[AF_IUCV] = "iucv",
	[AF_RXRPC] = "rxrpc",
	[AF_ISDN] = "isdn",
	[AF_PHONET] = "phonet",
	[AF_IEEE802154] = "ieee802154",
	[AF_CAIF] = "caif",
	[AF_ALG] = "alg",
	[AF_NFC] = "nfc",
	[AF_VSOCK] = "vsock",
	[AF_KCM] = "kcm",
	[AF_QIPCRTR] = "qipcrtr",
	[AF_SMC] = "smc",
	[AF_XDP] = "xdp",
	[LAST_FAMILY] = "mctp",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool seccomp_filter_knows(const char *name)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		if (strcmp(calls[i].call, name) == 0)
			return true;
	for (size_t i = 0; i < COUNT(flagged); i++)
		if (strcmp(flagged[i].call, name) == 0)
			return true;
	for (size_t i = 0; i < COUNT(requests); i++)
		if (strcmp(requests[i].name, name) == 0)
			return true;
	for (size_t i = 0; i < COUNT(families); i++)
		if (families[i] != NULL && strcmp(families[i], name) == 0)
			return true;
	return false;
}

/* The list being made, and the names that open something. */
struct build {
	struct seccomp_filter *filter;
	const char *const *allowed;
	size_t count;
};

static bool is_open(const struct build *build, const char *name)
{
	for (size_t i = 0; name != NULL && i < build->count; i++)
		if (strcmp(build->allowed[i], name) == 0)
			return true;
	return false;
}

/* The next rule, to be given its conditions. The array holds the whole list: a test says so. */
static struct seccomp_filter_rule *add(struct build *build, const char *call, int number, int error)
{
	struct seccomp_filter_rule *rule = &build->filter->rules[build->filter->count];

	if (build->filter->count + 1 < COUNT(build->filter->rules))
		build->filter->count++;
	*rule = (struct seccomp_filter_rule){.call = call, .number = number, .error = error};
	return rule;
}

static void when(struct seccomp_filter_rule *rule, unsigned argument, enum scmp_compare compare,
		 scmp_datum_t a, scmp_datum_t b)
{
	rule->condition[rule->conditions++] = (struct scmp_arg_cmp){argument, compare, a, b};
}

/* ARGUMENT as the kernel reads it, 32 bits, is VALUE. */
static void when_is(struct seccomp_filter_rule *rule, unsigned argument, scmp_datum_t value)
{
	when(rule, argument, SCMP_CMP_MASKED_EQ, LOW_HALF, value);
}

static void add_sockets(struct build *build)
{
	struct seccomp_filter_rule *rule;

	for (scmp_datum_t family = 0; family <= LAST_FAMILY; family++)
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
		    family != AF_NETLINK && !is_open(build, families[family]))
			when_is(add(build, "socket", -1, EAFNOSUPPORT), 0, family);
	when(add(build, "socket", -1, EAFNOSUPPORT), 0, SCMP_CMP_GT, LAST_FAMILY, 0);
	if (!is_open(build, "netlink")) {
		rule = add(build, "socket", -1, EPROTONOSUPPORT);
		when_is(rule, 0, AF_NETLINK);
		when(rule, 2, SCMP_CMP_NE, 0, 0); /* NETLINK_ROUTE */
	}
	for (int i = 0; i < 2 && !is_open(build, "smc"); i++) {
		rule = add(build, "socket", -1, EPROTONOSUPPORT);
		when_is(rule, 0, i == 0 ? AF_INET : AF_INET6);
		when_is(rule, 2, PROTOCOL_SMC);
	}
	when(add(build, "socketpair", -1, EAFNOSUPPORT), 0, SCMP_CMP_NE, AF_UNIX, 0);
}

void seccomp_filter_build(struct seccomp_filter *filter, const char *const *allowed, size_t count)
{
	/* cppcheck-suppress ctuuninitvar ; written here, not read */
	struct build build = {filter, allowed, count};

	filter->count = 0;
	for (size_t i = 0; i < COUNT(calls); i++)
		if (!is_open(&build, calls[i].call))
			(void)add(&build, calls[i].call, calls[i].number, calls[i].error);
	for (size_t i = 0; i < COUNT(flagged); i++)
		for (scmp_datum_t flag = 1; flag <= LOW_HALF && !is_open(&build, flagged[i].call);
		     flag <<= 1)
			if (flagged[i].flags & flag)
				when(add(&build, flagged[i].call, -1, EPERM), flagged[i].argument,
				     SCMP_CMP_MASKED_EQ, flag, flag);
	for (size_t i = 0; i < COUNT(requests); i++)
		if (!is_open(&build, requests[i].name))
			when_is(add(&build, "ioctl", -1, EPERM), 1, requests[i].request);
	add_sockets(&build);
}

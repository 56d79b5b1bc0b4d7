// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Doors that no packet filter sees; see probe_door.h.
 *
 * Holds before: nothing. Holds after, also when killed in the middle: nothing was changed. Sockets
 * are made and closed, never bound or connected (a vsock reaches the hypervisor); the key is asked
 * for without call-out data, so no helper is started (request_key(2)); what unshare gives belongs
 * to a child that ends at once. Making a socket can load the family's module; that stays, and any
 * program here could have caused it.
 */
#include "probe_door.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "fault.h"
#include "probe_result.h"

#ifndef AF_MCTP /* musl 1.2.3 */
#define AF_MCTP 45
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Protocol 0 is always tried; some families only know others (their headers in linux/). */
static const struct family {
	const char *name;
	int number, protocol;
} families[] = {
	{"alg", AF_ALG, 0},	    {"appletalk", AF_APPLETALK, 0},
	{"ax25", AF_AX25, 0},	    {"bluetooth", AF_BLUETOOTH, 1 /* BTPROTO_HCI */},
	{"caif", AF_CAIF, 0},	    {"can", AF_CAN, 1 /* CAN_RAW */},
	{"ib", AF_IB, 0},	    {"ieee802154", AF_IEEE802154, 0},
	{"ipx", AF_IPX, 0},	    {"kcm", AF_KCM, 0},
	{"key", AF_KEY, 2},	    {"llc", AF_LLC, 0},
	{"mctp", AF_MCTP, 0},	    {"netrom", AF_NETROM, 0},
	{"nfc", AF_NFC, 1},	    {"packet", AF_PACKET, 0},
	{"phonet", AF_PHONET, 1},   {"pppox", AF_PPPOX, 0},
	{"qipcrtr", AF_QIPCRTR, 0}, {"rds", AF_RDS, 0},
	{"rose", AF_ROSE, 0},	    {"smc", AF_SMC, 1 /* SMCPROTO_SMC6 */},
	{"tipc", AF_TIPC, 0},	    {"vsock", AF_VSOCK, 0},
	{"x25", AF_X25, 0},	    {"xdp", AF_XDP, 0},
};

static const struct family *find_family(const char *name)
{
	for (size_t i = 0; i < COUNT(families); i++)
		if (strcmp(families[i].name, name) == 0)
			return &families[i];
	return NULL;
}

bool probe_family_exists(const char *name)
{
	return find_family(name) != NULL;
}

int probe_family_try(const char *name)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET, SOCK_RDM};
	const struct family *family = find_family(name);
	int found = EAFNOSUPPORT;

	for (size_t i = 0; i < 2 * COUNT(types); i++) {
		int protocol = i < COUNT(types) ? 0 : family->protocol;
		autoclose fd =
			socket(family->number, types[i % COUNT(types)] | SOCK_CLOEXEC, protocol);

		if (fd >= 0)
			return 0;
		if (fault_is_shortage(errno))
			return errno;
		/* A refusal says more than a type that the family does not have. */
		if (probe_result_of_socket(found) != PROBE_DENIED)
			found = errno;
	}
	return found;
}

/* Without call-out data an unknown key is just ENOKEY: the call was ours to make. */
static int try_request_key(void)
{
	long key = syscall(SYS_request_key, "user", "cell-probe: no such key", NULL, 0);

	return key >= 0 || errno == ENOKEY ? 0 : errno;
}

static int try_bpf(void)
{
	union bpf_attr attributes = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
	autoclose fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes));

	return fd >= 0 ? 0 : errno;
}

static int try_io_uring(void)
{
	struct io_uring_params parameters = {.flags = 0};
	autoclose fd = (int)syscall(SYS_io_uring_setup, 1, &parameters);

	return fd >= 0 ? 0 : errno;
}

/* Runs ATTEMPT in a child whose end undoes it; the child's errno. */
static int in_child(int (*attempt)(int), int argument)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(attempt(argument));
	if (child < 0)
		return errno;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	/* Ended by a signal: a filter that kills is a refusal too. */
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

static int unshare_here(int unused)
{
	(void)unused;
	return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : errno;
}

/* From a child, as any other process of this uid would: a parent is nobody's descendant. */
static int take_from_parent(int wanted)
{
	autoclose process = (int)syscall(SYS_pidfd_open, getppid(), 0);
	autoclose taken = -1;

	if (process < 0)
		return errno;
	taken = (int)syscall(SYS_pidfd_getfd, process, wanted, 0);
	return taken >= 0 ? 0 : errno;
}

static int try_unshare(void)
{
	int number = in_child(unshare_here, 0);

	/* user_namespaces(7): the limit can be 0, which forbids it as well as EPERM does. */
	return number == ENOSPC || number == EUSERS ? EPERM : number;
}

static int try_pidfd_getfd(void)
{
	autoclose wanted = eventfd(0, EFD_CLOEXEC);

	return wanted < 0 ? errno : in_child(take_from_parent, wanted);
}

static const struct call {
	const char *name;
	int (*attempt)(void);
} calls[] = {
	{"request_key", try_request_key}, {"pidfd_getfd", try_pidfd_getfd}, {"bpf", try_bpf},
	{"io_uring", try_io_uring},	  {"unshare", try_unshare},
};

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	return NULL;
}

bool probe_call_exists(const char *name)
{
	return find_call(name) != NULL;
}

int probe_call_try(const char *name)
{
	return find_call(name)->attempt();
}

int probe_unix_try(const char *path)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	int number = EPROTOTYPE;

	memcpy(address.sun_path, path, strlen(path));
	if (path[0] == '@')
		address.sun_path[0] = '\0'; /* unix(7): the length ends an abstract name */
	else
		length++;
	for (size_t i = 0; i < COUNT(types) && number == EPROTOTYPE; i++) {
		autoclose fd = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0)
			return errno;
		number = connect(fd, (const struct sockaddr *)&address, length) == 0 ? 0 : errno;
	}
	return number;
}

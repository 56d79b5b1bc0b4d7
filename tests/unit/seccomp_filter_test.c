// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of the filter, call by call. Each call is made in a child of its own, as root with
 * every capability and in a mount namespace of its own, so that an EPERM is the filter's and not
 * the kernel's: first without the filter, which is the control, then with it, then with the one
 * name allowed.
 */
#include "seccomp_filter.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

enum { NOBODY = 65533, SIGNALLED = 1000 };

/* One call with its arguments, chosen so that the kernel itself answers something else. */
struct call {
	const char *name;
	long number;
	long arguments[5];
	int refused; /* errno */
};

static char byte, other;
static struct iovec here = {&byte, 1}, there = {&other, 1};
#define P(pointer) ((long)(uintptr_t)(pointer))
#define HIGH 0x100000000L /* a bit that the kernel does not look at */

static const struct call calls[] = {
	{"add_key",
	 SYS_add_key,
	 {P("user"), P("cell-test"), P("x"), 1, KEY_SPEC_PROCESS_KEYRING},
	 EPERM},
	{"keyctl", SYS_keyctl, {KEYCTL_GET_KEYRING_ID, KEY_SPEC_PROCESS_KEYRING, 1}, EPERM},
	{"request_key", SYS_request_key, {P("user"), P("cell-test"), 0, 0}, EPERM},
	{"pidfd_getfd", SYS_pidfd_getfd, {-1, 0, 0}, EPERM},
	{"process_vm_readv", SYS_process_vm_readv, {1 << 30, P(&here), 1, P(&there), 1}, EPERM},
	{"process_vm_writev", SYS_process_vm_writev, {1 << 30, P(&here), 1, P(&there), 1}, EPERM},
	{"open_by_handle_at", SYS_open_by_handle_at, {-1, 0, 0}, EPERM},
	{"setns", SYS_setns, {-1, 0}, EPERM},
	{"fsconfig", SYS_fsconfig, {-1, 0, 0, 0, 0}, EPERM},
	{"fsmount", SYS_fsmount, {-1, 0, 0}, EPERM},
	{"fsopen", SYS_fsopen, {P("tmpfs"), 0}, EPERM},
	{"fspick", SYS_fspick, {-1, P(""), 0}, EPERM},
	{"mount", SYS_mount, {P("none"), P("/nonexistent"), P("tmpfs"), 0, 0}, EPERM},
	{"mount_setattr", SYS_mount_setattr, {-1, P(""), 0, 0, 0}, EPERM},
	{"move_mount", SYS_move_mount, {-1, P(""), -1, P(""), 0}, EPERM},
	{"open_tree", SYS_open_tree, {AT_FDCWD, P("/"), 0}, EPERM},
	{"open_tree_attr", 467, {AT_FDCWD, P("/"), 0, 0, 0}, EPERM},
	{"pivot_root", SYS_pivot_root, {P("/nonexistent"), P("/nonexistent")}, EPERM},
	{"umount2", SYS_umount2, {P("/nonexistent"), 0}, EPERM},
	{"bpf", SYS_bpf, {-1, 0, 0}, EPERM},
	{"delete_module", SYS_delete_module, {P("cell_no_such_module"), 0}, EPERM},
	{"finit_module", SYS_finit_module, {-1, P(""), 0}, EPERM},
	{"init_module", SYS_init_module, {0, 0, P("")}, EPERM},
	{"kexec_file_load", SYS_kexec_file_load, {-1, -1, 0, 0, -1}, EPERM},
	{"kexec_load", SYS_kexec_load, {0, 0, 0, -1}, EPERM},
	{"perf_event_open", SYS_perf_event_open, {0, 0, -1, -1, 0}, EPERM},
	{"userfaultfd", SYS_userfaultfd, {O_CLOEXEC}, EPERM},
	{"io_uring_enter", SYS_io_uring_enter, {-1, 0, 0, 0, 0}, EPERM},
	{"io_uring_register", SYS_io_uring_register, {-1, 0, 0, 0}, EPERM},
	{"io_uring_setup", SYS_io_uring_setup, {0, 0}, EPERM},
	{"clone3", SYS_clone3, {0, 0}, ENOSYS},
	{"unshare", SYS_unshare, {CLONE_NEWNS}, EPERM},
	{"unshare", SYS_unshare, {CLONE_NEWCGROUP}, EPERM},
	{"unshare", SYS_unshare, {CLONE_NEWUTS}, EPERM},
	{"unshare", SYS_unshare, {CLONE_NEWIPC}, EPERM},
	{"unshare", SYS_unshare, {CLONE_NEWUSER}, EPERM},
	{"unshare", SYS_unshare, {CLONE_NEWPID}, EPERM},
	{"unshare", SYS_unshare, {CLONE_NEWNET}, EPERM},
	{"unshare", SYS_unshare, {CLONE_NEWTIME}, EPERM},
	{"unshare", SYS_unshare, {CLONE_NEWUTS | CLONE_FILES}, EPERM},
	{"clone", SYS_clone, {CLONE_NEWNS | SIGCHLD}, EPERM},
	{"clone", SYS_clone, {CLONE_NEWCGROUP | SIGCHLD}, EPERM},
	{"clone", SYS_clone, {CLONE_NEWUTS | SIGCHLD}, EPERM},
	{"clone", SYS_clone, {CLONE_NEWIPC | SIGCHLD}, EPERM},
	{"clone", SYS_clone, {CLONE_NEWUSER | SIGCHLD}, EPERM},
	{"clone", SYS_clone, {CLONE_NEWPID | SIGCHLD}, EPERM},
	{"clone", SYS_clone, {CLONE_NEWNET | SIGCHLD}, EPERM},
	{"clone", SYS_clone, {HIGH | CLONE_NEWUTS | SIGCHLD}, EPERM},
	{"tiocsti", SYS_ioctl, {-1, TIOCSTI, P(&byte)}, EPERM},
	{"tiocsti", SYS_ioctl, {-1, TIOCSTI | HIGH, P(&byte)}, EPERM},
	{"tioclinux", SYS_ioctl, {-1, TIOCLINUX, P(&byte)}, EPERM},
	{"packet", SYS_socket, {AF_PACKET, SOCK_RAW, 0}, EAFNOSUPPORT},
	{"packet", SYS_socket, {HIGH | AF_PACKET, SOCK_RAW, 0}, EAFNOSUPPORT},
	{"vsock", SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT},
	{"vsock", SYS_socket, {HIGH | AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT},
	{"vsock", SYS_socket, {HIGH << 30 | AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT},
	{"xdp", SYS_socket, {AF_XDP, SOCK_RAW, 0}, EAFNOSUPPORT},
	{"netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, 12}, EPROTONOSUPPORT}, /* nftables */
	{"netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, 16}, EPROTONOSUPPORT}, /* generic */
	{"netlink", SYS_socket, {HIGH | AF_NETLINK, SOCK_RAW, 16}, EPROTONOSUPPORT},
	{"netlink", SYS_socket, {AF_NETLINK, SOCK_RAW, HIGH | 16}, EPROTONOSUPPORT},
};

/* What must go on as before: the filter's answer is the kernel's. */
static const struct call ordinary[] = {
	{"unix", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}, 0},
	{"inet", SYS_socket, {AF_INET, SOCK_STREAM, 0}, 0},
	{"inet6", SYS_socket, {AF_INET6, SOCK_DGRAM, 0}, 0},
	{"mptcp", SYS_socket, {AF_INET, SOCK_STREAM, 262}, 0},
	{"route", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, 0},
	{"flags", SYS_socket, {AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}, 0},
	{"fork", SYS_clone, {SIGCHLD}, 0},
	{"unshare", SYS_unshare, {CLONE_FILES | CLONE_FS}, 0},
	{"tty", SYS_ioctl, {-1, TIOCGWINSZ, P(&byte)}, EBADF},
	{"handle", SYS_name_to_handle_at, {-1, 0, 0, 0, 0}, EFAULT},
};

/*
 * A filter under ours that answers EXDEV to the calls from FIRST to LAST. Of two errnos the younger
 * filter's is given (seccomp(2)): so an EXDEV says that ours lets the call pass, whatever this
 * kernel would make of it. 0, or -1.
 */
static int lay_under(unsigned first, unsigned last)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog whole = {sizeof(program) / sizeof(program[0]), program};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole);
}

/* Set by a test that wants sockets answered by a filter underneath, not by the kernel. */
static bool sockets_laid_under;

/*
 * The errno of CALL in a child, 0 if it succeeded, SIGNALLED + N if signal N ended the child; with
 * the filter on, less ALLOWED, unless ALLOWED is "off".
 */
static int answer(const struct call *call, const char *allowed)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		static struct seccomp_filter filter;
		pid_t self = getpid();
		const long *a = call->arguments;
		long result;

		if (unshare(CLONE_NEWNS) != 0 ||
		    (sockets_laid_under && (lay_under(SYS_socket, SYS_socket) != 0 ||
					    lay_under(SYS_socketpair, SYS_socketpair) != 0)))
			_exit(255);
		seccomp_filter_build(&filter, &allowed, allowed != NULL);
		if ((allowed == NULL || strcmp(allowed, "off") != 0) &&
		    seccomp_filter_install(&filter) != 0)
			_exit(254);
		result = syscall(call->number, a[0], a[1], a[2], a[3], a[4]);
		if (getpid() != self)
			_exit(0); /* the child of a clone that went well */
		_exit(result < 0 ? errno : 0);
	}
	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

static void check(const struct call *call, int got, int wanted, const char *when)
{
	if (got != wanted)
		(void)printf("%s (%ld) %s: %d, not %d\n", call->name, call->number, when, got,
			     wanted);
	CHECK(got == wanted);
}

static void test_refused_calls_answer_as_documented_and_only_by_the_filter(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		int control = answer(&calls[i], "off");

		CHECK(control >= 0 && control != 254 && control != 255);
		/* A kernel without the call or family shows nothing; both are still refused. */
		if (control == calls[i].refused)
			(void)printf("%s (%ld): this kernel says %d by itself\n", calls[i].name,
				     calls[i].number, control);
		check(&calls[i], answer(&calls[i], NULL), calls[i].refused, "refused");
		/* Of a family with more in its upper half nothing is opened: it has no name. */
		check(&calls[i], answer(&calls[i], calls[i].name),
		      calls[i].number == SYS_socket && calls[i].arguments[0] > UINT16_MAX
			      ? EAFNOSUPPORT
			      : control,
		      "allowed");
	}
}

static void test_a_name_allows_itself_alone(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const char *name = calls[i].name;

		if (i > 0 && strcmp(calls[i - 1].name, name) == 0)
			continue;
		for (size_t j = 0; j < sizeof(calls) / sizeof(calls[0]); j++)
			if (strcmp(calls[j].name, name) != 0)
				check(&calls[j], answer(&calls[j], name), calls[j].refused, name);
	}
}

static void test_ordinary_calls_answer_as_before(void)
{
	for (size_t i = 0; i < sizeof(ordinary) / sizeof(ordinary[0]); i++) {
		check(&ordinary[i], answer(&ordinary[i], "off"), ordinary[i].refused, "control");
		check(&ordinary[i], answer(&ordinary[i], NULL), ordinary[i].refused, "filtered");
	}
}

/* All families there can be, whatever the kernel makes of them. */
static void test_every_other_family_is_refused(void)
{
	static const long odd[] = {46,	    47,		64,	    255, 256 + AF_UNIX,
				   1 << 16, 0x7fffffff, 0xffffffff, -1,	 -AF_INET};
	struct call call = {"socket", SYS_socket, {0, SOCK_DGRAM, 0}, EAFNOSUPPORT};

	sockets_laid_under = true;
	for (long family = 0; family < 46; family++) {
		bool stays = family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
			     family == AF_NETLINK;

		call.arguments[0] = family;
		check(&call, answer(&call, "off"), EXDEV, "control");
		check(&call, answer(&call, NULL), stays ? EXDEV : EAFNOSUPPORT, "family");
		call.number = SYS_socketpair;
		check(&call, answer(&call, NULL), family == AF_UNIX ? EXDEV : EAFNOSUPPORT,
		      "socketpair");
		call.number = SYS_socket;
	}
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		call.arguments[0] = odd[i];
		check(&call, answer(&call, NULL), EAFNOSUPPORT, "odd family");
	}
	sockets_laid_under = false;
}

/* SMC hides behind AF_INET since Linux 6.11. */
static void test_smc_is_refused_as_a_protocol(void)
{
	struct call call = {"smc", SYS_socket, {AF_INET, SOCK_STREAM, 256}, EPROTONOSUPPORT};

	sockets_laid_under = true;
	for (int i = 0; i < 2; i++) {
		check(&call, answer(&call, NULL), EPROTONOSUPPORT, "protocol");
		check(&call, answer(&call, "smc"), EXDEV, "allowed");
		call.arguments[2] = HIGH | 256;
		check(&call, answer(&call, NULL), EPROTONOSUPPORT, "upper half");
		call.arguments[2] = 262; /* MPTCP, its neighbour */
		check(&call, answer(&call, NULL), EXDEV, "another protocol");
		call.arguments[0] = AF_INET6;
		call.arguments[2] = 256;
	}
	sockets_laid_under = false;
}

static void test_younger_calls_answer_enosys(void)
{
	static struct seccomp_filter filter;
	int status;
	pid_t child = fork();

	if (child == 0) {
		seccomp_filter_build(&filter, NULL, 0);
		if (lay_under(SECCOMP_FILTER_LAST_CALL, 0x3fffffff) != 0 ||
		    syscall(SECCOMP_FILTER_LAST_CALL + 1) != -1 || errno != EXDEV ||
		    seccomp_filter_install(&filter) != 0)
			_exit(1);
		if (syscall(SECCOMP_FILTER_LAST_CALL) != -1 || errno != EXDEV)
			_exit(2);
		if (syscall(SECCOMP_FILTER_LAST_CALL + 1) != -1 || errno != ENOSYS)
			_exit(3);
		if (syscall(0x3fffffff) != -1 || errno != ENOSYS)
			_exit(4);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#ifdef __x86_64__
static long call_32bit(long number)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number)
			 : "memory", "r8", "r9", "r10", "r11");
	return result;
}

static void test_foreign_calls_are_killed(void)
{
	const struct call x32 = {"x32 getpid", 0x40000000L + SYS_getpid, {0}, 0};
	const struct call x32_socket = {
		"x32 socket", 0x40000000L + SYS_socket, {AF_UNIX, SOCK_STREAM}, 0};
	int control, status;
	pid_t child;

	CHECK(answer(&x32, "off") < SIGNALLED);
	check(&x32, answer(&x32, NULL), SIGNALLED + SIGSYS, "x32");
	check(&x32_socket, answer(&x32_socket, NULL), SIGNALLED + SIGSYS, "x32");
	for (int filtered = 0; filtered < 2; filtered++) {
		child = fork();
		if (child == 0) {
			static struct seccomp_filter filter;

			seccomp_filter_build(&filter, NULL, 0);
			if (filtered && seccomp_filter_install(&filter) != 0)
				_exit(254);
			_exit(call_32bit(20) == getpid() ? 7 : 8); /* getpid is 20 there */
		}
		CHECK(waitpid(child, &status, 0) == child);
		control = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
		if (!filtered && control == 8)
			(void)printf("int 0x80: this kernel has no 32-bit calls\n");
		CHECK(control == (filtered ? SIGNALLED + SIGSYS : 7));
	}
}
#endif

static void test_the_whole_list_fits_and_every_call_is_known(void)
{
	static struct seccomp_filter filter;

	seccomp_filter_build(&filter, NULL, 0);
	CHECK(filter.count < sizeof(filter.rules) / sizeof(filter.rules[0]) - 1);
	for (size_t i = 0; i < filter.count; i++)
		CHECK(seccomp_syscall_resolve_name(filter.rules[i].call) != __NR_SCMP_ERROR ||
		      filter.rules[i].number > 0);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		CHECK(seccomp_filter_knows(calls[i].name));
	CHECK(!seccomp_filter_knows("socket"));
	CHECK(!seccomp_filter_knows("inet"));
	CHECK(!seccomp_filter_knows(""));
	CHECK(answer(&calls[0], NULL) != 254);
}

static void test_without_privilege_the_filter_is_not_installed(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		static struct seccomp_filter filter;

		seccomp_filter_build(&filter, NULL, 0);
		if (setresuid(NOBODY, NOBODY, NOBODY) != 0)
			_exit(2);
		_exit(seccomp_filter_install(&filter) == -1 && errno == EACCES ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	RUN(test_the_whole_list_fits_and_every_call_is_known);
	RUN(test_refused_calls_answer_as_documented_and_only_by_the_filter);
	RUN(test_a_name_allows_itself_alone);
	RUN(test_ordinary_calls_answer_as_before);
	RUN(test_every_other_family_is_refused);
	RUN(test_smc_is_refused_as_a_protocol);
	RUN(test_younger_calls_answer_enosys);
#ifdef __x86_64__
	RUN(test_foreign_calls_are_killed);
#endif
	RUN(test_without_privilege_the_filter_is_not_installed);
	return unit_end();
}

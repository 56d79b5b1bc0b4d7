// SPDX-License-Identifier: GPL-2.0-or-later
/* Which namespace it is; see namespace_id.h. */
#include "namespace_id.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "process_threads.h"

enum { PID_MAX = 4194304 }; /* the kernel's PID_MAX_LIMIT (proc_sys_kernel(5)) */

enum namespace_verdict namespace_open(int directory, const char *path, int kind, int *fd)
{
	struct statfs system;
	/* A magic link must be followed; nothing that could stand there instead may block us. */
	autoclose opened = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int found;

	*fd = -1;
	if (opened < 0 || fstatfs(opened, &system) != 0)
		return NAMESPACE_FAILED;
	if (system.f_type != NSFS_MAGIC)
		return NAMESPACE_NOT_ONE;
	found = ioctl(opened, NS_GET_NSTYPE); /* ioctl_ns(2), since Linux 4.11 */
	if (found < 0)
		return NAMESPACE_FAILED;
	if (found != kind)
		return NAMESPACE_OTHER_KIND;
	*fd = take_fd(&opened);
	return NAMESPACE_OK;
}

enum namespace_verdict namespace_open_process(pid_t pid, int *fd)
{
	char path[32] = "/proc/self/ns/net";
	enum namespace_verdict verdict;
	autoclose process = -1;

	if (pid != 0)
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	verdict = namespace_open(AT_FDCWD, path, CLONE_NEWNET, fd);
	if (verdict == NAMESPACE_OK || (verdict == NAMESPACE_FAILED && errno != ENOENT))
		return verdict;
	switch (process_open(pid, &process)) {
	case PROCESS_NOT_PROC:
		return NAMESPACE_NOT_PROC;
	case PROCESS_ABSENT:
		return NAMESPACE_NO_PROCESS;
	case PROCESS_OK: /* proc(5): the entry of a process without a namespace, a zombie */
		return verdict == NAMESPACE_FAILED ? NAMESPACE_ENDED : verdict;
	default:
		return NAMESPACE_FAILED;
	}
}

int namespace_identify(int fd, struct namespace_id *id)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return -1;
	*id = (struct namespace_id){status.st_dev, status.st_ino, 0};
	return 0;
}

/* The cookie of the namespace that the caller sits in. 0, or an errno. */
static int own_cookie(uint64_t *cookie)
{
	socklen_t length = sizeof(*cookie);
	/* Any family will do (socket(7)); this one is there under every seccomp profile. */
	autoclose fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &length) != 0)
		return errno;
	return length == sizeof(*cookie) && *cookie != 0 ? 0 : ENOPROTOOPT;
}

/* What the child that enters a namespace says. */
struct cookie_answer {
	int number; /* errno, 0 if the cookie holds */
	uint64_t cookie;
};

/* The cookie of the namespace behind FD, fetched by a child: the caller stays where it is. */
static int foreign_cookie(int fd, uint64_t *cookie)
{
	struct cookie_answer answer = {EPIPE, 0};
	int ends[2];
	ssize_t n;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		answer.number = setns(fd, CLONE_NEWNET) != 0 ? errno : own_cookie(&answer.cookie);
		n = write(ends[1], &answer, sizeof(answer));
		_exit(n == sizeof(answer) ? 0 : 1);
	}
	cleanup_close(&ends[1]);
	do
		n = child < 0 ? 0 : read(ends[0], &answer, sizeof(answer));
	while (n < 0 && errno == EINTR);
	cleanup_close(&ends[0]);
	if (child < 0)
		return -1;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	errno = n == sizeof(answer) ? answer.number : EPIPE;
	*cookie = answer.cookie;
	return errno == 0 ? 0 : -1;
}

int namespace_cookie(int fd, uint64_t *cookie)
{
	struct namespace_id own, other;
	autoclose self = -1;

	if (namespace_identify(fd, &other) != 0)
		return -1;
	if (namespace_open(AT_FDCWD, "/proc/self/ns/net", CLONE_NEWNET, &self) != NAMESPACE_OK ||
	    namespace_identify(self, &own) != 0 || own.device != other.device ||
	    own.inode != other.inode)
		return foreign_cookie(fd, cookie);
	errno = own_cookie(cookie);
	return errno == 0 ? 0 : -1;
}

/* A decimal number without sign or leading zeros, not 0; its length, or 0 if there is none. */
static size_t parse_number(const char *text, size_t length, uint64_t *number)
{
	size_t n = 0;

	*number = 0;
	for (; n < length && isdigit((unsigned char)text[n]); n++) {
		uint64_t digit = (uint64_t)(text[n] - '0');

		if (*number > (UINT64_MAX - digit) / 10)
			return 0;
		*number = *number * 10 + digit;
	}
	return n > 0 && text[0] != '0' ? n : 0;
}

enum namespace_verdict namespace_parse(const char *text, size_t length, struct namespace_id *id)
{
	static const char prefix[] = "net:[";
	const size_t skip = sizeof(prefix) - 1;
	size_t at = 0, n;

	*id = (struct namespace_id){0};
	if (length < skip || memcmp(text, prefix, skip) != 0) {
		while (at < length && (islower((unsigned char)text[at]) || text[at] == '_'))
			at++;
		return at > 0 && at + 1 < length && text[at] == ':' && text[at + 1] == '['
			       ? NAMESPACE_OTHER_KIND
			       : NAMESPACE_MALFORMED;
	}
	at = skip;
	n = parse_number(text + at, length - at, &id->inode);
	at += n;
	if (n == 0 || at == length || text[at++] != ']')
		return NAMESPACE_MALFORMED;
	if (at == length)
		return NAMESPACE_OK;
	if (text[at++] != ' ')
		return NAMESPACE_MALFORMED;
	n = parse_number(text + at, length - at, &id->cookie);
	return n > 0 && at + n == length ? NAMESPACE_OK : NAMESPACE_MALFORMED;
}

enum namespace_verdict namespace_resolve(const char *operand, struct namespace_handle *handle)
{
	size_t length = strlen(operand);
	enum namespace_verdict verdict;
	uint64_t number;

	*handle = (struct namespace_handle){.fd = -1};
	verdict = namespace_parse(operand, length, &handle->id);
	if (verdict != NAMESPACE_MALFORMED || length == 0 || strncmp(operand, "net:[", 5) == 0)
		return verdict;
	if (strspn(operand, "0123456789") == length) {
		if (parse_number(operand, length, &number) != length || number > PID_MAX)
			return NAMESPACE_MALFORMED;
		verdict = namespace_open_process((pid_t)number, &handle->fd);
	} else {
		verdict = namespace_open(AT_FDCWD, operand, CLONE_NEWNET, &handle->fd);
	}
	if (verdict == NAMESPACE_OK && namespace_identify(handle->fd, &handle->id) != 0) {
		namespace_release(handle);
		return NAMESPACE_FAILED;
	}
	return verdict;
}

const char *namespace_verdict_text(enum namespace_verdict verdict, int number)
{
	switch (verdict) {
	case NAMESPACE_OK:
		return "identified";
	case NAMESPACE_FAILED:
		return strerror(number);
	case NAMESPACE_NOT_ONE:
		return "it is not a namespace";
	case NAMESPACE_OTHER_KIND:
		return "it is a namespace of another kind";
	case NAMESPACE_MALFORMED:
		return "it is neither a process id, a path nor net:[NUMBER]";
	case NAMESPACE_NOT_PROC:
		return process_verdict_text(PROCESS_NOT_PROC);
	case NAMESPACE_NO_PROCESS:
		return process_verdict_text(PROCESS_ABSENT);
	case NAMESPACE_ENDED:
		return process_verdict_text(PROCESS_ENDED);
	}
	return "unknown trouble";
}

enum namespace_same namespace_compare(const struct namespace_id *a, const struct namespace_id *b)
{
	bool numbers = a->inode == b->inode &&
		       (a->device == b->device || a->device == 0 || b->device == 0);

	if (a->cookie != 0 && b->cookie != 0) {
		/* A number may have been reused, so other cookies with one number are no surprise;
		 * one cookie with two numbers is. */
		if (a->cookie != b->cookie)
			return NAMESPACE_DIFFERENT;
		return numbers ? NAMESPACE_SAME : NAMESPACE_CONTRADICTION;
	}
	if (!numbers)
		return NAMESPACE_DIFFERENT;
	return a->cookie == b->cookie || (a->device != 0 && b->device != 0)
		       ? NAMESPACE_SAME
		       : NAMESPACE_NEEDS_COOKIE;
}

void namespace_format(const char *kind, const struct namespace_id *id, char text[NAMESPACE_TEXT])
{
	(void)snprintf(text, NAMESPACE_TEXT, "%s:[%llu]", kind, (unsigned long long)id->inode);
}

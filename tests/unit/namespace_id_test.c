// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of namespace identities: how they are written, compared, and who has power there. */
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>

#include "namespace_id.h"
#include "netns_owner.h"
#include "unit.h"

static enum namespace_verdict parse(const char *text, struct namespace_id *id)
{
	return namespace_parse(text, strlen(text), id);
}

static void test_a_written_identity_is_read(void)
{
	struct namespace_id id;

	CHECK(parse("net:[4026531840]", &id) == NAMESPACE_OK);
	CHECK(id.inode == 4026531840 && id.cookie == 0 && id.device == 0);
	CHECK(parse("net:[1] 18446744073709551615", &id) == NAMESPACE_OK);
	CHECK(id.inode == 1 && id.cookie == UINT64_MAX);
	CHECK(parse("net:[18446744073709551616]", &id) == NAMESPACE_MALFORMED);
	CHECK(parse("user:[1]", &id) == NAMESPACE_OTHER_KIND);
	CHECK(parse("time_for_children:[1]", &id) == NAMESPACE_OTHER_KIND);
	CHECK(parse("4711", &id) == NAMESPACE_MALFORMED);
	CHECK(namespace_parse("net:[1]\0", 8, &id) == NAMESPACE_MALFORMED);
	CHECK(namespace_parse("net:[12]", 6, &id) == NAMESPACE_MALFORMED);
	CHECK(namespace_parse("net:[12]x", 8, &id) == NAMESPACE_OK);
}

#define ID(device, inode, cookie) ((struct namespace_id){device, inode, cookie})

static enum namespace_same compare(struct namespace_id a, struct namespace_id b)
{
	enum namespace_same there = namespace_compare(&a, &b);

	CHECK(namespace_compare(&b, &a) == there);
	return there;
}

static void test_cookies_decide_before_numbers(void)
{
	/* Live ones: device, inode. */
	CHECK(compare(ID(4, 10, 0), ID(4, 10, 0)) == NAMESPACE_SAME);
	CHECK(compare(ID(4, 10, 0), ID(4, 11, 0)) == NAMESPACE_DIFFERENT);
	CHECK(compare(ID(4, 10, 0), ID(5, 10, 0)) == NAMESPACE_DIFFERENT);
	CHECK(compare(ID(4, 10, 7), ID(4, 10, 0)) == NAMESPACE_SAME);
	/* A written one has no device. */
	CHECK(compare(ID(4, 10, 0), ID(0, 10, 0)) == NAMESPACE_SAME);
	CHECK(compare(ID(4, 10, 0), ID(0, 11, 0)) == NAMESPACE_DIFFERENT);
	CHECK(compare(ID(4, 10, 0), ID(0, 10, 7)) == NAMESPACE_NEEDS_COOKIE);
	CHECK(compare(ID(4, 10, 0), ID(0, 11, 7)) == NAMESPACE_DIFFERENT);
	CHECK(compare(ID(4, 10, 7), ID(0, 10, 7)) == NAMESPACE_SAME);
	CHECK(compare(ID(4, 10, 8), ID(0, 10, 7)) == NAMESPACE_DIFFERENT);
	CHECK(compare(ID(4, 10, 7), ID(0, 11, 7)) == NAMESPACE_CONTRADICTION);
	CHECK(compare(ID(0, 10, 7), ID(0, 10, 0)) == NAMESPACE_NEEDS_COOKIE);
}

static void test_what_is_no_network_namespace_is_not_opened(void)
{
	int fd;

	CHECK(namespace_open(AT_FDCWD, "/proc/self/ns/net", CLONE_NEWNET, &fd) == NAMESPACE_OK);
	CHECK(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	CHECK(close(fd) == 0);
	CHECK(namespace_open(AT_FDCWD, "/proc/self/ns/mnt", CLONE_NEWNET, &fd) ==
	      NAMESPACE_OTHER_KIND);
	CHECK(fd == -1);
	CHECK(namespace_open(AT_FDCWD, "/proc/self/status", CLONE_NEWNET, &fd) ==
	      NAMESPACE_NOT_ONE);
	CHECK(fd == -1);
	CHECK(namespace_open(AT_FDCWD, "/proc/self/ns/none", CLONE_NEWNET, &fd) ==
	      NAMESPACE_FAILED);
	CHECK(fd == -1);
}

/* What a child in a user namespace of its own says of the handles it brought along. */
static enum netns_owner_verdict judge_from_below(int netns, int userns)
{
	struct netns_owner owner;
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER) != 0 ? 111
						  : (int)netns_owner_judge(netns, userns, &owner));
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return NETNS_OWNER_FAILED;
	return WEXITSTATUS(status) == 111 ? NETNS_OWNER_FAILED
					  : (enum netns_owner_verdict)WEXITSTATUS(status);
}

static void test_a_process_above_cannot_be_judged_from_below(void)
{
	struct netns_owner owner;
	int netns, userns;

	CHECK(namespace_open(AT_FDCWD, "/proc/self/ns/net", CLONE_NEWNET, &netns) == NAMESPACE_OK);
	CHECK(namespace_open(AT_FDCWD, "/proc/self/ns/user", CLONE_NEWUSER, &userns) ==
	      NAMESPACE_OK);
	/* From its own place it can: what it has there, its sets say. */
	CHECK(netns_owner_judge(netns, userns, &owner) == NETNS_OWNER_NOT_ABOVE);
	/* From below not, though the kernel says EPERM of the owner as if all were well. */
	CHECK(judge_from_below(netns, userns) == NETNS_OWNER_HIDDEN);
	(void)close(netns);
	(void)close(userns);
}

static void test_handles_that_are_none_cannot_be_judged(void)
{
	struct netns_owner owner;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), userns;

	CHECK(namespace_open(AT_FDCWD, "/proc/self/ns/user", CLONE_NEWUSER, &userns) ==
	      NAMESPACE_OK);
	CHECK(netns_owner_judge(null, userns, &owner) == NETNS_OWNER_FAILED);
	CHECK(netns_owner_judge(-1, -1, &owner) == NETNS_OWNER_FAILED);
	(void)close(null);
	(void)close(userns);
}

int main(void)
{
	RUN(test_a_written_identity_is_read);
	RUN(test_cookies_decide_before_numbers);
	RUN(test_what_is_no_network_namespace_is_not_opened);
	RUN(test_a_process_above_cannot_be_judged_from_below);
	RUN(test_handles_that_are_none_cannot_be_judged);
	return unit_end();
}

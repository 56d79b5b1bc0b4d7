// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libnftables in a child process; see nft_session.h.
 *
 * Theory of operation. Before: nothing is needed but that SIGCHLD is not ignored. The child gives
 * up what it does not need, runs the commands and writes a result into an anonymous file that both
 * processes hold: texts first, the header that makes them valid last. The parent believes a child
 * only if it exited with 0 *and* left that header. After: the kernel took the transaction wholly
 * or not at all, whatever became of the child; one killed in the middle (it also dies with its
 * parent) leaves the ruleset as it was, or as it was to become.
 */
#include "nft_session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <nftables/libnftables.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <nss.h>
#endif

#include "cleanup.h"
#include "text.h"

static const uint64_t valid = 0x63656c6c2d6e6674; /* "cell-nft": the header is complete */

struct header {
	uint64_t magic;
	int32_t apply, list; /* what the library returned; 0 is success */
	uint64_t output_length, errors_length;
};

/* No capability but NET_ADMIN, no new ones, no core file, an end: what the library needs. */
static int give_up(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	struct rlimit none = {0, 0};
	sigset_t alarms;

	if (syscall(SYS_capget, &header, data) != 0)
		return -1;
	data[0].effective &= 1U << CAP_NET_ADMIN;
	data[0].permitted &= 1U << CAP_NET_ADMIN;
	data[0].inheritable = data[1].effective = data[1].permitted = data[1].inheritable = 0;
	if (syscall(SYS_capset, &header, data) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||
	    setrlimit(RLIMIT_CORE, &none) != 0)
		return -1;
	/* An ignored or blocked SIGALRM is inherited from whoever started us. */
	(void)sigemptyset(&alarms);
	(void)sigaddset(&alarms, SIGALRM);
	(void)signal(SIGALRM, SIG_DFL);
	(void)sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	(void)alarm(NFT_SESSION_SECONDS);
	return 0;
}

/*
 * libnftables asks getpwnam(3) for a user of the name "4294967295" before it takes that for a
 * number. Where the files are an image's, there may be one, and an nscd to talk to. No name is a
 * user's here: the C library's dns service, which is built in, knows no users. (musl has no such
 * switch; it compiles this, but no tool is built with it.)
 */
static void forget_users(void)
{
#ifdef __GLIBC__
	(void)__nss_configure_lookup("passwd", "dns");
#endif
}

/* Standard output and error become TEXT, the result RESULT's number 3; nothing else stays open. */
static int keep_descriptors(int result, int text)
{
	/* Moved out of the way first: either may have a low number. */
	int high_result = fcntl(result, F_DUPFD, 16), high_text = fcntl(text, F_DUPFD, 16);

	if (high_result < 0 || high_text < 0 || dup2(high_text, 1) < 0 || dup2(high_text, 2) < 0 ||
	    dup2(high_result, 3) < 0)
		return -1;
	(void)close(0);
	/* close_range(2) is missing before 5.9 and under old seccomp profiles. */
	if (syscall(SYS_close_range, 4U, ~0U, 0U) != 0)
		for (int fd = 4; fd < 4096; fd++)
			(void)close(fd);
	return 3;
}

static int write_all(int fd, const void *bytes, size_t length, off_t offset)
{
	while (length > 0) {
		ssize_t n = pwrite(fd, bytes, length, offset);

		if (n <= 0)
			return -1;
		bytes = (const char *)bytes + n;
		offset += n;
		length -= (size_t)n;
	}
	return 0;
}

/* The child: never returns. Exit code 0 only with a complete result; 1 is "no result". */
static void child(int result, int text, const char *apply, const char *list, bool json)
{
	struct header header = {.apply = -1, .list = -1};
	const char *output = "", *errors;
	struct nft_ctx *context;
	int fd = keep_descriptors(result, text);
	unsigned int flags = json ? NFT_CTX_OUTPUT_NUMERIC_ALL | NFT_CTX_OUTPUT_JSON
				  : NFT_CTX_OUTPUT_NUMERIC_PRIO | NFT_CTX_OUTPUT_NUMERIC_PROTO;

	if (fd < 0 || give_up() != 0) {
		(void)dprintf(2, "Error: cannot give up privileges: %s\n", strerror(errno));
		_exit(1);
	}
	forget_users();
	context = nft_ctx_new(NFT_CTX_DEFAULT);
	if (context == NULL || nft_ctx_buffer_error(context) != 0 ||
	    nft_ctx_buffer_output(context) != 0)
		_exit(1);
	header.apply = apply == NULL ? 0 : nft_run_cmd_from_buffer(context, apply);
	if (header.apply == 0 && list != NULL) {
		nft_ctx_output_set_flags(context, flags);
		header.list = nft_run_cmd_from_buffer(context, list);
		output = nft_ctx_get_output_buffer(context);
	} else if (header.apply == 0) {
		header.list = 0;
	}
	errors = nft_ctx_get_error_buffer(context);
	header.output_length = strlen(output);
	header.errors_length = strlen(errors);
	if (write_all(fd, output, header.output_length, sizeof(header)) != 0 ||
	    write_all(fd, errors, header.errors_length,
		      (off_t)(sizeof(header) + header.output_length)) != 0)
		_exit(1);
	header.magic = valid;
	_exit(write_all(fd, &header, sizeof(header), 0) == 0 ? 0 : 1);
}

/* LENGTH bytes at OFFSET of FD with a NUL behind them, malloc'd; NULL with errno. */
static char *read_text(int fd, size_t length, off_t offset)
{
	autofree char *text = malloc(length + 1);

	for (size_t done = 0; text != NULL && done < length;) {
		ssize_t n = pread(fd, text + done, length - done, offset + (off_t)done);

		if (n <= 0)
			return errno = n == 0 ? EIO : errno, NULL;
		done += (size_t)n;
	}
	if (text != NULL)
		text[length] = '\0';
	return take_pointer(text);
}

char *nft_session_complaint(const char *text, int *number)
{
	static const int known[] = {EPERM,	ENOENT, EEXIST,	      EBUSY,  EINVAL,
				    EOPNOTSUPP, ENOMEM, ENOBUFS,      EAGAIN, EPROTONOSUPPORT,
				    EACCES,	ENOSPC, EAFNOSUPPORT, ENFILE, EMFILE,
				    EMSGSIZE,	EINTR};
	const char *start = strstr(text, "Error: "), *end, *source;
	autofree char *line = NULL;

	*number = 0;
	start = start != NULL ? start + strlen("Error: ") : text;
	end = start + strcspn(start, "\n");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *words = strerror(known[i]);
		size_t length = strlen(words);

		if ((size_t)(end - start) >= length && memcmp(end - length, words, length) == 0)
			*number = known[i];
	}
	/* The next line is the command it complains of, underlined by the one behind it. */
	source = *end == '\n' ? end + 1 + strspn(end + 1, " \t") : end;
	if (*source == '\0') {
		line = strndup(start, (size_t)(end - start));
	} else if (asprintf(&line, "%.*s in \"%.*s\"", (int)(end - start), start,
			    (int)strcspn(source, "\n"), source) < 0) {
		line = NULL;
	}
	return line == NULL ? NULL : text_to_line(line, strlen(line));
}

/* What was said becomes one line: the library's own words, or what it printed directly. */
static void take_words(struct nft_result *r, const char *words)
{
	int number;

	if (words == NULL)
		return;
	r->errors = nft_session_complaint(words, &number);
	if (r->outcome == NFT_REFUSED)
		r->number = number;
}

/* Judges how the child ended and takes over what it left. */
static void judge(int result, int text, int status, struct nft_result *r)
{
	struct header header = {0};
	char *printed, *errors = NULL;
	off_t length = lseek(text, 0, SEEK_END);

	printed = read_text(text, length > 0 ? (size_t)length : 0, 0);
	if (WIFSIGNALED(status)) {
		r->outcome = WTERMSIG(status) == SIGALRM ? NFT_TIMED_OUT : NFT_CRASHED;
		r->number = WTERMSIG(status);
	} else if (WEXITSTATUS(status) != 0 ||
		   pread(result, &header, sizeof(header), 0) != sizeof(header) ||
		   header.magic != valid) {
		r->outcome = NFT_ENDED;
		r->number = WEXITSTATUS(status);
	} else {
		errors = read_text(result, header.errors_length,
				   (off_t)(sizeof(header) + header.output_length));
		r->outcome = header.apply == 0 && header.list == 0 ? NFT_DONE : NFT_REFUSED;
		r->applied = header.apply == 0;
		r->output_length = header.output_length;
		if (r->outcome == NFT_DONE)
			r->output = read_text(result, header.output_length, sizeof(header));
		if (errors == NULL || (r->outcome == NFT_DONE && r->output == NULL)) {
			r->outcome = NFT_FAILED;
			r->number = errno;
		}
	}
	take_words(r, errors != NULL && *errors != '\0' ? errors : printed);
	free(errors);
	free(printed);
}

void nft_session_run(const char *apply, const char *list, bool json, struct nft_result *result)
{
	autoclose outcome = memfd_create("result", MFD_CLOEXEC);
	autoclose text = memfd_create("text", MFD_CLOEXEC);
	int status;
	pid_t pid;

	memset(result, 0, sizeof(*result));
	result->outcome = NFT_FAILED;
	if (outcome < 0 || text < 0 || (pid = fork()) < 0) {
		result->number = errno;
		return;
	}
	if (pid == 0)
		child(outcome, text, apply, list, json);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			result->number = errno;
			return;
		}
	judge(outcome, text, status, result);
}

void nft_result_release(struct nft_result *result)
{
	free(result->output);
	free(result->errors);
	result->output = result->errors = NULL;
}

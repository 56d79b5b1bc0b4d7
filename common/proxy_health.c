// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether what is published can be used; see proxy_health.h. */
#include "proxy_health.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "interface_address.h"
#include "published.h"
#include "published_dir.h"
#include "shared_file.h"
#include "state_dir.h"

static enum proxy_health say(struct proxy_health_answer *answer, enum proxy_health health,
			     const char *format, ...) __attribute__((format(printf, 3, 4)));
static enum proxy_health say(struct proxy_health_answer *answer, enum proxy_health health,
			     const char *format, ...)
{
	va_list list;

	answer->number = health == PROXY_UNKNOWN ? errno : 0;
	va_start(list, format);
	(void)vsnprintf(answer->reason, sizeof(answer->reason), format, list);
	va_end(list);
	return health;
}

/* Every user of the cell must be able to read it, also one without any capability. */
static enum proxy_health ask_mode(int directory, const char *name, mode_t wanted,
				  struct proxy_health_answer *answer)
{
	struct stat status;

	if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return say(answer, PROXY_UNKNOWN, "cannot look at %s", name);
	if ((status.st_mode & wanted) != wanted)
		return say(answer, PROXY_UNHEALTHY, "%s has mode %04o: not everybody can read it",
			   strcmp(name, ".") == 0 ? "the directory" : name,
			   (unsigned)status.st_mode & 07777);
	return PROXY_HEALTHY;
}

static enum proxy_health read_certificate(int directory, const char *name, bool with_key,
					  time_t now, struct certificate *certificate,
					  struct proxy_health_answer *answer)
{
	struct shared_file file;
	enum shared_file_verdict verdict = shared_file_read(directory, name, &file);
	enum certificate_verdict judged;
	autofree char *why = NULL;

	if (verdict == SHARED_FILE_FAILED && errno == ENOENT)
		return say(answer, PROXY_UNHEALTHY, "%s is not there", name);
	if (verdict != SHARED_FILE_OK)
		return say(answer,
			   verdict == SHARED_FILE_FAILED && errno != EACCES && errno != ELOOP
				   ? PROXY_UNKNOWN
				   : PROXY_UNHEALTHY,
			   "cannot read %s: %s", name, shared_file_verdict_text(verdict, errno));
	judged = certificate_read(file.bytes, file.length, with_key, now, certificate);
	explicit_bzero(&file, sizeof(file)); /* it may have been the private key */
	if (judged == CERTIFICATE_OK)
		return PROXY_HEALTHY;
	if (judged == CERTIFICATE_NO_MEMORY) {
		errno = ENOMEM;
		return say(answer, PROXY_UNKNOWN, "cannot read %s", name);
	}
	why = certificate_verdict_text(judged, certificate, now);
	return say(answer, PROXY_UNHEALTHY, "%s cannot be used: %s", name,
		   why != NULL ? why : "out of memory");
}

static enum proxy_health ask_certificate(const struct proxy_health_question *question,
					 int directory, int state,
					 struct proxy_health_answer *answer)
{
	struct certificate ours = {0};
	enum proxy_health health;
	char secret[256];

	health = read_certificate(directory, PUBLISHED_CERTIFICATE, false, question->now,
				  &answer->certificate, answer);
	if (health == PROXY_HEALTHY)
		health = ask_mode(directory, PUBLISHED_CERTIFICATE, 0444, answer);
	if (health != PROXY_HEALTHY)
		return health;
	if (state >= 0) {
		health = read_certificate(state, STATE_AUTHORITY, true, question->now, &ours,
					  answer);
		if (health == PROXY_HEALTHY && strcmp(ours.sha256, answer->certificate.sha256) != 0)
			health =
				say(answer, PROXY_UNHEALTHY,
				    "%s is another run's: sha256 %.16s..., the private key's "
				    "certificate is %.16s...",
				    PUBLISHED_CERTIFICATE, answer->certificate.sha256, ours.sha256);
		certificate_release(&ours);
		if (health != PROXY_HEALTHY)
			return health;
	}
	if (published_dir_survey(directory, answer->unlisted, secret) != 0)
		return say(answer, PROXY_UNKNOWN, "cannot list the published directory");
	if (secret[0] != '\0')
		return say(answer, PROXY_UNHEALTHY, "%s lies in the published directory: a secret",
			   secret);
	return PROXY_HEALTHY;
}

static enum proxy_health ask_address(int directory, struct proxy_health_answer *answer)
{
	struct interface_address_list list;
	struct published_fault fault;
	char shown[INET_ADDRSTRLEN];
	enum proxy_health health;
	bool ours;

	if (published_address_read(directory, PUBLISHED_ADDRESS, &answer->address, &fault) != 0)
		return say(answer,
			   fault.number != 0 && !fault.missing && fault.number != EACCES &&
					   fault.number != ELOOP
				   ? PROXY_UNKNOWN
				   : PROXY_UNHEALTHY,
			   "cannot use %s: %s", PUBLISHED_ADDRESS, fault.reason);
	answer->address_known = true;
	health = ask_mode(directory, PUBLISHED_ADDRESS, 0444, answer);
	if (health != PROXY_HEALTHY)
		return health;
	if (interface_address_read(&list) != 0)
		return say(answer, PROXY_UNKNOWN, "cannot list the addresses of this host");
	ours = interface_address_is_ours(&list, answer->address);
	interface_address_release(&list);
	if (ours)
		return PROXY_HEALTHY;
	(void)inet_ntop(AF_INET, &answer->address, shown, sizeof(shown));
	return say(answer, PROXY_UNHEALTHY, "%s is stale: %s is not an address of this host",
		   PUBLISHED_ADDRESS, shown);
}

static int64_t now_in_nanoseconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Waits until the connection is made, failed, or DEADLINE. 0, or -1 with errno. */
static int wait_for_connection(int fd, int64_t deadline)
{
	struct pollfd waiting = {fd, POLLOUT, 0};
	socklen_t length = sizeof(int);
	int error = 0;

	for (;;) {
		int64_t left = deadline - now_in_nanoseconds();
		struct timespec limit = {left / 1000000000, left % 1000000000};
		int n;

		if (left <= 0) {
			errno = ETIMEDOUT;
			return -1;
		}
		n = ppoll(&waiting, 1, &limit, NULL);
		if (n > 0)
			break;
		if (n < 0 && errno != EINTR)
			return -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
		return -1;
	errno = error;
	return error == 0 ? 0 : -1;
}

/* connect(2) to one's own free port can meet itself (simultaneous open): nobody listens there. */
static bool met_itself(int fd, const struct sockaddr_in *to)
{
	struct sockaddr_in from = {0};
	socklen_t length = sizeof(from);

	return getsockname(fd, (struct sockaddr *)&from, &length) == 0 &&
	       from.sin_port == to->sin_port && from.sin_addr.s_addr == to->sin_addr.s_addr;
}

/* At the published address: a proxy that listens on 127.0.0.1 alone helps nobody. */
static enum proxy_health ask_port(const struct proxy_health_question *question,
				  struct proxy_health_answer *answer)
{
	const struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(question->port),
		.sin_addr = answer->address,
	};
	int64_t deadline = now_in_nanoseconds() + question->timeout;
	char shown[INET_ADDRSTRLEN];
	autoclose fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return say(answer, PROXY_UNKNOWN, "cannot make a socket");
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 ||
	    (errno == EINPROGRESS && wait_for_connection(fd, deadline) == 0)) {
		if (!met_itself(fd, &to))
			return PROXY_HEALTHY;
		errno = ECONNREFUSED;
	}
	(void)inet_ntop(AF_INET, &answer->address, shown, sizeof(shown));
	return say(answer, PROXY_UNHEALTHY, "nothing accepts at %s port %u: %s", shown,
		   question->port, strerror(errno));
}

/* -1 in FD if PATH is not there; that is a no, anything else is not an answer. */
static enum proxy_health open_dir(const char *path, int *fd, struct proxy_health_answer *answer)
{
	*fd = published_dir_open(path);
	if (*fd >= 0)
		return PROXY_HEALTHY;
	if (errno == ENOENT)
		return say(answer, PROXY_UNHEALTHY, "there is no directory %s", path);
	return say(answer, PROXY_UNKNOWN, "cannot open directory %s", path);
}

/* The state directory, or -1 where it was not named and the key in it can't be seen from here. */
static enum proxy_health open_state(const struct proxy_health_question *question, int *state,
				    struct proxy_health_answer *answer)
{
	enum proxy_health health = open_dir(question->state, state, answer);

	if (question->state_is_named)
		return health;
	if (*state >= 0 && faccessat(*state, STATE_AUTHORITY, R_OK, AT_EACCESS) != 0)
		(void)close(take_fd(state));
	return PROXY_HEALTHY;
}

enum proxy_health proxy_health_ask(const struct proxy_health_question *question,
				   struct proxy_health_answer *answer)
{
	autoclose directory = -1, state = -1;
	enum proxy_health health = open_dir(question->dir, &directory, answer);

	if (health == PROXY_HEALTHY)
		health = open_state(question, &state, answer);
	if (health != PROXY_HEALTHY)
		return health;
	answer->is_mount = published_file_is_mount(directory, PUBLISHED_ADDRESS) ||
			   published_file_is_mount(directory, PUBLISHED_CERTIFICATE);
	health = ask_mode(directory, ".", 0555, answer);
	if (health == PROXY_HEALTHY)
		health = ask_address(directory, answer);
	if (health == PROXY_HEALTHY)
		health = ask_certificate(question, directory, state, answer);
	if (health == PROXY_HEALTHY && question->connect)
		health = ask_port(question, answer);
	return health;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cell-watch: writes down what never reached the proxy.
 *
 * Theory of operation. The policy counts every packet that it refuses in a named counter and hands
 * a copy to an NFLOG group; this is the group's one reader. Counters are exact, copies are not: the
 * kernel drops them when the reader is slow, and the log is bounded. So nothing here is proven by
 * the records: each total is the counter's, and what has no record is counted as lost. Before:
 * CAP_NET_ADMIN in the cell's network namespace, nobody else on the group. After "ready": every
 * refused packet is recorded or counted. A kill leaves whole lines without a summary, and a group
 * that the kernel has given back; packets are refused all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "report.h"
#include "settings.h"
#include "watch_follow.h"
#include "watch_session.h"

static const char usage[] =
	"usage: cell-watch [--group N] [--table NAME] [--log FILE] [--max-bytes N] [--max-rate N]\n"
	"                  [--ready-fd N]\n"
	"       cell-watch --follow FILE\n"
	"Records the packets that the cell's policy refuses, until SIGTERM.\n"
	"  --group N      the NFLOG group (CELL_LOG_GROUP, 5)\n"
	"  --table NAME   the policy's table (CELL_TABLE, cell_egress)\n"
	"  --log FILE     append to FILE (standard output)\n"
	"  --max-bytes N  stop recording packets as the log nears N bytes (16777216)\n"
	"  --max-rate N   record at most N packets a second (1000)\n"
	"  --ready-fd N   write a newline to descriptor N once the group is bound\n"
	"  --follow FILE  print the records of FILE for people, as they come\n"
	"  --json         the closing report as a record\n"
	"  --quiet        nothing on standard error\n"
	"  --help         this text\n"
	"  --version      the version\n";

enum {
	OPT_GROUP = ARGUMENTS_FIRST,
	OPT_TABLE,
	OPT_LOG,
	OPT_MAX_BYTES,
	OPT_MAX_RATE,
	OPT_READY_FD,
	OPT_FOLLOW,
};

static const struct option options[] = {{"group", required_argument, NULL, OPT_GROUP},
					{"table", required_argument, NULL, OPT_TABLE},
					{"log", required_argument, NULL, OPT_LOG},
					{"max-bytes", required_argument, NULL, OPT_MAX_BYTES},
					{"max-rate", required_argument, NULL, OPT_MAX_RATE},
					{"ready-fd", required_argument, NULL, OPT_READY_FD},
					{"follow", required_argument, NULL, OPT_FOLLOW},
					ARGUMENTS_COMMON};

enum { DATAGRAMS_AT_ONCE = 64 }; /* then signals have their turn */

static int64_t monotonic_second(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* Watches from here on, and says so on descriptor READY unless that is -1. */
static void begin(struct watch_session *session, int ready)
{
	struct fault fault;

	session->recorder.now = monotonic_second();
	if (watch_session_begin(session, &fault) != 0)
		die_fault(&fault);
	if (ready >= 0 && (write(ready, "\n", 1) != 1 || close(ready) != 0))
		die_errno(CELL_SYSTEM, "cannot write to descriptor %d", ready);
}

/* Until one of SIGNALS asks for the end. */
static void keep_watch(struct watch_session *session, int signals)
{
	struct watch_recorder *recorder = &session->recorder;
	struct pollfd polls[] = {{signals, POLLIN, 0},
				 {mnl_socket_get_fd(recorder->packets), POLLIN, 0},
				 {mnl_socket_get_fd(session->changes), POLLIN, 0}};
	bool said = false;

	while ((polls[0].revents & POLLIN) == 0) {
		int64_t wait = recorder->left_out ? recorder->totals_at - recorder->now : -1;

		if (poll(polls, 3, wait < 0 ? -1 : (int)wait * 1000) < 0 && errno != EINTR)
			die_errno(CELL_SYSTEM, "cannot wait for packets");
		recorder->now = monotonic_second();
		if (watch_recorder_turn(recorder, session->changes, DATAGRAMS_AT_ONCE) != 0)
			die_errno(CELL_SYSTEM, "cannot read refused packets");
		/* Said at once, since the end may be hours away. */
		if (recorder->write_error != 0 && !said)
			warn("cannot write %s: %s; refused packets are still counted",
			     watch_session_log(session), strerror(recorder->write_error));
		said = recorder->write_error != 0;
	}
}

static noreturn void end(struct watch_session *session)
{
	struct fault fault;
	json_t *fields;

	if (watch_session_end(session, &fields, &fault) != 0)
		die_fault(&fault);
	if (session->path == NULL)
		report_close(CELL_OK);
	report_answer("%s", session->recorder.truncated ? "bounded" : "complete");
	report_fields(fields);
	report_finish(CELL_OK);
}

/* Prints FILE for people until its summary has come. */
static noreturn void follow(const char *path)
{
	struct watch_follow follow = {.file = fopen(path, "re")};
	char *line;

	if (follow.file == NULL)
		die_errno(CELL_SYSTEM, "cannot open %s", path);
	while ((line = watch_follow_next(&follow)) != NULL) {
		if (printf("%s\n", line) < 0 || fflush(stdout) != 0)
			break;
		free(line);
	}
	if (line == NULL && !follow.ended)
		die_errno(CELL_SYSTEM, "cannot read %s", path);
	report_close(CELL_OK);
}

/* Blocks the signals that end the watch before anything is open, so that none is lost. */
static int take_signals(void)
{
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	/* A file size limit is an error to report (EFBIG), like a full disk. */
	(void)signal(SIGXFSZ, SIG_IGN);
	fd = sigprocmask(SIG_BLOCK, &set, NULL) != 0
		     ? -1
		     : signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		die_errno(CELL_SYSTEM, "cannot take over signals");
	return fd;
}

static int open_descriptor(const char *text)
{
	int fd = (int)arguments_number("--ready-fd", text, 3, INT_MAX);

	if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		die_errno(CELL_USAGE, "cannot use descriptor %d", fd);
	return fd;
}

int main(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, NULL, false};
	struct watch_session session = {0};
	const char *group = NULL, *table = NULL, *followed = NULL;
	int option, signals, ready = -1, given = 0;

	report_begin("cell-watch");
	arguments_begin(&arguments);
	session.recorder.log =
		(struct watch_log){.fd = -1, .max_bytes = 16 << 20, .max_rate = 1000};
	for (; (option = arguments_next(&arguments)) != -1; given++)
		switch (option) {
		case OPT_GROUP:
			group = optarg;
			break;
		case OPT_TABLE:
			table = optarg;
			break;
		case OPT_LOG:
			session.path = optarg;
			break;
		case OPT_MAX_BYTES:
			session.recorder.log.max_bytes =
				arguments_number("--max-bytes", optarg, 65536, INT64_MAX);
			break;
		case OPT_MAX_RATE:
			session.recorder.log.max_rate =
				arguments_number("--max-rate", optarg, 1, INT64_MAX);
			break;
		case OPT_READY_FD:
			ready = open_descriptor(optarg);
			break;
		case OPT_FOLLOW:
			followed = optarg;
			break;
		}
	if (optind != argc)
		die(CELL_USAGE, "unexpected operand %s", argv[optind]);
	if (followed != NULL && (given > 1 || report_is_json()))
		die(CELL_USAGE, "option --follow goes with no other");
	if (followed != NULL)
		follow(followed);
	session.group =
		(uint16_t)arguments_number("log group", settings_log_group(group), 0, UINT16_MAX);
	session.recorder.table = settings_table(table);
	signals = take_signals();
	begin(&session, ready);
	keep_watch(&session, signals);
	end(&session);
}

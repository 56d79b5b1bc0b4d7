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
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "namespace_id.h"
#include "report.h"
#include "watch_confine.h"
#include "watch_follow.h"
#include "watch_recorder.h"

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

struct watch {
	uint16_t group;
	const char *path; /* NULL: standard output */
	int ready_fd, signals;
	uint64_t cookie; /* of the network namespace; 0: this kernel has none */
	struct mnl_socket *changes;
	struct watch_recorder recorder;
};

static const char *log_name(const struct watch *watch)
{
	return watch->path != NULL ? watch->path : "standard output";
}

static int64_t monotonic_second(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/* A kernel without netlink or nfnetlink; nfnetlink answers EINVAL for a subsystem that it lacks. */
static enum cell_exit code_of(int number)
{
	return number == EAFNOSUPPORT || number == EPROTONOSUPPORT || number == EINVAL
		       ? CELL_UNSUPPORTED
		       : CELL_SYSTEM;
}

/* Opens what is asked and heard of the ruleset, and then the group. */
static void open_sockets(struct watch *watch)
{
	struct watch_recorder *recorder = &watch->recorder;
	socklen_t length = sizeof(watch->cookie);

	recorder->tables = watch_tables_open();
	if (recorder->tables == NULL)
		die_errno(code_of(errno), "cannot open a netlink socket");
	watch->changes = watch_changes_open();
	if (watch->changes == NULL ||
	    watch_tables_generation(recorder->tables, &recorder->tally.first_generation) != 0) {
		if (errno == EPERM)
			die_errno(CELL_SYSTEM, "cannot watch the ruleset without CAP_NET_ADMIN in "
					       "this network namespace");
		die_errno(code_of(errno), "cannot watch the ruleset");
	}
	recorder->tally.heard_generation = recorder->tally.first_generation;
	if (watch_recorder_count(recorder) != 0)
		die_errno(CELL_SYSTEM, "cannot read the counters of table %s", recorder->table);
	recorder->packets = watch_group_open(watch->group);
	if (recorder->packets == NULL && (errno == EPERM || errno == EBUSY))
		die(CELL_SYSTEM, "cannot bind log group %u: it already has a reader", watch->group);
	if (recorder->packets == NULL)
		die_errno(code_of(errno), "cannot bind log group %u", watch->group);
	/* socket(7), Linux 5.14: older ones leave it 0. */
	(void)getsockopt(mnl_socket_get_fd(recorder->packets), SOL_SOCKET, SO_NETNS_COOKIE,
			 &watch->cookie, &length);
}

/* What is watched, with which bounds, and what had been counted before. */
static json_t *make_start(const struct watch *watch)
{
	const struct watch_recorder *recorder = &watch->recorder;
	json_t *fields =
		json_pack("{s:i, s:s, s:I, s:I, s:o}", "group", watch->group, "table",
			  recorder->table, "max_bytes", (json_int_t)recorder->log.max_bytes,
			  "max_rate", (json_int_t)recorder->log.max_rate, "cookie",
			  watch->cookie != 0 ? report_decimal(watch->cookie) : json_null());
	if (json_object_update_new(fields, watch_record_tally(&recorder->tally)) == 0)
		return fields;
	json_decref(fields);
	return NULL;
}

/* Everything is opened before anything is given up, and the log last: an error leaves no file. */
static void begin(struct watch *watch)
{
	struct watch_recorder *recorder = &watch->recorder;
	const char *step;

	recorder->now = monotonic_second();
	open_sockets(watch);
	if (watch_log_open(&recorder->log, watch->path) != 0)
		die_errno(CELL_SYSTEM, "cannot open %s", log_name(watch));
	if (watch_confine(&step) != 0)
		die_errno(CELL_SYSTEM, "cannot %s", step);
	if (watch_recorder_write(recorder, WATCH_LOG_CLOSING, "start", CELL_OK,
				 make_start(watch)) != WATCH_LOG_WRITTEN)
		die_errno(CELL_SYSTEM, "cannot write %s", log_name(watch));
	if (watch->ready_fd >= 0 &&
	    (write(watch->ready_fd, "\n", 1) != 1 || close(watch->ready_fd) != 0))
		die_errno(CELL_SYSTEM, "cannot write to descriptor %d", watch->ready_fd);
}

/* Until a signal asks for the end. */
static void keep_watch(struct watch *watch)
{
	struct watch_recorder *recorder = &watch->recorder;
	struct pollfd polls[] = {{watch->signals, POLLIN, 0},
				 {mnl_socket_get_fd(recorder->packets), POLLIN, 0},
				 {mnl_socket_get_fd(watch->changes), POLLIN, 0}};
	bool said = false;

	while ((polls[0].revents & POLLIN) == 0) {
		int64_t wait = recorder->left_out ? recorder->totals_at - recorder->now : -1;

		if (poll(polls, 3, wait < 0 ? -1 : (int)wait * 1000) < 0 && errno != EINTR)
			die_errno(CELL_SYSTEM, "cannot wait for packets");
		recorder->now = monotonic_second();
		if (watch_recorder_turn(recorder, watch->changes, DATAGRAMS_AT_ONCE) != 0)
			die_errno(CELL_SYSTEM, "cannot read refused packets");
		/* Said at once, since the end may be hours away. */
		if (recorder->write_error != 0 && !said)
			warn("cannot write %s: %s; refused packets are still counted",
			     log_name(watch), strerror(recorder->write_error));
		said = recorder->write_error != 0;
	}
}

/* Takes what the kernel still holds, counts, closes the log and answers. */
static noreturn void end(struct watch *watch)
{
	struct watch_recorder *recorder = &watch->recorder;
	json_t *fields, *value;
	const char *key;

	if (watch_group_unbind(recorder->packets, watch->group) != 0 ||
	    watch_recorder_turn(recorder, watch->changes, UINT_MAX) != 0 ||
	    watch_recorder_count(recorder) != 0)
		die_errno(CELL_SYSTEM, "cannot take the last counts");
	fields = json_pack("{s:i, s:b}", "group", watch->group, "truncated", recorder->truncated);
	if (json_object_update_new(fields, watch_record_tally(&recorder->tally)) != 0 ||
	    watch_recorder_write(recorder, WATCH_LOG_CLOSING, "summary",
				 recorder->write_error == 0 ? CELL_OK : CELL_SYSTEM,
				 json_incref(fields)) != WATCH_LOG_WRITTEN ||
	    watch_log_sync(&recorder->log) != 0)
		die_errno(CELL_SYSTEM, "cannot write %s", log_name(watch));
	if (recorder->write_error != 0) {
		errno = recorder->write_error;
		die_errno(CELL_SYSTEM, "cannot write all of %s", log_name(watch));
	}
	if (watch->path == NULL)
		report_close(CELL_OK);
	report_answer("%s", recorder->truncated ? "bounded" : "complete");
	json_object_foreach (fields, key, value) {
		report_field(key, json_incref(value));
	}
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
	struct watch watch = {.ready_fd = -1};
	const char *group = NULL, *table = NULL, *followed = NULL;
	int option, given = 0;

	report_begin("cell-watch");
	arguments_begin(&arguments);
	watch.recorder.log = (struct watch_log){.fd = -1, .max_bytes = 16 << 20, .max_rate = 1000};
	for (; (option = arguments_next(&arguments)) != -1; given++)
		switch (option) {
		case OPT_GROUP:
			group = optarg;
			break;
		case OPT_TABLE:
			table = optarg;
			break;
		case OPT_LOG:
			watch.path = optarg;
			break;
		case OPT_MAX_BYTES:
			watch.recorder.log.max_bytes =
				arguments_number("--max-bytes", optarg, 65536, INT64_MAX);
			break;
		case OPT_MAX_RATE:
			watch.recorder.log.max_rate =
				arguments_number("--max-rate", optarg, 1, INT64_MAX);
			break;
		case OPT_READY_FD:
			watch.ready_fd = open_descriptor(optarg);
			break;
		case OPT_FOLLOW:
			followed = optarg;
			break;
		}
	if (optind != argc)
		die(CELL_USAGE, "unexpected operand %s", argv[optind]);
	if (followed != NULL && given > 1)
		die(CELL_USAGE, "option --follow goes with no other");
	if (followed != NULL)
		follow(followed);
	if (group == NULL)
		group = arguments_environment("CELL_LOG_GROUP", "5");
	watch.group = (uint16_t)arguments_number("log group", group, 0, UINT16_MAX);
	watch.recorder.table =
		table != NULL ? table : arguments_environment("CELL_TABLE", "cell_egress");
	watch.signals = take_signals();
	begin(&watch);
	keep_watch(&watch);
	end(&watch);
}

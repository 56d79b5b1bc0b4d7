// SPDX-License-Identifier: GPL-2.0-or-later
/* One watch from its first record to its last; see watch_session.h. */
#include "watch_session.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <sys/socket.h>

#include "namespace_id.h"
#include "report_record.h"
#include "watch_confine.h"

const char *watch_session_log(const struct watch_session *session)
{
	return session->path != NULL ? session->path : "standard output";
}

/* A kernel without netlink or nfnetlink; nfnetlink answers EINVAL for a subsystem that it lacks. */
static enum cell_exit code_of(int number)
{
	return number == EAFNOSUPPORT || number == EPROTONOSUPPORT || number == EINVAL
		       ? CELL_UNSUPPORTED
		       : CELL_SYSTEM;
}

/* What is asked and heard of the ruleset, and what it has counted so far. */
static int open_ruleset(struct watch_session *session, struct fault *fault)
{
	struct watch_recorder *recorder = &session->recorder;

	recorder->tables = watch_tables_open();
	if (recorder->tables == NULL)
		return fault_set(fault, code_of(errno), errno, "cannot open a netlink socket");
	session->changes = watch_changes_open();
	if (session->changes == NULL ||
	    watch_tables_generation(recorder->tables, &recorder->tally.first_generation) != 0)
		return fault_set(fault, code_of(errno), errno, "cannot watch the ruleset%s",
				 errno != EPERM ? ""
						: " without CAP_NET_ADMIN in this network "
						  "namespace");
	recorder->tally.heard_generation = recorder->tally.first_generation;
	if (watch_recorder_count(recorder) != 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot read the counters of table %s",
				 recorder->table);
	return 0;
}

/* Behind open_ruleset: what is refused now cannot be for want of CAP_NET_ADMIN. */
static int open_group(struct watch_session *session, struct fault *fault)
{
	struct mnl_socket *packets = watch_group_open(session->group);
	socklen_t length = sizeof(session->cookie);

	if (packets == NULL && (errno == EPERM || errno == EBUSY))
		return fault_set(fault, CELL_SYSTEM, 0,
				 "cannot bind log group %u: it already has a reader",
				 session->group);
	if (packets == NULL)
		return fault_set(fault, code_of(errno), errno, "cannot bind log group %u",
				 session->group);
	session->recorder.packets = packets;
	/* socket(7), Linux 5.14: older ones leave it 0. */
	(void)getsockopt(mnl_socket_get_fd(packets), SOL_SOCKET, SO_NETNS_COOKIE, &session->cookie,
			 &length);
	return 0;
}

/* The log at PATH was not opened; errno is watch_log_open's. */
static int log_fault(const char *path, struct fault *fault)
{
	if (errno == EBADF || errno == ELOOP)
		return fault_set(fault, CELL_SYSTEM, 0, "cannot open %s: it is %s", path,
				 errno == ELOOP ? "a symbolic link" : "not a regular file");
	return fault_set(fault, CELL_SYSTEM, errno, "cannot open %s", path);
}

/* What is watched, with which bounds, and what had been counted before. */
static json_t *make_start(const struct watch_session *session)
{
	const struct watch_recorder *recorder = &session->recorder;
	json_t *fields =
		json_pack("{s:i, s:s, s:I, s:I, s:o}", "group", session->group, "table",
			  recorder->table, "max_bytes", (json_int_t)recorder->log.max_bytes,
			  "max_rate", (json_int_t)recorder->log.max_rate, "cookie",
			  session->cookie != 0 ? report_decimal(session->cookie) : json_null());

	return report_whole(fields,
			    json_object_update_new(fields, watch_record_tally(&recorder->tally)));
}

int watch_session_begin(struct watch_session *session, struct fault *fault)
{
	struct watch_recorder *recorder = &session->recorder;
	const char *step;

	if (open_ruleset(session, fault) != 0 || open_group(session, fault) != 0)
		return -1;
	if (watch_log_open(&recorder->log, session->path) != 0)
		return log_fault(watch_session_log(session), fault);
	if (watch_confine(&step) != 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot %s", step);
	if (watch_recorder_write(recorder, WATCH_LOG_CLOSING, "start", CELL_OK,
				 make_start(session)) != WATCH_LOG_WRITTEN)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot write %s",
				 watch_session_log(session));
	return 0;
}

int watch_session_end(struct watch_session *session, json_t **fields, struct fault *fault)
{
	struct watch_recorder *recorder = &session->recorder;
	const char *log = watch_session_log(session);

	if (watch_group_unbind(recorder->packets, session->group) != 0 ||
	    watch_recorder_turn(recorder, session->changes, UINT_MAX) != 0 ||
	    watch_recorder_count(recorder) != 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot take the last counts");
	*fields =
		json_pack("{s:i, s:b}", "group", session->group, "truncated", recorder->truncated);
	if (json_object_update_new(*fields, watch_record_tally(&recorder->tally)) != 0 ||
	    watch_recorder_write(recorder, WATCH_LOG_CLOSING, "summary",
				 recorder->write_error == 0 ? CELL_OK : CELL_SYSTEM,
				 json_incref(*fields)) != WATCH_LOG_WRITTEN ||
	    watch_log_sync(&recorder->log) != 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot write %s", log);
	if (recorder->write_error != 0)
		return fault_set(fault, CELL_SYSTEM, recorder->write_error,
				 "cannot write all of %s", log);
	return 0;
}

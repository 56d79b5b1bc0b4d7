// SPDX-License-Identifier: GPL-2.0-or-later
/* A record of its own, or only a count; see watch_recorder.h. */
#include "watch_recorder.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "report.h"

enum { TOTALS_EVERY = 60 }; /* seconds */

int watch_recorder_count(struct watch_recorder *recorder)
{
	uint64_t packets[WATCH_COUNTED];
	int found = watch_tables_counters(recorder->tables, recorder->table, packets);

	if (found < 0)
		return -1;
	watch_tally_counters(&recorder->tally, found, packets);
	return watch_tables_generation(recorder->tables, &recorder->tally.generation);
}

enum watch_log_result watch_recorder_write(struct watch_recorder *recorder,
					   enum watch_log_share share, const char *kind,
					   enum cell_exit code, json_t *fields)
{
	json_t *record = report_new_record(code);
	enum watch_log_result result;

	if (json_object_set_new(record, "record", json_string(kind)) != 0 ||
	    json_object_update(record, fields) != 0) {
		json_decref(record);
		record = NULL;
	}
	json_decref(fields);
	result = watch_log_write(&recorder->log, share, recorder->now, record);
	if (result == WATCH_LOG_FAILED && recorder->write_error == 0)
		recorder->write_error = errno;
	return result;
}

/* The first packet without a record is said once. From here on totals come by the minute. */
static void leave_out(struct watch_recorder *recorder, enum watch_log_result why)
{
	const struct watch_log *log = &recorder->log;

	if (!recorder->left_out)
		recorder->totals_at = recorder->now + TOTALS_EVERY;
	recorder->left_out = true;
	if (recorder->truncated || why == WATCH_LOG_FAILED)
		return;
	recorder->truncated = true;
	(void)watch_recorder_write(recorder, WATCH_LOG_CLOSING, "truncated", CELL_OK,
				   json_pack("{s:s, s:I, s:I}", "bound",
					     why == WATCH_LOG_RATE ? "rate" : "bytes", "max_rate",
					     (json_int_t)log->max_rate, "max_bytes",
					     (json_int_t)log->max_bytes));
}

/* netdevice(7): any socket of the namespace can be asked. NULL: there is none, or it is gone. */
static const char *device_name(const struct watch_recorder *recorder, uint32_t index,
			       struct ifreq *request)
{
	request->ifr_ifindex = (int)index;
	if (index == 0 || ioctl(mnl_socket_get_fd(recorder->packets), SIOCGIFNAME, request) != 0)
		return NULL;
	return request->ifr_name;
}

static void take_packet(const struct watch_entry *entry, void *context)
{
	struct watch_recorder *recorder = context;
	enum watch_log_result result = watch_log_admits(&recorder->log, recorder->now);
	struct ifreq request = {0};

	recorder->tally.received[entry->class]++;
	if (result == WATCH_LOG_WRITTEN) {
		const char *device = device_name(recorder, entry->device, &request);

		result = watch_recorder_write(recorder, WATCH_LOG_PACKETS, "packet", CELL_OK,
					      watch_record_packet(entry, device));
	}
	if (result == WATCH_LOG_WRITTEN)
		recorder->tally.recorded[entry->class]++;
	else
		leave_out(recorder, result);
}

static void take_change(const struct watch_change *change, void *context)
{
	struct watch_recorder *recorder = context;
	struct watch_tally *tally = &recorder->tally;
	/* Each change counts the generation up by one; one from before the start was not missed. */
	int32_t step = (int32_t)(change->generation - tally->heard_generation);

	if (step > 0)
		tally->heard_generation = change->generation;
	if (watch_recorder_write(recorder, WATCH_LOG_EVENTS, "change", CELL_OK,
				 watch_record_change(change, step > 1 ? (uint32_t)step - 1 : 0)) ==
	    WATCH_LOG_WRITTEN)
		tally->changes++;
}

int watch_recorder_turn(struct watch_recorder *recorder, struct mnl_socket *changes,
			unsigned int datagrams)
{
	uint64_t changes_before = recorder->tally.changes;

	/* ENOBUFS: some changes have no record; the generation number tells how many. */
	if (watch_changes_read(changes, &recorder->change, take_change, recorder) != 0 &&
	    errno != ENOBUFS)
		return -1;
	/* A table that goes takes its counts along: the last look is what is kept of them. */
	if (recorder->tally.changes != changes_before && watch_recorder_count(recorder) != 0)
		return -1;
	if (watch_group_read(recorder->packets, datagrams, take_packet, recorder) < 0)
		return -1;
	if (!recorder->left_out || recorder->now < recorder->totals_at)
		return 0;
	recorder->left_out = false;
	if (watch_recorder_count(recorder) != 0)
		return -1;
	(void)watch_recorder_write(recorder, WATCH_LOG_EVENTS, "totals", CELL_OK,
				   watch_record_tally(&recorder->tally));
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of capability lists and of what is read of a process. */
#include <string.h>
#include <sys/wait.h>

#include "capability_set.h"
#include "process_power.h"
#include "process_threads.h"
#include "unit.h"

static bool list(const char *text, uint64_t *mask)
{
	const char *bad;
	size_t length;

	return capability_parse_deny(text, mask, &bad, &length);
}

static void test_names_and_bits_are_those_of_the_kernel(void)
{
	char text[CAPABILITY_NAME];
	uint64_t mask;

	CHECK(strcmp(capability_name(0, text), "cap_chown") == 0);
	CHECK(strcmp(capability_name(12, text), "cap_net_admin") == 0);
	CHECK(strcmp(capability_name(13, text), "cap_net_raw") == 0);
	CHECK(strcmp(capability_name(40, text), "cap_checkpoint_restore") == 0);
	CHECK(strcmp(capability_name(41, text), "41") == 0);
	CHECK(strcmp(capability_name(63, text), "63") == 0);
	/* Every name reads back as its bit, also as engines spell it. */
	for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++) {
		(void)capability_name(bit, text);
		CHECK(capability_parse(text, strlen(text), &mask) && mask == UINT64_C(1) << bit);
	}
	CHECK(list("NET_RAW", &mask) && mask == 1 << 13);
	CHECK(list("CAP_NET_RAW", &mask) && mask == 1 << 13);
}

static void test_the_lists_hold_what_they_promise(void)
{
	uint64_t mask;

	CHECK(list("net_raw,net_admin,sys_admin,sys_module,sys_rawio,dac_read_search,bpf", &mask));
	CHECK(mask == capability_denied_default);
	CHECK(list("+sys_ptrace,sys_boot,+perfmon,checkpoint_restore,syslog,mknod", &mask));
	CHECK(mask == capability_denied_all_bypass);
	CHECK(list("all-bypass", &mask) && mask == capability_denied_all_bypass);
	CHECK(list("unknown", &mask) && (mask & capability_known) == 0 && mask >> 63 == 1);
	CHECK(capability_known == (UINT64_C(1) << 41) - 1);
}

static bool parse(const char *text, struct process_status *status)
{
	struct process_status_fault fault;

	return process_status_parse(text, strlen(text), status, &fault);
}

#define SETS                                                                                \
	"CapInh:\t0000000000000001\nCapPrm:\t0000000000000002\nCapEff:\t0000000000000004\n" \
	"CapBnd:\t0000000000000008\nCapAmb:\t8000000000000000\n"

static void test_status_text_is_read(void)
{
	struct process_status status;

	CHECK(parse(SETS, &status));
	CHECK(status.sets[PROCESS_INHERITABLE] == 1 && status.sets[PROCESS_PERMITTED] == 2);
	CHECK(status.sets[PROCESS_EFFECTIVE] == 4 && status.sets[PROCESS_BOUNDING] == 8);
	CHECK(status.sets[PROCESS_AMBIENT] == UINT64_C(1) << 63);
	CHECK(status.pid == -1 && status.uid == -1 && status.no_new_privs == -1);
	CHECK(parse("Uid:\t1\t4294967295\t3\t4\nState:\tZ (zombie)\nNoNewPrivs:\t1\n" SETS,
		    &status));
	CHECK(status.uid == 4294967295 && status.state == 'Z' && status.no_new_privs == 1);
	/* Names that only begin or end like a set's are other lines. */
	CHECK(parse("CapEffective:\tx\nXCapEff:\tx\nName:\tCapEff:\n" SETS, &status));
	CHECK(!parse("CapEff\n", &status));
	CHECK(!parse("", &status));
	CHECK(!parse(SETS "CapAmb", &status));
}

static int count(void *context, int directory, const char *thread)
{
	(void)directory;
	CHECK(strtol(thread, NULL, 10) > 0);
	++*(int *)context;
	return 1;
}

static int stop(void *context, int directory, const char *thread)
{
	(void)directory;
	(void)thread;
	++*(int *)context;
	return -1;
}

static void test_each_thread_is_visited_once(void)
{
	int process, visits = 0;

	CHECK(process_open(0, &process) == PROCESS_OK);
	CHECK(process_visit_threads(process, count, &visits) == PROCESS_OK);
	CHECK(visits == 1);
	CHECK(process_visit_threads(process, stop, &visits) == PROCESS_STOPPED);
	CHECK(visits == 2);
	(void)close(process);
	CHECK(process_open(4194304, &process) == PROCESS_ABSENT && process == -1);
}

static void test_an_ended_process_stays_ended_though_its_handle_is_open(void)
{
	int process, visits = 0, ends[2];
	pid_t child;

	CHECK(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		char byte;

		(void)close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
	}
	CHECK(process_open(child, &process) == PROCESS_OK);
	CHECK(process_visit_threads(process, count, &visits) == PROCESS_OK && visits == 1);
	(void)close(ends[0]);
	(void)close(ends[1]);
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK(process_visit_threads(process, count, &visits) == PROCESS_ENDED && visits == 1);
	(void)close(process);
}

int main(void)
{
	RUN(test_names_and_bits_are_those_of_the_kernel);
	RUN(test_the_lists_hold_what_they_promise);
	RUN(test_status_text_is_read);
	RUN(test_each_thread_is_visited_once);
	RUN(test_an_ended_process_stays_ended_though_its_handle_is_open);
	return unit_end();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process whose main thread has all five sets empty while another thread keeps one capability,
 * as threads that call capset(2) themselves can (libc's wrappers are per thread; capabilities(7)).
 * usage: thread_keeps_capability NUMBER SET [alone]     SET: permitted, bounding; NUMBER -1: none
 * Prints "PID THREAD" and waits to be killed; with "alone" the main thread ends.
 */
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int kept;
static const char *kept_set;

/* Empties this thread's sets but for KEEP (-1: nothing) in the set of that name. */
static void drop(int keep)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}};

	for (int bit = 0; prctl(PR_CAPBSET_READ, bit) >= 0; bit++)
		if ((bit != keep || strcmp(kept_set, "bounding") != 0) &&
		    prctl(PR_CAPBSET_DROP, bit) != 0)
			exit(111);
	if (keep >= 0 && strcmp(kept_set, "permitted") == 0)
		data[keep / 32].permitted = 1U << keep % 32;
	if (syscall(SYS_capset, &header, data) != 0)
		exit(111);
}

static void *worker(void *unused)
{
	(void)unused;
	drop(kept);
	(void)printf("%d %d\n", (int)getpid(), (int)syscall(SYS_gettid));
	(void)fflush(stdout);
	for (;;)
		(void)pause();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3 && argc != 4)
		return 100;
	kept = (int)strtol(argv[1], NULL, 10);
	kept_set = argv[2];
	if (pthread_create(&thread, NULL, worker, NULL) != 0)
		return 111;
	drop(-1);
	if (argc == 4)
		(void)syscall(SYS_exit, 0);
	return pthread_join(thread, NULL);
}

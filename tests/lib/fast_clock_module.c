// SPDX-License-Identifier: GPL-2.0-or-later
/* Preloaded: the monotonic clock runs sixty times as fast, and poll(2) waits a sixtieth. */
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FASTER = 60 };

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int result = (int)syscall(SYS_clock_gettime, clock, time);

	if (result == 0 && clock == CLOCK_MONOTONIC) {
		long long all = (time->tv_sec * 1000000000LL + time->tv_nsec) * FASTER;

		time->tv_sec = all / 1000000000;
		time->tv_nsec = all % 1000000000;
	}
	return result;
}

int poll(struct pollfd *polls, nfds_t count, int timeout)
{
	struct timespec wait = {timeout / FASTER / 1000, timeout / FASTER % 1000 * 1000000L};

	return ppoll(polls, count, timeout < 0 ? NULL : &wait, NULL);
}

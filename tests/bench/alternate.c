// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times commands side by side: one run of each in turn, many rounds, so that what else the machine
 * does hits all alike. Prints a line each: label, median, quartiles, peak memory, and how many
 * times as long as the first one it took.
 *
 * usage: alternate [-n ROUNDS] [-r RESET] LABEL COMMAND [ARG]... :: LABEL COMMAND [ARG]... ...
 * RESET is run by sh before each timed run and not timed. A command that fails ends it all with 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { COMMANDS_MAX = 8, ROUNDS_MAX = 10000, ROUNDS = 40 };

struct command {
	const char *label;
	char **argv;
	double *milliseconds;
	long peak_kib;
};

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Runs ARGV without its output; its peak memory goes to PEAK_KIB. Ends the program if it fails. */
static double run(char **argv, long *peak_kib)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double began;
	pid_t pid;
	int status, number;

	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	began = now();
	number = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	if (number != 0) {
		(void)fprintf(stderr, "alternate: cannot run %s: %s\n", argv[0], strerror(number));
		exit(1);
	}
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	began = now() - began;
	(void)posix_spawn_file_actions_destroy(&actions);
	if (status != 0) {
		(void)fprintf(stderr, "alternate: %s ended with status %#x\n", argv[0],
			      (unsigned)status);
		exit(1);
	}
	if (peak_kib != NULL && usage.ru_maxrss > *peak_kib)
		*peak_kib = usage.ru_maxrss;
	return began;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct command commands[COMMANDS_MAX] = {0};
	char *reset[] = {(char[]){"sh"}, (char[]){"-c"}, NULL, NULL};
	size_t count = 0, rounds = ROUNDS;
	int option;

	while ((option = getopt(argc, argv, "+n:r:")) != -1) {
		if (option == 'n')
			rounds = strtoul(optarg, NULL, 10);
		else if (option == 'r')
			reset[2] = optarg;
		else
			return 100;
	}
	for (int i = optind; i + 1 < argc && count < COMMANDS_MAX; i++) {
		commands[count].label = argv[i++];
		commands[count].argv = argv + i;
		while (i < argc && strcmp(argv[i], "::") != 0)
			i++;
		if (i < argc)
			argv[i] = NULL;
		count++;
	}
	if (count == 0 || rounds == 0 || rounds > ROUNDS_MAX)
		return 100;
	for (size_t c = 0; c < count; c++) {
		commands[c].milliseconds = calloc(rounds, sizeof(double));
		if (commands[c].milliseconds == NULL)
			return 111;
	}
	/* Round 0 warms the caches and does not count. */
	for (size_t round = 0; round <= rounds; round++)
		for (size_t c = 0; c < count; c++) {
			double spent;

			if (reset[2] != NULL)
				(void)run(reset, NULL);
			spent = run(commands[c].argv, &commands[c].peak_kib);
			if (round > 0)
				commands[c].milliseconds[round - 1] = spent;
		}
	for (size_t c = 0; c < count; c++) {
		double *sorted = commands[c].milliseconds;

		qsort(sorted, rounds, sizeof(*sorted), compare);
		(void)printf("  %-44s %9.2f ms  (%.2f to %.2f)  %6ld KiB  %6.2f\n",
			     commands[c].label, sorted[rounds / 2], sorted[rounds / 4],
			     sorted[rounds * 3 / 4], commands[c].peak_kib,
			     sorted[rounds / 2] / commands[0].milliseconds[rounds / 2]);
	}
	return 0;
}

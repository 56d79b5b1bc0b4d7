/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every thread of a live process, each once, through one handle of the process in /proc. */
#ifndef CELL_PROCESS_THREADS_H
#define CELL_PROCESS_THREADS_H

#include <sys/types.h>

enum process_verdict {
	PROCESS_OK,
	PROCESS_FAILED,	  /* errno tells */
	PROCESS_NOT_PROC, /* nothing, or what is no proc file system, is mounted at /proc */
	PROCESS_ABSENT,	  /* /proc shows no such process */
	PROCESS_ENDED,	  /* no thread of it lives */
	PROCESS_UNSTEADY, /* each look at it found new threads */
	PROCESS_STOPPED,  /* the visitor returned -1 */
};

/*
 * Opens /proc/PID, or /proc/self if PID is 0. The caller owns *fd. However long it is kept, it is
 * this process: once that has ended, what is opened below it fails, also if its number is reused.
 */
enum process_verdict process_open(pid_t pid, int *fd);

/*
 * Calls VISIT for every thread, with a descriptor of the directory that holds them and the name of
 * the thread in it ("4711"), until a look finds none that was not there before. VISIT returns 1 if
 * it saw the thread alive, 0 if the thread has ended (what it held is gone), -1 to stop.
 */
enum process_verdict
process_visit_threads(int process, int (*visit)(void *context, int directory, const char *thread),
		      void *context);

/* The reason in words, to stand behind "cannot judge process N: ". */
const char *process_verdict_text(enum process_verdict verdict);

#endif

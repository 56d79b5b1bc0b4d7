/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc/PID/status says of a process's capabilities, read strictly: nothing is assumed. */
#ifndef CELL_PROCESS_STATUS_H
#define CELL_PROCESS_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The five sets of capabilities(7), in the order in which the kernel prints them. */
enum process_set {
	PROCESS_INHERITABLE,
	PROCESS_PERMITTED,
	PROCESS_EFFECTIVE,
	PROCESS_BOUNDING,
	PROCESS_AMBIENT,
	PROCESS_SETS,
};

extern const char *const process_set_names[PROCESS_SETS]; /* "inheritable", ... */

struct process_status {
	uint64_t sets[PROCESS_SETS];
	/* The rest is -1, 0 or empty where the text has no such line. */
	int64_t pid, uid; /* uid: the effective one */
	int64_t uids[4];  /* real, effective, saved, of the file system; only where uid is */
	int no_new_privs; /* 0 or 1 */
	char state;	  /* 'R', 'S', 'Z'... */
	const char *name; /* points into the text, as the kernel escaped it */
	size_t name_length;
};

struct process_status_fault {
	const char *line;   /* "CapEff", "Uid"... or "the text" */
	const char *reason; /* to stand behind it: "is missing", "stands twice"... */
};

/*
 * Reads LENGTH bytes of status text. Each of the five sets must stand there exactly once, at the
 * start of a line, as the kernel writes it: 16 lower-case hexadecimal digits (proc(5)). The other
 * lines may be missing, but not stand twice or be malformed. False with FAULT filled. Pure.
 */
bool process_status_parse(const char *text, size_t length, struct process_status *status,
			  struct process_status_fault *fault);

#endif

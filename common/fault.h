/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a step could not be done, as a value: the exit code, errno and the sentence for die(). */
#ifndef CELL_FAULT_H
#define CELL_FAULT_H

#include <stdbool.h>

#include "exit_code.h"

struct fault {
	enum cell_exit code;
	int number;	/* errno where a system call failed, else 0 */
	char text[768]; /* "cannot VERB OBJECT", or with a reason of its own where number is 0 */
};

/* Fills FAULT; always -1, so that a function can return it. */
int fault_set(struct fault *fault, enum cell_exit code, int number, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* True if errno NUMBER says that this process ran short: nothing was found out of what it asked. */
bool fault_is_shortage(int number);

#endif

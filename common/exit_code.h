/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one table of exit codes that every tool uses; cell(7) documents it. */
#ifndef CELL_EXIT_CODE_H
#define CELL_EXIT_CODE_H

enum cell_exit {
	CELL_OK = 0,		   /* the step is done, or the answer is yes */
	CELL_NO = 1,		   /* the check ran and the answer is no */
	CELL_TIMEOUT = 99,	   /* the deadline passed */
	CELL_USAGE = 100,	   /* called wrongly: option, operand, host name, address */
	CELL_UNSUPPORTED = 102,	   /* this kernel or build lacks what is needed */
	CELL_EVIDENCE = 103,	   /* what must be judged is missing, unreadable or malformed */
	CELL_SYSTEM = 111,	   /* a system call failed, or output could not be written */
	CELL_EXEC_UNUSABLE = 126,  /* the program to run next could not be run */
	CELL_EXEC_NOT_FOUND = 127, /* the program to run next was not found */
};

#endif

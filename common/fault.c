// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a step could not be done; see fault.h. */
#include "fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *fault, enum cell_exit code, int number, const char *format, ...)
{
	va_list list;

	fault->code = code;
	fault->number = number;
	va_start(list, format);
	(void)vsnprintf(fault->text, sizeof(fault->text), format, list);
	va_end(list);
	return -1;
}

bool fault_is_shortage(int number)
{
	return number == EMFILE || number == ENFILE || number == ENOMEM || number == ENOBUFS;
}

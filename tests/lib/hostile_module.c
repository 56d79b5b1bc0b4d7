// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that a hostile image offers as an NSS module, an OpenSSL provider, a gconv module and a
 * preload: whoever loads it leaves a directory /MARKER, which needs no library but this
 * constructor.
 */
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void leave_marker(void)
{
	(void)syscall(SYS_mkdir, "/MARKER", 0777);
}

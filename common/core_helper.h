/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's helper for core dumps: where core_pattern names a program, every process that dies
 * of a bad signal starts it in the host's own namespaces, with words and memory of that process.
 */
#ifndef CELL_CORE_HELPER_H
#define CELL_CORE_HELPER_H

/*
 * Keeps this process and all that it starts from starting that helper, for ever: by RLIMIT_CORE of
 * one byte, which means just that to a kernel that would pipe a core (fs/coredump.c). Where core
 * dumps are plain files the limit stays as it is, and so does a hard limit of 0 that this process
 * may not raise. 0, or -1 with errno.
 */
int core_helper_refuse(void);

#endif

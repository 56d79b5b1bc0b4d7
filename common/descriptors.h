/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program inherits by number: everything above 2 goes, 0 to 2 are looked at. */
#ifndef CELL_DESCRIPTORS_H
#define CELL_DESCRIPTORS_H

/* Closes every descriptor above 2 (close_range(2), Linux 5.9). 0, or -1 with errno. */
int descriptors_close(void);

/*
 * What makes descriptor NUMBER a way out of namespaces and mounts, to stand behind "descriptor 0
 * is ": "a directory"; NULL if nothing does. Files, pipes, terminals and other character devices,
 * Unix sockets, closed ones, and the root directory itself are ordinary.
 */
const char *descriptors_fault(int number);

#endif

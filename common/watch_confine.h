/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the watcher gives up once everything is open: it reads bytes that the subject chose. */
#ifndef CELL_WATCH_CONFINE_H
#define CELL_WATCH_CONFINE_H

/*
 * Leaves the process no capability but NET_ADMIN (nf_tables answers nobody else), no new
 * privileges, and only the system calls of its loop: no file can be opened, no socket made, no
 * program run; others fail with EPERM. 0, or -1 with errno and *STEP naming what failed.
 */
int watch_confine(const char **step);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tools of one cell must agree on, from the environment or by default; cell(7) documents
 * it. A value that cannot be used ends the tool with 100, as in arguments.h.
 */
#ifndef CELL_SETTINGS_H
#define CELL_SETTINGS_H

#include <stdint.h>

/* CELL_EGRESS_DIR: the certificate volume. */
const char *settings_directory(void);

/* CELL_PROXY_HOST: the proxy's name, in the case that it is written in. */
const char *settings_proxy_host(void);

/* CELL_PROXY_PORT, in host byte order. */
uint16_t settings_proxy_port(void);

/* Option --table's value GIVEN, or else CELL_TABLE: a table of cell-policy's. */
const char *settings_table(const char *given);

/* As settings_table for the log group, CELL_LOG_GROUP: a number, or what the tool takes besides. */
const char *settings_log_group(const char *given);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The status line of an HTTP answer, and whether it is a service or somebody's refusal. Pure. */
#ifndef CELL_HTTP_STATUS_H
#define CELL_HTTP_STATUS_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_STATUS_LINE = 12 /* bytes that decide: "HTTP/1.1 200" */ };

/* The status of an answer's first LENGTH bytes; 0: it is not HTTP/1; -1: more bytes are needed. */
int http_status(const void *answer, size_t length);

/*
 * True if the status came from a server that was reached: not 5xx (a proxy's own 502 page), nor
 * 400, 403 and 407, with which a proxy refuses.
 */
bool http_status_is_served(int status);

#endif

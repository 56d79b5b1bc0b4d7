/* SPDX-License-Identifier: GPL-2.0-or-later */
/* https URLs as far as a check needs them: host, port, and what to ask for. Pure. */
#ifndef CELL_HTTPS_URL_H
#define CELL_HTTPS_URL_H

#include <stdbool.h>
#include <stdint.h>

enum { HTTPS_URL_MAX = 2048 };

struct https_url {
	char host[254];			/* a name, or an address (IPv6 without its brackets) */
	bool is_address, is_inet6;	/* then the certificate must be for that address */
	uint16_t port;			/* 443 unless given */
	char target[HTTPS_URL_MAX + 2]; /* path and query; at least "/" */
};

/* NULL, or the reason why TEXT is none, to stand behind "URL X ". */
const char *https_url_parse(const char *text, struct https_url *url);

#endif

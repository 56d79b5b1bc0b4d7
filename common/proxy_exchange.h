/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One check under way: what the parts of proxy_check share with each other and with nobody else. */
#ifndef CELL_PROXY_EXCHANGE_H
#define CELL_PROXY_EXCHANGE_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "proxy_check.h"

struct proxy_exchange {
	const struct proxy_check_question *question;
	struct proxy_check_answer *answer;
	int fd;		  /* owned; non-blocking, connected to the proxy */
	SSL_CTX *context; /* owned */
	SSL *tls;	  /* owned */
	int64_t deadline; /* CLOCK_MONOTONIC, ns */
};

/* Notes the reason; returns RESULT. */
enum proxy_check proxy_exchange_end(struct proxy_exchange *exchange, enum proxy_check result,
				    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Waits for EVENTS (poll(2)) until the deadline. False when it has passed. */
bool proxy_exchange_wait(const struct proxy_exchange *exchange, short events);

/* Ends as silent: WHO said nothing. */
enum proxy_check proxy_exchange_silent(struct proxy_exchange *exchange, const char *who);

/* What an HTTP status says of WHO gave it: PROXY_CHECK_AUDITED to go on, or the end. */
enum proxy_check proxy_exchange_judge(struct proxy_exchange *exchange, int status, const char *who);

/* TLS through the open tunnel, verified. PROXY_CHECK_AUDITED to go on, or the end. */
enum proxy_check proxy_tls_shake_hands(struct proxy_exchange *exchange);

/* One GET through it. As proxy_tls_shake_hands. */
enum proxy_check proxy_tls_ask(struct proxy_exchange *exchange);

/* Ends TLS, if there is some; the socket is the caller's. */
void proxy_tls_release(struct proxy_exchange *exchange);

#endif

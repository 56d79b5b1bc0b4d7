/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether what answers behind the proxy was signed by the cell's own authority: by OpenSSL. */
#ifndef CELL_PROXY_CHECK_H
#define CELL_PROXY_CHECK_H

#include <netinet/in.h>
#include <stdint.h>

#include "https_url.h"

enum proxy_check {
	PROXY_CHECK_AUDITED,	     /* signed by our authority, for that name, and it served */
	PROXY_CHECK_TUNNELLED,	     /* signed by somebody else: a tunnel past the audit */
	PROXY_CHECK_WRONG_NAME,	     /* signed by ours, for another name */
	PROXY_CHECK_BAD_CERTIFICATE, /* signed by ours and not valid: expired, ... */
	PROXY_CHECK_NO_TLS,	     /* after CONNECT something other than TLS */
	PROXY_CHECK_CREDENTIALS,     /* 407 */
	PROXY_CHECK_REFUSED,	     /* another status below 500 with which proxies refuse */
	PROXY_CHECK_SERVER_ERROR,    /* 5xx: the proxy's own error page, or the server's */
	PROXY_CHECK_GARBAGE,	     /* an answer that is not HTTP */
	PROXY_CHECK_CLOSED,	     /* closed without an answer */
	PROXY_CHECK_SILENT,	     /* the deadline passed without an answer */
	PROXY_CHECK_UNREACHABLE,     /* no connection to the proxy; number tells */
	PROXY_CHECK_FAILED,	     /* OpenSSL could not be set up */
};

struct proxy_check_question {
	struct sockaddr_in proxy;
	const struct https_url *url;
	const char *authority; /* the one certificate to trust, PEM */
	int64_t timeout;       /* ns, for everything together */
};

struct proxy_check_answer {
	int status;	  /* the last HTTP status seen; 0: none */
	int number;	  /* errno where a system call failed, else 0 */
	char issuer[256]; /* who signed what answered; "" if it did not get that far */
	char reason[384]; /* a clause: "the server behind it is signed by ..." */
};

/*
 * CONNECT, TLS, one GET. OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG) must have been the first
 * call to OpenSSL. SIGPIPE is ignored meanwhile.
 */
enum proxy_check proxy_check_ask(const struct proxy_check_question *question,
				 struct proxy_check_answer *answer);

/* "audited", "tunnelled", ... */
const char *proxy_check_name(enum proxy_check result);

#endif

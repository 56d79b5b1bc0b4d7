// SPDX-License-Identifier: GPL-2.0-or-later
/* TLS through the proxy's tunnel, trusting one authority and nothing of this machine's. */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "http_status.h"
#include "proxy_exchange.h"

/* Remembers who signed the certificate at the end of the chain, however it is judged. */
static int note_issuer(int good, X509_STORE_CTX *store)
{
	SSL *tls = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct proxy_exchange *exchange = SSL_get_app_data(tls);
	X509 *leaf = X509_STORE_CTX_get0_cert(store);

	if (leaf != NULL)
		(void)X509_NAME_oneline(X509_get_issuer_name(leaf), exchange->answer->issuer,
					(int)sizeof(exchange->answer->issuer));
	return good;
}

/* A client that trusts the one certificate of the question, and nothing of this machine's. */
static bool set_up(struct proxy_exchange *exchange)
{
	const struct https_url *url = exchange->question->url;
	BIO *text = BIO_new_mem_buf(exchange->question->authority, -1);
	X509 *authority = text != NULL ? PEM_read_bio_X509(text, NULL, NULL, NULL) : NULL;
	char name[sizeof(url->host)]; /* the call below takes no constant */
	bool made;

	memcpy(name, url->host, sizeof(name));
	exchange->context = SSL_CTX_new(TLS_client_method());
	made = authority != NULL && exchange->context != NULL &&
	       X509_STORE_add_cert(SSL_CTX_get_cert_store(exchange->context), authority) == 1;
	X509_free(authority);
	BIO_free(text);
	if (!made)
		return false;
	SSL_CTX_set_verify(exchange->context, SSL_VERIFY_PEER, note_issuer);
	exchange->tls = SSL_new(exchange->context);
	if (exchange->tls == NULL || SSL_set_fd(exchange->tls, exchange->fd) != 1)
		return false;
	(void)SSL_set_app_data(exchange->tls, exchange);
	SSL_set_connect_state(exchange->tls);
	if (url->is_address)
		return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(exchange->tls), url->host) == 1;
	return SSL_set1_host(exchange->tls, url->host) == 1 &&
	       SSL_set_tlsext_host_name(exchange->tls, name) == 1;
}

/*
 * After a TLS call that returned RETURNED: true to call again. False: *RESULT says why not, as
 * far as it is not about the certificate.
 */
static bool go_on(struct proxy_exchange *exchange, int returned, enum proxy_check *result)
{
	switch (SSL_get_error(exchange->tls, returned)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		if (proxy_exchange_wait(exchange, SSL_want_write(exchange->tls) ? POLLOUT : POLLIN))
			return true;
		*result = proxy_exchange_silent(exchange, "what is behind the proxy");
		return false;
	case SSL_ERROR_SSL:
		if (ERR_GET_REASON(ERR_peek_error()) != SSL_R_UNEXPECTED_EOF_WHILE_READING) {
			*result = proxy_exchange_end(
				exchange, PROXY_CHECK_NO_TLS,
				"what is behind the proxy does not speak TLS: %s",
				ERR_reason_error_string(ERR_peek_error()));
			return false;
		}
		break;
	case SSL_ERROR_SYSCALL:
		exchange->answer->number = errno;
		break;
	default:
		break;
	}
	*result = proxy_exchange_end(exchange, PROXY_CHECK_CLOSED,
				     "what is behind the proxy closed without an answer");
	return false;
}

/* What the verification's error says (X509_STORE_CTX_get_error(3)). */
static enum proxy_check judge_certificate(struct proxy_exchange *exchange, long error)
{
	switch (error) {
	case X509_V_ERR_HOSTNAME_MISMATCH:
	case X509_V_ERR_IP_ADDRESS_MISMATCH:
		return proxy_exchange_end(
			exchange, PROXY_CHECK_WRONG_NAME,
			"the certificate names the cell's authority, but is not for %s",
			exchange->question->url->host);
	case X509_V_ERR_CERT_HAS_EXPIRED:
	case X509_V_ERR_CERT_NOT_YET_VALID:
	case X509_V_ERR_INVALID_PURPOSE:
	case X509_V_ERR_EE_KEY_TOO_SMALL:
	case X509_V_ERR_CA_KEY_TOO_SMALL:
	case X509_V_ERR_CA_MD_TOO_WEAK:
		return proxy_exchange_end(exchange, PROXY_CHECK_BAD_CERTIFICATE,
					  "the certificate is not valid: %s",
					  X509_verify_cert_error_string(error));
	default:
		return proxy_exchange_end(
			exchange, PROXY_CHECK_TUNNELLED,
			"what is behind the proxy is signed by %s, not by the cell's own authority",
			exchange->answer->issuer);
	}
}

enum proxy_check proxy_tls_shake_hands(struct proxy_exchange *exchange)
{
	enum proxy_check result;
	int returned;

	if (!set_up(exchange))
		return proxy_exchange_end(exchange, PROXY_CHECK_FAILED, "TLS cannot be set up: %s",
					  ERR_reason_error_string(ERR_peek_error()));
	ERR_clear_error();
	while ((returned = SSL_do_handshake(exchange->tls)) != 1) {
		long error = SSL_get_verify_result(exchange->tls);

		if (error != X509_V_OK)
			return judge_certificate(exchange, error);
		if (!go_on(exchange, returned, &result))
			return result;
	}
	return PROXY_CHECK_AUDITED;
}

/* The first line of the answer decides. */
enum proxy_check proxy_tls_ask(struct proxy_exchange *exchange)
{
	const struct https_url *url = exchange->question->url;
	char request[HTTPS_URL_MAX + 512], answer[HTTP_STATUS_LINE];
	const char *open = url->is_inet6 ? "[" : "", *close = url->is_inet6 ? "]" : "";
	int length =
		snprintf(request, sizeof(request),
			 "GET %s HTTP/1.1\r\nHost: %s%s%s:%u\r\nUser-Agent: cell-proxycheck\r\n"
			 "Accept: */*\r\nConnection: close\r\n\r\n",
			 url->target, open, url->host, close, url->port);
	int returned, filled = 0, status = -1;
	enum proxy_check result;

	while ((returned = SSL_write(exchange->tls, request, length)) <= 0)
		if (!go_on(exchange, returned, &result))
			return result;
	while (status < 0) {
		returned = SSL_read(exchange->tls, answer + filled, (int)sizeof(answer) - filled);
		if (returned <= 0 && !go_on(exchange, returned, &result))
			return result;
		if (returned > 0)
			filled += returned;
		status = http_status(answer, (size_t)filled);
	}
	if (status == 0)
		return proxy_exchange_end(exchange, PROXY_CHECK_GARBAGE,
					  "the answer within TLS is not HTTP");
	return proxy_exchange_judge(exchange, status, "what is behind the proxy");
}

void proxy_tls_release(struct proxy_exchange *exchange)
{
	SSL_free(exchange->tls);
	SSL_CTX_free(exchange->context);
	exchange->tls = NULL;
	exchange->context = NULL;
}

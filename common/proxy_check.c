// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether what answers behind the proxy was signed by the cell's own authority; proxy_check.h. */
#include "proxy_check.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "cleanup.h"
#include "http_status.h"
#include "proxy_exchange.h"

enum { HEAD_MAX = 8192 };

const char *proxy_check_name(enum proxy_check result)
{
	static const char *const names[] = {
		"audited",     "tunnelled",   "wrong-name",   "bad-certificate", "no-tls",
		"credentials", "refused",     "server-error", "garbage",	 "closed",
		"silent",      "unreachable", "failed"};

	return names[result];
}

enum proxy_check proxy_exchange_end(struct proxy_exchange *exchange, enum proxy_check result,
				    const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vsnprintf(exchange->answer->reason, sizeof(exchange->answer->reason), format, list);
	va_end(list);
	return result;
}

static int64_t now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

bool proxy_exchange_wait(const struct proxy_exchange *exchange, short events)
{
	for (;;) {
		int64_t left = exchange->deadline - now();
		struct timespec wait = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
		struct pollfd one = {.fd = exchange->fd, .events = events};

		if (left <= 0)
			return false;
		if (ppoll(&one, 1, &wait, NULL) > 0)
			return true;
	}
}

enum proxy_check proxy_exchange_silent(struct proxy_exchange *exchange, const char *who)
{
	return proxy_exchange_end(exchange, PROXY_CHECK_SILENT, "%s said nothing within %.1f s",
				  who, (double)exchange->question->timeout / 1e9);
}

static enum proxy_check unreachable(struct proxy_exchange *exchange, int number)
{
	exchange->answer->number = number;
	return proxy_exchange_end(exchange, PROXY_CHECK_UNREACHABLE, "no connection to it: %s",
				  strerror(number));
}

static enum proxy_check connect_to_proxy(struct proxy_exchange *exchange)
{
	const struct sockaddr_in *proxy = &exchange->question->proxy;
	int number = 0;
	socklen_t length = sizeof(number);

	exchange->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (exchange->fd < 0)
		return unreachable(exchange, errno);
	if (connect(exchange->fd, (const struct sockaddr *)proxy, sizeof(*proxy)) != 0 &&
	    errno != EINPROGRESS)
		return unreachable(exchange, errno);
	if (!proxy_exchange_wait(exchange, POLLOUT))
		return unreachable(exchange, ETIMEDOUT);
	(void)getsockopt(exchange->fd, SOL_SOCKET, SO_ERROR, &number, &length);
	return number != 0 ? unreachable(exchange, number) : PROXY_CHECK_AUDITED;
}

enum proxy_check proxy_exchange_judge(struct proxy_exchange *exchange, int status, const char *who)
{
	exchange->answer->status = status > 0 ? status : 0;
	if (status == 407)
		return proxy_exchange_end(exchange, PROXY_CHECK_CREDENTIALS,
					  "%s wants credentials (407)", who);
	if (status >= 500)
		return proxy_exchange_end(exchange, PROXY_CHECK_SERVER_ERROR, "%s answered %d", who,
					  status);
	if (status > 0 && !http_status_is_served(status))
		return proxy_exchange_end(exchange, PROXY_CHECK_REFUSED, "%s refused with %d", who,
					  status);
	return PROXY_CHECK_AUDITED;
}

/* Sends all of it in clear; a request is short enough for any socket buffer. */
static bool send_clear(struct proxy_exchange *exchange, const char *text, size_t length)
{
	return send(exchange->fd, text, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* The head of the answer to CONNECT, byte by byte: what follows it is TLS. */
static enum proxy_check read_head(struct proxy_exchange *exchange)
{
	char head[HEAD_MAX] = "";
	size_t length = 0;

	while (length < 4 || memcmp(head + length - 4, "\r\n\r\n", 4) != 0) {
		ssize_t got;

		if (length == sizeof(head))
			return proxy_exchange_end(exchange, PROXY_CHECK_GARBAGE,
						  "its answer has no end");
		if (!proxy_exchange_wait(exchange, POLLIN))
			return proxy_exchange_silent(exchange, "the proxy");
		got = recv(exchange->fd, head + length, 1, 0);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got < 0)
			exchange->answer->number = errno;
		if (got <= 0)
			return proxy_exchange_end(exchange, PROXY_CHECK_CLOSED,
						  "it closed the connection %s an answer",
						  length > 0 ? "within" : "without");
		length += (size_t)got;
		if (http_status(head, length) == 0)
			return proxy_exchange_end(exchange, PROXY_CHECK_GARBAGE,
						  "its answer is not HTTP");
	}
	if (http_status(head, length) < 0) /* its end came before the status */
		return proxy_exchange_end(exchange, PROXY_CHECK_GARBAGE, "its answer is not HTTP");
	return proxy_exchange_judge(exchange, http_status(head, length), "the proxy");
}

static enum proxy_check ask_for_tunnel(struct proxy_exchange *exchange)
{
	const struct https_url *url = exchange->question->url;
	char request[1024];
	const char *open = url->is_inet6 ? "[" : "", *close = url->is_inet6 ? "]" : "";
	int length = snprintf(request, sizeof(request),
			      "CONNECT %s%s%s:%u HTTP/1.1\r\nHost: %s%s%s:%u\r\n\r\n", open,
			      url->host, close, url->port, open, url->host, close, url->port);
	enum proxy_check result;

	if (!send_clear(exchange, request, (size_t)length)) {
		exchange->answer->number = errno;
		return proxy_exchange_end(exchange, PROXY_CHECK_CLOSED,
					  "it does not take a request");
	}
	result = read_head(exchange);
	if (result == PROXY_CHECK_AUDITED && exchange->answer->status / 100 != 2)
		return proxy_exchange_end(exchange, PROXY_CHECK_REFUSED,
					  "the proxy refused CONNECT with %d",
					  exchange->answer->status);
	return result;
}

enum proxy_check proxy_check_ask(const struct proxy_check_question *question,
				 struct proxy_check_answer *answer)
{
	struct proxy_exchange exchange = {.question = question, .answer = answer, .fd = -1};
	/* OpenSSL writes to the socket by write(2), which knows no MSG_NOSIGNAL. */
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	enum proxy_check result;

	memset(answer, 0, sizeof(*answer));
	exchange.deadline = now() + question->timeout;
	(void)sigaction(SIGPIPE, &ignore, &before);
	result = connect_to_proxy(&exchange);
	if (result == PROXY_CHECK_AUDITED)
		result = ask_for_tunnel(&exchange);
	if (result == PROXY_CHECK_AUDITED)
		result = proxy_tls_shake_hands(&exchange);
	if (result == PROXY_CHECK_AUDITED)
		result = proxy_tls_ask(&exchange);
	proxy_tls_release(&exchange);
	cleanup_close(&exchange.fd);
	(void)sigaction(SIGPIPE, &before, NULL);
	return result;
}

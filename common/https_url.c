// SPDX-License-Identifier: GPL-2.0-or-later
/* https URLs as far as a check needs them; see https_url.h. */
#include "https_url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "host_name.h"
#include "ipv4_address.h"

/* The host in front of *END; *END is then behind it and its brackets. */
static const char *read_host(const char *text, const char **end, struct https_url *url)
{
	bool bracket = text[0] == '[';
	size_t length = bracket ? strcspn(text, "]") : strcspn(text, ":/?");
	struct in6_addr address6;
	struct in_addr address;

	if (bracket) {
		if (text[length] != ']')
			return "has no closing bracket";
		*end = text + length + 1;
		text++;
		length--;
	} else {
		*end = text + length;
	}
	if (length >= sizeof(url->host))
		return "has a host name longer than 253 bytes";
	memcpy(url->host, text, length);
	url->host[length] = '\0';
	url->is_inet6 = bracket;
	url->is_address = bracket || ipv4_parse(text, length, &address) == IPV4_OK;
	if (bracket)
		return inet_pton(AF_INET6, url->host, &address6) == 1
			       ? NULL
			       : "has no IPv6 address between its brackets";
	return url->is_address || host_name_check(text, length) == HOST_NAME_OK
		       ? NULL
		       : "has no host name or canonical address";
}

/* ":PORT", if it is there; *AT is then behind it. */
static const char *read_port(const char **at, uint16_t *port)
{
	const char *digits = *at + 1;
	size_t length;
	unsigned number = 0;

	if (**at != ':')
		return NULL;
	length = strspn(digits, "0123456789");
	for (size_t i = 0; i < length && number <= UINT16_MAX; i++)
		number = number * 10 + (unsigned)(digits[i] - '0');
	if (number == 0 || number > UINT16_MAX || digits[0] == '0')
		return "has no port from 1 to 65535 behind its colon";
	*port = (uint16_t)number;
	*at = digits + length;
	return NULL;
}

const char *https_url_parse(const char *text, struct https_url *url)
{
	static const char scheme[] = "https://";
	const char *at, *reason;

	memset(url, 0, sizeof(*url));
	url->port = 443;
	if (strlen(text) > HTTPS_URL_MAX)
		return "is longer than 2048 bytes";
	for (at = text; *at != '\0'; at++)
		if (*at <= ' ' || *at > '~' || *at == '#')
			return "has a byte that a request cannot carry";
	if (strncmp(text, scheme, strlen(scheme)) != 0)
		return "does not begin with https:// (only a signature shows who answers)";
	reason = read_host(text + strlen(scheme), &at, url);
	if (reason == NULL)
		reason = read_port(&at, &url->port);
	if (reason != NULL)
		return reason;
	if (*at != '\0' && *at != '/' && *at != '?')
		return "has something other than a path behind its host";
	(void)snprintf(url->target, sizeof(url->target), "%s%s", *at == '/' ? "" : "/", at);
	return NULL;
}

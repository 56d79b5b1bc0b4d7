// SPDX-License-Identifier: GPL-2.0-or-later
/* The status line of an HTTP answer; see http_status.h. */
#include "http_status.h"

#include <string.h>

int http_status(const void *answer, size_t length)
{
	static const char prefix[] = "HTTP/1.";
	const char *text = answer;
	size_t known = length < strlen(prefix) ? length : strlen(prefix);
	int status = 0;

	if (memcmp(text, prefix, known) != 0)
		return 0;
	if (length < HTTP_STATUS_LINE)
		return -1;
	for (size_t i = HTTP_STATUS_LINE - 3; i < HTTP_STATUS_LINE; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		status = status * 10 + (text[i] - '0');
	}
	return text[HTTP_STATUS_LINE - 4] == ' ' && status >= 100 ? status : 0;
}

bool http_status_is_served(int status)
{
	return status >= 100 && status < 500 && status != 400 && status != 403 && status != 407;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tools of one cell must agree on; see settings.h. */
#include "settings.h"

#include <string.h>

#include "arguments.h"
#include "host_name.h"
#include "published.h"
#include "report.h"
#include "ruleset.h"

const char *settings_directory(void)
{
	return arguments_environment("CELL_EGRESS_DIR", PUBLISHED_DEFAULT_DIR);
}

const char *settings_proxy_host(void)
{
	const char *host = arguments_environment("CELL_PROXY_HOST", PUBLISHED_DEFAULT_HOST);
	enum host_name_verdict verdict = host_name_check(host, strlen(host));

	if (verdict != HOST_NAME_OK)
		die(CELL_USAGE, "CELL_PROXY_HOST \"%s\" %s", host, host_name_verdict_text(verdict));
	return host;
}

uint16_t settings_proxy_port(void)
{
	return arguments_port("CELL_PROXY_PORT",
			      arguments_environment("CELL_PROXY_PORT", PUBLISHED_DEFAULT_PORT));
}

const char *settings_table(const char *given)
{
	const char *table =
		given != NULL ? given : arguments_environment("CELL_TABLE", RULESET_DEFAULT_TABLE);

	if (!ruleset_table_is_valid(table))
		die(CELL_USAGE,
		    "table name %s is not of lower-case letters, digits and at least one _, or is "
		    "gost_egress",
		    table);
	return table;
}

const char *settings_log_group(const char *given)
{
	return given != NULL ? given : arguments_environment("CELL_LOG_GROUP", "5");
}

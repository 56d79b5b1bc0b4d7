// SPDX-License-Identifier: GPL-2.0-or-later
/* What the tools of one cell must agree on; see settings.h. */
#include "settings.h"

#include "arguments.h"
#include "published.h"
#include "ruleset.h"

const char *settings_directory(void)
{
	return arguments_environment("CELL_EGRESS_DIR", PUBLISHED_DEFAULT_DIR);
}

const char *settings_proxy_host(void)
{
	return arguments_environment("CELL_PROXY_HOST", PUBLISHED_DEFAULT_HOST);
}

uint16_t settings_proxy_port(void)
{
	return arguments_port("CELL_PROXY_PORT",
			      arguments_environment("CELL_PROXY_PORT", PUBLISHED_DEFAULT_PORT));
}

const char *settings_table(const char *given)
{
	return given != NULL ? given : arguments_environment("CELL_TABLE", RULESET_DEFAULT_TABLE);
}

const char *settings_log_group(const char *given)
{
	return given != NULL ? given : arguments_environment("CELL_LOG_GROUP", "5");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The facts of a policy as fields and as lines; see policy_words.h. */
#include "policy_words.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "sha256.h"
#include "text.h"
#include "watch_class.h"

static json_t *proxy_field(const struct policy_state *state)
{
	const struct ruleset_proxy *proxy = &state->listing.read.proxy;
	char address[INET_ADDRSTRLEN];

	if (state->mode != POLICY_PROXY_ONLY)
		return json_null();
	(void)inet_ntop(AF_INET, &proxy->address, address, sizeof(address));
	return json_pack("{s:s, s:s, s:i}", "device", proxy->device, "address", address, "port",
			 (int)proxy->port);
}

static json_t *resolvers_field(const struct policy_state *state)
{
	json_t *list = json_array();

	for (size_t i = 0; i < state->listing.read.resolvers_count; i++)
		if (json_array_append_new(list, json_string(state->listing.read.resolvers[i])) != 0)
			return json_decref(list), NULL;
	return list;
}

static json_t *digest_field(const struct policy_state *state)
{
	char digest[SHA256_TEXT];

	if (state->text == NULL)
		return json_null();
	sha256_hex(state->text, strlen(state->text), digest);
	return json_string(digest);
}

json_t *policy_fields(const struct policy_state *state, json_t *differs)
{
	json_t *counters = state->listing.counters;

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:O, s:O}", "mode",
			 policy_mode_name(state->mode), "proxy", proxy_field(state), "resolvers",
			 resolvers_field(state), "counters",
			 counters != NULL ? json_incref(counters) : json_object(), "ruleset_sha256",
			 digest_field(state), "generation", (json_int_t)state->netfilter.generation,
			 "differs", differs, "notes", state->notes);
}

static void put_list(FILE *out, const char *key, const json_t *list)
{
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item) {
		autofree char *line =
			text_to_line(json_string_value(item), json_string_length(item));

		(void)fprintf(out, "%s: %s\n", key, line != NULL ? line : "?");
	}
}

static void put_proxy(FILE *out, const json_t *proxy)
{
	if (json_is_object(proxy))
		(void)fprintf(out, "proxy: %s:%d via %s\n",
			      json_string_value(json_object_get(proxy, "address")),
			      (int)json_integer_value(json_object_get(proxy, "port")),
			      json_string_value(json_object_get(proxy, "device")));
	else
		(void)fputs("proxy: none\n", out);
}

static void put_counters(FILE *out, const json_t *counters)
{
	for (int class = 0; class < WATCH_COUNTED; class ++) {
		const json_t *one =
			json_object_get(counters, watch_class_name((enum watch_class) class));

		if (one != NULL)
			(void)fprintf(out,
				      "%s: %" JSON_INTEGER_FORMAT " packets, %" JSON_INTEGER_FORMAT
				      " bytes\n",
				      watch_class_counter((enum watch_class) class),
				      json_integer_value(json_object_get(one, "packets")),
				      json_integer_value(json_object_get(one, "bytes")));
	}
}

char *policy_lines(const json_t *fields, bool skip_mode)
{
	const json_t *resolvers = json_object_get(fields, "resolvers");
	const json_t *digest = json_object_get(fields, "ruleset_sha256");
	json_t *item;
	char *text = NULL;
	size_t length, i;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	if (!skip_mode)
		(void)fprintf(out, "mode: %s\n",
			      json_string_value(json_object_get(fields, "mode")));
	put_proxy(out, json_object_get(fields, "proxy"));
	(void)fputs("resolvers:", out);
	json_array_foreach (resolvers, i, item)
		(void)fprintf(out, " %s", json_string_value(item));
	(void)fputs(json_array_size(resolvers) > 0 ? "\n" : " none\n", out);
	put_counters(out, json_object_get(fields, "counters"));
	(void)fprintf(out, "ruleset_sha256: %s\n",
		      json_is_string(digest) ? json_string_value(digest) : "none");
	(void)fprintf(out, "generation: %" JSON_INTEGER_FORMAT "\n",
		      json_integer_value(json_object_get(fields, "generation")));
	put_list(out, "differs", json_object_get(fields, "differs"));
	put_list(out, "note", json_object_get(fields, "notes"));
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

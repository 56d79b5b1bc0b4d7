// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables and base chains of this network namespace; see netfilter_state.h. */
#include "netfilter_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netlink_dump.h"

enum { ATTEMPTS = 10 };

static uint32_t get_u32(const struct nlattr *attribute)
{
	uint32_t value = 0;

	if (attribute != NULL && mnl_attr_get_payload_len(attribute) == sizeof(value))
		memcpy(&value, mnl_attr_get_payload(attribute), sizeof(value));
	return ntohl(value);
}

/* Names are compared whole or not at all: a cut one ends in a byte that ours never have. */
static void get_name(const struct nlattr *attribute, char *name, size_t size)
{
	const char *payload = attribute == NULL ? "" : mnl_attr_get_payload(attribute);
	size_t length =
		attribute == NULL ? 0 : strnlen(payload, mnl_attr_get_payload_len(attribute));

	(void)snprintf(name, size, "%.*s", (int)length, payload);
	if (length >= size)
		name[size - 2] = '~';
}

static uint8_t family_of(const struct nlmsghdr *message)
{
	const struct nfgenmsg *header = mnl_nlmsg_get_payload(message);

	return header->nfgen_family;
}

static int each_table(const struct nlmsghdr *message, void *data)
{
	struct netfilter_state *state = data;
	struct netlink_attributes a = {0};
	struct netfilter_table *grown;

	if (mnl_attr_parse(message, sizeof(struct nfgenmsg), netlink_collect, &a) < 0)
		return MNL_CB_ERROR;
	grown = reallocarray(state->tables, state->tables_count + 1, sizeof(*grown));
	if (grown == NULL)
		return MNL_CB_ERROR;
	state->tables = grown;
	grown += state->tables_count++;
	memset(grown, 0, sizeof(*grown));
	grown->family = family_of(message);
	grown->flags = get_u32(a.at[NFTA_TABLE_FLAGS]);
	get_name(a.at[NFTA_TABLE_NAME], grown->name, sizeof(grown->name));
	return MNL_CB_OK;
}

static int each_chain(const struct nlmsghdr *message, void *data)
{
	struct netfilter_state *state = data;
	struct netlink_attributes a = {0}, hook = {0};
	struct netfilter_chain *grown;

	if (mnl_attr_parse(message, sizeof(struct nfgenmsg), netlink_collect, &a) < 0)
		return MNL_CB_ERROR;
	if (a.at[NFTA_CHAIN_HOOK] == NULL)
		return MNL_CB_OK;
	if (mnl_attr_parse_nested(a.at[NFTA_CHAIN_HOOK], netlink_collect, &hook) < 0)
		return MNL_CB_ERROR;
	grown = reallocarray(state->chains, state->chains_count + 1, sizeof(*grown));
	if (grown == NULL)
		return MNL_CB_ERROR;
	state->chains = grown;
	grown += state->chains_count++;
	memset(grown, 0, sizeof(*grown));
	grown->family = family_of(message);
	grown->hook = get_u32(hook.at[NFTA_HOOK_HOOKNUM]);
	grown->priority = (int32_t)get_u32(hook.at[NFTA_HOOK_PRIORITY]);
	get_name(a.at[NFTA_CHAIN_TABLE], grown->table, sizeof(grown->table));
	get_name(a.at[NFTA_CHAIN_NAME], grown->name, sizeof(grown->name));
	get_name(a.at[NFTA_CHAIN_TYPE], grown->type, sizeof(grown->type));
	return MNL_CB_OK;
}

/* Marks a rule's table if one of the rule's expressions is x_tables'. */
static int each_rule(const struct nlmsghdr *message, void *data)
{
	struct netfilter_state *state = data;
	struct netlink_attributes a = {0};
	struct nlattr *expression;
	char table[NETFILTER_NAME_MAX];

	if (mnl_attr_parse(message, sizeof(struct nfgenmsg), netlink_collect, &a) < 0)
		return MNL_CB_ERROR;
	if (a.at[NFTA_RULE_EXPRESSIONS] == NULL)
		return MNL_CB_OK;
	get_name(a.at[NFTA_RULE_TABLE], table, sizeof(table));
	mnl_attr_for_each_nested(expression, a.at[NFTA_RULE_EXPRESSIONS])
	{
		struct netlink_attributes e = {0};
		char name[16];

		if (mnl_attr_parse_nested(expression, netlink_collect, &e) < 0)
			return MNL_CB_ERROR;
		get_name(e.at[NFTA_EXPR_NAME], name, sizeof(name));
		if (strcmp(name, "match") != 0 && strcmp(name, "target") != 0)
			continue;
		for (size_t i = 0; i < state->tables_count; i++)
			state->tables[i].xt |= state->tables[i].family == family_of(message) &&
					       strcmp(state->tables[i].name, table) == 0;
	}
	return MNL_CB_OK;
}

static int each_generation(const struct nlmsghdr *message, void *data)
{
	struct netlink_attributes a = {0};

	if (mnl_attr_parse(message, sizeof(struct nfgenmsg), netlink_collect, &a) < 0)
		return MNL_CB_ERROR;
	*(uint32_t *)data = get_u32(a.at[NFTA_GEN_ID]);
	return MNL_CB_OK;
}

/* One nf_tables request; FLAGS is NLM_F_DUMP, or NLM_F_ACK where one answer comes. */
static int ask(uint16_t message, uint16_t flags, mnl_cb_t each, void *data)
{
	char buffer[NETLINK_REQUEST_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct nfgenmsg *header;
	int result;

	request->nlmsg_type = (uint16_t)(NFNL_SUBSYS_NFTABLES << 8 | message);
	request->nlmsg_flags = NLM_F_REQUEST | flags;
	header = mnl_nlmsg_put_extra_header(request, sizeof(*header));
	memset(header, 0, sizeof(*header));
	header->nfgen_family = NFPROTO_UNSPEC;
	header->version = NFNETLINK_V0;
	result = netlink_dump(NETLINK_NETFILTER, request, each, data);
	/* nfnetlink answers so where no such subsystem is built or can be loaded. */
	if (result != 0 && (errno == EINVAL || errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT))
		errno = EOPNOTSUPP;
	return result;
}

int netfilter_generation(uint32_t *generation)
{
	return ask(NFT_MSG_GETGEN, NLM_F_ACK, each_generation, generation);
}

int netfilter_state_read(struct netfilter_state *state)
{
	uint32_t after;

	memset(state, 0, sizeof(*state));
	for (int i = 0; i < ATTEMPTS; i++) {
		netfilter_state_release(state);
		if (netfilter_generation(&state->generation) == 0 &&
		    ask(NFT_MSG_GETTABLE, NLM_F_DUMP, each_table, state) == 0 &&
		    ask(NFT_MSG_GETCHAIN, NLM_F_DUMP, each_chain, state) == 0 &&
		    ask(NFT_MSG_GETRULE, NLM_F_DUMP, each_rule, state) == 0 &&
		    netfilter_generation(&after) == 0) {
			if (after == state->generation)
				return 0;
			errno = EINTR;
		}
		if (errno != EINTR)
			break;
	}
	netfilter_state_release(state);
	return -1;
}

void netfilter_state_release(struct netfilter_state *state)
{
	int saved = errno;

	free(state->tables);
	free(state->chains);
	memset(state, 0, sizeof(*state));
	errno = saved;
}

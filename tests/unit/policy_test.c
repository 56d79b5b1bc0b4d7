// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the policy's pure parts: the ruleset's text, two versions' listings, judgements. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <string.h>

#include "nft_session.h"
#include "policy_check.h"
#include "policy_proxy.h"
#include "resolver_file.h"
#include "ruleset_listing.h"
#include "sha256.h"
#include "unit.h"

#define CORPUS "tests/fuzz/corpus/ruleset_listing/"

/* The ruleset that the recorded listings are of. */
static struct ruleset recorded(void)
{
	struct ruleset ruleset = {.table = "cell_egress", .log_group = 5, .has_proxy = true};

	CHECK(ruleset_add_resolver(&ruleset, "127.0.0.53") == 0);
	CHECK(ruleset_add_resolver(&ruleset, "fd00::53") == 0);
	CHECK(ruleset_add_resolver(&ruleset, "127.0.0.11") == 0);
	memcpy(ruleset.proxy.device, "eth0", 5);
	ruleset.proxy.port = 8080;
	CHECK(inet_pton(AF_INET, "10.77.0.2", &ruleset.proxy.address) == 1);
	return ruleset;
}

/* How the listing ROOT differs from the recorded ruleset, in words. Takes ROOT over. */
static json_t *differences(json_t *root)
{
	struct ruleset ruleset = recorded();
	struct ruleset_listing listing;
	json_t *wanted = ruleset_wanted(&ruleset), *differs = json_array();
	char *text = json_dumps(root, JSON_COMPACT);

	CHECK(root != NULL && text != NULL);
	if (ruleset_listing_read(text, strlen(text), "cell_egress", &listing) == 0) {
		CHECK(ruleset_compare(wanted, listing.blocks, differs) == 0);
		ruleset_listing_release(&listing);
	} else {
		CHECK(errno == EBADMSG);
		(void)json_array_append_new(differs, json_string("not read"));
	}
	free(text);
	json_decref(wanted);
	json_decref(root);
	return differs;
}

static json_t *load(const char *name)
{
	char path[160];

	(void)snprintf(path, sizeof(path), CORPUS "%s", name);
	return json_load_file(path, 0, NULL);
}

/* True if nothing differs; the words are printed otherwise. Takes DIFFERS over. */
static int is_equal(json_t *differs)
{
	size_t count = json_array_size(differs);

	if (count > 0)
		(void)json_dumpf(differs, stdout, JSON_INDENT(1));
	json_decref(differs);
	return count == 0;
}

/* True if one of the words is TEXT. Takes DIFFERS over. */
static int says(json_t *differs, const char *text)
{
	json_t *one;
	size_t i;
	int found = 0;

	json_array_foreach (differs, i, one)
		found |= strstr(json_string_value(one), text) != NULL;
	if (!found)
		(void)json_dumpf(differs, stdout, JSON_INDENT(1));
	json_decref(differs);
	return found;
}

static void test_listings_of_both_versions_are_the_ruleset(void)
{
	CHECK(is_equal(differences(load("nft-1.0.6"))));
	CHECK(is_equal(differences(load("nft-1.1.3"))));
	CHECK(is_equal(differences(load("nft-1.0.6-symbolic"))));
	CHECK(is_equal(differences(load("nft-1.1.3-symbolic"))));
	CHECK(says(differences(load("foreign")), "set odd is not ours"));
	CHECK(says(differences(load("foreign")), "chain output has what we never write"));
}

/* The first rule of CHAIN in ROOT whose JSON has TEXT, borrowed. */
static json_t *rule_with(json_t *root, const char *chain, const char *text)
{
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(root, "nftables"), i, entry) {
		json_t *rule = json_object_get(entry, "rule");
		char *all = json_dumps(rule, JSON_COMPACT);
		int found = all != NULL && strstr(all, text) != NULL &&
			    strcmp(json_string_value(json_object_get(rule, "chain")), chain) == 0;

		free(all);
		if (found)
			return rule;
	}
	CHECK(!"there is such a rule");
	return NULL;
}

static json_t *statement(json_t *rule, size_t index)
{
	return json_array_get(json_object_get(rule, "expr"), index);
}

/* Shapes that versions give to the same thing. */
static void test_other_shapes_of_the_same_are_the_same(void)
{
	json_t *root = load("nft-1.0.6"), *entries = json_object_get(root, "nftables"), *match;
	json_t *reversed = json_array();
	size_t count = json_array_size(entries);

	/* Chains behind their rules, and keys that nobody asked for. */
	for (size_t i = 0; i < count; i++)
		if (json_object_get(json_array_get(entries, i), "rule") != NULL)
			(void)json_array_append(reversed, json_array_get(entries, i));
	for (size_t i = count; i-- > 0;)
		if (json_object_get(json_array_get(entries, i), "rule") == NULL)
			(void)json_array_append(reversed, json_array_get(entries, i));
	(void)json_object_set_new(root, "nftables", reversed);
	(void)json_object_set_new(rule_with(root, "output", "\"lo\""), "comment", json_string("x"));
	(void)json_object_set_new(rule_with(root, "output", "\"lo\""), "owner", json_integer(1));
	CHECK(is_equal(differences(root)));

	/* Words for numbers, "in" for a set, a single address for a set of one. */
	root = load("nft-1.0.6");
	match = json_object_get(statement(rule_with(root, "refuse_subject", "refused_icmp"), 0),
				"match");
	(void)json_object_set_new(match, "right",
				  json_pack("{s:[s,s]}", "set", "ipv6-icmp", "icmp"));
	(void)json_object_set_new(match, "op", json_string("in"));
	match = json_object_get(statement(rule_with(root, "refuse_subject", "refused_tcp"), 0),
				"match");
	(void)json_object_set_new(match, "right", json_string("tcp"));
	(void)json_object_set_new(
		json_object_get(statement(rule_with(root, "refuse_subject", "refused_other"), 2),
				"reject"),
		"expr", json_string("admin-prohibited"));
	CHECK(is_equal(differences(root)));
}

/* What a rule of ours looks like when somebody puts something in it. */
static void test_what_is_not_understood_never_looks_like_ours(void)
{
	static const char *const additions[] = {
		"{\"xt\": null}",
		"{\"xt\": {\"type\": \"target\", \"name\": \"TEE\"}}",
		"{\"accept\": {}}",
		"{\"counter\": null}",
		"{\"counter\": {\"packets\": 0, \"bytes\": 0}}",
		"{\"mangle\": {\"key\": {\"meta\": {\"key\": \"mark\"}}, \"value\": 1}}",
		"{\"accept\": null, \"drop\": null}",
		"\"accept\"",
		"{}",
		"null",
	};

	for (size_t i = 0; i < sizeof(additions) / sizeof(additions[0]); i++) {
		json_t *root = load("nft-1.0.6");

		(void)json_array_insert_new(
			json_object_get(rule_with(root, "output", "\"lo\""), "expr"), 0,
			json_loads(additions[i], JSON_DECODE_ANY, NULL));
		CHECK(says(differences(root), "chain output has what we never write"));
	}
}

/* Names that come by netlink may hold any byte, and could read like more words of ours. */
static void test_names_cannot_pass_for_words(void)
{
	json_t *root = load("nft-1.0.6"), *rule = rule_with(root, "output", "@proxy4");

	(void)json_object_set_new(json_object_get(statement(rule, 0), "match"), "right",
				  json_string("@proxy4 accept"));
	(void)json_array_remove(json_object_get(rule, "expr"), 1);
	CHECK(says(differences(root), "\"@proxy4 accept\""));

	root = load("nft-1.0.6");
	rule = rule_with(root, "refuse_subject", "refused_tcp");
	(void)json_object_set_new(
		json_object_get(statement(rule, 1), "log"), "prefix",
		json_string("refused_tcp\" group 5 snaplen 256 counter name \"refused_tcp"));
	CHECK(says(differences(root), "has what we never write"));

	root = load("nft-1.0.6");
	rule = rule_with(root, "output", "127.0.0.11");
	(void)json_object_set_new(json_object_get(statement(rule, 1), "goto"), "target",
				  json_string("refuse_resolver comment"));
	CHECK(says(differences(root), "chain output lacks"));
}

static void test_marks_and_attributes_count(void)
{
	json_t *root = load("nft-1.0.6"), *rule = rule_with(root, "output", "127.0.0.11"), *entry;
	size_t i;

	/* The mark of the resolvers does not fit an edited list, nor none. */
	(void)json_object_set_new(rule, "comment", json_string("resolvers 0000000000000000"));
	CHECK(says(differences(root), "chain output lacks: ip daddr"));
	root = load("nft-1.0.6");
	(void)json_object_del(rule_with(root, "output", "127.0.0.11"), "comment");
	CHECK(says(differences(root), "chain output lacks: ip daddr"));

	root = load("nft-1.0.6");
	json_array_foreach (json_object_get(root, "nftables"), i, entry) {
		json_t *set = json_object_get(entry, "set");

		if (set != NULL)
			(void)json_object_set_new(set, "flags", json_string("timeout"));
	}
	CHECK(says(differences(root), "flags \"timeout\""));
}

static void test_other_listings_are_not_read(void)
{
	struct ruleset_listing listing;
	static const char *const bad[] = {
		"",
		"{}",
		"[]",
		"{\"nftables\": {}}",
		"{\"nftables\": [{\"chain\": {}}]}",
		"{\"nftables\": [{\"rule\": {\"family\": \"inet\", \"table\": \"cell_egress\"}}]}",
		"{\"nftables\": [{\"table\": {\"family\": \"inet\", \"name\": \"other\"}}]}",
		("{\"nftables\": [{\"set\": {\"family\": \"ip\", \"table\": \"cell_egress\", "
		 "\"name\": \"proxy4\"}}]}"),
		"{\"nftables\": []} x",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		CHECK(ruleset_listing_read(bad[i], strlen(bad[i]), "cell_egress", &listing) != 0);
		CHECK(errno == EBADMSG);
	}
}

static void test_parameters_are_read_back(void)
{
	struct ruleset_listing listing;
	json_t *root = load("nft-1.1.3");
	char *text = json_dumps(root, 0);

	CHECK(ruleset_listing_read(text, strlen(text), "cell_egress", &listing) == 0);
	CHECK(listing.read.log_group == 5 && listing.read.resolvers_count == 3);
	CHECK(strcmp(listing.read.resolvers[0], "127.0.0.11") == 0);
	CHECK(strcmp(listing.read.resolvers[2], "fd00::53") == 0);
	CHECK(listing.proxies == 1 && listing.read.has_proxy && listing.read.proxy.port == 8080);
	CHECK(strcmp(listing.read.proxy.device, "eth0") == 0 && !listing.foreign);
	CHECK(json_object_size(listing.counters) == 9);
	ruleset_listing_release(&listing);
	free(text);
	json_decref(root);
}

static void test_names_that_a_ruleset_can_hold(void)
{
	CHECK(ruleset_table_is_valid("cell_egress") && ruleset_table_is_valid("_1"));
	CHECK(!ruleset_table_is_valid("") && !ruleset_table_is_valid("table"));
	CHECK(!ruleset_table_is_valid("gost_egress") && !ruleset_table_is_valid("1_a"));
	CHECK(!ruleset_table_is_valid("a_b c") && !ruleset_table_is_valid("a_b\n"));
	CHECK(!ruleset_table_is_valid("a_234567890123456789012345678901x"));
	CHECK(ruleset_device_is_valid("eth0") && ruleset_device_is_valid("br-1.2@x"));
	CHECK(!ruleset_device_is_valid("") && !ruleset_device_is_valid("eth*"));
	CHECK(!ruleset_device_is_valid("a\"b") && !ruleset_device_is_valid("a b"));
	CHECK(!ruleset_device_is_valid("a234567890123456"));
}

static void test_resolvers_are_canonical_sorted_and_bounded(void)
{
	struct ruleset ruleset = {0};
	char address[32];

	CHECK(ruleset_add_resolver(&ruleset, "::ffff:127.0.0.9") == 0);
	CHECK(ruleset_add_resolver(&ruleset, "127.0.0.9") == 0);
	CHECK(ruleset_add_resolver(&ruleset, "FD00:0::1") == 0);
	CHECK(ruleset.resolvers_count == 2 && strcmp(ruleset.resolvers[0], "127.0.0.9") == 0);
	CHECK(strcmp(ruleset.resolvers[1], "fd00::1") == 0);
	CHECK(ruleset_add_resolver(&ruleset, "127.0.0") != 0 && errno == EINVAL);
	CHECK(ruleset_add_resolver(&ruleset, "127.0.0.1;accept") != 0 && errno == EINVAL);
	for (int i = 2; i < RULESET_RESOLVERS_MAX; i++) {
		(void)snprintf(address, sizeof(address), "127.1.0.%d", i);
		CHECK(ruleset_add_resolver(&ruleset, address) == 0);
	}
	CHECK(ruleset_add_resolver(&ruleset, "127.2.0.1") != 0 && errno == ENOSPC);
	CHECK(ruleset_add_resolver(&ruleset, "127.1.0.2") == 0);
}

static int collect(const char *address, void *data)
{
	(void)strcat(strcat(data, address), " ");
	return 0;
}

static void test_loopback_resolvers_of_a_file(void)
{
	static const char text[] = "nameserver 127.0.0.53\n nameserver 127.0.0.2\nnameserver\t"
				   "127.0.0.3#x\nnameserver 127.0.0.1\nnameserver ::1\r\n"
				   "nameserver 8.8.8.8\nnameserver ::ffff:127.9.9.9\r\nnameserver";
	char found[256] = "";

	CHECK(resolver_file_loopback(text, strlen(text), collect, found) == 0);
	CHECK(strcmp(found, "127.0.0.53 127.0.0.3 ::ffff:127.9.9.9 ") == 0);
	found[0] = '\0';
	CHECK(resolver_file_loopback("nameserver 127.0.0.4", 20, collect, found) == 0);
	CHECK(strcmp(found, "127.0.0.4 ") == 0);
}

static void test_complaints_become_one_line_and_an_errno(void)
{
	int number;
	char *line =
		nft_session_complaint("<cmdline>:3:1-4: Error: Could not process rule: No such "
				      "file or directory\n\tfib daddr type local\n\t^^^\n",
				      &number);

	CHECK(number == ENOENT);
	CHECK(strcmp(line, "Could not process rule: No such file or directory in \"fib daddr type "
			   "local\"") == 0);
	free(line);
	line = nft_session_complaint("Error: syntax error, unexpected string", &number);
	CHECK(number == 0 && strcmp(line, "syntax error, unexpected string") == 0);
	free(line);
	line = nft_session_complaint("netlink.c:59: Unable to open: Operation not permitted\n",
				     &number);
	CHECK(number == EPERM);
	free(line);
	line = nft_session_complaint("", &number);
	CHECK(number == 0 && *line == '\0');
	free(line);
}

static void test_hosts_must_be_the_proxy_with_one_port(void)
{
	struct fault fault;
	uint16_t port = 0;

	CHECK(policy_proxy_operand("cell-proxy", "cell-proxy", 8080, &port, &fault) == 0);
	CHECK(port == 8080);
	CHECK(policy_proxy_operand("CELL-proxy:8080", "cell-proxy", 1, &port, &fault) == 0);
	CHECK(policy_proxy_operand("cell-proxy:81", "cell-proxy", 8080, &port, &fault) != 0);
	CHECK(fault.code == CELL_USAGE && port == 8080);
	CHECK(policy_proxy_operand("cell-prox", "cell-proxy", 8080, &port, &fault) != 0);
	CHECK(policy_proxy_operand("cell-proxyy", "cell-proxy", 8080, &port, &fault) != 0);
	port = 0;
	CHECK(policy_proxy_operand("cell-proxy:", "cell-proxy", 8080, &port, &fault) != 0);
	CHECK(policy_proxy_operand("cell-proxy:+81", "cell-proxy", 8080, &port, &fault) != 0);
	CHECK(policy_proxy_operand("cell-proxy:99999999999999999999", "cell-proxy", 8080, &port,
				   &fault) != 0);
	CHECK(port == 0);
}

static void test_hooks_beside_ours_are_judged(void)
{
	struct netfilter_table tables[] = {{NFPROTO_INET, "cell_egress", 0, false},
					   {NFPROTO_IPV4, "cell_egress", 0, true},
					   {NFPROTO_BRIDGE, "br", 0, false}};
	struct netfilter_chain chains[] = {
		{NFPROTO_INET, "cell_egress", "postrouting", "filter", NF_INET_POST_ROUTING,
		 POLICY_POSTROUTING_PRIORITY},
		{NFPROTO_IPV4, "cell_egress", "post", "nat", NF_INET_POST_ROUTING, 100},
		{NFPROTO_IPV6, "x", "out", "filter", NF_INET_LOCAL_OUT, INT32_MAX},
	};
	struct netfilter_state state = {
		.tables = tables, .chains = chains, .tables_count = 3, .chains_count = 3};
	json_t *differs = json_array(), *notes = json_array();

	CHECK(policy_check_hooks(&state, "cell_egress", differs, notes) == 0);
	CHECK(json_array_size(differs) == 0 && json_array_size(notes) == 3);
	tables[0].flags = NFT_TABLE_F_DORMANT;
	tables[2].family = NFPROTO_NETDEV;
	chains[1].priority = POLICY_POSTROUTING_PRIORITY;
	chains[2].hook = NF_INET_POST_ROUTING;
	CHECK(policy_check_hooks(&state, "cell_egress", differs, notes) == 0);
	CHECK(json_array_size(differs) == 4);
	/* A name with bytes that are no text is said all the same. */
	memcpy(chains[1].name, "\xff\xfe", 3);
	json_array_clear(differs);
	CHECK(policy_check_hooks(&state, "cell_egress", differs, notes) == 0);
	CHECK(says(differs, "\\xff\\xfe"));
	json_decref(notes);
}

static void test_digests_are_those_of_the_standard(void)
{
	static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char text[SHA256_TEXT], filled[200];

	sha256_hex("", 0, text);
	CHECK(strcmp(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") ==
	      0);
	sha256_hex("abc", 3, text);
	CHECK(strcmp(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") ==
	      0);
	sha256_hex(two_blocks, strlen(two_blocks), text);
	CHECK(strcmp(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1") ==
	      0);
	/* Around the places where the padding takes another block. */
	memset(filled, 'a', sizeof(filled));
	sha256_hex(filled, 55, text);
	CHECK(strncmp(text, "9f4390f8d30c2dd9", 16) == 0);
	sha256_hex(filled, 56, text);
	CHECK(strncmp(text, "b35439a4ac6f0948", 16) == 0);
	sha256_hex(filled, 64, text);
	CHECK(strncmp(text, "ffe054fe7ae0cb6d", 16) == 0);
	sha256_hex(filled, 119, text);
	CHECK(strncmp(text, "31eba51c313a5c08", 16) == 0);
}

int main(void)
{
	RUN(test_listings_of_both_versions_are_the_ruleset);
	RUN(test_other_shapes_of_the_same_are_the_same);
	RUN(test_what_is_not_understood_never_looks_like_ours);
	RUN(test_names_cannot_pass_for_words);
	RUN(test_marks_and_attributes_count);
	RUN(test_other_listings_are_not_read);
	RUN(test_parameters_are_read_back);
	RUN(test_names_that_a_ruleset_can_hold);
	RUN(test_resolvers_are_canonical_sorted_and_bounded);
	RUN(test_loopback_resolvers_of_a_file);
	RUN(test_complaints_become_one_line_and_an_errno);
	RUN(test_hosts_must_be_the_proxy_with_one_port);
	RUN(test_hooks_beside_ours_are_judged);
	RUN(test_digests_are_those_of_the_standard);
	return unit_end();
}

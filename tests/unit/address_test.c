// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the address and host name parsers. */
#include <string.h>

#include "host_name.h"
#include "ipv4_address.h"
#include "unit.h"

static enum ipv4_verdict published(const char *text)
{
	struct in_addr address;

	return ipv4_parse_published(text, strlen(text), &address);
}

static void test_canonical_addresses_are_accepted(void)
{
	CHECK(published("172.18.0.2") == IPV4_OK);
	CHECK(published("172.18.0.2\n") == IPV4_OK);
	CHECK(published("1.0.0.1") == IPV4_OK);
	CHECK(published("223.255.255.254") == IPV4_OK);
}

static void test_other_spellings_are_malformed(void)
{
	static const char *const bad[] = {
		"",
		"\n",
		"999.1.1.1",
		"1..2.3",
		"...",
		"1.2.3.4.5",
		"01.2.3.4",
		"1.2.3",
		"1.2.3.4.",
		".1.2.3.4",
		"1.2.3.4 ",
		" 1.2.3.4",
		"1.2.3.4\r\n",
		"1.2.3.4\n\n",
		"1.2.3.4\n5.6.7.8",
		"0x7f.1",
		"127.1",
		"010.0.0.1",
		"172.18.0.02",
		"1.1.1.12.2.2.2",
		"1.2.3.256",
		"+1.2.3.4",
		"1.2.3.-4",
		"256.0.0.1",
		("\xef\xbb\xbf"
		 "1.2.3.4"),
		"1.2.3.4\t",
		"1,2.3.4",
		"1.2.3.4294967297",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(published(bad[i]) == IPV4_MALFORMED);
}

static void test_a_nul_byte_is_malformed(void)
{
	struct in_addr address;

	CHECK(ipv4_parse_published("1.2.3.4\0", 8, &address) == IPV4_MALFORMED);
	CHECK(ipv4_parse_published("1.2.3.4", 7, &address) == IPV4_OK);
}

static void test_kinds_nobody_can_publish(void)
{
	CHECK(published("0.0.0.0") == IPV4_UNSPECIFIED);
	CHECK(published("127.0.0.11") == IPV4_LOOPBACK);
	CHECK(published("169.254.7.7") == IPV4_LINK_LOCAL);
	CHECK(published("224.0.0.1") == IPV4_MULTICAST);
	CHECK(published("255.255.255.255") == IPV4_BROADCAST);
	CHECK(published("240.0.0.1") == IPV4_BROADCAST);
}

static enum host_name_verdict name(const char *text)
{
	return host_name_check(text, strlen(text));
}

static void test_host_names_that_are_accepted(void)
{
	CHECK(name("cell-proxy") == HOST_NAME_OK);
	CHECK(name("maka_eval_proxy") == HOST_NAME_OK);
	CHECK(name("Proxy.Example.COM") == HOST_NAME_OK);
	CHECK(name("xn--bcher-kva") == HOST_NAME_OK);
	CHECK(name("3com") == HOST_NAME_OK);
	CHECK(name("1.2.3.proxy") == HOST_NAME_OK);
	CHECK(name("0xfg") == HOST_NAME_OK);
	CHECK(name("abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc") ==
	      HOST_NAME_OK);
}

static void test_host_names_that_are_refused(void)
{
	char longest[300];

	CHECK(name("") == HOST_NAME_EMPTY);
	CHECK(name("a b") == HOST_NAME_BAD_BYTE);
	CHECK(name("a\nb") == HOST_NAME_BAD_BYTE);
	CHECK(name("proxy*") == HOST_NAME_BAD_BYTE);
	CHECK(name("a/b") == HOST_NAME_BAD_BYTE);
	CHECK(name("b\xc3\xbc"
		   "cher") == HOST_NAME_BAD_BYTE);
	CHECK(host_name_check("a\0b", 3) == HOST_NAME_BAD_BYTE);
	CHECK(name("...") == HOST_NAME_EMPTY_LABEL);
	CHECK(name("proxy.") == HOST_NAME_EMPTY_LABEL);
	CHECK(name(".proxy") == HOST_NAME_EMPTY_LABEL);
	CHECK(name("-proxy") == HOST_NAME_HYPHEN);
	CHECK(name("a.b-") == HOST_NAME_HYPHEN);
	CHECK(name("127.0.0.1") == HOST_NAME_NUMBER);
	CHECK(name("proxy.0x1f") == HOST_NAME_NUMBER);
	CHECK(name("0x") == HOST_NAME_NUMBER);
	CHECK(name("LocalHost") == HOST_NAME_LOCALHOST);
	CHECK(name("a.localhost") == HOST_NAME_LOCALHOST);
	CHECK(name("abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd") ==
	      HOST_NAME_LONG_LABEL);
	memset(longest, 'a', sizeof(longest));
	for (size_t i = 50; i < sizeof(longest); i += 51)
		longest[i] = '.';
	CHECK(host_name_check(longest, 253) == HOST_NAME_OK);
	CHECK(host_name_check(longest, 254) == HOST_NAME_TOO_LONG ||
	      host_name_check(longest, 254) == HOST_NAME_EMPTY_LABEL);
}

int main(void)
{
	RUN(test_canonical_addresses_are_accepted);
	RUN(test_other_spellings_are_malformed);
	RUN(test_a_nul_byte_is_malformed);
	RUN(test_kinds_nobody_can_publish);
	RUN(test_host_names_that_are_accepted);
	RUN(test_host_names_that_are_refused);
	return unit_end();
}

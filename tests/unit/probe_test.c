// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the probe's pure parts: targets, lists, DNS, records, verdicts, URLs, status. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "hosts_lookup.h"
#include "http_status.h"
#include "https_url.h"
#include "probe_compare.h"
#include "probe_dns.h"
#include "probe_list.h"
#include "unit.h"

static struct probe_target target;

static bool reads(const char *text)
{
	return probe_target_parse(text, strlen(text), &target) == NULL;
}

static void test_targets_that_are_read(void)
{
	CHECK(reads("tcp://10.0.0.1:65535") && target.kind == PROBE_TCP &&
	      target.address.inet.sin_port == htons(65535) &&
	      target.address.inet.sin_addr.s_addr == htonl(0x0a000001) &&
	      target.expect == PROBE_EXPECT_CLOSED);
	CHECK(reads("udp://[fd00::1]:7?dev=eth0") && target.address.any.sa_family == AF_INET6 &&
	      strcmp(target.device, "eth0") == 0);
	CHECK(reads("dns+tcp://127.0.0.11:53/a.b.c?dev=eth0") && target.kind == PROBE_DNS_TCP &&
	      strcmp(target.name, "a.b.c") == 0 && strcmp(target.device, "eth0") == 0);
	CHECK(reads("icmp://[::1]") && target.kind == PROBE_ICMP);
	CHECK(reads("icmp://10.0.0.1") && target.kind == PROBE_ICMP);
	CHECK(reads("family:vsock") && reads("call:bpf") && reads("policy:"));
	CHECK(reads("unix:/run/x y") == false && reads("unix:/run/x") && reads("unix:@a"));
	CHECK(reads("loopback:") && target.expect == PROBE_EXPECT_OPEN);
	CHECK(reads("name:cell-proxy") && target.expect == PROBE_EXPECT_OPEN);
	CHECK(reads("http+proxy://cell-proxy:8080/http://a.test/x") &&
	      strcmp(target.url, "http://a.test/x") == 0 && strcmp(target.name, "cell-proxy") == 0);
}

static void test_targets_that_are_refused(void)
{
	static const char *const bad[] = {
		"",
		"tcp",
		"tcp:",
		"tcp://",
		"tcp:///",
		"TCP://10.0.0.1:7",
		"tcp://10.0.0.1",
		"tcp://10.0.0.1:",
		"tcp://10.0.0.1:0",
		"tcp://10.0.0.1:07",
		"tcp://10.0.0.1:65536",
		"tcp://10.0.0.1:7x",
		"tcp://10.0.0.1:-7",
		"tcp://10.0.0.1:7/",
		"tcp://10.0.0.01:7",
		"tcp://::1:7",
		"tcp://[::1]",
		"tcp://[::1]7",
		"tcp://[::1:7",
		"tcp://[10.0.0.1]:7",
		"tcp://[fe80::1%eth0]:7",
		"tcp://host:7",
		"udp://10.0.0.1:7?",
		"udp://10.0.0.1:7?dev=",
		"udp://10.0.0.1:7?dev=0123456789abcdef",
		"udp://10.0.0.1:7?dev=a/b",
		"udp://10.0.0.1:7?dev=a?dev=b/",
		"icmp://10.0.0.1:7",
		"icmp://[::1]:7",
		"dns://10.0.0.1:53",
		"dns://10.0.0.1:53/",
		"dns://10.0.0.1:53/a..b",
		"dns://10.0.0.1/a",
		"family:",
		"family:nothing",
		"call:",
		"call:nothing",
		"policy:x",
		"loopback:x",
		"name:",
		"name:127.0.0.1",
		"unix:",
		"unix:x",
		"unix:/",
		"http+proxy://a:80",
		"http+proxy://a:80/",
		"http+proxy://a/http://b",
		"http+proxy://a:80/https://b/",
		"http+proxy://a:80/http://",
		" tcp://10.0.0.1:7",
		"tcp://10.0.0.1:7\n",
		"tcp://10.0.0.1:7\xc3\xa4",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!reads(bad[i]));
	CHECK(probe_target_parse("policy:\0", 8, &target) != NULL);
}

static void test_the_longest_target_and_path_fit(void)
{
	char text[PROBE_TARGET_MAX + 2];

	memset(text, 'a', sizeof(text));
	memcpy(text, "unix:/", 6);
	CHECK(probe_target_parse(text, 5 + 107, &target) == NULL);
	CHECK(probe_target_parse(text, 5 + 108, &target) != NULL);
	memcpy(text, "http+proxy://a:80/http://", 25);
	CHECK(probe_target_parse(text, PROBE_TARGET_MAX, &target) == NULL);
	CHECK(probe_target_parse(text, PROBE_TARGET_MAX + 1, &target) != NULL);
}

static void test_what_stays_on_loopback(void)
{
	CHECK(reads("udp://127.0.0.53:53") && probe_target_stays_here(&target));
	CHECK(reads("udp://[::1]:53") && probe_target_stays_here(&target));
	CHECK(reads("udp://[::ffff:127.0.0.1]:53") && probe_target_stays_here(&target));
	CHECK(reads("udp://127.0.0.53:53?dev=eth0") && !probe_target_stays_here(&target));
	CHECK(reads("udp://[::ffff:10.0.0.1]:53") && !probe_target_stays_here(&target));
	CHECK(reads("tcp://10.127.0.1:53") && !probe_target_stays_here(&target));
	CHECK(reads("family:vsock") && !probe_target_stays_here(&target));
}

static struct probe_list list;
static struct probe_values values;
static struct probe_list_fault fault;

static int read_list(const char *text)
{
	list.count = list.expansions = 0;
	return probe_list_read(&list, text, strlen(text), &values, &fault);
}

static void test_lists_fill_in_their_placeholders(void)
{
	values.count = 0;
	CHECK(probe_values_add(&values, "a", 1, "10.0.0.1"));
	CHECK(probe_values_add(&values, "a", 1, "10.0.0.2"));
	CHECK(probe_values_add(&values, "p", 1, "7"));
	CHECK(probe_values_add(&values, "none", 4, ""));
	CHECK(!probe_values_add(&values, "A", 1, "x") && !probe_values_add(&values, "", 0, "x") &&
	      !probe_values_add(&values, "a=b", 3, "x"));
	CHECK(read_list("#x\n\n  tcp://{a}:{p} open #y\n\tudp://{none}:7\r\nloopback:") == 0);
	CHECK(list.count == 4 && strcmp(list.items[0].target.text, "tcp://10.0.0.1:7") == 0 &&
	      strcmp(list.items[1].target.text, "tcp://10.0.0.2:7") == 0 &&
	      list.items[1].target.expect == PROBE_EXPECT_OPEN);
	CHECK(list.items[2].target.kind == PROBE_UNKNOWN &&
	      strcmp(list.items[2].target.text, "udp://{none}:7") == 0);
	CHECK(read_list("tcp://{b}:7\n") != 0 && fault.line == 1);
	CHECK(read_list("\ntcp://{a:7\n") != 0 && fault.line == 2);
	CHECK(read_list("tcp://{a}:7 shut\n") != 0);
	CHECK(read_list("tcp://{a}:7 open now\n") != 0);
	/* A value cannot bring a placeholder of its own in. */
	CHECK(!probe_values_add(&values, "evil", 4, "{evil}{evil}"));
	/* Nor can many of them keep us busy. */
	values.count = 0;
	for (char number[8], i = 0; i < 50; i++) {
		(void)sprintf(number, "%d", i);
		CHECK(probe_values_add(&values, "n", 1, number) &&
		      probe_values_add(&values, "n", 1, number));
	}
	CHECK(values.count == 50);
	CHECK(read_list("unix:/{n}{n}{n}{n}{n}{n}\n") != 0);
}

static void test_a_list_has_a_bound(void)
{
	char text[32 * (PROBE_LIST_MAX + 2)], *at = text;

	for (int i = 0; i <= PROBE_LIST_MAX; i++)
		at += sprintf(at, "udp://10.0.0.1:%d\n", i + 1);
	CHECK(read_list(text) != 0 && fault.line == PROBE_LIST_MAX + 1);
	CHECK(list.count == PROBE_LIST_MAX);
}

static void test_name_servers_are_read(void)
{
	static const char text[] = "nameserver 10.0.0.1 # x\n;nameserver 10.0.0.2\n"
				   "nameserver\tfd00::1\nnameserverx 1.1.1.1\nnameserver\n"
				   "nameserver fe80::1%eth0\nnameserver 010.0.0.1\nnameserver ::1";

	values.count = 0;
	probe_values_add_nameservers(&values, "n", text, strlen(text));
	CHECK(values.count == 4);
	CHECK(strcmp(values.items[0].text, "10.0.0.1") == 0);
	CHECK(strcmp(values.items[1].text, "[fd00::1]") == 0);
	CHECK(strcmp(values.items[2].text, "[fe80::1]") == 0);
	CHECK(strcmp(values.items[3].text, "[::1]") == 0);
}

static void test_dns_answers_are_ours_or_not(void)
{
	unsigned char question[512], answer[512];
	size_t length = probe_dns_question(question, sizeof(question), 0x1234, "c0ffee", "a.test",
					   PROBE_DNS_TXT);

	CHECK(length == 12 + 7 + 2 + 5 + 1 + 4);
	CHECK(probe_dns_question(question, 20, 1, "c0ffee", "a.test", 1) == 0);
	length = probe_dns_question(question, sizeof(question), 0x1234, "c0ffee", "a.test", 16);
	memcpy(answer, question, length);
	CHECK(probe_dns_answer(answer, length, question, length) == -1); /* our own question */
	answer[2] |= 0x80;
	for (int code = 0; code < 16; code++) {
		answer[3] = (unsigned char)(0x80 | code);
		CHECK(probe_dns_answer(answer, length, question, length) == code);
	}
	answer[13] ^= 0x20; /* the server's case (0x20 encoding) */
	CHECK(probe_dns_answer(answer, length, question, length) == 15);
	CHECK(probe_dns_answer(answer, length - 1, question, length) == -1);
	CHECK(probe_dns_answer(answer, 11, question, length) == -1);
	answer[14] = 'x';
	CHECK(probe_dns_answer(answer, length, question, length) == -1);
	memcpy(answer + 12, question + 12, length - 12);
	answer[1] ^= 1;
	CHECK(probe_dns_answer(answer, length, question, length) == -1);
	answer[1] ^= 1;
	answer[5] = 0; /* an error without the question */
	CHECK(probe_dns_answer(answer, 12, question, length) == 15);
	answer[3] = 0x80;
	CHECK(probe_dns_answer(answer, 12, question, length) == -1);
	CHECK(strcmp(probe_dns_code_name(3), "NXDOMAIN") == 0 &&
	      strcmp(probe_dns_code_name(15), "RCODE") == 0);
}

static void test_every_pair_of_results_has_its_verdict(void)
{
	enum { O = PROBE_OPEN, S, R, B, D, U };
	static const enum probe_verdict closed[6][6] = {
		/* after: O, S, R, B, D, U */
		{PROBE_STILL_OPEN, PROBE_VACUOUS, PROBE_CLOSED, PROBE_CLOSED, PROBE_CLOSED,
		 PROBE_VACUOUS},
		{PROBE_STILL_OPEN, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_VACUOUS,
		 PROBE_VACUOUS},
		{PROBE_STILL_OPEN, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_VACUOUS,
		 PROBE_VACUOUS},
		{PROBE_STILL_OPEN, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_VACUOUS,
		 PROBE_VACUOUS},
		{PROBE_STILL_OPEN, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_ABSENT,
		 PROBE_ABSENT},
		{PROBE_STILL_OPEN, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_VACUOUS, PROBE_ABSENT,
		 PROBE_ABSENT},
	};

	for (int before = O; before <= U; before++)
		for (int after = O; after <= U; after++) {
			enum probe_result b = (enum probe_result)before,
					  a = (enum probe_result)after;

			CHECK(probe_compare(PROBE_EXPECT_CLOSED, false, b, a) ==
			      closed[before][after]);
			CHECK(probe_compare(PROBE_EXPECT_OPEN, false, b, a) ==
			      (after == O ? PROBE_KEPT : PROBE_LOST));
			CHECK(probe_compare(PROBE_EXPECT_BLOCKED, false, b, a) ==
			      (after == O		   ? PROBE_STILL_OPEN
			       : before >= D && after >= D ? PROBE_ABSENT
			       : after == B || after == D  ? PROBE_CLOSED
							   : PROBE_VACUOUS));
		}
	CHECK(probe_compare(PROBE_EXPECT_BLOCKED, true, PROBE_REFUSED, PROBE_REFUSED) ==
	      PROBE_ABSENT);
	CHECK(probe_compare(PROBE_EXPECT_CLOSED, true, PROBE_REFUSED, PROBE_BLOCKED) ==
	      PROBE_VACUOUS);
	CHECK(probe_compare(PROBE_EXPECT_CLOSED, true, PROBE_OPEN, PROBE_REFUSED) == PROBE_CLOSED);
}

#define RECORD(target_, result_, expect_)                                                        \
	"{\"tool\":\"cell-probe\",\"format\":1,\"target\":\"" target_ "\",\"result\":\"" result_ \
	"\",\"expect\":\"" expect_ "\"}\n"

static bool parses(const char *text)
{
	struct probe_records records;
	bool good = probe_records_parse(text, strlen(text), &records) == 0;

	CHECK(good == (records.fault[0] == '\0'));
	probe_records_release(&records);
	return good;
}

static void test_records_that_can_be_judged_and_not(void)
{
	CHECK(parses(RECORD("a", "open", "closed") RECORD("b", "silent", "blocked")));
	CHECK(!parses(""));
	CHECK(!parses("\n"));
	CHECK(!parses("{}\n"));
	CHECK(!parses("[]\n"));
	CHECK(!parses(RECORD("a", "open", "closed") RECORD("a", "open", "closed")));
	CHECK(!parses(RECORD("a", "opened", "closed")));
	CHECK(!parses(RECORD("a", "open", "shut")));
	CHECK(!parses(RECORD("", "open", "open")));
	CHECK(!parses("{\"tool\":\"cell-probe\",\"format\":1,\"target\":\"a\",\"result\":\"open\","
		      "\"expect\":\"open\"}")); /* cut: no newline */
	CHECK(!parses("{\"tool\":\"cell-watch\",\"format\":1,\"target\":\"a\",\"result\":\"open\","
		      "\"expect\":\"open\"}\n"));
	CHECK(!parses("{\"tool\":\"cell-probe\",\"format\":2,\"target\":\"a\",\"result\":\"open\","
		      "\"expect\":\"open\"}\n"));
	CHECK(!parses("{\"tool\":\"cell-probe\",\"format\":1,\"target\":\"a\\u0000b\","
		      "\"result\":\"open\",\"expect\":\"open\"}\n"));
	CHECK(!parses("{\"tool\":\"cell-probe\",\"format\":1,\"target\":\"a\",\"result\":\"open\","
		      "\"result\":\"blocked\",\"expect\":\"open\"}\n"));
	CHECK(!parses("{\"tool\":\"cell-probe\",\"format\":1,\"target\":\"a\",\"result\":\"open\","
		      "\"expect\":\"open\"} x\n"));
}

static void test_errno_has_its_meaning(void)
{
	CHECK(probe_result_of_send(EPERM) == PROBE_BLOCKED);
	CHECK(probe_result_of_send(ENETUNREACH) == PROBE_UNUSABLE);
	CHECK(probe_result_of_send(ECONNREFUSED) == PROBE_REFUSED);
	CHECK(probe_result_of_socket(EPERM) == PROBE_DENIED);
	CHECK(probe_result_of_socket(EACCES) == PROBE_DENIED);
	CHECK(probe_result_of_socket(EAFNOSUPPORT) == PROBE_UNUSABLE);
	CHECK(fault_is_shortage(EMFILE) && !fault_is_shortage(EPERM));
}

static void test_status_lines(void)
{
	CHECK(http_status("HTTP/1.1 200 OK", 15) == 200);
	CHECK(http_status("HTTP/1.0 407", 12) == 407);
	CHECK(http_status("HTTP/1.1 2", 10) == -1 && http_status("", 0) == -1);
	CHECK(http_status("HTTP/2", 6) == 0 && http_status("SSH-", 4) == 0);
	CHECK(http_status("HTTP/1.1 2x0 ", 13) == 0 && http_status("HTTP/1.1 099 ", 13) == 0);
	CHECK(http_status("HTTP/1.1x200 ", 13) == 0);
	CHECK(http_status_is_served(200) && http_status_is_served(404) &&
	      http_status_is_served(401));
	CHECK(!http_status_is_served(400) && !http_status_is_served(403) &&
	      !http_status_is_served(407) && !http_status_is_served(502) &&
	      !http_status_is_served(0) && !http_status_is_served(-1));
}

static void test_https_urls(void)
{
	struct https_url url;

	CHECK(https_url_parse("https://a.test", &url) == NULL && url.port == 443 &&
	      strcmp(url.target, "/") == 0 && !url.is_address);
	CHECK(https_url_parse("https://a.test:8443/x?y=1", &url) == NULL && url.port == 8443 &&
	      strcmp(url.target, "/x?y=1") == 0 && strcmp(url.host, "a.test") == 0);
	CHECK(https_url_parse("https://a.test?y", &url) == NULL && strcmp(url.target, "/?y") == 0);
	CHECK(https_url_parse("https://10.0.0.1/", &url) == NULL && url.is_address);
	CHECK(https_url_parse("https://[fd00::1]:1/", &url) == NULL && url.is_inet6 &&
	      strcmp(url.host, "fd00::1") == 0 && url.port == 1);
	CHECK(https_url_parse("http://a.test/", &url) != NULL);
	CHECK(https_url_parse("https://", &url) != NULL);
	CHECK(https_url_parse("https://a.test:/", &url) != NULL);
	CHECK(https_url_parse("https://a.test:99999999999/", &url) != NULL);
	CHECK(https_url_parse("https://a@b/", &url) != NULL);
	CHECK(https_url_parse("https://a.test/#x", &url) != NULL);
	CHECK(https_url_parse("https://[fd00::1/", &url) != NULL);
	CHECK(https_url_parse("https://[fd00::1]x", &url) != NULL);
	CHECK(https_url_parse("https://[10.0.0.1]/", &url) != NULL);
}

static void test_hosts_lookups(void)
{
	static const char text[] = "127.0.0.1 localhost\n10.0.0.1\tother Proxy # proxy2\n"
				   "#10.0.0.2 proxy\n10.0.0.1 proxy\nfd00::1 both\n10.0.0.3 both\n";
	struct hosts_lookup lookup = hosts_lookup(text, strlen(text), "proxy");

	CHECK(lookup.found && lookup.others == 0 && lookup.address.s_addr == htonl(0x0a000001));
	CHECK(!hosts_lookup(text, strlen(text), "proxy2").found);
	lookup = hosts_lookup(text, strlen(text), "both");
	CHECK(lookup.found && lookup.others == 1);
}

int main(void)
{
	RUN(test_targets_that_are_read);
	RUN(test_targets_that_are_refused);
	RUN(test_the_longest_target_and_path_fit);
	RUN(test_what_stays_on_loopback);
	RUN(test_lists_fill_in_their_placeholders);
	RUN(test_a_list_has_a_bound);
	RUN(test_name_servers_are_read);
	RUN(test_dns_answers_are_ours_or_not);
	RUN(test_every_pair_of_results_has_its_verdict);
	RUN(test_records_that_can_be_judged_and_not);
	RUN(test_errno_has_its_meaning);
	RUN(test_status_lines);
	RUN(test_https_urls);
	RUN(test_hosts_lookups);
	return unit_end();
}

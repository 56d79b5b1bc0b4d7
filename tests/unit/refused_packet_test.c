// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of what the watcher reads in a refused packet. */
#include <arpa/inet.h>
#include <string.h>

#include "refused_packet.h"
#include "unit.h"
#include "watch_class.h"

static struct refused_packet packet;

/* Parses a copy that ends where its memory ends, so that a sanitizer sees each byte too far. */
static void parse(const void *bytes, size_t length)
{
	void *copy = malloc(length > 0 ? length : 1);

	memcpy(copy, bytes, length);
	refused_packet_parse(copy, length, &packet);
	free(copy);
}

static int is_address(const void *address, const char *text)
{
	char buffer[INET6_ADDRSTRLEN];

	return inet_ntop(packet.family, address, buffer, sizeof(buffer)) != NULL &&
	       strcmp(buffer, text) == 0;
}

/* 10.0.0.2:4660 > 127.0.0.11:53, "leak.example" TXT. */
static const unsigned char question[] = "\x45\0\0\x3a\0\1\0\0\x40\x11\0\0\x0a\0\0\2\x7f\0\0\x0b"
					"\x12\x34\0\x35\0\x26\0\0"
					"\xab\xcd\1\0\0\1\0\0\0\0\0\0\4leak\7example\0\0\x10\0\1";
enum { QUESTION = sizeof(question) - 1, IP_UDP = 28, DNS_HEADER = 12 };

static void test_a_dns_question_is_read(void)
{
	parse(question, QUESTION);
	CHECK(packet.family == AF_INET && packet.protocol == IPPROTO_UDP && !packet.cut);
	CHECK(packet.length == QUESTION);
	CHECK(is_address(&packet.source, "10.0.0.2"));
	CHECK(is_address(&packet.destination, "127.0.0.11"));
	CHECK(packet.has_ports && packet.source_port == 0x1234 && packet.destination_port == 53);
	CHECK(packet.dns.present && !packet.dns.cut && packet.dns.type == 16);
	CHECK(strcmp(packet.dns.name, "leak.example") == 0);
}

static void test_a_copy_may_end_anywhere(void)
{
	for (size_t length = 0; length <= QUESTION; length++) {
		parse(question, length);
		CHECK(packet.cut == (length < 24));
		CHECK(packet.has_ports == (length >= 24));
		CHECK(packet.dns.present == (length > IP_UDP + DNS_HEADER));
		CHECK(packet.dns.cut == (packet.dns.present && length < QUESTION));
		if (packet.dns.present)
			CHECK(strncmp("leak.example", packet.dns.name, strlen(packet.dns.name)) ==
			      0);
	}
}

static int is_question(size_t at, unsigned char byte)
{
	unsigned char bytes[QUESTION];

	memcpy(bytes, question, QUESTION);
	bytes[IP_UDP + at] = byte;
	parse(bytes, QUESTION);
	return packet.dns.present;
}

static void test_what_is_no_question_is_none(void)
{
	CHECK(is_question(2, 0x01));
	CHECK(!is_question(2, 0x81));			 /* an answer */
	CHECK(!is_question(2, 0x29));			 /* an update */
	CHECK(!is_question(5, 0) && !is_question(5, 2)); /* not one question */
	CHECK(!is_question(7, 1) && !is_question(9, 1)); /* answers in it */
	CHECK(is_question(11, 1) && is_question(11, 2) && !is_question(11, 3));
	CHECK(!is_question(12, 0xc0)); /* a pointer to nothing */
	CHECK(!is_question(12, 64));
	CHECK(!is_question(29, 9));   /* no class */
	CHECK(is_question(28, 0x80)); /* a multicast question's bit */
}

static void test_a_name_is_one_text(void)
{
	static const unsigned char odd[] =
		"\0\0\0\0\0\1\0\0\0\0\0\0\5a.b\\c\4\0 \xff\x7f\0\0\x1c\0\1";
	struct refused_dns dns;

	refused_dns_parse(odd, sizeof(odd) - 1, &dns);
	CHECK(dns.present && dns.type == 28);
	CHECK(strcmp(dns.name, "a\\x2eb\\x5cc.\\x00\\x20\\xff\\x7f") == 0);
	refused_dns_parse("\0\0\0\0\0\1\0\0\0\0\0\0\0\0\2\0\1", 17, &dns);
	CHECK(dns.present && strcmp(dns.name, ".") == 0 && dns.type == 2);
}

static void test_the_longest_name_fits_and_a_longer_one_is_none(void)
{
	unsigned char bytes[12 + 300] = {[5] = 1};
	struct refused_dns dns;
	size_t at = 12;

	for (int label = 0; label < 4; label++) { /* 63, 63, 63, 61 and their lengths: 254 */
		bytes[at] = label < 3 ? 63 : 61;
		memset(bytes + at + 1, 0xff, bytes[at]);
		at += 1U + bytes[at];
	}
	bytes[at + 2] = 1;
	bytes[at + 4] = 1;
	refused_dns_parse(bytes, at + 5, &dns);
	CHECK(dns.present && strlen(dns.name) == 250 * 4 + 3);
	bytes[12 + 192]++;
	refused_dns_parse(bytes, at + 6, &dns);
	CHECK(!dns.present);
}

static void test_ipv6_and_its_extension_headers(void)
{
	unsigned char bytes[40 + 8 + 8 + 8] = {0x60, 0, 0, 0, 0, 24, 0, 64};

	inet_pton(AF_INET6, "2001:db8::2", bytes + 8);
	inet_pton(AF_INET6, "2001:db8::99", bytes + 24);
	bytes[40] = 44; /* hop-by-hop, then fragment, then UDP */
	bytes[48] = 17;
	bytes[57] = 7;
	bytes[59] = 9;
	parse(bytes, sizeof(bytes));
	CHECK(packet.family == AF_INET6 && packet.protocol == IPPROTO_UDP && !packet.cut);
	CHECK(packet.length == 64 && !packet.fragment);
	CHECK(is_address(&packet.source, "2001:db8::2"));
	CHECK(is_address(&packet.destination, "2001:db8::99"));
	CHECK(packet.has_ports && packet.source_port == 7 && packet.destination_port == 9);
	bytes[51] = 8; /* the second fragment has no ports */
	parse(bytes, sizeof(bytes));
	CHECK(packet.fragment && !packet.has_ports && packet.protocol == IPPROTO_UDP);
	bytes[41] = 31; /* a header longer than the packet */
	parse(bytes, sizeof(bytes));
	CHECK(packet.cut && !packet.has_ports);
	parse(bytes, 39);
	CHECK(packet.family == AF_INET6 && packet.cut);
}

static void test_an_endless_chain_of_headers_ends(void)
{
	unsigned char bytes[40 + 200 * 8] = {0x60};

	parse(bytes, sizeof(bytes)); /* 200 hop-by-hop headers */
	CHECK(packet.cut && !packet.has_ports);
}

static void test_fragments_options_and_other_protocols(void)
{
	unsigned char bytes[60] = {0x45, 0, 0, 60, 0, 0, 0, 1, 64, IPPROTO_TCP};

	parse(bytes, sizeof(bytes));
	CHECK(packet.fragment && !packet.has_ports && !packet.cut);
	bytes[7] = 0;
	bytes[0] = 0x4f; /* 60 bytes of header */
	parse(bytes, sizeof(bytes));
	CHECK(packet.cut && !packet.has_ports);
	bytes[0] = 0x44; /* less than a header */
	parse(bytes, sizeof(bytes));
	CHECK(packet.family == AF_INET && packet.cut && packet.protocol == 0);
	bytes[0] = 0x45;
	bytes[9] = IPPROTO_ICMP;
	bytes[20] = 8;
	parse(bytes, sizeof(bytes));
	CHECK(packet.has_icmp && packet.icmp_type == 8 && !packet.has_ports);
	bytes[0] = 0x15;
	parse(bytes, sizeof(bytes));
	CHECK(packet.family == AF_UNSPEC);
}

static void test_names_of_numbers(void)
{
	CHECK(strcmp(refused_dns_type(16), "TXT") == 0 && refused_dns_type(65280) == NULL);
	CHECK(strcmp(refused_packet_protocol(17), "udp") == 0);
	CHECK(refused_packet_protocol(253) == NULL);
}

static void test_classes_are_found_by_their_counters_alone(void)
{
	for (int i = 0; i < WATCH_COUNTED; i++) {
		const char *counter = watch_class_counter((enum watch_class)i);

		CHECK(watch_class_find(counter, strlen(counter)) == (enum watch_class)i);
		CHECK(watch_class_find(counter, strlen(counter) + 1) == (enum watch_class)i);
		CHECK(watch_class_find(counter, strlen(counter) - 1) == WATCH_FOREIGN);
	}
	CHECK(watch_class_find("refused_tcp ", 12) == WATCH_TCP);
	CHECK(watch_class_find("refused_tcpx", 12) == WATCH_FOREIGN);
	CHECK(watch_class_find("", 0) == WATCH_FOREIGN);
}

int main(void)
{
	RUN(test_a_dns_question_is_read);
	RUN(test_a_copy_may_end_anywhere);
	RUN(test_what_is_no_question_is_none);
	RUN(test_a_name_is_one_text);
	RUN(test_the_longest_name_fits_and_a_longer_one_is_none);
	RUN(test_ipv6_and_its_extension_headers);
	RUN(test_an_endless_chain_of_headers_ends);
	RUN(test_fragments_options_and_other_protocols);
	RUN(test_names_of_numbers);
	RUN(test_classes_are_found_by_their_counters_alone);
	return unit_end();
}

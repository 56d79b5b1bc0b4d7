// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A subject that floods: sends COUNT packets which a policy refuses, as fast as it can, in turns of
 * every class: three of five by UDP, one to the resolver, one ping in fifty, one connect in two
 * hundred. Prints how many of each it sent. usage: watch_flood COUNT
 */
#include <arpa/inet.h>
#include <netinet/ip_icmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address(const char *text, unsigned short port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, text, &address.sin_addr);
	return address;
}

int main(int argc, char **argv)
{
	const struct sockaddr_in outside = address("203.0.113.10", 9),
				 resolver = address("127.0.0.11", 53);
	const struct icmphdr echo = {.type = ICMP_ECHO};
	long count = argc > 1 ? atol(argv[1]) : 1000000, sent[4] = {0};
	int udp = socket(AF_INET, SOCK_DGRAM, 0), ping = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);

	if (udp < 0 || ping < 0)
		return 1;
	for (long i = 0; i < count; i++) {
		if (i % 200 == 199) {
			int tcp = socket(AF_INET, SOCK_STREAM, 0);

			if (connect(tcp, (const struct sockaddr *)&outside, sizeof(outside)) == 0)
				return 1;
			close(tcp);
			sent[0]++;
		} else if (i % 50 == 49) {
			if (sendto(ping, &echo, sizeof(echo), 0, (const struct sockaddr *)&outside,
				   sizeof(outside)) >= 0)
				return 1;
			sent[1]++;
		} else {
			const struct sockaddr_in *to = i % 5 == 3 ? &resolver : &outside;

			if (sendto(udp, "flood", 5, 0, (const struct sockaddr *)to, sizeof(*to)) >=
			    0)
				return 1;
			sent[i % 5 == 3 ? 2 : 3]++;
		}
	}
	printf("{\"tcp\":%ld,\"icmp\":%ld,\"resolver\":%ld,\"udp\":%ld}\n", sent[0], sent[1],
	       sent[2], sent[3]);
	return 0;
}

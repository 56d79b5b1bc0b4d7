// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a policy costs the traffic that it lets through: the same small piece of work in a namespace
 * without it and in one with it, by turns, both ends in this one process. A piece takes about a
 * millisecond, so that most of them are not disturbed by what else the machine does; the medians of
 * many are compared.
 *
 * usage: traffic ROUNDS bytes|connections FREE CELL SERVER ADDRESS PORT
 * FREE, CELL and SERVER are processes in the namespaces; SERVER 0: each is its own server.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 20, CONNECTIONS = 8, ROUNDS_MAX = 100000 };

struct side {
	const char *label;
	int namespace, listener, client, server;
	double *microseconds;
};

static struct sockaddr_in address = {.sin_family = AF_INET};

static void need(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static int open_namespace(const char *pid)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%s/ns/net", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	need(fd >= 0, path);
	return fd;
}

static int listen_in(int namespace)
{
	int one = 1, fd;

	need(setns(namespace, CLONE_NEWNET) == 0, "setns");
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	need(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
		     bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		     listen(fd, 64) == 0,
	     "listen");
	return fd;
}

static void open_pair(struct side *side)
{
	side->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	need(connect(side->client, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	side->server = accept(side->listener, NULL, NULL);
	need(side->server >= 0, "accept");
}

/* The client goes with a reset: nothing stays behind in TIME_WAIT. */
static void close_pair(struct side *side)
{
	struct linger linger = {1, 0};

	(void)setsockopt(side->client, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	(void)close(side->client);
	(void)close(side->server);
}

static void move_bytes(struct side *side)
{
	static char data[64 * 1024];
	ssize_t sent = 0, received = 0, n;

	while (received < BYTES) {
		if (sent < BYTES) {
			n = send(side->client, data, sizeof(data), MSG_DONTWAIT);
			sent += n > 0 ? n : 0;
		}
		n = recv(side->server, data, sizeof(data), MSG_DONTWAIT);
		received += n > 0 ? n : 0;
	}
}

static void make_connections(struct side *side)
{
	char byte = 0;

	for (int i = 0; i < CONNECTIONS; i++) {
		open_pair(side);
		need(send(side->client, &byte, 1, 0) == 1 && recv(side->server, &byte, 1, 0) == 1,
		     "use");
		close_pair(side);
	}
}

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	struct side sides[2] = {{.label = "without a policy"}, {.label = "with the policy"}};
	int rounds = argc == 8 ? atoi(argv[1]) : 0, bytes;

	if (rounds < 1 || rounds > ROUNDS_MAX ||
	    inet_pton(AF_INET, argv[6], &address.sin_addr) != 1)
		return 100;
	bytes = strcmp(argv[2], "bytes") == 0;
	address.sin_port = htons((uint16_t)atoi(argv[7]));
	for (int i = 0; i < 2; i++) {
		sides[i].namespace = open_namespace(argv[3 + i]);
		sides[i].microseconds = calloc((size_t)rounds, sizeof(double));
		need(sides[i].microseconds != NULL, "calloc");
		if (strcmp(argv[5], "0") == 0)
			sides[i].listener = listen_in(sides[i].namespace);
		else
			sides[i].listener =
				i == 0 ? listen_in(open_namespace(argv[5])) : sides[0].listener;
	}
	for (int i = 0; i < 2; i++) {
		need(setns(sides[i].namespace, CLONE_NEWNET) == 0, "setns");
		if (bytes)
			open_pair(sides + i);
	}
	/* Each round begins with the other side, so that neither always comes second. */
	for (int round = 0; round < rounds; round++)
		for (int turn = 0; turn < 2; turn++) {
			struct side *side = sides + ((round + turn) & 1);
			double began;

			need(setns(side->namespace, CLONE_NEWNET) == 0, "setns");
			began = now();
			if (bytes)
				move_bytes(side);
			else
				make_connections(side);
			side->microseconds[round] = now() - began;
		}
	for (int i = 0; i < 2; i++) {
		double *all = sides[i].microseconds, *first = sides[0].microseconds;

		qsort(all, (size_t)rounds, sizeof(*all), by_value);
		(void)printf("  %-42s %9.0f us  (%.0f to %.0f)  p99 %.0f us %10.3f\n",
			     sides[i].label, all[rounds / 2], all[rounds / 4], all[rounds * 3 / 4],
			     all[rounds * 99 / 100], all[rounds / 2] / first[rounds / 2]);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a policy costs the traffic that it lets through: the same small piece of work in several
 * network namespaces by turns, one with no policy first. A piece takes milliseconds at most, so
 * that most are not disturbed by what else the machine does. Prints a line for each namespace:
 * median, quartiles and 99th percentile in microseconds, and how fast median and 99th percentile
 * are as parts of the first line's.
 *
 * usage: traffic ROUNDS MODE ADDRESS PORT SERVER LABEL=CLIENT...
 * CLIENT and SERVER are processes in the namespaces; SERVER 0: each client's own namespace; "-":
 * what listens there already.
 *
 * bytes         4 MiB to a server process, which answers with one byte
 * connections   16 connections, one after the other, a byte each way
 * requests      64 times a byte each way; every one counts for itself
 * http          a connection and a request for http://ADDRESS:9000/ through the proxy, to its end
 * kernel-bytes, kernel-connections
 *               1 MiB, 8 connections, with both ends in one process: nothing but the kernel's work
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	BYTES = 4 << 20,
	CONNECTIONS = 16,
	REQUESTS = 64,
	KERNEL_BYTES = 1 << 20,
	KERNEL_CONNECTIONS = 8,
	ROUNDS_MAX = 100000,
	SIDES_MAX = 8
};

struct side {
	const char *label;
	int namespace, listener, client, server;
	double *microseconds;
	size_t count;
};

static struct sockaddr_in address = {.sin_family = AF_INET};
static char data[128 * 1024];

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

static void enter(int namespace)
{
	need(setns(namespace, CLONE_NEWNET) == 0, "setns");
}

/* Client and server on a processor each, as in two containers; where the scheduler puts them
 * otherwise changes from one round to the next, and with it every figure. */
static void stay_on(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	(void)sched_setaffinity(0, sizeof(set), &set); /* there may be but one */
}

static void no_delay(int fd)
{
	int one = 1;

	need(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0, "TCP_NODELAY");
}

static int connect_client(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	need(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	no_delay(fd);
	return fd;
}

/* With a reset: nothing stays behind in TIME_WAIT. */
static void close_client(int fd)
{
	struct linger linger = {1, 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	(void)close(fd);
}

static int listen_in(int namespace)
{
	int one = 1, fd;

	enter(namespace);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	need(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
		     bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		     listen(fd, 64) == 0,
	     "listen");
	return fd;
}

/* ---- the server process ---- */

/* Answers each byte with one, after whole pieces if BYTES is not 0, until the client goes. */
static void answer(int fd, size_t bytes)
{
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		for (size_t left = bytes; left > 0;) {
			ssize_t n = recv(fd, data, left < sizeof(data) ? left : sizeof(data), 0);

			if (n <= 0)
				return;
			left -= (size_t)n;
		}
		if (send(fd, &byte, 1, 0) != 1)
			return;
	}
}

static void start_server(int listener, const char *mode)
{
	pid_t parent = getpid();
	size_t bytes = strcmp(mode, "bytes") == 0 ? BYTES : 0;

	if (fork() != 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGCHLD, SIG_IGN);
	stay_on(1);
	while (getppid() == parent) {
		int fd = accept(listener, NULL, NULL);

		need(fd >= 0, "accept");
		no_delay(fd);
		/* A connection that lives on gets a process of its own. */
		if (strcmp(mode, "connections") == 0) {
			answer(fd, 0);
		} else if (fork() == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			answer(fd, bytes);
			_exit(0);
		}
		(void)close(fd);
	}
	_exit(0);
}

/* ---- pieces of work ---- */

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void exchange(int fd)
{
	char byte = 0;

	need(send(fd, &byte, 1, 0) == 1 && recv(fd, &byte, 1, 0) == 1, "exchange");
}

static void move_bytes(struct side *side)
{
	char byte = 0;

	need(send(side->client, &byte, 1, 0) == 1, "send");
	for (size_t left = BYTES; left > 0;) {
		ssize_t n = send(side->client, data, left < sizeof(data) ? left : sizeof(data), 0);

		need(n > 0, "send");
		left -= (size_t)n;
	}
	need(recv(side->client, &byte, 1, 0) == 1, "recv");
}

static void make_connections(struct side *side)
{
	(void)side;
	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = connect_client();

		exchange(fd);
		close_client(fd);
	}
}

static void make_request(struct side *side)
{
	exchange(side->client);
}

static void fetch(struct side *side)
{
	char text[128], host[INET_ADDRSTRLEN];
	int fd = connect_client(), length;
	ssize_t n, total = 0;

	(void)side;
	(void)inet_ntop(AF_INET, &address.sin_addr, host, sizeof(host));
	length = snprintf(text, sizeof(text),
			  "GET http://%s:9000/ HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
			  host, host);
	need(send(fd, text, (size_t)length, 0) == length, "send");
	while ((n = recv(fd, data + total, sizeof(data) - (size_t)total, 0)) > 0)
		total += n;
	need(total > 12 && memcmp(data + 9, "200", 3) == 0, "a request through the proxy");
	close_client(fd);
}

static void move_bytes_here(struct side *side)
{
	ssize_t sent = 0, received = 0, n;

	while (received < KERNEL_BYTES) {
		if (sent < KERNEL_BYTES) {
			n = send(side->client, data, 64 * 1024, MSG_DONTWAIT);
			sent += n > 0 ? n : 0;
		}
		n = recv(side->server, data, 64 * 1024, MSG_DONTWAIT);
		received += n > 0 ? n : 0;
	}
}

static void open_pair(struct side *side)
{
	side->client = connect_client();
	side->server = accept(side->listener, NULL, NULL);
	need(side->server >= 0, "accept");
}

static void make_connections_here(struct side *side)
{
	char byte = 0;

	for (int i = 0; i < KERNEL_CONNECTIONS; i++) {
		open_pair(side);
		need(send(side->client, &byte, 1, 0) == 1 && recv(side->server, &byte, 1, 0) == 1,
		     "use");
		close_client(side->client);
		(void)close(side->server);
	}
}

static const struct mode {
	const char *name;
	void (*piece)(struct side *side);
	size_t samples; /* a round */
	int here;	/* both ends in this process */
	int lasting;	/* one connection for all rounds */
} modes[] = {
	{"bytes", move_bytes, 1, 0, 1},
	{"connections", make_connections, 1, 0, 0},
	{"requests", make_request, REQUESTS, 0, 1},
	{"http", fetch, 1, 0, 0},
	{"kernel-bytes", move_bytes_here, 1, 1, 1},
	{"kernel-connections", make_connections_here, 1, 1, 0},
};

static void prepare(struct side *side, const struct mode *mode, const char *server)
{
	static int shared = -1;
	int own = strcmp(server, "0") == 0;

	if (strcmp(server, "-") != 0 && (own || shared < 0)) {
		shared = listen_in(own ? side->namespace : open_namespace(server));
		if (!mode->here)
			start_server(shared, mode->name);
	}
	side->listener = shared;
	enter(side->namespace);
	if (mode->lasting && mode->here)
		open_pair(side);
	else if (mode->lasting)
		side->client = connect_client();
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const struct side *side, const struct side *first)
{
	double *all = side->microseconds;
	size_t n = side->count;

	(void)printf("  %-34s %8.1f us  (%.1f to %.1f)  p99 %.1f us  %6.3f  p99 %.3f\n",
		     side->label, all[n / 2], all[n / 4], all[n * 3 / 4], all[n * 99 / 100],
		     first->microseconds[n / 2] / all[n / 2],
		     first->microseconds[n * 99 / 100] / all[n * 99 / 100]);
}

int main(int argc, char **argv)
{
	static struct side sides[SIDES_MAX];
	const struct mode *mode = modes;
	size_t count = 0, rounds = argc > 6 ? strtoul(argv[1], NULL, 10) : 0;

	for (size_t i = 0; argc > 6 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[2], modes[i].name) == 0)
			mode = modes + i;
	if (rounds < 1 || rounds > ROUNDS_MAX || argc > 6 + SIDES_MAX ||
	    strcmp(argv[2], mode->name) != 0 || inet_pton(AF_INET, argv[3], &address.sin_addr) != 1)
		return 100;
	address.sin_port = htons((uint16_t)atoi(argv[4]));
	stay_on(0);
	for (int i = 6; i < argc; i++, count++) {
		char *pid = strchr(argv[i], '=');

		need(pid != NULL, "LABEL=CLIENT");
		*pid++ = '\0';
		sides[count].label = argv[i];
		sides[count].namespace = open_namespace(pid);
		sides[count].microseconds = calloc(rounds * mode->samples, sizeof(double));
		need(sides[count].microseconds != NULL, "calloc");
		prepare(sides + count, mode, argv[5]);
	}
	/* Each round begins with another side: none always comes second. Round 0 does not count. */
	for (size_t round = 0; round <= rounds; round++)
		for (size_t turn = 0; turn < count; turn++) {
			struct side *side = sides + (round + turn) % count;

			enter(side->namespace);
			for (size_t i = 0; i < mode->samples; i++) {
				double began = now();

				mode->piece(side);
				if (round > 0)
					side->microseconds[side->count++] = now() - began;
			}
		}
	for (size_t i = 0; i < count; i++)
		qsort(sides[i].microseconds, sides[i].count, sizeof(double), by_value);
	for (size_t i = 0; i < count; i++)
		print(sides + i, sides);
	return 0;
}

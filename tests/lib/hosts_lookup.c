// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What this C library answers for names from hosts files. Built twice, with glibc and with musl.
 *
 * usage: hosts_lookup NAME... -- FILE...
 * In a mount namespace of its own, with "hosts: files" in nsswitch.conf (so nothing is sent): puts
 * each FILE's content into /etc/hosts in turn and prints a line for each NAME: FILE NAME
 * GETADDRINFO GETHOSTBYNAME, tabs between, the last two sorted lists of addresses, "-" if there are
 * none.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef __GLIBC__
/* musl's question to name servers: answered here, so that an unknown name costs no time. */
int __res_msend_rc(int count, const unsigned char *const *questions, const int *question_lengths,
		   unsigned char *const *answers, int *answer_lengths, int size,
		   const void *config);
int __res_msend_rc(int count, const unsigned char *const *questions, const int *question_lengths,
		   unsigned char *const *answers, int *answer_lengths, int size, const void *config)
{
	(void)count, (void)questions, (void)question_lengths, (void)answers;
	(void)answer_lengths, (void)size, (void)config;
	return -1;
}
#endif

enum { LIST_MAX = 64, TEXT_MAX = 64, TEXT_SIZE = 16 << 20 };

struct list {
	char text[LIST_MAX][TEXT_MAX];
	int count;
};

static void add(struct list *list, int family, const void *address)
{
	if (list->count < LIST_MAX &&
	    inet_ntop(family, address, list->text[list->count], TEXT_MAX) != NULL)
		list->count++;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void print(struct list *list)
{
	qsort(list->text, (size_t)list->count, TEXT_MAX, compare);
	if (list->count == 0)
		(void)fputs("\t-", stdout);
	for (int i = 0; i < list->count; i++)
		(void)printf("%c%s", i == 0 ? '\t' : ',', list->text[i]);
}

static void look_up(const char *file, const char *name)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct list all = {.count = 0}, four = {.count = 0};
	struct addrinfo *found = NULL;
	struct hostent *host;

	if (getaddrinfo(name, NULL, &hints, &found) == 0)
		for (struct addrinfo *i = found; i != NULL; i = i->ai_next)
			add(&all, i->ai_family,
			    i->ai_family == AF_INET
				    ? (void *)&((struct sockaddr_in *)(void *)i->ai_addr)->sin_addr
				    : (void *)&((struct sockaddr_in6 *)(void *)i->ai_addr)
					      ->sin6_addr);
	if (found != NULL)
		freeaddrinfo(found);
	host = gethostbyname(name);
	for (char **i = host != NULL ? host->h_addr_list : NULL; i != NULL && *i != NULL; i++)
		add(&four, host->h_addrtype, *i);
	(void)printf("%s\t%s", file, name);
	print(&all);
	print(&four);
	(void)putchar('\n');
}

/* Makes FILE, or empties it, with LENGTH bytes of TEXT. */
static void put(const char *path, const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length || close(fd) != 0) {
		perror(path);
		exit(111);
	}
}

/* Private files over /etc/hosts and /etc/nsswitch.conf; the tmpfs over /run also hides any nscd. */
static void enter(void)
{
	static const char files[] = "hosts: files\n";

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/run", "tmpfs", 0, NULL) != 0) {
		perror("hosts_lookup");
		exit(111);
	}
	put("/run/nsswitch.conf", files, strlen(files));
	put("/run/hosts", "", 0);
	if (mount("/run/nsswitch.conf", "/etc/nsswitch.conf", NULL, MS_BIND, NULL) != 0 ||
	    mount("/run/hosts", "/etc/hosts", NULL, MS_BIND, NULL) != 0) {
		perror("hosts_lookup");
		exit(111);
	}
}

int main(int argc, char **argv)
{
	static char text[TEXT_SIZE];
	int names = 1;

	while (names < argc && strcmp(argv[names], "--") != 0)
		names++;
	enter();
	for (int file = names + 1; file < argc; file++) {
		int fd = open(argv[file], O_RDONLY | O_CLOEXEC);
		ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text));

		if (length < 0 || length == sizeof(text)) {
			perror(argv[file]);
			return 111;
		}
		(void)close(fd);
		put("/run/hosts", text, (size_t)length);
		for (int name = 1; name < names; name++)
			look_up(argv[file], argv[name]);
	}
	return fflush(stdout) == 0 ? 0 : 111;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What this C library answers for names from hosts files. Built twice, with glibc and with musl.
 *
 * usage: hosts_lookup NAME... -- FILE...
 * In a mount namespace of its own, where nsswitch.conf says "hosts: files": binds each FILE over
 * /etc/hosts in turn and prints a line for each NAME: FILE NAME GETADDRINFO GETHOSTBYNAME, tabs
 * between, the last two sorted lists of addresses, "-" if there are none.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>

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

enum { LIST_MAX = 64, TEXT_MAX = 64 };

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

int main(int argc, char **argv)
{
	int names = 1;

	while (names < argc && strcmp(argv[names], "--") != 0)
		names++;
	for (int file = names + 1; file < argc; file++) {
		if (mount(argv[file], "/etc/hosts", NULL, MS_BIND, NULL) != 0) {
			perror(argv[file]);
			return 111;
		}
		for (int name = 1; name < names; name++)
			look_up(argv[file], argv[name]);
		if (umount2("/etc/hosts", MNT_DETACH) != 0) {
			perror("umount");
			return 111;
		}
	}
	return fflush(stdout) == 0 ? 0 : 111;
}

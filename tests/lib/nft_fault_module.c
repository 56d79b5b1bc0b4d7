// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LD_PRELOAD module: libnftables as it may fail. NFT_FAULT names how, NFT_FAULT_ON ("apply", "list"
 * or unset: both) when. Also IFLA_FAULT=hardware: every device seems to have a bus device behind it
 * (the attribute that holds its qdisc's name is renamed).
 *
 *   exit0, exit1   the library ends the process      segv, abort    it crashes
 *   hang           it does not come back             lie            it says yes and does nothing
 *   unknown        the kernel lacks an expression    syntax         it does not know a word
 *   eperm, enobufs, silent  other refusals           complain       it lists, but complains
 *   garbage, empty, cut  the listing is not JSON, nothing, or ends in the middle
 */
#include <dlfcn.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct nft_ctx;
int nft_run_cmd_from_buffer(struct nft_ctx *context, const char *text);
const char *nft_ctx_get_error_buffer(struct nft_ctx *context);
const char *nft_ctx_get_output_buffer(struct nft_ctx *context);

/* IFLA_PARENT_DEV_NAME, uapi/linux/if_link.h since 5.14 */
enum { PARENT = 56 };

static const char *error_text;
static bool listing;

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static const char *fault(const char *text)
{
	const char *what = getenv("NFT_FAULT"), *on = getenv("NFT_FAULT_ON");

	listing = strncmp(text, "list", 4) == 0;
	return what == NULL || (on != NULL && strcmp(on, listing ? "list" : "apply") != 0) ? ""
											   : what;
}

int nft_run_cmd_from_buffer(struct nft_ctx *context, const char *text)
{
	int (*real)(struct nft_ctx *, const char *);
	const char *what = fault(text);

	*(void **)&real = next("nft_run_cmd_from_buffer");
	error_text = NULL;
	if (strcmp(what, "exit0") == 0)
		exit(0);
	if (strcmp(what, "exit1") == 0) {
		(void)write(2, "cannot set up netlink\n", 22);
		exit(1);
	}
	if (strcmp(what, "segv") == 0)
		(void)raise(SIGSEGV);
	if (strcmp(what, "abort") == 0)
		abort();
	if (strcmp(what, "hang") == 0)
		for (alarm(1);;) /* sooner than ours, or the test takes a minute */
			(void)pause();
	if (strcmp(what, "lie") == 0)
		return 0;
	if (strcmp(what, "unknown") == 0)
		error_text =
			"<cmdline>:9:1-9: Error: Could not process rule: No such file or "
			"directory\n\t\tmeta skuid != 4294967295 jump refuse_subject\n\t\t^^^^\n";
	if (strcmp(what, "syntax") == 0)
		error_text =
			"<cmdline>:2:1-5: Error: syntax error, unexpected string\nset x\n^^^\n";
	if (strcmp(what, "eperm") == 0)
		error_text =
			"netlink.c:1: Error: Could not process rule: Operation not permitted\n";
	if (strcmp(what, "enobufs") == 0)
		error_text = "Error: Could not process rule: No buffer space available\n";
	if (strcmp(what, "silent") == 0)
		error_text = "";
	if (error_text != NULL)
		return -1;
	if (strcmp(what, "complain") == 0)
		error_text = "netlink: Error: Unknown expression 'strange'\n";
	return real(context, text);
}

const char *nft_ctx_get_error_buffer(struct nft_ctx *context)
{
	const char *(*real)(struct nft_ctx *);

	*(void **)&real = next("nft_ctx_get_error_buffer");
	return error_text != NULL ? error_text : real(context);
}

const char *nft_ctx_get_output_buffer(struct nft_ctx *context)
{
	const char *(*real)(struct nft_ctx *), *what = fault("list"), *text;

	*(void **)&real = next("nft_ctx_get_output_buffer");
	text = real(context);
	if (strcmp(what, "garbage") == 0)
		return "table inet cell_egress {\n}\n";
	if (strcmp(what, "empty") == 0)
		return "";
	if (strcmp(what, "cut") == 0)
		return strndup(text, strlen(text) / 2);
	return text;
}

/* What libmnl reads by; see recvmsg(2). */
ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t (*real)(int, struct msghdr *, int), n;
	struct nlmsghdr *h = message->msg_iov[0].iov_base;
	int rest;

	*(void **)&real = next("recvmsg");
	n = real(fd, message, flags);
	if (getenv("IFLA_FAULT") == NULL)
		return n;
	for (rest = (int)n; rest > 0 && NLMSG_OK(h, (unsigned int)rest); h = NLMSG_NEXT(h, rest)) {
		struct ifinfomsg *info = NLMSG_DATA(h);
		int left = (int)IFLA_PAYLOAD(h);

		if (h->nlmsg_type == RTM_NEWLINK)
			for (struct rtattr *a = IFLA_RTA(info); RTA_OK(a, left);
			     a = RTA_NEXT(a, left))
				if (a->rta_type == IFLA_QDISC)
					a->rta_type = PARENT;
	}
	return n;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attach_program xdp|off|tcx-ingress|tcx-egress DEVICE: puts a BPF program that lets everything
 * pass on DEVICE. xdp stays until off; a tcx program stays while this process lives (it waits).
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* uapi/linux/bpf.h since 6.6 */
enum { TCX_INGRESS = 46, TCX_EGRESS = 47 };

static int load(uint32_t type, int32_t answer)
{
	static const char license[] = "GPL";
	/* r0 = answer; exit */
	const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = answer},
					{.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr attr = {.prog_type = type,
			       .insns = (uintptr_t)code,
			       .insn_cnt = 2,
			       .license = (uintptr_t)license};

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* RTM_SETLINK with IFLA_XDP { IFLA_XDP_FD }; fd -1 takes the program off. */
static int set_xdp(unsigned int device, int32_t fd)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg info;
		struct nlattr xdp, attribute;
		int32_t fd;
	} request = {.header = {sizeof(request), RTM_SETLINK, NLM_F_REQUEST | NLM_F_ACK, 1, 0},
		     .info = {.ifi_index = (int)device},
		     .xdp = {2 * sizeof(struct nlattr) + 4, IFLA_XDP | NLA_F_NESTED},
		     .attribute = {sizeof(struct nlattr) + 4, IFLA_XDP_FD},
		     .fd = fd};
	char answer[512];
	int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	const struct nlmsgerr *error = (const void *)(answer + sizeof(struct nlmsghdr));

	if (s < 0 || send(s, &request, sizeof(request), 0) < 0 ||
	    recv(s, answer, sizeof(answer), 0) < (ssize_t)(sizeof(struct nlmsghdr) + 4))
		return -1;
	errno = -error->error;
	return error->error == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	unsigned int device = argc == 3 ? if_nametoindex(argv[2]) : 0;
	union bpf_attr attr;
	int program;

	if (device == 0)
		return 100;
	if (strcmp(argv[1], "off") == 0)
		return set_xdp(device, -1) == 0 ? 0 : (perror("off"), 1);
	if (strcmp(argv[1], "xdp") == 0) {
		program = load(BPF_PROG_TYPE_XDP, 2); /* XDP_PASS */
		return program >= 0 && set_xdp(device, program) == 0 ? 0 : (perror("xdp"), 1);
	}
	memset(&attr, 0, sizeof(attr));
	program = load(BPF_PROG_TYPE_SCHED_CLS, 0);
	attr.link_create.prog_fd = (uint32_t)program;
	attr.link_create.target_ifindex = device;
	attr.link_create.attach_type =
		strcmp(argv[1], "tcx-ingress") == 0 ? TCX_INGRESS : TCX_EGRESS;
	if (program < 0 || syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)) < 0)
		return perror("tcx"), 1;
	for (;;)
		(void)pause();
}

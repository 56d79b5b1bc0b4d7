/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the kernel says EPERM to netlink: no capability, someone else's namespace, or a filter. */
#ifndef CELL_NET_ADMIN_H
#define CELL_NET_ADMIN_H

enum net_admin {
	NET_ADMIN_HELD,	     /* over this network namespace: a filter or security module refused */
	NET_ADMIN_MISSING,   /* the effective set lacks it */
	NET_ADMIN_ELSEWHERE, /* it is held, but in a user namespace that does not own this network
				namespace */
};

/* Looks at this process and the owner of its network namespace (ioctl_ns(2), NS_GET_USERNS). */
enum net_admin net_admin_state(void);

/* In words, to stand behind "Operation not permitted: ". */
const char *net_admin_text(enum net_admin state);

#endif

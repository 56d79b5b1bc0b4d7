/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One netlink request and all of its answers, over libmnl. */
#ifndef CELL_NETLINK_DUMP_H
#define CELL_NETLINK_DUMP_H

#include <libmnl/libmnl.h>
#include <stddef.h>

enum { NETLINK_REQUEST_MAX = 512 }; /* bytes: the buffer that a request is built in */

/*
 * Sends REQUEST (its sequence number is set here) on a new socket of PROTOCOL and gives every
 * answer to EACH with DATA (libmnl's callback: MNL_CB_OK to go on). A dump that the kernel says
 * was disturbed by a change is EINTR. 0, or -1 with errno: the kernel's own or the socket's;
 * ETIMEDOUT after ten seconds of silence.
 */
int netlink_dump(int protocol, struct nlmsghdr *request, mnl_cb_t each, void *data);

/* A message's or a nest's attributes by type, NULL where there is none; start it zeroed. */
struct netlink_attributes {
	const struct nlattr *at[64];
};

/* For mnl_attr_parse and mnl_attr_parse_nested; DATA is a struct netlink_attributes. */
int netlink_collect(const struct nlattr *attribute, void *data);

#endif

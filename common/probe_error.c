// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who refused: a socket's error queue names the sender of the ICMP error behind an errno (ip(7),
 * IP_RECVERR). An error from one of our own addresses about somebody else's was made here.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/errqueue.h> /* after time.h, whose timespec it leaves to us */

#include "probe_way.h"

enum {
	UNREACHABLE = 3,	  /* ICMP type (RFC 792) */
	UNREACHABLE6 = 1,	  /* ICMPv6 type (RFC 4443) */
	PROHIBITED6 = 1,	  /* its code "administratively prohibited" */
	ADDRESS_UNREACHABLE6 = 3, /* its code for a neighbour that does not answer */
	HOST_UNREACHABLE = 1,	  /* ICMP code for the same */
};

/* ICMP codes 9, 10 and 13: prohibited by an administrator (RFC 1812, 5.2.7.1). */
static bool is_prohibited(const struct sock_extended_err *error)
{
	if (error->ee_origin == SO_EE_ORIGIN_ICMP6)
		return error->ee_type == UNREACHABLE6 && error->ee_code == PROHIBITED6;
	return error->ee_type == UNREACHABLE &&
	       (error->ee_code == 9 || error->ee_code == 10 || error->ee_code == 13);
}

static bool is_no_neighbour(const struct sock_extended_err *error)
{
	return error->ee_origin == SO_EE_ORIGIN_ICMP6
		       ? error->ee_type == UNREACHABLE6 && error->ee_code == ADDRESS_UNREACHABLE6
		       : error->ee_type == UNREACHABLE && error->ee_code == HOST_UNREACHABLE;
}

/* True if no device sent a byte since the connection began: then nobody asked for a neighbour. */
static bool nothing_moved(const struct probe_way *way)
{
	struct probe_counters after = probe_counters_read();

	return probe_counters_quiet(&way->before, &after); /* never for datagrams: no reading */
}

static void judge_error(struct probe_way *way, const struct sock_extended_err *error,
			const union probe_address *offender)
{
	int number = (int)error->ee_errno;

	if (error->ee_origin != SO_EE_ORIGIN_ICMP && error->ee_origin != SO_EE_ORIGIN_ICMP6) {
		probe_way_end(way, probe_result_of_send(number), number, "refused by the kernel");
		return;
	}
	if (!probe_address_is_ours(offender)) {
		probe_way_end(way, PROBE_REFUSED, number, "an ICMP error came back");
		return;
	}
	/* An ICMP error of our own making: the policy's, or one about ourselves. */
	if (is_no_neighbour(error) && !probe_address_is_ours(&way->address) && !nothing_moved(way))
		probe_way_end(way, PROBE_SILENT, number, "no neighbour answers for it");
	else if (is_prohibited(error) || !probe_address_is_ours(&way->address))
		probe_way_end(way, PROBE_BLOCKED, number, "refused here by an ICMP error");
	else
		probe_way_end(way, PROBE_REFUSED, number, "nobody listens at this own address");
}

bool probe_way_read_error(struct probe_way *way)
{
	_Alignas(struct cmsghdr) char control[512];
	struct msghdr message = {.msg_control = control, .msg_controllen = sizeof(control)};

	if (recvmsg(way->fd, &message, MSG_ERRQUEUE) < 0)
		return false;
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL;
	     header = CMSG_NXTHDR(&message, header)) {
		struct {
			struct sock_extended_err error;
			union probe_address offender;
		} entry = {.error = {.ee_errno = 0}};
		size_t length = header->cmsg_len - CMSG_LEN(0);

		if (!(header->cmsg_level == IPPROTO_IP && header->cmsg_type == IP_RECVERR) &&
		    !(header->cmsg_level == IPPROTO_IPV6 && header->cmsg_type == IPV6_RECVERR))
			continue;
		memcpy(&entry, CMSG_DATA(header), length < sizeof(entry) ? length : sizeof(entry));
		judge_error(way, &entry.error, &entry.offender);
		return true;
	}
	return false;
}

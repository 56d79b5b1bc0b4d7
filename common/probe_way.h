/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One way of trying a target (a query type, a socket type, a binding): its packets and its end. */
#ifndef CELL_PROBE_WAY_H
#define CELL_PROBE_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "probe_netlink.h"
#include "probe_result.h"
#include "probe_target.h"

enum probe_transport {
	PROBE_AT_ONCE,	/* found out by a call that does not wait */
	PROBE_DATAGRAM, /* a packet, and a packet back */
	PROBE_STREAM,	/* a connection, a request, an answer */
};

/* How a socket is tied to target.device (ip(7), socket(7)). */
enum probe_binding {
	PROBE_UNBOUND,
	PROBE_BIND_DEVICE, /* SO_BINDTODEVICE */
	PROBE_UNICAST_IF,  /* IP_UNICAST_IF, IPV6_UNICAST_IF */
	PROBE_PKTINFO,	   /* IP_PKTINFO, IPV6_PKTINFO with each packet */
};

struct probe_settings {
	int64_t timeout;		 /* ns, for all ways together */
	const char *proxy_host;		 /* the name that must resolve to the published address */
	const struct in_addr *published; /* NULL: no address is published here */
};

struct probe_way {
	const struct probe_target *target;
	const struct probe_settings *settings;
	enum probe_transport transport;
	enum probe_binding binding;
	int family, socket_type, protocol; /* for socket(2) */
	uint16_t query_type;		   /* DNS */
	union probe_address address;	   /* where to */
	char name[48];			   /* what sets it apart: "TXT by IP_PKTINFO" */
	char nonce[40];			   /* in every request, so that an answer is to us */

	unsigned char request[1536], answer[2048];
	size_t request_length, request_sent, answer_length;
	/* Judges ANSWER so far; calls probe_way_end once it knows. */
	void (*judge)(struct probe_way *way, const unsigned char *answer, size_t length);

	int fd; /* owned until the end */
	short events;
	bool connected, ended, doubtful; /* doubtful: refused, and not yet known by whom */
	struct probe_counters before;
	int64_t began, ended_at; /* CLOCK_MONOTONIC, ns */
	enum probe_result result;
	int number; /* errno behind the result; 0: none */
	char detail[128];
};

/* Now, CLOCK_MONOTONIC, in nanoseconds. */
int64_t probe_now(void);

/* Ends the way with RESULT, errno NUMBER and a detail ("" or NULL: none); closes its socket. */
void probe_way_end(struct probe_way *way, enum probe_result result, int number, const char *format,
		   ...) __attribute__((format(printf, 4, 5)));

/*
 * Makes the way's socket with its binding. True, or the way has ended. A descriptor or memory
 * that we lack ends it as PROBE_UNUSABLE with that errno; probe_run turns that into a failure.
 */
bool probe_way_socket(struct probe_way *way);

/* Binds the socket to the way's address, which becomes its own with a port. As probe_way_socket. */
bool probe_way_own_port(struct probe_way *way);

/* Sends LENGTH bytes to the way's address, with the packet's device if it is bound that way. */
ssize_t probe_way_send(struct probe_way *way, void *bytes, size_t length);

/* True if ADDRESS is one of this host's. */
bool probe_address_is_ours(const union probe_address *address);

/*
 * Ends the way by the next entry of its socket's error queue. False if there is none: then the
 * errno alone must do.
 */
bool probe_way_read_error(struct probe_way *way);

/* Begin: everything up to the first wait. Ready: poll(2) said REVENTS. */
void probe_datagram_begin(struct probe_way *way);
void probe_datagram_ready(struct probe_way *way, short revents);
void probe_stream_begin(struct probe_way *way);
void probe_stream_ready(struct probe_way *way, short revents);

/* No more will come: ends the way as silent, and says how far it got. */
void probe_stream_end(struct probe_way *way);

/* Tries a doubtful refusal again, while nothing else of ours moves: it may be known to be ours. */
void probe_stream_settle(struct probe_way *way);

/*
 * True of silence about multicast: whether it was refused here shows only in whether a device sends
 * anything when it is sent once more.
 */
bool probe_datagram_is_doubtful(const struct probe_way *way);
void probe_datagram_repeat(struct probe_way *way);

/* Fills in the address of an http+proxy target by the hosts file alone; or the way has ended. */
void probe_way_resolve(struct probe_way *way);

/* Ways without a wait: family, unix, call, policy, name. */
void probe_at_once(struct probe_way *way);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The certificate volume: the names in it, its place, and how its address file is read. */
#ifndef CELL_PUBLISHED_H
#define CELL_PUBLISHED_H

#include <netinet/in.h>
#include <stdbool.h>

#define PUBLISHED_ADDRESS "proxy-ipv4"
#define PUBLISHED_CERTIFICATE "mitmproxy-ca-cert.pem"

/* Defaults of CELL_EGRESS_DIR, CELL_PROXY_HOST and CELL_PROXY_PORT. */
#define PUBLISHED_DEFAULT_DIR "/opt/cell-egress"
#define PUBLISHED_DEFAULT_HOST "cell-proxy"
#define PUBLISHED_DEFAULT_PORT "8080"

struct published_fault {
	char reason[192]; /* to stand behind "cannot use FILE: " */
	int number;	  /* errno where a system call failed, else 0 */
	bool missing;	  /* the file is not there (yet): waiting may help */
};

/*
 * Reads and judges the address file NAME relative to DIRECTORY (or AT_FDCWD) into ADDRESS.
 * 0, or -1 with FAULT filled. Anything but one publishable canonical IPv4 address is a fault.
 */
int published_address_read(int directory, const char *name, struct in_addr *address,
			   struct published_fault *fault);

#endif

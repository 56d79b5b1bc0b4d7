// SPDX-License-Identifier: GPL-2.0-or-later
/* All of a publish in its order; see publisher.h, and publication.c for what a kill leaves. */
#include "publisher.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "cleanup.h"
#include "publication.h"
#include "published_dir.h"

static int lock(int fd, const char *path, struct fault *fault)
{
	if (published_dir_lock(fd) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return fault_set(fault, CELL_SYSTEM, 0,
				 "cannot lock %s: somebody else holds its lock", path);
	return fault_set(fault, CELL_SYSTEM, errno, "cannot lock %s", path);
}

static int put_failed(const struct publisher_wish *wish, const struct publication *publication,
		      struct fault *fault)
{
	return fault_set(fault, CELL_SYSTEM, errno, "cannot %s %s/%s%s", publication->verb,
			 publication->in_state ? wish->state : wish->dir, publication->name,
			 publication->is_mount ? " (mount the directory, not the file)" : "");
}

/* What lies in the published directory beside our files; a secret there ends everything. */
static int survey(const struct publisher_wish *wish, struct publisher_result *result,
		  struct fault *fault)
{
	char secret[256];

	if (published_dir_survey(result->directory, result->unlisted, secret) != 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot list %s", wish->dir);
	if (secret[0] != '\0')
		return fault_set(fault, CELL_EVIDENCE, 0,
				 "cannot publish into %s: %s there is a secret", wish->dir, secret);
	return 0;
}

/* Nothing of what this host HAS is what WISH asks for. */
static int none_chosen(const struct publisher_wish *wish, const char *has, struct fault *fault)
{
	const char *interface = wish->choice.interface;

	if (has == NULL || *has == '\0')
		has = "none";
	if (interface != NULL && if_nametoindex(interface) == 0 && errno == ENODEV)
		return fault_set(fault, CELL_EVIDENCE, 0,
				 "cannot choose an address: there is no interface %s; this host "
				 "has %s",
				 interface, has);
	if (interface != NULL || wish->choice.by_network)
		return fault_set(fault, CELL_EVIDENCE, 0,
				 "cannot choose an address: no usable IPv4 address %s %s; this "
				 "host has %s",
				 interface != NULL ? "on" : "inside",
				 interface != NULL ? interface : "that network", has);
	return fault_set(fault, CELL_EVIDENCE, 0,
			 "cannot choose an address: no usable IPv4 address on an interface that is "
			 "up; this host has %s: --address, --interface and --network choose",
			 has);
}

/* Narrows LIST to the one address that is published. */
static int choose(const struct publisher_wish *wish, struct interface_address_list *list,
		  struct in_addr *address, struct fault *fault)
{
	enum interface_address_choice choice;
	autofree char *has = interface_address_text(list), *candidates = NULL;
	char shown[INET_ADDRSTRLEN];

	if (wish->by_address && interface_address_is_ours(list, wish->address)) {
		*address = wish->address;
		return 0;
	}
	if (wish->by_address) {
		(void)inet_ntop(AF_INET, &wish->address, shown, sizeof(shown));
		return fault_set(fault, CELL_EVIDENCE, 0,
				 "cannot publish %s: it is not an address of this host, which has "
				 "%s",
				 shown, has != NULL && *has ? has : "none");
	}
	choice = interface_address_choose(list, &wish->choice);
	if (choice == INTERFACE_ADDRESS_NONE)
		return none_chosen(wish, has, fault);
	if (choice == INTERFACE_ADDRESS_SEVERAL) {
		candidates = interface_address_text(list);
		return fault_set(fault, CELL_EVIDENCE, 0,
				 "cannot choose an address among %s: give --address, --interface "
				 "or --network",
				 candidates != NULL ? candidates : "several");
	}
	*address = list->items[0].address;
	return 0;
}

static int publish_locked(const struct publisher_wish *wish, struct publisher_result *result,
			  int state, struct interface_address_list *addresses, struct fault *fault)
{
	struct publication publication = {.directory = result->directory, .state = state};

	if (publication_remove_stale(&publication, addresses) != 0)
		return put_failed(wish, &publication, fault);
	if (survey(wish, result, fault) != 0 ||
	    choose(wish, addresses, &publication.address, fault) != 0 ||
	    state_dir_prepare(state, wish->state, fault) != 0 ||
	    state_dir_authority(state, wish->state, wish->renew, wish->ca_name, wish->now,
				&result->authority, fault) != 0)
		return -1;
	if (publication_put(&publication, &result->authority) != 0)
		return put_failed(wish, &publication, fault);
	result->address = publication.address;
	result->changed = publication.changed;
	result->closed = published_dir_open_to_all(result->directory) != 0;
	return 0;
}

int publisher_run(const struct publisher_wish *wish, struct publisher_result *result,
		  struct fault *fault)
{
	autoclose directory = published_dir_open(wish->dir), state = -1, locked = -1;
	struct interface_address_list addresses;
	int status;

	memset(result, 0, sizeof(*result));
	result->unlisted = json_array();
	if (directory < 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot open directory %s", wish->dir);
	/* The lock goes with its own opening of the directory, so that it ends here. */
	locked = published_dir_open(wish->dir);
	state = state_dir_open(wish->state, directory, fault);
	if (state < 0 || lock(state, wish->state, fault) != 0 ||
	    lock(locked, wish->dir, fault) != 0)
		return -1;
	if (interface_address_read(&addresses) != 0)
		return fault_set(fault, CELL_SYSTEM, errno,
				 "cannot list the addresses of this host");
	result->directory = directory;
	status = publish_locked(wish, result, state, &addresses, fault);
	interface_address_release(&addresses);
	if (status == 0)
		(void)take_fd(&directory);
	return status;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Putting an authority, its certificate and an address in place; see publication.h.
 *
 * Must hold before: the caller holds both locks. Holds after: the published address belongs to the
 * certificate beside it, and that to the private key in the state directory. At every instant
 * between: if there is an address, it belongs to the certificate beside it, because an address is
 * taken away before the certificate is replaced and comes back after it. All new files are written
 * aside first, so that a full disk is met before anything is touched. A kill leaves the old pair,
 * a certificate without an address, or the new pair, and at most ".NAME.new" files, which the next
 * run removes before it finishes the work. The private key never has a name outside the state
 * directory.
 */
#include "publication.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "atomic_file.h"
#include "published.h"
#include "published_dir.h"
#include "shared_file.h"

static int failed(struct publication *publication, const char *verb, const char *name)
{
	publication->verb = verb;
	publication->name = name;
	publication->is_mount = errno == EBUSY;
	return -1;
}

static int remove_address(struct publication *publication)
{
	if (unlinkat(publication->directory, PUBLISHED_ADDRESS, 0) == 0) {
		publication->changed = true;
		return 0;
	}
	return errno == ENOENT ? 0 : failed(publication, "remove", PUBLISHED_ADDRESS);
}

int publication_remove_stale(struct publication *publication,
			     const struct interface_address_list *ours)
{
	struct published_fault fault;
	struct in_addr address;

	if (published_address_read(publication->directory, PUBLISHED_ADDRESS, &address, &fault) ==
	    0) {
		if (interface_address_is_ours(ours, address))
			return 0;
	} else if (fault.missing) {
		return 0;
	}
	return remove_address(publication);
}

/* True if the certificate that is published is, or may be, not this one. */
static bool certificate_differs(const struct publication *publication,
				const struct certificate *certificate)
{
	struct shared_file file;

	return shared_file_read(publication->directory, PUBLISHED_CERTIFICATE, &file) !=
		       SHARED_FILE_OK ||
	       file.length != certificate->pem_length ||
	       memcmp(file.bytes, certificate->pem, file.length) != 0;
}

/* A killed run's, which this run would otherwise not touch. */
static void sweep(int directory, const char *temporary)
{
	(void)unlinkat(directory, temporary, 0);
}

/* Writes one published file aside unless it is right already and not ANYWAY. */
static int stage(struct publication *publication, struct atomic_file *file, const char *name,
		 bool anyway, const char *bytes, size_t length)
{
	if (!anyway &&
	    published_file_is(publication->directory, name, bytes, length, PUBLISHED_MODE))
		return 0;
	if (published_file_is_mount(publication->directory, name)) {
		errno = EBUSY;
		return failed(publication, "replace", name);
	}
	if (atomic_file_stage(file, publication->directory, name, bytes, length, PUBLISHED_MODE,
			      false) != 0)
		return failed(publication, file->verb, name);
	publication->changed = true;
	return 0;
}

/* An authority that a crash of the machine could lose would leave clients with a dead one. */
static int keep_authority(struct publication *publication, const struct state_authority *authority)
{
	struct atomic_file file = {0};

	sweep(publication->state, "." STATE_AUTHORITY ".new");
	if (authority->made == NULL)
		return 0;
	if (atomic_file_stage(&file, publication->state, STATE_AUTHORITY, authority->made,
			      authority->length, 0600, true) != 0 ||
	    atomic_file_commit(&file) != 0 ||
	    /* fsync(2): EINVAL where directories can't be synchronised; the file itself was. */
	    (fsync(publication->state) != 0 && errno != EINVAL)) {
		publication->in_state = true;
		return failed(publication, file.verb, STATE_AUTHORITY);
	}
	return 0;
}

static int put_staged(struct publication *publication, const struct state_authority *authority,
		      bool differs, struct atomic_file *certificate, struct atomic_file *address)
{
	if (keep_authority(publication, authority) != 0)
		return -1;
	if (differs && remove_address(publication) != 0)
		return -1;
	if (atomic_file_commit(certificate) != 0)
		return failed(publication, certificate->verb, PUBLISHED_CERTIFICATE);
	if (atomic_file_commit(address) != 0)
		return failed(publication, address->verb, PUBLISHED_ADDRESS);
	return 0;
}

int publication_put(struct publication *publication, const struct state_authority *authority)
{
	const struct certificate *published = &authority->certificate;
	struct atomic_file certificate = {0}, address = {0};
	bool differs = certificate_differs(publication, published);
	char shown[INET_ADDRSTRLEN], text[INET_ADDRSTRLEN + 1];
	int result;

	(void)inet_ntop(AF_INET, &publication->address, shown, sizeof(shown));
	(void)snprintf(text, sizeof(text), "%s\n", shown);
	sweep(publication->directory, "." PUBLISHED_CERTIFICATE ".new");
	sweep(publication->directory, "." PUBLISHED_ADDRESS ".new");
	result = stage(publication, &certificate, PUBLISHED_CERTIFICATE, false, published->pem,
		       published->pem_length);
	/* With another certificate the address goes and comes back, be it the same one. */
	if (result == 0)
		result = stage(publication, &address, PUBLISHED_ADDRESS, differs, text,
			       strlen(text));
	if (result == 0)
		result = put_staged(publication, authority, differs, &certificate, &address);
	atomic_file_discard(&certificate);
	atomic_file_discard(&address);
	return result;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The proxy's private directory; see state_dir.h. */
#include "state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "published_dir.h"
#include "shared_file.h"

int state_dir_open(const char *path, int published, struct fault *fault)
{
	autoclose state = -1;
	int held;

	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot make state directory %s", path);
	state = published_dir_open(path);
	if (state < 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot open state directory %s", path);
	held = published_dir_holds(published, state);
	if (held < 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot walk up from %s", path);
	if (held == 1)
		return fault_set(fault, CELL_USAGE, 0,
				 "state directory %s lies in the published directory", path);
	return take_fd(&state);
}

int state_dir_prepare(int state, const char *path, struct fault *fault)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	autoclose hits = openat(state, STATE_HITS, flags, 0600);
	struct stat status;

	if (hits < 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot open %s/%s", path, STATE_HITS);
	if (fstat(hits, &status) != 0 || !S_ISREG(status.st_mode))
		return fault_set(fault, CELL_SYSTEM, 0,
				 "cannot use %s/%s: it is not a regular file", path, STATE_HITS);
	/* Some volume drivers add the group's bits to every file when they mount. */
	if (fstatat(state, STATE_AUTHORITY, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(status.st_mode) && (status.st_mode & 07777) != 0600 &&
	    fchmodat(state, STATE_AUTHORITY, 0600, 0) != 0)
		return fault_set(fault, CELL_SYSTEM, errno, "cannot make %s/%s private", path,
				 STATE_AUTHORITY);
	return 0;
}

static int judge(enum certificate_verdict verdict, const char *path, time_t now,
		 const struct certificate *certificate, struct fault *fault)
{
	autofree char *why = NULL;

	if (verdict == CERTIFICATE_OK)
		return 0;
	if (verdict == CERTIFICATE_NO_MEMORY)
		return fault_set(fault, CELL_SYSTEM, ENOMEM, "cannot read %s/%s", path,
				 STATE_AUTHORITY);
	why = certificate_verdict_text(verdict, certificate, now);
	return fault_set(fault, CELL_EVIDENCE, 0, "cannot use %s/%s: %s; --renew makes a new one",
			 path, STATE_AUTHORITY, why != NULL ? why : "out of memory");
}

int state_dir_authority(int state, const char *path, bool renew, const char *common_name,
			time_t now, struct state_authority *authority, struct fault *fault)
{
	struct shared_file file;
	enum shared_file_verdict read;
	enum certificate_verdict verdict;
	const char *reason;

	memset(authority, 0, sizeof(*authority));
	read = renew ? SHARED_FILE_OK : shared_file_read(state, STATE_AUTHORITY, &file);
	if (!renew && (read != SHARED_FILE_FAILED || errno != ENOENT)) {
		if (read != SHARED_FILE_OK)
			return fault_set(fault, CELL_EVIDENCE, 0, "cannot read %s/%s: %s", path,
					 STATE_AUTHORITY, shared_file_verdict_text(read, errno));
		verdict = certificate_read(file.bytes, file.length, true, now,
					   &authority->certificate);
		explicit_bzero(&file, sizeof(file));
		return judge(verdict, path, now, &authority->certificate, fault);
	}
	authority->made = certificate_make(common_name, now, &authority->length, &reason);
	if (authority->made == NULL)
		return fault_set(fault, CELL_SYSTEM, 0, "cannot make a certificate authority: %s",
				 reason);
	verdict = certificate_read(authority->made, authority->length, true, now,
				   &authority->certificate);
	return judge(verdict, path, now, &authority->certificate, fault);
}

void state_authority_release(struct state_authority *authority)
{
	certificate_release(&authority->certificate);
	certificate_wipe(take_pointer(authority->made), authority->length);
}

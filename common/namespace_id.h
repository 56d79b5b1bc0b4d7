/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which namespace it is: by a live handle (device and inode, namespaces(7)), or by what was written
 * down of it, "net:[4026531840]", with its cookie if that was written too.
 */
#ifndef CELL_NAMESPACE_ID_H
#define CELL_NAMESPACE_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "cleanup.h"

#ifndef SO_NETNS_COOKIE /* socket(7) has it since Linux 5.14; older C libraries do not */
#define SO_NETNS_COOKIE 71
#endif

enum { NAMESPACE_TEXT = 40 }; /* bytes for namespace_format, "net:[N]" with a 20-digit N */

struct namespace_id {
	uint64_t device, inode; /* device 0: not known, it was written down without one */
	uint64_t cookie; /* SO_NETNS_COOKIE: never reused while the kernel runs; 0: not known */
};

struct namespace_handle {
	struct namespace_id id;
	int fd; /* keeps the namespace, so its inode number can't be reused; -1 for a literal */
};

enum namespace_verdict {
	NAMESPACE_OK,
	NAMESPACE_FAILED,     /* errno tells */
	NAMESPACE_NOT_ONE,    /* the file is no handle of a namespace */
	NAMESPACE_OTHER_KIND, /* it is one, of another kind */
	NAMESPACE_MALFORMED,  /* text that is neither a process id, a path nor a literal */
	NAMESPACE_NOT_PROC,   /* /proc is no proc file system */
	NAMESPACE_NO_PROCESS, /* /proc shows no such process */
	NAMESPACE_ENDED,      /* the process has ended, and only its entry is left */
};

/*
 * Opens the namespace file PATH relative to DIRECTORY and makes sure that it is a namespace of
 * KIND (CLONE_NEWNET, CLONE_NEWUSER). The caller owns *fd, which is -1 unless NAMESPACE_OK.
 */
enum namespace_verdict namespace_open(int directory, const char *path, int kind, int *fd);

/* Likewise the network namespace of process PID, or of this one if PID is 0. */
enum namespace_verdict namespace_open_process(pid_t pid, int *fd);

/* Fills device and inode of the namespace behind FD; the cookie is 0. 0, or -1 with errno. */
int namespace_identify(int fd, struct namespace_id *id);

/*
 * The cookie of the network namespace behind FD. The caller's own needs no privilege; another is
 * entered by a short-lived child (setns(2): EPERM without CAP_SYS_ADMIN), never by the caller.
 * 0, or -1 with errno; ENOPROTOOPT: the kernel has no cookies (before 5.14).
 */
int namespace_cookie(int fd, uint64_t *cookie);

/* Reads exactly LENGTH bytes "net:[N]" or "net:[N] COOKIE" into ID. Pure. */
enum namespace_verdict namespace_parse(const char *text, size_t length, struct namespace_id *id);

/*
 * A network namespace as a command line names it: a process id, a path, or a literal. HANDLE must
 * be released by namespace_release. The cookie of a live one is not fetched.
 */
enum namespace_verdict namespace_resolve(const char *operand, struct namespace_handle *handle);

/* The reason in words, to stand behind "cannot identify X: ". */
const char *namespace_verdict_text(enum namespace_verdict verdict, int number);

enum namespace_same {
	NAMESPACE_SAME,
	NAMESPACE_DIFFERENT,
	NAMESPACE_NEEDS_COOKIE,	 /* same numbers, one cookie is known, the other is not */
	NAMESPACE_CONTRADICTION, /* cookies and numbers say opposite things: one of them is false */
};

/* Cookies decide where both are known, then inode, and device where both are known. Pure. */
enum namespace_same namespace_compare(const struct namespace_id *a, const struct namespace_id *b);

/* Writes "net:[N]" (or KIND "user") as the kernel does. */
void namespace_format(const char *kind, const struct namespace_id *id, char text[NAMESPACE_TEXT]);

/* Closes what a live HANDLE holds. */
static inline void namespace_release(struct namespace_handle *handle)
{
	cleanup_close(&handle->fd);
	handle->fd = -1;
}

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Every thread of a live process, each once; see process_threads.h. */
#include "process_threads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/vfs.h>

#include "cleanup.h"

enum { MAX_LOOKS = 64, MAX_THREAD = 4194304 }; /* the kernel's PID_MAX_LIMIT */

enum process_verdict process_open(pid_t pid, int *fd)
{
	char path[sizeof("/proc/") + 12] = "/proc/self";
	struct statfs system;
	autoclose opened = -1;

	*fd = -1;
	if (pid != 0)
		(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	opened = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (opened < 0 && errno == ENOENT)
		return statfs("/proc", &system) == 0 && system.f_type == PROC_SUPER_MAGIC
			       ? PROCESS_ABSENT
			       : PROCESS_NOT_PROC;
	if (opened < 0 || fstatfs(opened, &system) != 0)
		return PROCESS_FAILED;
	if (system.f_type != PROC_SUPER_MAGIC)
		return PROCESS_NOT_PROC;
	*fd = take_fd(&opened);
	return PROCESS_OK;
}

/* True if THREAD was not in SEEN, a bit map, before; it is now. */
static bool is_new(unsigned char *seen, const char *thread)
{
	unsigned long number = strtoul(thread, NULL, 10);
	unsigned char bit = (unsigned char)(1U << number % 8);

	if (number > MAX_THREAD || (seen[number / 8] & bit) != 0)
		return false;
	seen[number / 8] |= bit;
	return true;
}

static void close_directory(DIR **directory)
{
	int saved = errno;

	if (*directory != NULL)
		(void)closedir(*directory);
	errno = saved;
}

/* What the looks at a process share. */
struct looks {
	int (*visit)(void *context, int directory, const char *thread);
	void *context;
	bool alive; /* some thread was */
	bool found; /* the last look found a new one */
};

/* Visits the threads that no earlier look found: SEEN has a bit for each that one did. */
static enum process_verdict look(int process, struct looks *looks, unsigned char *seen)
{
	__attribute__((cleanup(close_directory))) DIR *directory = NULL;
	autoclose fd = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *entry;

	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? PROCESS_ENDED : PROCESS_FAILED;
	directory = fdopendir(fd);
	if (directory == NULL)
		return PROCESS_FAILED;
	(void)take_fd(&fd);
	looks->found = false;
	for (errno = 0; (entry = readdir(directory)) != NULL; errno = 0) {
		int result;

		if (!isdigit((unsigned char)entry->d_name[0]) || !is_new(seen, entry->d_name))
			continue;
		looks->found = true;
		result = looks->visit(looks->context, dirfd(directory), entry->d_name);
		if (result < 0)
			return PROCESS_STOPPED;
		looks->alive = looks->alive || result > 0;
	}
	return errno == 0 ? PROCESS_OK : PROCESS_FAILED;
}

enum process_verdict
process_visit_threads(int process, int (*visit)(void *context, int directory, const char *thread),
		      void *context)
{
	unsigned char *seen = calloc(MAX_THREAD / 8 + 1, 1);
	enum process_verdict verdict = seen == NULL ? PROCESS_FAILED : PROCESS_OK;
	struct looks looks = {visit, context, false, true};

	for (int i = 0; verdict == PROCESS_OK && looks.found; i++)
		verdict = i < MAX_LOOKS ? look(process, &looks, seen) : PROCESS_UNSTEADY;
	cleanup_free(&seen);
	if (verdict == PROCESS_OK && !looks.alive)
		return PROCESS_ENDED;
	return verdict;
}

const char *process_verdict_text(enum process_verdict verdict)
{
	switch (verdict) {
	case PROCESS_OK:
		return "read";
	case PROCESS_FAILED:
		return "it cannot be read";
	case PROCESS_NOT_PROC:
		return "/proc is not a proc file system";
	case PROCESS_ABSENT:
		return "/proc shows no such process";
	case PROCESS_ENDED:
		return "it has ended";
	case PROCESS_UNSTEADY:
		return "it keeps starting threads";
	case PROCESS_STOPPED:
		return "it could not be looked at";
	}
	return "unknown trouble";
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scope-bound ownership of descriptors and memory: born -1 or NULL, released at the scope's end. */
#ifndef CELL_CLEANUP_H
#define CELL_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Some are only held, a lock for one; clang would call those unused. */
#define autoclose __attribute__((cleanup(cleanup_close), unused)) int
#define autofree __attribute__((cleanup(cleanup_free)))

/* Closes *fd if it is one; errno is kept. close() is never retried: the number is already free. */
static inline void cleanup_close(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = saved;
}

/* Frees the memory that the pointer at POINTER points to; errno is kept. */
static inline void cleanup_free(void *pointer)
{
	int saved = errno;

	free(*(void **)pointer);
	errno = saved;
}

/* Hands the descriptor over: the caller owns the result, *fd becomes -1. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* Hands the memory over: the caller owns the result, the variable becomes NULL. */
#define take_pointer(variable)                            \
	({                                                \
		__typeof__(variable) taken_ = (variable); \
		(variable) = NULL;                        \
		taken_;                                   \
	})

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libnftables in a child process. The library may end or crash the process that calls it, so it
 * never runs in ours; a child that does not hand over a whole result has done nothing that counts.
 */
#ifndef CELL_NFT_SESSION_H
#define CELL_NFT_SESSION_H

#include <stdbool.h>
#include <stddef.h>

enum nft_outcome {
	NFT_DONE,      /* every command that was given succeeded */
	NFT_REFUSED,   /* the library or the kernel said no: see errors and number */
	NFT_CRASHED,   /* a signal ended the child: number */
	NFT_ENDED,     /* the library ended the child, exit code number, without a result */
	NFT_TIMED_OUT, /* no result within NFT_SESSION_SECONDS */
	NFT_FAILED,    /* no child, or no memory: errno number */
};

enum { NFT_SESSION_SECONDS = 60 };

struct nft_result {
	enum nft_outcome outcome;
	int number;   /* errno, signal or exit code; NFT_REFUSED: the errno it speaks of, or 0 */
	bool applied; /* the first command succeeded, whatever came of the second */
	char *output; /* what the listing printed; NULL unless NFT_DONE */
	size_t output_length;
	char *errors; /* everything said on the way, one line or "" */
};

/*
 * Runs APPLY (a transaction, or NULL) and then LIST (a listing command, or NULL; as JSON if JSON)
 * in one child, which holds no descriptor but its own and no capability but NET_ADMIN. RESULT is
 * always filled; release it with nft_result_release. SIGCHLD must not be ignored.
 */
void nft_session_run(const char *apply, const char *list, bool json, struct nft_result *result);

/* Frees the texts of RESULT. */
void nft_result_release(struct nft_result *result);

/* The first complaint in the library's TEXT as one line, malloc'd, and the errno it ends with. */
char *nft_session_complaint(const char *text, int *number);

#endif

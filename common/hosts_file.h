/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a hosts file says of one name, as every resolver that reads it could understand it. Pure. */
#ifndef CELL_HOSTS_FILE_H
#define CELL_HOSTS_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum {
	HOSTS_ADDRESS_WIDTH = 15, /* columns of an address in an entry */
	HOSTS_ENTRY_MAX =
		HOSTS_ADDRESS_WIDTH + 1 + 253 + 1, /* bytes of an entry, its newline included */
	HOSTS_PIECE = 511,  /* musl reads a longer line as several lines of this length */
	HOSTS_BLOCK = 1024, /* the smallest buffer a resolver reads the file with: musl's */
};

#define HOSTS_NONE ((size_t)-1)

/* One place where the name stands for an address. Offsets into the text. */
struct hosts_name {
	size_t line, line_end; /* the line, without its newline */
	size_t content_end;    /* where its comment, its final CR or the line itself ends it */
	size_t address, address_length; /* what the name stands for there, as written */
	size_t name;			/* as long as the name looked for */
	bool alone;			/* the line names nothing else */
	bool plain;			/* spelled and placed so that every resolver sees it */
};

/* A walk over the text; the fields are the module's own. */
struct hosts_walk {
	const char *text, *host;
	size_t length, host_length;
	size_t at;		/* where to go on */
	struct hosts_name line; /* what is the same for the whole line */
	size_t comment;		/* offset of the line's '#', or its end */
	bool judged, entry;	/* whether the line begins with an address, once that was asked */
};

/*
 * Begins a walk over LENGTH bytes of TEXT for HOST. Between two steps the caller may put blanks
 * over what was found. Both must outlive the walk.
 */
void hosts_walk_begin(struct hosts_walk *walk, const char *text, size_t length, const char *host);

/*
 * The next place where some resolver would take HOST's address from, whatever its case: glibc's and
 * musl's white space, address forms and line ends all count. False at the end.
 */
bool hosts_walk_next(struct hosts_walk *walk, struct hosts_name *found);

/* What the text answers for a name. */
struct hosts_answer {
	size_t kept;   /* offset of the first plain name with the wanted address, or HOSTS_NONE */
	size_t others; /* every other place where the name stands */
	size_t first_address, first_length; /* the address of the first of those others */
	size_t last;			    /* the last byte of the last of them, or 0 */
};

/* HOST's answer in TEXT; ADDRESS, canonical IPv4 text, is the wanted one (NULL: none is). */
struct hosts_answer hosts_file_answer(const char *text, size_t length, const char *host,
				      const char *address);

/*
 * The first line of exactly LINE_LENGTH blanks that lies within one HOSTS_BLOCK, and not in a block
 * before that of offset FROM; HOSTS_NONE if there is none.
 */
size_t hosts_file_blank_line(const char *text, size_t length, size_t line_length, size_t from);

#endif

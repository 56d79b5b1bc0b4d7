/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of targets, a line each: "TARGET [closed|open|blocked]", comments from '#', and
 * placeholders ("icmp://{gateway}") that become a target for each value known here. Pure.
 */
#ifndef CELL_PROBE_LIST_H
#define CELL_PROBE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "probe_run.h"

enum { PROBE_LIST_MAX = 512, PROBE_VALUES_MAX = 64, PROBE_EXPANSIONS_MAX = 4096 };

/* What placeholders stand for. */
struct probe_values {
	struct probe_value {
		char name[24];
		char text[256]; /* empty: the name is known, but has no value here */
	} items[PROBE_VALUES_MAX];
	size_t count;
};

/*
 * Adds a value, once; empty TEXT makes NAME known. False if there is no room, if NAME is not
 * [a-z0-9_]+, or if TEXT is too long or holds a '{'.
 */
bool probe_values_add(struct probe_values *values, const char *name, size_t name_length,
		      const char *text);

/* True if NAME has a value. */
bool probe_values_has(const struct probe_values *values, const char *name);

/* Adds the nameservers of resolv.conf(5) (LENGTH bytes) as NAME, IPv6 ones in brackets. */
void probe_values_add_nameservers(struct probe_values *values, const char *name, const char *text,
				  size_t length);

struct probe_list {
	struct probe items[PROBE_LIST_MAX];
	size_t count;
	size_t expansions; /* so far: several placeholders multiply */
};

struct probe_list_fault {
	size_t line;	  /* from 1; 0 for a single target */
	char reason[192]; /* to stand behind "line N: " */
};

/*
 * Adds one target (LENGTH bytes), a copy for every value of its placeholders; with
 * PROBE_EXPECT_NOTHING its kind says what is expected. A target that is there already is not
 * added again. 0, or -1 with FAULT.
 */
int probe_list_add(struct probe_list *list, const char *text, size_t length,
		   enum probe_expect expect, const struct probe_values *values,
		   struct probe_list_fault *fault);

/* Adds every line of LENGTH bytes. 0, or -1 with FAULT at the first that is none. */
int probe_list_read(struct probe_list *list, const char *text, size_t length,
		    const struct probe_values *values, struct probe_list_fault *fault);

/* Lines for when nobody named a target: what a person types first. */
extern const char probe_list_usual[];

#endif

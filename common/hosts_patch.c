// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a hosts file answer one address for one name without moving a byte of another entry.
 *
 * Theory of operation. A container's hosts file is a mount point, so that no new file can be
 * renamed over it, and it is read at any time by programs that take no lock and read it in pieces;
 * reads and writes are not atomic to each other either. So it is patched in place, and each write
 * leaves, at each byte of it, a file that answers well:
 *
 * 1. The new entry is written as a comment: '#' in place of the address's first digit. It goes to
 * the end of the file, behind a newline if the last line lacks one, and is cut off again if it
 * can't be written whole; or over a line of just as many blanks: first the '#', then the rest of
 * the address, then the name. Such a line is not used if a reader's buffer ends within it (the
 * blanks of before and the tail of an address would make another address), or between it and an old
 *    place of the name behind it (the new entry could be missed before it is there, and then the
 * old one when it is gone).
 * 2. One byte makes it live: the digit over the '#'.
 * 3. Blanks go over every other place where the name stands. Where it was the line's only name the
 *    line becomes blank: first a comment by one byte, then without its name, then without its
 *    address (a name never stands beside a part of its address), then without the '#'.
 * 4. All begins again with reading the file. Nothing left to do is the proof, and the only success.
 *
 * Before: a regular file (or none: it is made), locked against others of our kind. Each write in
 * the middle is preceded by a comparison of what stands there with what was judged, and the one at
 * the end goes to the end as it then is; if anything differs, all begins again, PASSES times in
 * all. After: every other entry has the bytes it had. A kill at any instruction leaves every other
 * entry as it was, at most an unfinished comment more, and the name with its old addresses, with
 * both, or with the new one; the next run ends the work. Not covered: a writer without our lock
 * between a comparison and its write.
 */
#include "hosts_patch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hosts_file.h"

/* Two passes are the rule, the work and its proof; five more for a file that others change. */
enum { PASSES = 2 + 5 };

/* Step 1 over a blank line at AT. */
static enum patch_verdict write_over(struct patched_file *file, size_t at, const char *entry,
				     size_t length)
{
	const size_t name = HOSTS_ADDRESS_WIDTH + 1;
	enum patch_verdict verdict = patched_file_put(file, at, entry, 1);

	if (verdict == PATCH_OK)
		verdict = patched_file_put(file, at + 1, entry + 1, name - 1);
	if (verdict == PATCH_OK)
		verdict = patched_file_put(file, at + name, entry + name, length - name);
	return verdict;
}

/* Steps 1 and 2: the new entry, as a comment and then live. It becomes ANSWER's kept one. */
static enum patch_verdict add_entry(struct patched_file *file,
				    const struct hosts_patch_request *request,
				    struct hosts_answer *answer)
{
	char entry[HOSTS_ENTRY_MAX + 1];
	int count = snprintf(entry, sizeof(entry), "%-*s %s\n", HOSTS_ADDRESS_WIDTH,
			     request->address, request->host);
	size_t length = (size_t)count - 1, old = file->length;
	size_t at = hosts_file_blank_line(file->text, file->length, length, answer->last);
	enum patch_verdict verdict;
	char digit = entry[0];

	entry[0] = '#';
	if (at != HOSTS_NONE)
		verdict = write_over(file, at, entry, length);
	else
		verdict = patched_file_append(file, entry, length + 1, &at);
	if (verdict != PATCH_OK)
		return verdict;
	answer->kept = at + HOSTS_ADDRESS_WIDTH + 1;
	if (!patched_file_is_same(file, at, at + length + 1))
		return PATCH_OTHERS;
	verdict = patched_file_put(file, at, &digit, 1);
	if (verdict == PATCH_FAILED)
		patched_file_cut_back(file, old);
	return verdict;
}

static enum patch_verdict blank_line(struct patched_file *file, const struct hosts_name *name)
{
	size_t address_end = name->address + name->address_length;
	enum patch_verdict verdict;

	if (!patched_file_is_same(file, name->line, name->line_end))
		return PATCH_OTHERS;
	verdict = patched_file_put(file, name->line, "#", 1);
	if (verdict == PATCH_OK)
		verdict = patched_file_blank(file, address_end, name->content_end - address_end);
	if (verdict == PATCH_OK)
		verdict = patched_file_blank(file, name->line + 1, address_end - name->line - 1);
	if (verdict == PATCH_OK)
		verdict = patched_file_blank(file, name->line, 1);
	return verdict;
}

/* Step 3 at one place; ALONE: nothing else stands on the line. */
static enum patch_verdict take_away(struct hosts_patch_result *result,
				    const struct hosts_name *name, size_t length, bool alone)
{
	struct patched_file *file = &result->file;
	char *address = strndup(file->text + name->address, name->address_length);
	enum patch_verdict verdict;

	if (address == NULL)
		return patched_file_failed(file, "read", errno);
	verdict = alone ? blank_line(file, name) : patched_file_blank(file, name->name, length);
	if (verdict == PATCH_OK && result->removed_count < HOSTS_PATCH_LISTED)
		result->removed[result->removed_count] = address;
	else
		free(address);
	result->removed_count += verdict == PATCH_OK;
	return verdict;
}

/* Steps 1 to 3 on what was read; PATCH_OTHERS also after them, PATCH_OK if nothing was to do. */
static enum patch_verdict change(const struct hosts_patch_request *request,
				 struct hosts_patch_result *result)
{
	struct patched_file *file = &result->file;
	struct hosts_answer answer =
		hosts_file_answer(file->text, file->length, request->host, request->address);
	enum patch_verdict verdict = PATCH_OK;
	struct hosts_walk walk;
	struct hosts_name name;

	if (answer.others == 0 && (answer.kept != HOSTS_NONE || request->address == NULL))
		return PATCH_OK;
	if (file->write_error != 0)
		return patched_file_failed(file, "write", file->write_error);
	if (answer.kept == HOSTS_NONE && request->address != NULL)
		verdict = add_entry(file, request, &answer);
	hosts_walk_begin(&walk, file->text, file->length, request->host);
	while (verdict == PATCH_OK && answer.others > 0 && hosts_walk_next(&walk, &name)) {
		bool beside = answer.kept >= name.line && answer.kept < name.line_end;

		if (name.name != answer.kept)
			verdict = take_away(result, &name, strlen(request->host),
					    name.alone && !beside);
	}
	return verdict == PATCH_OK ? PATCH_OTHERS : verdict;
}

enum patch_verdict hosts_patch_apply(const struct hosts_patch_request *request,
				     struct hosts_patch_result *result)
{
	enum patch_verdict verdict = PATCH_OTHERS;
	struct timespec now = {0};
	int64_t deadline;

	memset(result, 0, sizeof(*result));
	result->file.path = request->file;
	result->file.fd = -1;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	deadline = now.tv_sec * INT64_C(1000000000) + now.tv_nsec + request->timeout;
	for (int pass = 0; pass < PASSES && verdict == PATCH_OTHERS; pass++) {
		verdict =
			patched_file_load(&result->file, true, request->address != NULL, deadline);
		if (verdict == PATCH_OK)
			verdict = change(request, result);
	}
	if (result->file.missing && request->address == NULL)
		verdict = PATCH_OK;
	return verdict;
}

enum patch_verdict hosts_patch_check(const struct hosts_patch_request *request,
				     struct hosts_patch_result *result)
{
	struct patched_file *file = &result->file;
	struct hosts_answer answer;
	enum patch_verdict verdict;

	memset(result, 0, sizeof(*result));
	file->path = request->file;
	file->fd = -1;
	verdict = patched_file_load(file, false, false, 0);
	if (file->missing)
		return PATCH_OK;
	if (verdict != PATCH_OK)
		return verdict;
	answer = hosts_file_answer(file->text, file->length, request->host, request->address);
	result->right = answer.kept != HOSTS_NONE && answer.others == 0;
	result->found = answer.others + (answer.kept != HOSTS_NONE);
	if (answer.others > 0)
		result->unwanted = strndup(file->text + answer.first_address, answer.first_length);
	if (answer.others > 0 && result->unwanted == NULL)
		return patched_file_failed(file, "read", errno);
	return PATCH_OK;
}

void hosts_patch_release(struct hosts_patch_result *result)
{
	for (size_t i = 0; i < result->removed_count && i < HOSTS_PATCH_LISTED; i++)
		free(result->removed[i]);
	free(result->unwanted);
	patched_file_close(&result->file);
}

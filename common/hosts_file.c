// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a hosts file says of one name; see hosts_file.h. Resolvers differ in what they accept, so
 * this reads the union: a name is found if any of them would find it.
 *
 * glibc (nss_files): a line ends at '#'; fields are separated by isspace(3) of the C locale; blanks
 * in front are skipped; the address is inet_pton(3)'s; a NUL ends the line; case is ignored.
 * musl (name_from_hosts): the address begins the line and may be any form of inet_aton(3) or IPv6
 * with a zone; a name without white space behind it, as at the end of a file without a newline, is
 * not seen; a line longer than HOSTS_PIECE bytes is read as several, comment or not.
 */
#include "hosts_file.h"

#include <arpa/inet.h>
#include <string.h>

#include "host_name.h"

/* NUL counts as white space: it ends the line for C programs, but is only a byte to others. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

/* Ends at white space, at a comment, or at END. */
static size_t token_end(const char *text, size_t at, size_t end)
{
	while (at < end && !is_space(text[at]) && text[at] != '#')
		at++;
	return at;
}

static size_t skip_space(const char *text, size_t at, size_t end)
{
	while (at < end && is_space(text[at]))
		at++;
	return at;
}

static bool is_address(const char *text, size_t length)
{
	char copy[HOSTS_PIECE + 1], *zone;
	struct in6_addr address;
	struct in_addr address4;

	if (length == 0 || length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (inet_aton(copy, &address4) != 0)
		return true;
	zone = strchr(copy, '%');
	if (zone != NULL)
		*zone = '\0';
	return inet_pton(AF_INET6, copy, &address) == 1;
}

/* Reads the line that begins at START as far as it is the same for each of its names. */
static void begin_line(struct hosts_walk *walk, size_t start)
{
	const char *text = walk->text;
	const char *newline = memchr(text + start, '\n', walk->length - start);
	struct hosts_name *line = &walk->line;
	const char *comment;
	size_t at;

	line->line = start;
	line->line_end = newline != NULL ? (size_t)(newline - text) : walk->length;
	comment = memchr(text + start, '#', line->line_end - start);
	walk->comment = comment != NULL ? (size_t)(comment - text) : line->line_end;
	line->content_end = walk->comment;
	if (comment == NULL && line->line_end > start && text[line->line_end - 1] == '\r')
		line->content_end--;
	line->address = skip_space(text, start, walk->comment);
	at = token_end(text, line->address, walk->comment);
	line->address_length = at - line->address;
	walk->judged = false;
	walk->at = start;
}

/* Judges, once a line and only where the name was seen, what begin_line left open. */
static void judge_line(struct hosts_walk *walk)
{
	struct hosts_name *line = &walk->line;
	size_t at = line->address + line->address_length;

	walk->judged = true;
	walk->entry = is_address(walk->text + line->address, line->address_length);
	line->alone = walk->entry;
	while (line->alone) {
		size_t name = skip_space(walk->text, at, walk->comment);

		if (name == walk->comment)
			break;
		at = token_end(walk->text, name, walk->comment);
		line->alone = host_name_equal(walk->text + name, at - name, walk->host,
					      walk->host_length);
	}
}

/* Every resolver sees it: the address first, ordinary blanks, a whole short line, this spelling. */
static bool is_plain(const struct hosts_walk *walk, size_t name)
{
	const struct hosts_name *line = &walk->line;
	size_t end = name + walk->host_length;

	if (line->address != line->line || line->line_end == walk->length ||
	    line->line_end - line->line >= HOSTS_PIECE ||
	    memcmp(walk->text + name, walk->host, walk->host_length) != 0)
		return false;
	for (size_t i = line->line; i <= end; i++)
		if (walk->text[i] == '\0' || walk->text[i] == '\v' || walk->text[i] == '\f')
			return false;
	return true;
}

/*
 * True if musl finds the name at NAME in a later piece of a line too long for its buffer; then
 * FOUND's address is the one that begins the piece.
 */
static bool in_piece(const struct hosts_walk *walk, size_t name, struct hosts_name *found)
{
	const struct hosts_name *line = &walk->line;
	size_t start = name - (name - line->line) % HOSTS_PIECE;
	size_t end = name + walk->host_length, address_end = start;

	/* Without a newline behind it yet musl does not see it, until anybody adds one. */
	if (start == line->line || end - start >= HOSTS_PIECE ||
	    memchr(walk->text + start, '#', name - start) != NULL)
		return false;
	while (address_end < name && !is_space(walk->text[address_end]))
		address_end++;
	found->address = start;
	found->address_length = address_end - start;
	return address_end < name && is_address(walk->text + start, address_end - start);
}

void hosts_walk_begin(struct hosts_walk *walk, const char *text, size_t length, const char *host)
{
	memset(walk, 0, sizeof(*walk));
	walk->text = text;
	walk->host = host;
	walk->length = length;
	walk->host_length = strlen(host);
	begin_line(walk, 0);
}

bool hosts_walk_next(struct hosts_walk *walk, struct hosts_name *found)
{
	for (;;) {
		size_t name = walk->at, end;

		while (name < walk->line.line_end &&
		       (is_space(walk->text[name]) || walk->text[name] == '#'))
			name++;
		if (name == walk->line.line_end) {
			if (name == walk->length)
				return false;
			begin_line(walk, name + 1);
			continue;
		}
		end = token_end(walk->text, name, walk->line.line_end);
		walk->at = end;
		if (!host_name_equal(walk->text + name, end - name, walk->host, walk->host_length))
			continue;
		if (!walk->judged)
			judge_line(walk);
		*found = walk->line;
		found->name = name;
		if (walk->entry && name > walk->line.address && name < walk->comment) {
			found->plain = is_plain(walk, name);
			return true;
		}
		found->alone = false;
		found->plain = false;
		if (in_piece(walk, name, found))
			return true;
	}
}

struct hosts_answer hosts_file_answer(const char *text, size_t length, const char *host,
				      const char *address)
{
	struct hosts_answer answer = {.kept = HOSTS_NONE};
	size_t address_length = address != NULL ? strlen(address) : 0;
	struct hosts_walk walk;
	struct hosts_name found;

	hosts_walk_begin(&walk, text, length, host);
	while (hosts_walk_next(&walk, &found)) {
		if (answer.kept == HOSTS_NONE && address != NULL && found.plain &&
		    found.address_length == address_length &&
		    memcmp(text + found.address, address, address_length) == 0) {
			answer.kept = found.name;
			continue;
		}
		if (answer.others++ == 0) {
			answer.first_address = found.address;
			answer.first_length = found.address_length;
		}
		answer.last = found.name + walk.host_length - 1;
	}
	return answer;
}

size_t hosts_file_blank_line(const char *text, size_t length, size_t line_length, size_t from)
{
	for (size_t line = 0; line < length;) {
		const char *newline = memchr(text + line, '\n', length - line);
		size_t end = newline != NULL ? (size_t)(newline - text) : length;

		if (newline != NULL && end - line == line_length &&
		    line / HOSTS_BLOCK == end / HOSTS_BLOCK &&
		    line / HOSTS_BLOCK >= from / HOSTS_BLOCK &&
		    strspn(text + line, " ") == line_length)
			return line;
		line = end + 1;
	}
	return HOSTS_NONE;
}

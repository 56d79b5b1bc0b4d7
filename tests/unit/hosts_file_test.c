// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the hosts file's reading, its patching in place, and nsswitch.conf. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hosts_file.h"
#include "hosts_patch.h"
#include "nsswitch.h"
#include "patched_file.h"
#include "unit.h"

static struct hosts_answer answer(const char *text, const char *address)
{
	return hosts_file_answer(text, strlen(text), "proxy", address);
}

static size_t places(const char *text)
{
	return answer(text, NULL).others;
}

static bool is_kept(const char *text)
{
	return answer(text, "172.18.0.2").kept != HOSTS_NONE;
}

static void test_places_are_found(void)
{
	CHECK(places("10.0.0.9 proxy\n") == 1);
	CHECK(places("10.0.0.9 db proxy") == 1);
	CHECK(places("\t10.0.0.9\vdb\fPROXY\r\n") == 1);
	CHECK(places("10.0.0.9 proxy#x\nfd00::9 proxy\n") == 2);
	CHECK(places("10.9 proxy\n0x0a000009 proxy\nfe80::9%eth0 proxy\n") == 3);
	CHECK(places("10.0.0.9 proxy proxy\n") == 2);
	CHECK(places("10.0.0.9\0proxy\n") == 0); /* a C string ends there */
	CHECK(hosts_file_answer("10.0.0.9\0proxy\n", 15, "proxy", NULL).others == 1);
}

static void test_other_words_are_no_places(void)
{
	CHECK(places("") == 0);
	CHECK(places("proxy") == 0);
	CHECK(places("proxy proxy\n") == 0);
	CHECK(places("10.0.0.9\nproxy\n") == 0);
	CHECK(places("# 10.0.0.9 proxy\n#10.0.0.9 proxy\n10.0.0.9 # proxy\n") == 0);
	CHECK(places("10.0.0.9 proxy. xproxy proxy-2 a.proxy\n") == 0);
	CHECK(places("10.0.0.256 proxy\nnot proxy\n1:2 proxy\n") == 0);
}

static void test_only_what_every_resolver_reads_is_kept(void)
{
	CHECK(is_kept("172.18.0.2 proxy\n"));
	CHECK(is_kept("172.18.0.2\tdb\tproxy # x\n"));
	CHECK(is_kept("172.18.0.2 proxy\r\n"));
	CHECK(!is_kept("172.18.0.2 proxy"));
	CHECK(!is_kept(" 172.18.0.2 proxy\n"));
	CHECK(!is_kept("172.18.0.2 Proxy\n"));
	CHECK(!is_kept("172.18.0.2\vproxy\n"));
	CHECK(!is_kept("172.18.0.3 proxy\n"));
	CHECK(!is_kept("172.18.2 proxy\n"));
}

static void test_a_line_s_only_name_is_told(void)
{
	static const char text[] =
		"10.0.0.9 proxy Proxy # why\r\n10.0.0.8 proxy db\n10.0.0.7 proxy\r\n";
	struct hosts_walk walk;
	struct hosts_name name;

	hosts_walk_begin(&walk, text, strlen(text), "proxy");
	CHECK(hosts_walk_next(&walk, &name) && name.alone && text[name.content_end] == '#');
	CHECK(hosts_walk_next(&walk, &name) && name.alone && text[name.name] == 'P');
	CHECK(hosts_walk_next(&walk, &name) && !name.alone);
	CHECK(hosts_walk_next(&walk, &name) && name.alone && text[name.content_end] == '\r');
	CHECK(name.address_length == 8 && memcmp(text + name.address, "10.0.0.7", 8) == 0);
	CHECK(!hosts_walk_next(&walk, &name));
}

static void test_blank_lines_that_fit(void)
{
	char text[4096];

	CHECK(hosts_file_blank_line("a\n   \n", 6, 3, 0) == 2);
	CHECK(hosts_file_blank_line("a\n   ", 5, 3, 0) == HOSTS_NONE);
	CHECK(hosts_file_blank_line("a\n  \n    \n \t \n", 15, 3, 0) == HOSTS_NONE);
	/* Not where a buffer ends within it, and not in a block before FROM's. */
	memset(text, 'x', sizeof(text));
	text[1019] = '\n';
	memset(text + 1020, ' ', 3);
	text[1023] = '\n';
	CHECK(hosts_file_blank_line(text, sizeof(text), 3, 0) == 1020);
	CHECK(hosts_file_blank_line(text, sizeof(text), 3, 1023) == 1020);
	CHECK(hosts_file_blank_line(text, sizeof(text), 3, 1024) == HOSTS_NONE);
	memmove(text + 1020, text + 1019, 5);
	CHECK(hosts_file_blank_line(text, sizeof(text), 3, 0) == HOSTS_NONE);
}

/* A file with TEXT; its path is in PATH. */
static int make(char *path, size_t size, const char *text)
{
	const char *directory = getenv("TMPDIR");
	int fd;

	(void)snprintf(path, size, "%s/hosts.XXXXXX", directory != NULL ? directory : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

static bool holds(int fd, const char *text)
{
	char there[256] = "";

	return pread(fd, there, sizeof(there) - 1, 0) >= 0 && strcmp(there, text) == 0;
}

static void test_what_others_changed_is_not_written_over(void)
{
	char path[256];
	int fd = make(path, sizeof(path), "one\ntwo\n");
	struct patched_file file = {.path = path, .fd = -1};
	size_t offset;

	CHECK(patched_file_load(&file, true, false, 0) == PATCH_OK);
	CHECK(patched_file_put(&file, 0, "O", 1) == PATCH_OK && holds(fd, "One\ntwo\n"));
	/* Beside it, and in it. */
	CHECK(pwrite(fd, "T", 1, 4) == 1);
	CHECK(patched_file_blank(&file, 5, 2) == PATCH_OTHERS);
	CHECK(patched_file_put(&file, 4, "X", 1) == PATCH_OTHERS);
	CHECK(holds(fd, "One\nTwo\n"));
	/* Longer, and shorter. */
	CHECK(pwrite(fd, "six\n", 4, 8) == 4);
	CHECK(patched_file_append(&file, "end\n", 4, &offset) == PATCH_OTHERS);
	CHECK(ftruncate(fd, 4) == 0);
	CHECK(patched_file_append(&file, "end\n", 4, &offset) == PATCH_OTHERS);
	CHECK(patched_file_blank(&file, 5, 1) == PATCH_OTHERS);
	CHECK(holds(fd, "One\n"));
	CHECK(patched_file_load(&file, true, false, 0) == PATCH_OK);
	CHECK(patched_file_append(&file, "end\n", 4, &offset) == PATCH_OK && offset == 4);
	CHECK(holds(fd, "One\nend\n") && file.length == 8);
	/* What is not ours any more is not cut off. */
	CHECK(pwrite(fd, "x", 1, 8) == 1);
	patched_file_cut_back(&file, 4);
	CHECK(holds(fd, "One\nend\nx"));
	CHECK(ftruncate(fd, 8) == 0);
	patched_file_cut_back(&file, 4);
	CHECK(holds(fd, "One\n"));
	patched_file_close(&file);
	(void)close(fd);
	(void)unlink(path);
}

static void test_a_read_only_view_takes_no_lock_and_no_byte(void)
{
	char path[256];
	int fd = make(path, sizeof(path), "one");
	struct patched_file file = {.path = path, .fd = -1};

	CHECK(patched_file_load(&file, false, false, 0) == PATCH_OK);
	CHECK(file.write_error != 0 && !file.changed && file.length == 3);
	CHECK(patched_file_put(&file, 0, "O", 1) == PATCH_FAILED && file.number != 0);
	CHECK(holds(fd, "one"));
	patched_file_close(&file);
	(void)close(fd);
	(void)unlink(path);
	CHECK(patched_file_load(&file, false, false, 0) == PATCH_FAILED && file.missing);
}

static void test_patch_is_told(void)
{
	char path[256];
	int fd = make(path, sizeof(path), "10.0.0.9 proxy\n10.0.0.8 db\n");
	struct hosts_patch_request request = {path, "proxy", "172.18.0.2", 0};
	struct hosts_patch_result result;

	CHECK(hosts_patch_check(&request, &result) == PATCH_OK && !result.right);
	CHECK(result.found == 1 && strcmp(result.unwanted, "10.0.0.9") == 0);
	hosts_patch_release(&result);
	CHECK(hosts_patch_apply(&request, &result) == PATCH_OK && result.file.changed);
	CHECK(result.removed_count == 1 && strcmp(result.removed[0], "10.0.0.9") == 0);
	hosts_patch_release(&result);
	CHECK(holds(fd, "              \n10.0.0.8 db\n172.18.0.2      proxy\n"));
	CHECK(hosts_patch_check(&request, &result) == PATCH_OK && result.right);
	hosts_patch_release(&result);
	request.address = NULL;
	CHECK(hosts_patch_apply(&request, &result) == PATCH_OK && result.removed_count == 1);
	hosts_patch_release(&result);
	CHECK(holds(fd, "              \n10.0.0.8 db\n                     \n"));
	(void)close(fd);
	(void)unlink(path);
}

static enum nsswitch_hosts order(const char *text)
{
	return nsswitch_judge_hosts(text, strlen(text));
}

static void test_order_of_nsswitch(void)
{
	CHECK(order("hosts: files dns\n") == NSSWITCH_FILES_FIRST);
	CHECK(order(" Hosts:FILES") == NSSWITCH_FILES_FIRST);
	CHECK(order("hosts: files[NOTFOUND=return] dns") == NSSWITCH_FILES_FIRST);
	CHECK(order("hosts: files [ SUCCESS = return ] dns") == NSSWITCH_FILES_FIRST);
	CHECK(order("hosts: files [SUCCESS=merge] dns") == NSSWITCH_OTHER_FIRST);
	CHECK(order("hosts: files [NOTFOUND=return success=continue]") == NSSWITCH_OTHER_FIRST);
	CHECK(order("hosts: dns files") == NSSWITCH_OTHER_FIRST);
	CHECK(order("hosts: # files") == NSSWITCH_OTHER_FIRST);
	CHECK(order("hosts: filesx") == NSSWITCH_OTHER_FIRST);
	CHECK(order("hosts: files\nhosts: dns") == NSSWITCH_OTHER_FIRST);
	CHECK(order("passwd: files\n#hosts: files\nxhosts: files\nhosts files") == NSSWITCH_UNSET);
	CHECK(order("") == NSSWITCH_UNSET);
}

int main(void)
{
	RUN(test_places_are_found);
	RUN(test_other_words_are_no_places);
	RUN(test_only_what_every_resolver_reads_is_kept);
	RUN(test_a_line_s_only_name_is_told);
	RUN(test_blank_lines_that_fit);
	RUN(test_what_others_changed_is_not_written_over);
	RUN(test_a_read_only_view_takes_no_lock_and_no_byte);
	RUN(test_patch_is_told);
	RUN(test_order_of_nsswitch);
	return unit_end();
}

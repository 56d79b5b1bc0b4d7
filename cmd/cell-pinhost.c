// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a host name resolve to exactly the proxy's published address, in the hosts file. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "cleanup.h"
#include "host_name.h"
#include "hosts_patch.h"
#include "ipv4_address.h"
#include "nsswitch.h"
#include "privileges.h"
#include "published.h"
#include "report.h"
#include "settings.h"
#include "shared_file.h"

static const char usage[] =
	"usage: cell-pinhost [--hosts FILE] [--from FILE | --address IP] [--timeout S] HOST\n"
	"       cell-pinhost --check [--hosts FILE] [--from FILE | --address IP] HOST\n"
	"       cell-pinhost --remove [--hosts FILE] [--timeout S] HOST\n"
	"Makes HOST resolve to exactly the proxy's address; no other entry is touched.\n"
	"  --check       only say whether HOST has exactly the address: 0 yes, 1 no\n"
	"  --remove      take HOST out of the file\n"
	"  --hosts FILE  the hosts file (/etc/hosts)\n"
	"  --from FILE   take the address from FILE ($CELL_EGRESS_DIR/proxy-ipv4)\n"
	"  --address IP  the address itself\n"
	"  --timeout S   seconds to wait for the file's lock (5)\n"
	"  --json        one record on standard output\n"
	"  --quiet       nothing on standard error\n"
	"  --help        this text\n"
	"  --version     the version\n";

enum { OPT_CHECK = ARGUMENTS_FIRST, OPT_REMOVE, OPT_HOSTS, OPT_FROM, OPT_ADDRESS, OPT_TIMEOUT };

static const struct option options[] = {{"check", no_argument, NULL, OPT_CHECK},
					{"remove", no_argument, NULL, OPT_REMOVE},
					{"hosts", required_argument, NULL, OPT_HOSTS},
					{"from", required_argument, NULL, OPT_FROM},
					{"address", required_argument, NULL, OPT_ADDRESS},
					{"timeout", required_argument, NULL, OPT_TIMEOUT},
					ARGUMENTS_COMMON};

struct call {
	struct hosts_patch_request request;
	bool check, remove;
	const char *from, *address; /* as given; NULL: not */
	char text[INET_ADDRSTRLEN]; /* what request.address points to */
};

static void parse(int argc, char **argv, struct call *call)
{
	const struct arguments arguments = {argc, argv, options, usage, NULL, false};
	enum host_name_verdict verdict;
	int option;

	call->request.file = "/etc/hosts";
	call->request.timeout = INT64_C(5000000000);
	arguments_begin(&arguments);
	if (privileges_renounce(UINT64_MAX) != 0)
		die_errno(CELL_SYSTEM, "cannot give up privileges");
	while ((option = arguments_next(&arguments)) != -1)
		switch (option) {
		case OPT_CHECK:
			call->check = true;
			break;
		case OPT_REMOVE:
			call->remove = true;
			break;
		case OPT_HOSTS:
			call->request.file = optarg;
			break;
		case OPT_FROM:
			call->from = optarg;
			break;
		case OPT_ADDRESS:
			call->address = optarg;
			break;
		case OPT_TIMEOUT:
			call->request.timeout = arguments_seconds("--timeout", optarg);
			break;
		}
	if (call->check && call->remove)
		die(CELL_USAGE, "--check and --remove exclude each other");
	if (call->from != NULL && call->address != NULL)
		die(CELL_USAGE, "--from and --address exclude each other");
	if (call->remove && (call->from != NULL || call->address != NULL))
		die(CELL_USAGE, "--remove takes no address");
	if (argc - optind != 1)
		die(CELL_USAGE, "one HOST is needed, %d are given", argc - optind);
	call->request.host = argv[optind];
	verdict = host_name_check(argv[optind], strlen(argv[optind]));
	if (verdict != HOST_NAME_OK)
		die(CELL_USAGE, "host name \"%s\" %s", argv[optind],
		    host_name_verdict_text(verdict));
}

/* The wanted address: the option's, or the one that the proxy published. */
static void find_address(struct call *call)
{
	autofree char *path = NULL;
	struct published_fault fault;
	struct in_addr address;

	if (call->address != NULL) {
		address = arguments_address("--address", call->address);
	} else {
		if (asprintf(&path, "%s/%s", settings_directory(), PUBLISHED_ADDRESS) < 0)
			die_errno(CELL_SYSTEM, "cannot name the address file");
		if (call->from == NULL)
			call->from = path;
		if (published_address_read(AT_FDCWD, call->from, &address, &fault) != 0)
			die(CELL_EVIDENCE, "cannot use %s: %s", call->from, fault.reason);
	}
	if (inet_ntop(AF_INET, &address, call->text, sizeof(call->text)) == NULL)
		die_errno(CELL_SYSTEM, "cannot write the address");
	call->request.address = call->text;
}

/* The file's own root tells how programs there come to it: nsswitch.conf beside etc/hosts. */
static void warn_of_order(const char *file)
{
	static const char tail[] = "etc/hosts";
	size_t length = strlen(file), tail_length = strlen(tail);
	size_t start = length - (length < tail_length ? length : tail_length);
	enum shared_file_verdict verdict;
	struct shared_file content;
	autofree char *path = NULL;

	if (strcmp(file + start, tail) != 0 || (start > 0 && file[start - 1] != '/'))
		return;
	if (asprintf(&path, "%.*snsswitch.conf", (int)(length - strlen("hosts")), file) < 0)
		die_errno(CELL_SYSTEM, "cannot name nsswitch.conf");
	verdict = shared_file_read(AT_FDCWD, path, &content);
	if (verdict == SHARED_FILE_FAILED && errno == ENOENT)
		warn("there is no %s: some programs may ask DNS before they read %s", path, file);
	else if (verdict != SHARED_FILE_OK)
		warn("cannot read %s: %s", path, shared_file_verdict_text(verdict, errno));
	else if (nsswitch_judge_hosts(content.bytes, content.length) == NSSWITCH_OTHER_FIRST)
		warn("%s does not make \"files\" the first and last word on hosts", path);
	else if (nsswitch_judge_hosts(content.bytes, content.length) == NSSWITCH_UNSET)
		warn("%s has no line for hosts: some programs may ask DNS before they read %s",
		     path, file);
}

static void report_result(const struct hosts_patch_result *result)
{
	json_t *removed = json_array();

	for (size_t i = 0; i < result->removed_count && i < HOSTS_PATCH_LISTED; i++)
		if (json_array_append_new(removed, report_string(result->removed[i])) != 0)
			die(CELL_SYSTEM, "cannot make the record");
	report_field("changed", json_boolean(result->file.changed));
	report_field("removed", removed);
	report_json_field("removed_count", json_integer((json_int_t)result->removed_count));
}

/* Words and code for whatever kept the file from being judged or patched. */
static void die_of(enum patch_verdict verdict, const struct hosts_patch_request *request,
		   const struct hosts_patch_result *result)
{
	switch (verdict) {
	case PATCH_OK:
		return;
	case PATCH_FAILED:
		errno = result->file.number;
		die_errno(CELL_SYSTEM, "cannot %s %s", result->file.verb, request->file);
	case PATCH_NOT_REGULAR:
		die(CELL_SYSTEM, "cannot use %s: it is not a regular file", request->file);
	case PATCH_TOO_LARGE:
		die(CELL_SYSTEM, "cannot use %s: it is larger than %d MiB", request->file,
		    PATCHED_FILE_MAX / (1024 * 1024));
	case PATCH_LOCKED:
		die(CELL_TIMEOUT, "cannot lock %s: another process still holds the lock",
		    request->file);
	case PATCH_OTHERS:
		die(CELL_SYSTEM, "cannot patch %s: another process keeps changing it",
		    request->file);
	}
}

static enum cell_exit answer_check(const struct hosts_patch_request *request,
				   const struct hosts_patch_result *result)
{
	if (result->right)
		report_answer("%s is %s", request->host, request->address);
	else if (result->file.missing)
		report_answer("%s is unknown: there is no %s", request->host, request->file);
	else if (result->found == 0)
		report_answer("%s is not in %s", request->host, request->file);
	else if (result->found > 1)
		report_answer("%s is in %s %zu times, once for %s", request->host, request->file,
			      result->found, result->unwanted);
	else if (strcmp(result->unwanted, request->address) != 0)
		report_answer("%s is %s in %s, not %s", request->host, result->unwanted,
			      request->file, request->address);
	else
		report_answer("%s is %s in %s, but not in a form that every program reads",
			      request->host, request->address, request->file);
	return result->right ? CELL_OK : CELL_NO;
}

int main(int argc, char **argv)
{
	struct call call = {0};
	const struct hosts_patch_request *request = &call.request;
	struct hosts_patch_result result = {0};
	enum patch_verdict verdict;
	enum cell_exit code = CELL_OK;

	report_begin("cell-pinhost");
	parse(argc, argv, &call);
	report_field("host", report_string(request->host));
	if (!call.remove)
		find_address(&call);
	report_field("address", call.remove ? json_null() : report_string(request->address));
	report_field("file", report_string(request->file));

	/* A file size limit is then an error that can be undone, not the end of the process. */
	(void)signal(SIGXFSZ, SIG_IGN);
	verdict = (call.check ? hosts_patch_check : hosts_patch_apply)(request, &result);
	report_result(&result);
	die_of(verdict, request, &result);
	if (!call.remove && !result.file.missing && !result.file.world_readable)
		warn("%s cannot be read by every user", request->file);
	if (!call.remove)
		warn_of_order(request->file);
	if (call.check)
		code = answer_check(request, &result);
	else if (call.remove)
		report_answer("%s is not in %s", request->host, request->file);
	else
		report_answer("%s is %s", request->host, request->address);
	hosts_patch_release(&result);
	report_finish(code);
}

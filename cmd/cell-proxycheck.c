// SPDX-License-Identifier: GPL-2.0-or-later
/* cell-proxycheck: is what answers through the proxy signed by the cell's own authority? */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "arguments.h"
#include "certificate_authority.h"
#include "cleanup.h"
#include "host_name.h"
#include "hosts_lookup.h"
#include "ipv4_address.h"
#include "privileges.h"
#include "proxy_check.h"
#include "published.h"
#include "report.h"
#include "settings.h"
#include "shared_file.h"

enum { OPT_PROXY = ARGUMENTS_FIRST, OPT_TIMEOUT };

static const char usage[] = "usage: cell-proxycheck [--proxy HOST:PORT] [--timeout S] URL\n"
			    "Asks for an https URL through the proxy; yes if the answer is signed "
			    "by the cell's own CA.\n"
			    "  --proxy HOST:PORT  the proxy (the published address)\n"
			    "  --timeout S        seconds for everything together (10)\n"
			    "  --json             one record on standard output\n"
			    "  --quiet            nothing on standard error\n"
			    "  --help             this text\n"
			    "  --version          the version\n";

static const struct option options[] = {{"proxy", required_argument, NULL, OPT_PROXY},
					{"timeout", required_argument, NULL, OPT_TIMEOUT},
					ARGUMENTS_COMMON};

/* DIRECTORY/NAME; the caller frees it. */
static char *path_of(const char *directory, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		die_errno(CELL_SYSTEM, "cannot name %s", name);
	return path;
}

/* The published certificate alone, as PEM; the caller frees it. */
static char *read_authority(const char *directory)
{
	static struct shared_file file;
	autofree char *path = path_of(directory, PUBLISHED_CERTIFICATE);
	enum shared_file_verdict read_verdict = shared_file_read(AT_FDCWD, path, &file);
	struct certificate certificate;
	enum certificate_verdict verdict;
	time_t now = time(NULL);

	if (read_verdict == SHARED_FILE_FAILED)
		die_errno(CELL_EVIDENCE, "cannot read %s", path);
	if (read_verdict != SHARED_FILE_OK)
		die(CELL_EVIDENCE, "cannot read %s: %s", path,
		    shared_file_verdict_text(read_verdict, 0));
	verdict = certificate_read(file.bytes, file.length, false, now, &certificate);
	if (verdict == CERTIFICATE_NO_MEMORY)
		die_errno(CELL_SYSTEM, "cannot read %s", path);
	if (verdict != CERTIFICATE_OK)
		die(CELL_EVIDENCE, "cannot use %s: %s", path,
		    certificate_verdict_text(verdict, &certificate, now));
	return certificate.pem; /* nothing else in it is owned */
}

/* The address behind a host name, by the hosts file alone: no resolver of the image is asked. */
static struct in_addr find_host(const char *host)
{
	struct hosts_lookup lookup;
	int number;
	const char *reason = hosts_lookup_here(host, &lookup, &number);

	if (reason != NULL)
		die(CELL_EVIDENCE, "cannot read /etc/hosts: %s", reason);
	if (!lookup.found)
		die(CELL_EVIDENCE, "cannot find %s: /etc/hosts gives it no IPv4 address", host);
	if (lookup.others > 0)
		die(CELL_EVIDENCE, "cannot use %s: /etc/hosts gives it more than one address",
		    host);
	return lookup.address;
}

/* HOST:PORT of --proxy. */
static void read_proxy(const char *text, struct sockaddr_in *proxy)
{
	size_t length = strcspn(text, ":");
	autofree char *host = NULL;
	enum host_name_verdict verdict;

	if (text[length] == '\0')
		die(CELL_USAGE, "--proxy %s is not HOST:PORT", text);
	proxy->sin_port = htons(arguments_port("--proxy's port", text + length + 1));
	if (ipv4_parse(text, length, &proxy->sin_addr) == IPV4_OK)
		return;
	verdict = host_name_check(text, length);
	host = strndup(text, length);
	if (host == NULL)
		die_errno(CELL_SYSTEM, "cannot read --proxy");
	if (verdict != HOST_NAME_OK)
		die(CELL_USAGE, "--proxy's host name %s %s", host, host_name_verdict_text(verdict));
	proxy->sin_addr = find_host(host);
}

/* The published address and the port of CELL_PROXY_PORT. */
static void read_published(const char *directory, struct sockaddr_in *proxy)
{
	autofree char *path = path_of(directory, PUBLISHED_ADDRESS);
	struct published_fault fault;

	proxy->sin_port = htons(settings_proxy_port());
	if (published_address_read(AT_FDCWD, path, &proxy->sin_addr, &fault) != 0)
		die(CELL_EVIDENCE, "cannot use %s: %s", path, fault.reason);
}

static noreturn void check(const char *text, const struct proxy_check_question *question)
{
	struct proxy_check_answer answer;
	enum proxy_check result = proxy_check_ask(question, &answer);
	char address[INET_ADDRSTRLEN];

	(void)inet_ntop(AF_INET, &question->proxy.sin_addr, address, sizeof(address));
	report_answer("%s%s%s", proxy_check_name(result), answer.reason[0] != '\0' ? ": " : "",
		      answer.reason);
	report_json_field("result", report_string(proxy_check_name(result)));
	report_field("url", report_string(text));
	report_field("proxy", json_pack("{ss si}", "address", address, "port",
					ntohs(question->proxy.sin_port)));
	report_field("status", answer.status != 0 ? json_integer(answer.status) : json_null());
	report_field("issuer",
		     answer.issuer[0] != '\0' ? report_string(answer.issuer) : json_null());
	report_json_field("errno", answer.number != 0 ? json_integer(answer.number) : json_null());
	switch (result) {
	case PROXY_CHECK_AUDITED:
		report_finish(CELL_OK);
	case PROXY_CHECK_SILENT:
		die(CELL_TIMEOUT, "cannot tell: %s", answer.reason);
	case PROXY_CHECK_FAILED:
		die(CELL_SYSTEM, "cannot check: %s", answer.reason);
	default:
		report_finish(CELL_NO);
	}
}

int main(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, NULL, false};
	struct proxy_check_question question = {.proxy = {.sin_family = AF_INET},
						.timeout = 10000000000LL};
	const char *proxy = NULL, *directory, *reason;
	static struct https_url url;
	int option;

	report_begin("cell-proxycheck");
	/* OpenSSL reckons dates by the C library, which opens a time zone file for that unless the
	 * zone has an empty name (tzset(3)). */
	if (setenv("TZ", ":", 1) != 0)
		die_errno(CELL_SYSTEM, "cannot set the time zone");
	/* First of all: no openssl.cnf and no provider of the image is ever read. */
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1)
		die(CELL_SYSTEM, "cannot set up OpenSSL");
	arguments_begin(&arguments);
	while ((option = arguments_next(&arguments)) != -1) {
		if (option == OPT_PROXY)
			proxy = optarg;
		else
			question.timeout = arguments_seconds("--timeout", optarg);
	}
	if (argc - optind != 1)
		die(CELL_USAGE, "wants exactly one URL (see --help)");
	reason = https_url_parse(argv[optind], &url);
	if (reason != NULL)
		die(CELL_USAGE, "URL %s %s", argv[optind], reason);
	question.url = &url;
	directory = settings_directory();
	if (proxy != NULL)
		read_proxy(proxy, &question.proxy);
	else
		read_published(directory, &question.proxy);
	question.authority = read_authority(directory);
	if (privileges_renounce(0) != 0)
		die_errno(CELL_SYSTEM, "cannot give up privileges");
	check(argv[optind], &question);
}

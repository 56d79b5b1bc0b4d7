// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cell-publish: makes the proxy's certificate authority, publishes its certificate and its address,
 * becomes the proxy; or tells whether what is published is healthy.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "certificate_authority.h"
#include "ipv4_address.h"
#include "privileges.h"
#include "proxy_health.h"
#include "published.h"
#include "publisher.h"
#include "report.h"
#include "settings.h"

#define DEFAULT_STATE "/var/lib/cell-publish"
#define DEFAULT_CA_NAME "cell egress proxy"

static const char usage[] =
	"usage: cell-publish [OPTION]... [-- PROGRAM [ARG]...]\n"
	"       cell-publish --check [OPTION]...\n"
	"Publishes the proxy's certificate and address, then becomes PROGRAM; or tells its "
	"health.\n"
	"  --state DIR     private directory of the certificate authority (" DEFAULT_STATE ")\n"
	"  --dir DIR       published directory ($CELL_EGRESS_DIR or " PUBLISHED_DEFAULT_DIR ")\n"
	"  --address IP    publish this IPv4 address\n"
	"  --interface IF  publish the one IPv4 address of this interface\n"
	"  --network CIDR  publish the one IPv4 address inside this network\n"
	"  --port N        the proxy's port ($CELL_PROXY_PORT or " PUBLISHED_DEFAULT_PORT ")\n"
	"  --ca-name CN    common name of a new authority (" DEFAULT_CA_NAME ")\n"
	"  --renew         make a new authority even if there is one\n"
	"  --check         publish nothing: 0 if what is published is healthy, else 1\n"
	"  --connect       with --check: the port must accept at the published address\n"
	"  --timeout S     with --connect: seconds to wait for that (2)\n"
	"  --json          one record on standard output\n"
	"  --quiet         nothing on standard error\n"
	"  --help          this text\n"
	"  --version       the version\n";

enum {
	OPT_STATE = ARGUMENTS_FIRST,
	OPT_DIR,
	OPT_ADDRESS,
	OPT_INTERFACE,
	OPT_NETWORK,
	OPT_PORT,
	OPT_CA_NAME,
	OPT_RENEW,
	OPT_CHECK,
	OPT_CONNECT,
	OPT_TIMEOUT,
	OPT_END,
};

static const struct option options[] = {{"state", required_argument, NULL, OPT_STATE},
					{"dir", required_argument, NULL, OPT_DIR},
					{"address", required_argument, NULL, OPT_ADDRESS},
					{"interface", required_argument, NULL, OPT_INTERFACE},
					{"network", required_argument, NULL, OPT_NETWORK},
					{"port", required_argument, NULL, OPT_PORT},
					{"ca-name", required_argument, NULL, OPT_CA_NAME},
					{"renew", no_argument, NULL, OPT_RENEW},
					{"check", no_argument, NULL, OPT_CHECK},
					{"connect", no_argument, NULL, OPT_CONNECT},
					{"timeout", required_argument, NULL, OPT_TIMEOUT},
					ARGUMENTS_COMMON};

struct settings {
	struct publisher_wish wish;
	struct proxy_health_question question; /* of --check, and the port to publish */
	bool check;
	bool given[OPT_END]; /* by option */
};

/* ADDRESS as text; the buffer is good until the next call. */
static const char *text_of(struct in_addr address)
{
	static char text[INET_ADDRSTRLEN];

	return inet_ntop(AF_INET, &address, text, sizeof(text));
}

static void describe(const struct settings *settings, const struct in_addr *address,
		     const struct certificate *certificate, bool changed)
{
	report_field("address", address == NULL ? json_null() : report_string(text_of(*address)));
	report_field("port", json_integer(settings->question.port));
	report_field("certificate",
		     certificate->pem == NULL
			     ? json_null()
			     : json_pack("{s:s,s:s,s:s}", "sha256", certificate->sha256,
					 "not_before", certificate->not_before, "not_after",
					 certificate->not_after));
	report_field("directory", report_string(settings->wish.dir));
	report_field("changed", json_boolean(changed));
}

/* Publishes and reports; returns the published directory. */
static int publish(const struct settings *settings)
{
	const char *dir = settings->wish.dir;
	struct publisher_result result;
	struct fault fault;

	if (publisher_run(&settings->wish, &result, &fault) != 0)
		die_fault(&fault);
	if (result.closed)
		warn("not everybody can enter %s, and its mode cannot be changed", dir);
	if (json_array_size(result.unlisted) > 0)
		warn("%s holds what was not published: %s%s", dir,
		     json_string_value(json_array_get(result.unlisted, 0)),
		     json_array_size(result.unlisted) > 1 ? " and more" : "");
	report_answer("published %s port %u", text_of(result.address), settings->question.port);
	describe(settings, &result.address, &result.authority.certificate, result.changed);
	report_field("unlisted", result.unlisted);
	state_authority_release(&result.authority);
	return result.directory;
}

static int published; /* the directory */

static void withdraw(void)
{
	int saved = errno;

	(void)unlinkat(published, PUBLISHED_ADDRESS, 0);
	errno = saved;
}

/* Becomes the proxy; if that fails, there is none at the address that was just published. */
static noreturn void become(char **argv)
{
	report_before_exec(withdraw);
	(void)execvp(argv[0], argv);
	withdraw();
	report_exec_failed(argv[0]);
}

static noreturn void check(const struct settings *settings)
{
	struct proxy_health_answer answer = {.unlisted = json_array()};
	const char *dir = settings->wish.dir;
	enum proxy_health health;

	if (privileges_renounce(UINT64_MAX) != 0)
		die_errno(CELL_SYSTEM, "cannot give up privileges");
	health = proxy_health_ask(&settings->question, &answer);
	if (health == PROXY_UNKNOWN) {
		errno = answer.number;
		die_errno(fault_is_shortage(errno) ? CELL_SYSTEM : CELL_EVIDENCE,
			  "cannot judge %s: %s", dir, answer.reason);
	}
	if (answer.is_mount)
		warn("a file in %s is mounted by itself: it cannot follow a change", dir);
	if (health == PROXY_HEALTHY)
		report_answer("healthy");
	else
		report_answer("unhealthy: %s", answer.reason);
	describe(settings, answer.address_known ? &answer.address : NULL, &answer.certificate,
		 false);
	report_field("unlisted", answer.unlisted);
	report_finish(health == PROXY_HEALTHY ? CELL_OK : CELL_NO);
}

static void take_option(struct settings *settings, int option, const char *value)
{
	settings->given[option] = true;
	switch (option) {
	case OPT_STATE:
		settings->wish.state = value;
		settings->question.state_is_named = true;
		break;
	case OPT_DIR:
		settings->wish.dir = value;
		break;
	case OPT_ADDRESS:
		settings->wish.address = arguments_address("--address", value);
		settings->wish.by_address = true;
		break;
	case OPT_INTERFACE:
		settings->wish.choice.interface = value;
		break;
	case OPT_NETWORK:
		if (ipv4_parse_network(value, strlen(value), &settings->wish.choice.network,
				       &settings->wish.choice.mask) != IPV4_OK)
			die(CELL_USAGE, "--network %s is not a network such as 172.18.0.0/16",
			    value);
		settings->wish.choice.by_network = true;
		break;
	case OPT_PORT:
		settings->question.port = arguments_port("--port", value);
		break;
	case OPT_CA_NAME:
		if (!certificate_name_is_valid(value))
			die(CELL_USAGE, "--ca-name is not 1 to 64 bytes of printable UTF-8");
		settings->wish.ca_name = value;
		break;
	case OPT_RENEW:
		settings->wish.renew = true;
		break;
	case OPT_CHECK:
		settings->check = true;
		break;
	case OPT_CONNECT:
		settings->question.connect = true;
		break;
	default:
		settings->question.timeout = arguments_seconds("--timeout", value);
	}
}

/* Options that contradict one another, or say nothing where they stand. */
static void judge_combination(const struct settings *settings, bool program)
{
	const bool *given = settings->given;

	if (given[OPT_ADDRESS] + given[OPT_INTERFACE] + given[OPT_NETWORK] > 1)
		die(CELL_USAGE, "give only one of --address, --interface and --network");
	if (settings->check && (given[OPT_ADDRESS] || given[OPT_INTERFACE] || given[OPT_NETWORK] ||
				given[OPT_CA_NAME] || given[OPT_RENEW]))
		die(CELL_USAGE, "--check publishes nothing: it takes no address, name or --renew");
	if (settings->check && program)
		die(CELL_USAGE, "--check runs no program");
	if (!settings->check && settings->question.connect)
		die(CELL_USAGE, "--connect needs --check");
	if (!settings->question.connect && given[OPT_TIMEOUT])
		die(CELL_USAGE, "--timeout needs --check --connect");
}

int main(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, NULL, true};
	struct settings settings = {
		.wish = {.state = DEFAULT_STATE, .ca_name = DEFAULT_CA_NAME, .now = time(NULL)},
		.question = {.timeout = INT64_C(2000000000)},
	};
	int option;

	report_begin("cell-publish");
	arguments_begin(&arguments);
	settings.wish.dir = settings_directory();
	settings.question.port = settings_proxy_port();
	while ((option = arguments_next(&arguments)) != -1)
		take_option(&settings, option, optarg);
	judge_combination(&settings, optind < argc);
	settings.question.dir = settings.wish.dir;
	settings.question.state = settings.wish.state;
	settings.question.now = settings.wish.now;
	if (certificate_begin() != 0)
		die(CELL_SYSTEM, "cannot set up the OpenSSL library");
	if (settings.check)
		check(&settings);
	published = publish(&settings);
	if (optind < argc)
		become(argv + optind);
	report_finish(CELL_OK);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cell-publish: makes the proxy's certificate authority, publishes its certificate and its address,
 * becomes the proxy; or tells whether what is published is healthy.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "arguments.h"
#include "certificate_authority.h"
#include "cleanup.h"
#include "interface_address.h"
#include "ipv4_address.h"
#include "proxy_health.h"
#include "publication.h"
#include "published.h"
#include "published_dir.h"
#include "report.h"
#include "shared_file.h"

#define DEFAULT_STATE "/var/lib/cell-publish"
#define DEFAULT_CA_NAME "cell egress proxy"
#define HITS "hits.jsonl"

static const char usage[] =
	"cell-publish [OPTION]... [-- PROGRAM [ARG]...]\n"
	"cell-publish --check [OPTION]...\n"
	"Publish the proxy's certificate and address, then become PROGRAM; or tell its health.\n"
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
	"  --json          one JSON record\n"
	"  --quiet         nothing on stderr\n"
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
	const char *state, *dir, *ca_name;
	bool state_given, renew, check, connect;
	bool address_given;
	struct in_addr address;
	struct interface_address_wish wish;
	uint16_t port;
	int64_t timeout;
	bool given[OPT_END - OPT_STATE];
};

/* ADDRESS as text; the buffer is good until the next call. */
static const char *text_of(struct in_addr address)
{
	static char text[INET_ADDRSTRLEN];

	return inet_ntop(AF_INET, &address, text, sizeof(text));
}

static void describe(const struct settings *settings, const struct in_addr *address,
		     const struct certificate *certificate)
{
	if (address != NULL)
		report_field("address", report_string(text_of(*address)));
	report_field("port", json_integer(settings->port));
	if (certificate->pem != NULL)
		report_field("certificate",
			     json_pack("{s:s,s:s,s:s}", "sha256", certificate->sha256, "not_before",
				       certificate->not_before, "not_after",
				       certificate->not_after));
	report_field("directory", report_string(settings->dir));
}

/* ---- publish ---- */

/* The state directory, made if it is not there, locked, and not itself published. */
static int open_state(const struct settings *settings, int directory)
{
	int state, held;

	if (mkdir(settings->state, 0700) != 0 && errno != EEXIST)
		die_errno(CELL_SYSTEM, "cannot make state directory %s", settings->state);
	state = published_dir_open(settings->state);
	if (state < 0)
		die_errno(CELL_SYSTEM, "cannot open state directory %s", settings->state);
	held = published_dir_holds(directory, state);
	if (held < 0)
		die_errno(CELL_SYSTEM, "cannot tell %s from %s", settings->state, settings->dir);
	if (held == 1)
		die(CELL_USAGE, "state directory %s lies in the published directory %s",
		    settings->state, settings->dir);
	return state;
}

static void lock(int fd, const char *path)
{
	if (published_dir_lock(fd) == 0)
		return;
	if (errno == EWOULDBLOCK)
		die(CELL_SYSTEM, "cannot lock %s: somebody else holds its lock", path);
	die_errno(CELL_SYSTEM, "cannot lock %s", path);
}

static struct in_addr choose_address(const struct settings *settings,
				     struct interface_address_list *list)
{
	autofree char *candidates = NULL;
	enum interface_address_choice choice;

	if (settings->address_given) {
		if (interface_address_is_ours(list, settings->address))
			return settings->address;
		candidates = interface_address_text(list);
		die(CELL_EVIDENCE, "cannot publish %s: not an address of this host (%s)",
		    text_of(settings->address), candidates != NULL ? candidates : "?");
	}
	choice = interface_address_choose(list, &settings->wish);
	if (choice == INTERFACE_ADDRESS_ONE)
		return list->items[0].address;
	if (choice == INTERFACE_ADDRESS_NONE)
		die(CELL_EVIDENCE, "cannot choose an address: no %s has a usable IPv4 address",
		    settings->wish.interface != NULL ? settings->wish.interface
		    : settings->wish.by_network	     ? "interface inside that network"
						     : "interface that is up");
	candidates = interface_address_text(list);
	die(CELL_EVIDENCE, "cannot choose an address: %s; give --address, --interface or --network",
	    candidates != NULL ? candidates : "several");
}

/*
 * The authority in the state directory into CERTIFICATE, or a new one; then its text is returned
 * for publication_put to keep, and is the caller's to wipe.
 */
static char *get_authority(const struct settings *settings, int state,
			   struct certificate *certificate, size_t *length)
{
	struct shared_file file;
	time_t now = time(NULL);
	enum shared_file_verdict read = shared_file_read(state, PROXY_AUTHORITY, &file);
	enum certificate_verdict verdict;
	const char *reason;
	char *text;

	if (!settings->renew && (read != SHARED_FILE_FAILED || errno != ENOENT)) {
		if (read != SHARED_FILE_OK)
			die(CELL_EVIDENCE, "cannot read %s/%s: %s", settings->state,
			    PROXY_AUTHORITY, shared_file_verdict_text(read, errno));
		verdict = certificate_read(file.bytes, file.length, true, now, certificate);
		explicit_bzero(&file, sizeof(file));
		if (verdict != CERTIFICATE_OK)
			die(CELL_EVIDENCE, "cannot use %s/%s: %s; --renew makes a new one",
			    settings->state, PROXY_AUTHORITY,
			    certificate_verdict_text(verdict, certificate, now));
		return NULL;
	}
	text = certificate_make(settings->ca_name, now, length, &reason);
	if (text == NULL)
		die(CELL_SYSTEM, "cannot make a certificate authority: %s", reason);
	verdict = certificate_read(text, *length, true, now, certificate);
	if (verdict != CERTIFICATE_OK)
		die(CELL_SYSTEM, "cannot make a certificate authority: %s",
		    certificate_verdict_text(verdict, certificate, now));
	return text;
}

/* The private key is its owner's alone, and the audit's file is there before the proxy is. */
static void prepare_state(const struct settings *settings, int state)
{
	struct stat status;
	autoclose hits =
		openat(state, HITS,
		       O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

	if (hits < 0)
		die_errno(CELL_SYSTEM, "cannot open %s/%s", settings->state, HITS);
	if (fstatat(state, PROXY_AUTHORITY, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (status.st_mode & 07777) != 0600) {
		warn("%s/%s had mode %04o", settings->state, PROXY_AUTHORITY,
		     (unsigned)status.st_mode & 07777);
		if (fchmodat(state, PROXY_AUTHORITY, 0600, 0) != 0)
			die_errno(CELL_SYSTEM, "cannot make %s/%s private", settings->state,
				  PROXY_AUTHORITY);
	}
}

/* What lies in the published directory beside our files; a secret there ends everything. */
static json_t *survey(const struct settings *settings, int directory)
{
	json_t *unlisted = json_array();
	char secret[256];
	struct stat status;

	if (published_dir_survey(directory, unlisted, secret) != 0)
		die_errno(CELL_SYSTEM, "cannot list %s", settings->dir);
	if (secret[0] != '\0')
		die(CELL_EVIDENCE, "cannot publish into %s: %s there is a secret", settings->dir,
		    secret);
	if (json_array_size(unlisted) > 0)
		warn("%s holds what was not published: %s%s", settings->dir,
		     json_string_value(json_array_get(unlisted, 0)),
		     json_array_size(unlisted) > 1 ? " and more" : "");
	if (fstat(directory, &status) == 0 &&
	    (status.st_mode & PUBLISHED_DIR_MODE & 0555) != (PUBLISHED_DIR_MODE & 0555) &&
	    fchmod(directory, (status.st_mode & 07777) | 0555) != 0)
		warn("not everybody can enter %s", settings->dir);
	return unlisted;
}

static noreturn void failed(const struct settings *settings, const struct publication *publication)
{
	const char *dir = publication->in_state ? settings->state : settings->dir;

	if (publication->is_mount)
		die_errno(CELL_SYSTEM, "cannot %s %s/%s (mount the directory, not the file)",
			  publication->verb, dir, publication->name);
	die_errno(CELL_SYSTEM, "cannot %s %s/%s", publication->verb, dir, publication->name);
}

static void publish(const struct settings *settings)
{
	autoclose directory = published_dir_open(settings->dir), state = -1;
	struct publication publication = {0};
	struct interface_address_list addresses;
	struct certificate certificate = {0};
	json_t *unlisted;
	char *authority;

	if (directory < 0)
		die_errno(CELL_SYSTEM, "cannot open directory %s", settings->dir);
	if (interface_address_read(&addresses) != 0)
		die_errno(CELL_SYSTEM, "cannot list the addresses of this host");
	state = open_state(settings, directory);
	lock(state, settings->state);
	lock(directory, settings->dir);
	publication.directory = directory;
	publication.state = state;
	if (publication_remove_stale(&publication, &addresses) != 0)
		failed(settings, &publication);
	unlisted = survey(settings, directory);
	publication.address = choose_address(settings, &addresses);
	authority = get_authority(settings, state, &certificate, &publication.authority_length);
	publication.authority = authority;
	publication.certificate = &certificate;
	if (publication_put(&publication) != 0)
		failed(settings, &publication);
	certificate_wipe(authority, publication.authority_length);
	prepare_state(settings, state);
	report_answer("published %s port %u", text_of(publication.address), settings->port);
	describe(settings, &publication.address, &certificate);
	report_field("changed", json_boolean(publication.changed));
	report_field("unlisted", unlisted);
	certificate_release(&certificate);
	interface_address_release(&addresses);
}

/* ---- check ---- */

/* The state directory where it can be seen from here; one that was named must be. */
static int visible_state(const struct settings *settings)
{
	int state = published_dir_open(settings->state);

	if (state < 0 && settings->state_given)
		die_errno(CELL_EVIDENCE, "cannot open state directory %s", settings->state);
	if (state >= 0 && !settings->state_given &&
	    faccessat(state, PROXY_AUTHORITY, R_OK, AT_EACCESS) != 0) {
		(void)close(state);
		return -1;
	}
	return state;
}

static noreturn void check(const struct settings *settings)
{
	struct proxy_health_answer answer = {.unlisted = json_array()};
	struct proxy_health_question question = {
		.directory = published_dir_open(settings->dir),
		.connect = settings->connect,
		.port = settings->port,
		.timeout = settings->timeout,
		.now = time(NULL),
	};
	enum proxy_health health;

	if (question.directory < 0 && errno != ENOENT)
		die_errno(CELL_EVIDENCE, "cannot open directory %s", settings->dir);
	if (question.directory < 0) {
		report_answer("unhealthy: there is no directory %s", settings->dir);
		report_finish(CELL_NO);
	}
	question.state = visible_state(settings);
	health = proxy_health_ask(&question, &answer);
	if (health == PROXY_UNKNOWN) {
		errno = answer.number;
		die_errno(CELL_EVIDENCE, "cannot judge %s: %s", settings->dir, answer.reason);
	}
	if (health == PROXY_HEALTHY)
		report_answer("healthy");
	else
		report_answer("unhealthy: %s", answer.reason);
	describe(settings, answer.address_known ? &answer.address : NULL, &answer.certificate);
	report_field("unlisted", answer.unlisted);
	report_finish(health == PROXY_HEALTHY ? CELL_OK : CELL_NO);
}

/* ---- command line ---- */

static void take_option(struct settings *settings, int option, const char *value)
{
	settings->given[option - OPT_STATE] = true;
	switch (option) {
	case OPT_STATE:
		settings->state = value;
		break;
	case OPT_DIR:
		settings->dir = value;
		break;
	case OPT_ADDRESS: {
		enum ipv4_verdict verdict = ipv4_parse(value, strlen(value), &settings->address);

		if (verdict == IPV4_OK)
			verdict = ipv4_classify(settings->address);
		if (verdict != IPV4_OK)
			die(CELL_USAGE, "--address %s is %s", value, ipv4_verdict_text(verdict));
		settings->address_given = true;
		break;
	}
	case OPT_INTERFACE:
		settings->wish.interface = value;
		break;
	case OPT_NETWORK:
		if (ipv4_parse_network(value, strlen(value), &settings->wish.network,
				       &settings->wish.mask) != IPV4_OK)
			die(CELL_USAGE, "--network %s is not a network such as 172.18.0.0/16",
			    value);
		settings->wish.by_network = true;
		break;
	case OPT_PORT:
		settings->port = arguments_port("--port", value);
		break;
	case OPT_CA_NAME:
		settings->ca_name = value;
		break;
	case OPT_RENEW:
		settings->renew = true;
		break;
	case OPT_CHECK:
		settings->check = true;
		break;
	case OPT_CONNECT:
		settings->connect = true;
		break;
	default:
		settings->timeout = arguments_seconds("--timeout", value);
	}
}

/* Options that contradict one another, or say nothing where they stand. */
static void judge_combination(const struct settings *settings, bool program)
{
#define GIVEN(option) settings->given[(option)-OPT_STATE]
	if (GIVEN(OPT_ADDRESS) + GIVEN(OPT_INTERFACE) + GIVEN(OPT_NETWORK) > 1)
		die(CELL_USAGE, "give only one of --address, --interface and --network");
	if (settings->check && (GIVEN(OPT_ADDRESS) || GIVEN(OPT_INTERFACE) || GIVEN(OPT_NETWORK) ||
				GIVEN(OPT_CA_NAME) || GIVEN(OPT_RENEW)))
		die(CELL_USAGE, "--check publishes nothing: it takes no address, name or --renew");
	if (settings->check && program)
		die(CELL_USAGE, "--check runs no program");
	if (!settings->check && settings->connect)
		die(CELL_USAGE, "--connect needs --check");
	if (!settings->connect && GIVEN(OPT_TIMEOUT))
		die(CELL_USAGE, "--timeout needs --check --connect");
#undef GIVEN
}

int main(int argc, char **argv)
{
	const struct arguments arguments = {argc, argv, options, usage, NULL, true};
	struct settings settings = {
		.state = DEFAULT_STATE,
		.ca_name = DEFAULT_CA_NAME,
		.timeout = INT64_C(2000000000),
	};
	int option;

	report_begin("cell-publish");
	arguments_begin(&arguments);
	settings.dir = arguments_environment("CELL_EGRESS_DIR", PUBLISHED_DEFAULT_DIR);
	settings.port =
		arguments_port("CELL_PROXY_PORT",
			       arguments_environment("CELL_PROXY_PORT", PUBLISHED_DEFAULT_PORT));
	while ((option = arguments_next(&arguments)) != -1)
		take_option(&settings, option, optarg);
	settings.state_given = settings.given[0];
	judge_combination(&settings, optind < argc);
	certificate_begin();
	if (settings.check)
		check(&settings);
	publish(&settings);
	if (optind >= argc)
		report_finish(CELL_OK);
	report_before_exec();
	(void)execvp(argv[optind], argv + optind);
	report_exec_failed(argv[optind]);
}

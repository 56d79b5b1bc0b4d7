// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Enters the root directory of its first operand and becomes /tool there, with the other operands
 * and an environment in which everything that names a file names a hostile one. Static, so that
 * none of it works on this program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIBRARIES "/usr/lib/x86_64-linux-gnu"

static const char *const environment[][2] = {
	{"PATH", "/usr/bin"},
	{"LD_PRELOAD", "/hostile.so"},
	{"LD_AUDIT", "/hostile.so"},
	{"LD_LIBRARY_PATH", LIBRARIES},
	{"GCONV_PATH", LIBRARIES "/gconv"},
	{"LOCPATH", "/usr/lib/locale"},
	{"LANG", "hostile.HOSTILE"},
	{"LC_ALL", "hostile.HOSTILE"},
	{"LANGUAGE", "hostile"},
	{"NLSPATH", "/hostile/%N"},
	{"TZ", ":/etc/localtime"},
	{"TZDIR", "/usr/share/zoneinfo"},
	{"OPENSSL_CONF", "/etc/ssl/openssl.cnf"},
	{"OPENSSL_MODULES", LIBRARIES "/ossl-modules"},
	{"OPENSSL_ENGINES", "/"},
	{"SSL_CERT_FILE", "/hostile.pem"},
	{"SSL_CERT_DIR", "/hostile"},
	{"SSLKEYLOGFILE", "/MARKER"},
	{"RESOLV_HOST_CONF", "/etc/host.conf"},
	{"HOSTALIASES", "/etc/hosts"},
	{"LOCALDOMAIN", "hostile"},
	{"MALLOC_TRACE", "/MARKER"},
	{"TMPDIR", "/tmp"},
};

int main(int argc, char **argv)
{
	char tool[] = "/tool";

	if (argc < 2 || chroot(argv[1]) != 0 || chdir("/") != 0 || clearenv() != 0) {
		perror("hostile_enter_static");
		return 111;
	}
	for (size_t i = 0; i < sizeof(environment) / sizeof(environment[0]); i++)
		if (setenv(environment[i][0], environment[i][1], 1) != 0)
			return 111;
	argv[1] = tool;
	(void)execv(tool, argv + 1);
	perror(tool);
	return 127;
}

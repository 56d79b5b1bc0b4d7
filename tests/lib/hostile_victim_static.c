// SPDX-License-Identifier: GPL-2.0-or-later
/* A static program that does what our tools must not: it asks NSS for a user. The control. */
#include <pwd.h>
#include <stddef.h>

int main(void)
{
	return getpwnam("nobody-of-this-name") != NULL;
}

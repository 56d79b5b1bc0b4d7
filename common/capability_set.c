// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets of capabilities; see capability_set.h. */
#include "capability_set.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define BIT(number) (UINT64_C(1) << (number))

/* Names as the kernel's header spells them, in lower case and without their common prefix. */
static const char *const names[] = {
	[CAP_CHOWN] = "chown",
	[CAP_DAC_OVERRIDE] = "dac_override",
	[CAP_DAC_READ_SEARCH] = "dac_read_search",
	[CAP_FOWNER] = "fowner",
	[CAP_FSETID] = "fsetid",
	[CAP_KILL] = "kill",
	[CAP_SETGID] = "setgid",
	[CAP_SETUID] = "setuid",
	[CAP_SETPCAP] = "setpcap",
	[CAP_LINUX_IMMUTABLE] = "linux_immutable",
	[CAP_NET_BIND_SERVICE] = "net_bind_service",
	[CAP_NET_BROADCAST] = "net_broadcast",
	[CAP_NET_ADMIN] = "net_admin",
	[CAP_NET_RAW] = "net_raw",
	[CAP_IPC_LOCK] = "ipc_lock",
	[CAP_IPC_OWNER] = "ipc_owner",
	[CAP_SYS_MODULE] = "sys_module",
	[CAP_SYS_RAWIO] = "sys_rawio",
	[CAP_SYS_CHROOT] = "sys_chroot",
	[CAP_SYS_PTRACE] = "sys_ptrace",
	[CAP_SYS_PACCT] = "sys_pacct",
	[CAP_SYS_ADMIN] = "sys_admin",
	[CAP_SYS_BOOT] = "sys_boot",
	[CAP_SYS_NICE] = "sys_nice",
	[CAP_SYS_RESOURCE] = "sys_resource",
	[CAP_SYS_TIME] = "sys_time",
	[CAP_SYS_TTY_CONFIG] = "sys_tty_config",
	[CAP_MKNOD] = "mknod",
	[CAP_LEASE] = "lease",
	[CAP_AUDIT_WRITE] = "audit_write",
	[CAP_AUDIT_CONTROL] = "audit_control",
	[CAP_SETFCAP] = "setfcap",
	[CAP_MAC_OVERRIDE] = "mac_override",
	[CAP_MAC_ADMIN] = "mac_admin",
	[CAP_SYSLOG] = "syslog",
	[CAP_WAKE_ALARM] = "wake_alarm",
	[CAP_BLOCK_SUSPEND] = "block_suspend",
	[CAP_AUDIT_READ] = "audit_read",
	[CAP_PERFMON] = "perfmon",
	[CAP_BPF] = "bpf",
	[CAP_CHECKPOINT_RESTORE] = "checkpoint_restore",
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

const uint64_t capability_known = BIT(NAMES) - 1;

#define DEFAULT                                                                             \
	(BIT(CAP_NET_RAW) | BIT(CAP_NET_ADMIN) | BIT(CAP_SYS_ADMIN) | BIT(CAP_SYS_MODULE) | \
	 BIT(CAP_SYS_RAWIO) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_BPF))

const uint64_t capability_denied_default = DEFAULT;
const uint64_t capability_denied_all_bypass = DEFAULT | BIT(CAP_SYS_PTRACE) | BIT(CAP_SYS_BOOT) |
					      BIT(CAP_PERFMON) | BIT(CAP_CHECKPOINT_RESTORE) |
					      BIT(CAP_SYSLOG) | BIT(CAP_MKNOD);

const char *capability_name(unsigned bit, char text[CAPABILITY_NAME])
{
	if (bit < NAMES)
		(void)snprintf(text, CAPABILITY_NAME, "cap_%s", names[bit]);
	else
		(void)snprintf(text, CAPABILITY_NAME, "%u", bit);
	return text;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && strncasecmp(text, word, length) == 0;
}

bool capability_parse(const char *text, size_t length, uint64_t *mask)
{
	char number[3];

	if (is_word(text, length, "all-bypass")) {
		*mask = capability_denied_all_bypass;
		return true;
	}
	if (is_word(text, length, "unknown")) {
		*mask = ~capability_known;
		return true;
	}
	for (unsigned bit = 0; bit < CAPABILITY_BITS; bit++) {
		(void)snprintf(number, sizeof(number), "%u", bit);
		if (is_word(text, length, number)) {
			*mask = BIT(bit);
			return true;
		}
	}
	if (length > 4 && strncasecmp(text, "cap_", 4) == 0) {
		text += 4;
		length -= 4;
	}
	for (unsigned bit = 0; bit < NAMES; bit++)
		if (is_word(text, length, names[bit])) {
			*mask = BIT(bit);
			return true;
		}
	return false;
}

bool capability_parse_deny(const char *text, uint64_t *mask, const char **bad, size_t *bad_length)
{
	bool adds = *text == '+';
	uint64_t item;

	*mask = adds ? capability_denied_default : 0;
	for (;;) {
		size_t length;

		if (adds && *text == '+')
			text++;
		length = strcspn(text, ",");
		if (!capability_parse(text, length, &item)) {
			*bad = text;
			*bad_length = length;
			return false;
		}
		*mask |= item;
		if (text[length] == '\0')
			return true;
		text += length + 1;
	}
}

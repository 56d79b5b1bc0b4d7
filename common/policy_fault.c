// SPDX-License-Identifier: GPL-2.0-or-later
/* What went wrong with a policy; see policy_fault.h. */
#include "policy_fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "net_admin.h"

int policy_fail(struct policy_fault *fault, enum cell_exit code, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	(void)vsnprintf(fault->text, sizeof(fault->text), format, list);
	va_end(list);
	fault->code = code;
	return -1;
}

int policy_fail_errno(struct policy_fault *fault, const char *what, int number)
{
	if (number == EPERM || number == EACCES)
		return policy_fail(fault, CELL_SYSTEM, "cannot %s: %s: %s", what, strerror(number),
				   net_admin_text(net_admin_state()));
	if (number == EOPNOTSUPP || number == EPROTONOSUPPORT || number == EAFNOSUPPORT)
		return policy_fail(fault, CELL_UNSUPPORTED,
				   "cannot %s: this kernel has no nf_tables", what);
	return policy_fail(fault, CELL_SYSTEM, "cannot %s: %s", what, strerror(number));
}

int policy_fail_session(struct policy_fault *fault, const char *what, const struct nft_result *r)
{
	const char *said =
		r->errors != NULL && r->errors[0] != '\0' ? r->errors : "no reason given";

	switch (r->outcome) {
	case NFT_CRASHED:
		return policy_fail(
			fault, CELL_UNSUPPORTED,
			"cannot %s: libnftables crashed (signal %d, %s); some versions do on "
			"a set that a newer one made",
			what, r->number, strsignal(r->number));
	case NFT_ENDED:
		return policy_fail(fault, CELL_SYSTEM,
				   "cannot %s: libnftables ended its process with code %d: %s",
				   what, r->number, said);
	case NFT_TIMED_OUT:
		return policy_fail(fault, CELL_TIMEOUT,
				   "cannot %s: libnftables gave no answer in %d s", what,
				   NFT_SESSION_SECONDS);
	case NFT_REFUSED:
		break;
	default:
		return policy_fail_errno(fault, what, r->number);
	}
	switch (r->number) {
	case EPERM:
	case EACCES:
		return policy_fail_errno(fault, what, r->number);
	case 0:
	case ENOENT:
	case EINVAL:
	case EOPNOTSUPP:
	case EPROTONOSUPPORT:
	case EAFNOSUPPORT:
		return policy_fail(
			fault, CELL_UNSUPPORTED,
			"cannot %s: this kernel or libnftables does not take it: %s; nothing "
			"was changed",
			what, said);
	default:
		return policy_fail(fault, CELL_SYSTEM, "cannot %s: %s; nothing was changed", what,
				   said);
	}
}

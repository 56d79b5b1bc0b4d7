// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel or libnftables refused, as a fault; see policy_fault.h. */
#include "policy_fault.h"

#include <errno.h>
#include <string.h>

#include "net_admin.h"

int policy_fail_errno(struct fault *fault, const char *what, int number)
{
	if (number == EPERM || number == EACCES)
		return fault_set(fault, CELL_SYSTEM, number, "cannot %s (%s)", what,
				 net_admin_text(net_admin_state()));
	if (number == EOPNOTSUPP || number == EPROTONOSUPPORT || number == EAFNOSUPPORT)
		return fault_set(fault, CELL_UNSUPPORTED, 0,
				 "cannot %s: this kernel has no nf_tables", what);
	return fault_set(fault, CELL_SYSTEM, number, "cannot %s", what);
}

int policy_fail_session(struct fault *fault, const char *what, const struct nft_result *r)
{
	const char *said =
		r->errors != NULL && r->errors[0] != '\0' ? r->errors : "no reason given";

	switch (r->outcome) {
	case NFT_CRASHED:
		return fault_set(
			fault, CELL_UNSUPPORTED, 0,
			"cannot %s: libnftables crashed (signal %d, %s); some versions do on "
			"a set that a newer one made",
			what, r->number, strsignal(r->number));
	case NFT_ENDED:
		return fault_set(fault, CELL_SYSTEM, 0,
				 "cannot %s: libnftables ended its process with code %d: %s", what,
				 r->number, said);
	case NFT_TIMED_OUT:
		return fault_set(fault, CELL_TIMEOUT, 0,
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
		return fault_set(
			fault, CELL_UNSUPPORTED, 0,
			"cannot %s: this kernel or libnftables does not take it: %s; nothing "
			"was changed",
			what, said);
	default:
		return fault_set(fault, CELL_SYSTEM, 0, "cannot %s: %s; nothing was changed", what,
				 said);
	}
}

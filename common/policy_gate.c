// SPDX-License-Identifier: GPL-2.0-or-later
/* What a namespace must be before a policy is put in it; see policy_gate.h. */
#include "policy_gate.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>

#include "cleanup.h"
#include "namespace_id.h"
#include "network_links.h"

/* The namespace that this process is in, with its cookie if WITH_COOKIE. 0, or -1 with FAULT. */
static int own_namespace(bool with_cookie, struct namespace_id *own, struct fault *fault)
{
	autoclose fd = -1;
	enum namespace_verdict verdict =
		namespace_open(AT_FDCWD, "/proc/self/ns/net", CLONE_NEWNET, &fd);

	if (verdict != NAMESPACE_OK)
		return fault_set(fault, CELL_EVIDENCE, 0, "cannot identify /proc/self/ns/net: %s",
				 namespace_verdict_text(verdict, errno));
	if (namespace_identify(fd, own) != 0 ||
	    (with_cookie && namespace_cookie(fd, &own->cookie) != 0))
		return fault_set(fault, CELL_EVIDENCE, 0, "cannot identify /proc/self/ns/net: %s",
				 strerror(errno));
	return 0;
}

int policy_gate_subject(const char *subject, struct fault *fault)
{
	struct namespace_handle handle;
	struct namespace_id own = {0};
	enum namespace_verdict verdict = namespace_resolve(subject, &handle);
	enum namespace_same same;
	char text[NAMESPACE_TEXT], other[NAMESPACE_TEXT];

	if (verdict != NAMESPACE_OK)
		return fault_set(fault, CELL_EVIDENCE, 0, "cannot identify %s: %s", subject,
				 namespace_verdict_text(verdict, errno));
	if (own_namespace(handle.id.cookie != 0, &own, fault) != 0) {
		namespace_release(&handle);
		return -1;
	}
	same = namespace_compare(&own, &handle.id);
	namespace_release(&handle);
	namespace_format("net", &own, text);
	namespace_format("net", &handle.id, other);
	if (same == NAMESPACE_SAME)
		return 0;
	if (same == NAMESPACE_DIFFERENT)
		return fault_set(fault, CELL_NO, 0,
				 "this is %s, not the subject's namespace (%s is %s)", text,
				 subject, other);
	return fault_set(fault, CELL_EVIDENCE, 0,
			 "cannot tell whether %s is the subject's namespace (%s)", text, subject);
}

int policy_gate_hardware(struct fault *fault)
{
	struct network_links links;
	const struct network_link *hardware;
	int result = 0;

	if (network_links_read(&links) != 0)
		return fault_set(fault, CELL_SYSTEM, 0, "cannot list the devices: %s",
				 strerror(errno));
	hardware = network_links_hardware(&links);
	if (hardware != NULL)
		result = fault_set(
			fault, CELL_USAGE, 0,
			"cannot police this namespace: its device %s is hardware (%s), so it "
			"is a host's; see --allow-hardware",
			hardware->name, hardware->parent);
	network_links_release(&links);
	return result;
}

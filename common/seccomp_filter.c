// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A list of refused calls put into the kernel, or onto paper; see seccomp_filter.h.
 *
 * Two filters are installed; the kernel takes the stricter answer of the two (seccomp(2)). The
 * first refuses numbers above the last known one, which libseccomp cannot express; the second is
 * the list. A failure between them leaves a process with the first alone: it must not go on.
 */
#include "seccomp_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "cleanup.h"

static void release(scmp_filter_ctx *context)
{
	int saved = errno;

	seccomp_release(*context);
	errno = saved;
}

/*
 * Numbers above the last known one are ENOSYS. Foreign numbers are left to the second filter. 0 or
 * a negative errno.
 */
static int install_bound(void)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SECCOMP_FILTER_LAST_CALL, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	const struct sock_fprog whole = {sizeof(program) / sizeof(program[0]), program};

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0) != 0)
		return -errno;
	return prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER ? 0 : -EINVAL;
}

/* One rule into CONTEXT; 0 or a negative errno. A call that this architecture lacks is no error. */
static int add_rule(scmp_filter_ctx context, const struct seccomp_filter_rule *rule)
{
	int number = seccomp_syscall_resolve_name(rule->call);

	if (number == __NR_SCMP_ERROR)
		number = rule->number;
	if (number == -1)
		return -EDOM; /* a misspelt name must not become a door */
	return seccomp_rule_add_array(context, SCMP_ACT_ERRNO((unsigned)rule->error), number,
				      rule->conditions, rule->condition);
}

/* Not the library's word that the list is in force, but the kernel's: what no name opens fails. */
static int ask(void)
{
	int pair[2];

	if (socketpair(AF_INET, SOCK_STREAM, 0, pair) == -1 && errno == EAFNOSUPPORT)
		return 0; /* the kernel itself says EOPNOTSUPP */
	return -EINVAL;
}

int seccomp_filter_install(const struct seccomp_filter *filter)
{
	__attribute__((cleanup(release))) scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	int result = context == NULL ? -ENOMEM : 0;

	/* no_new_privs is the caller's affair; the kernel's own errno is what it wants to see. */
	if (result == 0)
		result = seccomp_attr_set(context, SCMP_FLTATR_CTL_NNP, 0);
	if (result == 0)
		result = seccomp_attr_set(context, SCMP_FLTATR_API_SYSRAWRC, 1);
	if (result == 0)
		result = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	for (size_t i = 0; result == 0 && i < filter->count; i++)
		result = add_rule(context, &filter->rules[i]);
	if (result == 0)
		result = install_bound();
	if (result == 0)
		result = seccomp_load(context);
	if (result == 0)
		result = ask();
	errno = -result;
	return result == 0 ? 0 : -1;
}

static const char *architecture_name(uint32_t architecture)
{
	switch (architecture) {
	case SCMP_ARCH_X86_64:
		return "SCMP_ARCH_X86_64";
	case SCMP_ARCH_AARCH64:
		return "SCMP_ARCH_AARCH64";
	case SCMP_ARCH_RISCV64:
		return "SCMP_ARCH_RISCV64";
	case SCMP_ARCH_PPC64LE:
		return "SCMP_ARCH_PPC64LE";
	case SCMP_ARCH_S390X:
		return "SCMP_ARCH_S390X";
	default:
		return NULL;
	}
}

static const char *compare_name(enum scmp_compare compare)
{
	switch (compare) {
	case SCMP_CMP_NE:
		return "SCMP_CMP_NE";
	case SCMP_CMP_GT:
		return "SCMP_CMP_GT";
	default:
		return "SCMP_CMP_MASKED_EQ";
	}
}

static void print_rule(FILE *stream, const struct seccomp_filter_rule *rule)
{
	(void)fprintf(stream,
		      "\t\t{\"names\": [\"%s\"], \"action\": \"SCMP_ACT_ERRNO\", "
		      "\"errnoRet\": %d",
		      rule->call, rule->error);
	for (unsigned i = 0; i < rule->conditions; i++)
		(void)fprintf(stream,
			      "%s{\"index\": %u, \"op\": \"%s\", \"value\": %" PRIu64
			      ", \"valueTwo\": %" PRIu64 "}",
			      i == 0 ? ", \"args\": [" : ", ", rule->condition[i].arg,
			      compare_name(rule->condition[i].op), rule->condition[i].datum_a,
			      rule->condition[i].datum_b);
	(void)fputs(rule->conditions != 0 ? "]}" : "}", stream);
}

char *seccomp_filter_profile(const struct seccomp_filter *filter)
{
	const char *architecture = architecture_name(seccomp_arch_native());
	autofree char *text = NULL;
	size_t length;
	FILE *stream;
	bool lost;

	if (architecture == NULL) {
		errno = ENOTSUP;
		return NULL;
	}
	stream = open_memstream(&text, &length);
	if (stream == NULL)
		return NULL;
	(void)fprintf(stream,
		      "{\n\t\"defaultAction\": \"SCMP_ACT_ALLOW\",\n"
		      "\t\"architectures\": [\"%s\"],\n\t\"syscalls\": [\n",
		      architecture);
	for (size_t i = 0; i < filter->count; i++) {
		print_rule(stream, &filter->rules[i]);
		(void)fputs(i + 1 < filter->count ? ",\n" : "\n", stream);
	}
	(void)fputs("\t]\n}\n", stream);
	lost = ferror(stream) != 0;
	if (fclose(stream) != 0 || lost)
		return NULL;
	return take_pointer(text);
}

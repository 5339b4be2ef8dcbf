/*
 * cpus.c - the CPUs whose events are recorded: a part of the filter, as a list such as "0-3,8".
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "kernel-probes/handle.h"

#define CPUS	(64 * KP_CPUS_WORDS)

static bool
cpus_number(const char **text, unsigned long *ret)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*ret = strtoul(*text, &end, 10);
	*text = end;
	return errno == 0;
}

/* Parses the list into the words of a mask; false: it is none, or names a CPU from 'n' on. */
static bool
cpus_parse(const char *text, unsigned long n, __u64 words[KP_CPUS_WORDS])
{
	unsigned long first, last;

	do {
		if (!cpus_number(&text, &first))
			return false;
		last = first;
		if (*text == '-' && (text++, !cpus_number(&text, &last)))
			return false;
		if (first > last || last >= n)
			return false;
		for (; first <= last; first++)
			words[first / 64] |= 1ull << first % 64;
	} while (*text == ',' && *text++ != '\0');
	return *text == '\0';
}

int
kp_cpus_set(struct kp *kp, const char *text)
{
	int possible = libbpf_num_possible_cpus();
	unsigned long n = possible > 0 && possible < CPUS ? (unsigned long)possible : CPUS;
	__u64 words[KP_CPUS_WORDS] = { 0 };
	bool some = text != NULL && strcmp(text, "all") != 0;

	if (some && !cpus_parse(text, n, words))
		return kp_fail(kp, -EINVAL, "cpus=%s: this is no list of CPUs from 0 to %lu: write "
		    "numbers and ranges, such as 0-3,8, or all", text, n - 1);
	/* The programs look at the mask only while the filter says so. */
	kp->state->filter &= ~KP_FILTER_CPUS;
	memcpy(kp->state->cpus, words, sizeof words);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (some)
		kp->state->filter |= KP_FILTER_CPUS;
	return 0;
}

bool
kp_cpus_get(struct kp *kp, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "cpus=");
	const __u64 *w = kp->state->cpus;
	int last;

	if (!(kp->state->filter & KP_FILTER_CPUS))
		return false;
	for (int cpu = 0; cpu < CPUS && at < size; cpu = last + 1) {
		last = cpu;
		if (!(w[cpu / 64] >> cpu % 64 & 1))
			continue;
		while (last + 1 < CPUS && w[(last + 1) / 64] >> (last + 1) % 64 & 1)
			last++;
		at += (size_t)snprintf(text + at, size - at, last > cpu ? "%s%d-%d" : "%s%d",
		    text[at - 1] == '=' ? "" : ",", cpu, last);
	}
	return true;
}

/*
 * coverage.c - from when on the buffer has all that each CPU wrote.
 */
#include <errno.h>
#include <stdlib.h>

#include <tnf/com.h>

#include "kernel-probes/handle.h"

/* A block begins with a schedule record, which tells all that is asked here. */
static void
look_at_block(struct kp_span *span, int cpus, const char *block, uint32_t sched_tag)
{
	const struct tnf_block_header *h = (const void *)block;
	const struct tnf_kernel_schedule *s = (const void *)(block + KP_BLOCK_HEADER);
	uint32_t generation = __atomic_load_n(&h->generation, __ATOMIC_ACQUIRE);
	struct tnf_kernel_schedule copy;

	if (generation == TNF_GENERATION_FREE || generation == TNF_GENERATION_TAG ||
	    __atomic_load_n(&h->bytes_valid, __ATOMIC_ACQUIRE) < KP_BLOCK_HEADER + sizeof copy)
		return;
	copy = *s;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* It may have been taken meanwhile. */
	if (__atomic_load_n(&h->generation, __ATOMIC_ACQUIRE) != generation ||
	    copy.tag != sched_tag || copy.cpuid < 0 || copy.cpuid >= cpus ||
	    copy.number == 0)
		return;
	span += copy.cpuid;
	if (span->first == 0 || copy.number < span->first) {
		span->first = copy.number;
		span->since = copy.time_base;
	}
}

KP_EXPORT int
kp_coverage(struct kp *kp, struct kp_span **ret, int *ret_n)
{
	const void *map;
	size_t size;
	int r;

	if ((r = kp_map(kp, &map, &size)) < 0)
		return r;
	*ret = calloc(kp->cpus, sizeof **ret);
	if (*ret == NULL)
		return kp_fail(kp, -ENOMEM, "buffer: not enough memory");
	for (size_t at = KP_DATA; at < size; at += KP_BLOCK_SIZE)
		look_at_block(*ret, kp->cpus, (const char *)map + at, kp->state->sched_tag);
	*ret_n = kp->cpus;
	return 0;
}

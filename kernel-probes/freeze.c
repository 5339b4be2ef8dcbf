/*
 * freeze.c - the buffer is kept as it is, and it is known why (struct kp_shared, "frozen").
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kernel-probes/handle.h"
#include "kernel-probes/import.h"

static int64_t
now_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

KP_EXPORT int
kp_freeze(struct kp *kp, const char *why)
{
	struct kp_shared *s = kp->state;
	__u64 none = 0;
	int r;

	if ((r = kp_state_usable(kp)) < 0)
		return r;
	if (s->buffer_size == 0)
		return kp_fail(kp, -ENOENT, "freeze: there is no buffer: make one (buffer alloc)");
	if (strlen(why) >= KP_FREEZE_TEXT)
		return kp_fail(kp, -EINVAL, "freeze: a reason has at most %u bytes",
		    KP_FREEZE_TEXT - 1);
	/* A program of the kernel may decide the same at this moment: the first reason stays. */
	if (!s->tracing || !__atomic_compare_exchange_n(&s->frozen, &none, (__u64)now_monotonic(),
	    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return kp_fail(kp, -EAGAIN, "freeze: tracing is off, and the buffer stays as it is");
	s->frozen_by = 0;
	memcpy(s->frozen_why, why, strlen(why) + 1);
	return (r = kp_attach_sync(kp)) < 0 ? r : kp_imports_sync(kp);
}

KP_EXPORT bool
kp_frozen(struct kp *kp, int64_t *time, char *why, size_t size)
{
	const struct kp_shared *s = kp->state;
	const struct kp_import *imp;

	if (kp->foreign || s->buffer_size == 0 || s->frozen == 0)
		return false;
	*time = (int64_t)s->frozen;
	snprintf(why, size, "%.*s", (int)KP_FREEZE_TEXT - 1, s->frozen_why);
	for (unsigned i = 0; s->frozen_by != 0 && i < kp->imports; i++) {
		imp = kp->import[i];
		if (imp->slot >= 0 && (__u64)imp->slot + 1 == s->frozen_by)
			snprintf(why, size, "%s%s%s", imp->name, imp->where ? " where " : "",
			    imp->where ? imp->where : "");
	}
	return true;
}

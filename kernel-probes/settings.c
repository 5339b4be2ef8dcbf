/*
 * settings.c - what the dear probes may cost.
 */
#include <errno.h>
#include <string.h>

#include "kernel-probes/handle.h"

static __u32 *
settings_find(struct kp_shared *s, const char *name, __u32 *max)
{
	if (strcmp(name, "stack_depth") == 0) {
		*max = KP_STACK_MAX;
		return &s->stack_depth;
	}
	if (strcmp(name, "rawio") == 0) {
		*max = 1;
		return &s->rawio;
	}
	if (strcmp(name, "filter_except") == 0) {
		*max = 1;
		return &s->filter_except;
	}
	if (strcmp(name, "import_rate") == 0) {
		*max = UINT32_MAX;
		return &s->import_rate;
	}
	if (strcmp(name, "recover_reason") == 0) {
		*max = 1;
		return &s->recover;
	}
	return NULL;
}

KP_EXPORT int
kp_setting_get(struct kp *kp, const char *name, unsigned *ret)
{
	__u32 max, *p = settings_find(kp->state, name, &max);

	if (p == NULL)
		return kp_fail(kp, -EINVAL, "%s: no such setting", name);
	*ret = *p;
	return 0;
}

KP_EXPORT int
kp_setting_set(struct kp *kp, const char *name, unsigned value)
{
	__u32 max, *p;
	int r;

	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	p = settings_find(kp->state, name, &max);
	if (p == NULL)
		return kp_fail(kp, -EINVAL, "%s: no such setting", name);
	if (value > max)
		return kp_fail(kp, -EINVAL, "%s: %u is more than %u", name, value, max);
	*p = value;
	return p == &kp->state->import_rate ? kp_imports_rerate(kp) : kp_attach_sync(kp);
}

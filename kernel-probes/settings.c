/*
 * settings.c - what the dear probes may cost.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "kernel-probes/handle.h"

static const struct {
	const char *name;
	size_t	at;
	__u32	max;
} settings[] = {
	{ "stack_depth", offsetof(struct kp_shared, stack_depth), KP_STACK_MAX },
	{ "rawio", offsetof(struct kp_shared, rawio), 1 },
	{ "filter_except", offsetof(struct kp_shared, filter_except), 1 },
	{ "import_rate", offsetof(struct kp_shared, import_rate), UINT32_MAX },
	{ "recover_reason", offsetof(struct kp_shared, recover), 1 },
};

static __u32 *
settings_find(struct kp_shared *s, const char *name, __u32 *max)
{
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (strcmp(name, settings[i].name) == 0) {
			*max = settings[i].max;
			return (__u32 *)(void *)((char *)s + settings[i].at);
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

/*
 * kernel.c - the kernel's buffer: made as configured, mapped, asked.
 */
#include <tnf/com.h>

#include "kernel-probes/kernel_probes.h"
#include "tnfwatch/config.h"
#include "tnfwatch/source.h"
#include "tnfwatch/watch.h"

static bool
kernel_fail(tnfctl_errcode_t err, const char *what, char *why, size_t size)
{
	const char *detail = tnfctl_error_detail();

	snprintf(why, size, "%s: %s", what, detail != NULL && *detail != '\0' ? detail :
	    tnfctl_strerror(err));
	return false;
}

/* Words: rules as prex(1) has them ("name=", "cgroup=", "unit=", "pod="), and numbers of processes. */
static tnfctl_errcode_t
filter_set(tnfctl_handle_t *h, const char *text)
{
	tnfctl_errcode_t err = TNFCTL_ERR_NONE;
	char *copy = tnf_xasprintf("%s", text), *rest = copy, *word, *end;

	while (err == TNFCTL_ERR_NONE && (word = strsep(&rest, " \t,")) != NULL) {
		if (*word == '\0')
			continue;
		long pid = strtol(word, &end, 10);
		err = *end == '\0' ? tnfctl_filter_list_follow(h, (pid_t)pid) :
		    tnfctl_filter_rule_add(h, word);
	}
	free(copy);
	return err == TNFCTL_ERR_NONE ? tnfctl_filter_state_set(h, B_TRUE) : err;
}

static bool
kernel_set_all(tnfctl_handle_t *h, const struct config *c, bool was_filtered,
    struct enabled *done, char *why, size_t size)
{
	tnfctl_trace_attrs_t attrs;
	tnfctl_errcode_t err;

	if ((err = tnfctl_trace_attrs_get(h, &attrs)) != TNFCTL_ERR_NONE)
		return kernel_fail(err, "kernel", why, size);
	if (attrs.trace_buf_state == TNFCTL_BUF_NONE &&
	    (err = tnfctl_buffer_alloc(h, NULL, (unsigned int)c->kernel_buffer)) !=
	    TNFCTL_ERR_NONE)
		return kernel_fail(err, "kernel: buffer", why, size);
	if (c->kernel_enable != NULL &&
	    (err = enable_apply(c->kernel_enable, h, 0, c->kernel_import, done)) != TNFCTL_ERR_NONE)
		return kernel_fail(err, "kernel: enable", why, size);
	if (c->kernel_enable != NULL && done->n == 0) {
		snprintf(why, size, "kernel: enable = %s: %s", enable_text(c->kernel_enable),
		    *done->refused != '\0' ? done->refused : "no probe is meant: prex -k lists them");
		return false;
	}
	if (c->kernel_pfilter != NULL &&
	    (err = filter_set(h, c->kernel_pfilter)) != TNFCTL_ERR_NONE)
		return kernel_fail(err, "kernel: pfilter", why, size);
	/* A filter that the configuration had before stays no longer than the configuration. */
	if (c->kernel_pfilter == NULL && was_filtered &&
	    (err = tnfctl_filter_state_set(h, B_FALSE)) != TNFCTL_ERR_NONE)
		return kernel_fail(err, "kernel: pfilter", why, size);
	err = tnfctl_trace_state_set(h, B_TRUE);
	return err == TNFCTL_ERR_NONE || kernel_fail(err, "kernel: tracing", why, size);
}

bool
kernel_set_up(const struct config *c, bool was_filtered, struct enabled *done, char *why,
    size_t size)
{
	tnfctl_handle_t *h;
	tnfctl_errcode_t err = tnfctl_kernel_open(&h);

	if (err != TNFCTL_ERR_NONE)
		return kernel_fail(err, "kernel", why, size);
	bool ok = kernel_set_all(h, c, was_filtered, done, why, size);
	/* Others may control the kernel as well: our settings stay. */
	tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	return ok;
}

/* Probes that were off, and are switched on for a time. */
struct kernel_change {
	const struct enable *enable;
	struct enabled *probes;
};

static bool
has_name(const struct enabled *e, const char *name, size_t n)
{
	for (const char *p = e->names; *p != '\0'; p += strcspn(p, "\n") + 1)
		if (strcspn(p, "\n") == n && strncmp(p, name, n) == 0)
			return true;
	return false;
}

static tnfctl_errcode_t
probe_less(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	const struct kernel_change *change = arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &state);
	const char *name = err == TNFCTL_ERR_NONE ? state.attr_string + strlen("name ") : "";

	if (err != TNFCTL_ERR_NONE || !state.enabled ||
	    !has_name(change->probes, name, strcspn(name, ";")))
		return err;
	return tnfctl_probe_disable(h, p, NULL);
}

static bool
kernel_change(tnfctl_probe_op_t fn, struct kernel_change *change, char *why, size_t size)
{
	tnfctl_handle_t *h;
	tnfctl_errcode_t err = tnfctl_kernel_open(&h);

	if (err != TNFCTL_ERR_NONE)
		return kernel_fail(err, "kernel", why, size);
	err = tnfctl_probe_apply(h, fn, change);
	if (err != TNFCTL_ERR_NONE)
		kernel_fail(err, "kernel", why, size);
	tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	return err == TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
probe_more(tnfctl_handle_t *h, tnfctl_probe_t *p, void *arg)
{
	const struct kernel_change *change = arg;
	tnfctl_probe_state_t state;
	tnfctl_errcode_t err = tnfctl_probe_state_get(h, p, &state);

	if (err != TNFCTL_ERR_NONE || state.enabled)
		return err;
	return enable_probe(change->enable, h, p, change->probes);
}

bool
kernel_more(const struct enable *e, struct enabled *probes, char *why, size_t size)
{
	return kernel_change(probe_more, &(struct kernel_change){ e, probes }, why, size);
}

bool
kernel_less(struct enabled *probes, char *why, size_t size)
{
	return kernel_change(probe_less, &(struct kernel_change){ NULL, probes }, why, size);
}

bool
kernel_freeze(const char *reason, char *why, size_t size)
{
	tnfctl_handle_t *h;
	tnfctl_errcode_t err = tnfctl_kernel_open(&h);

	if (err != TNFCTL_ERR_NONE)
		return kernel_fail(err, "kernel", why, size);
	err = tnfctl_freeze(h, reason);
	if (err != TNFCTL_ERR_NONE)
		kernel_fail(err, "kernel", why, size);
	tnfctl_close(h, TNFCTL_TARG_DEFAULT);
	return err == TNFCTL_ERR_NONE;
}

#ifdef HAVE_KERNEL

bool
kernel_frozen(struct kp *kp, int64_t *time, char *why, size_t size)
{
	return kp_frozen(kp, time, why, size);
}

struct kp *
kernel_map(const void **base, size_t *bytes, char *why, size_t size)
{
	struct kp *kp = NULL;
	int e = kp_open(false, &kp);

	if (e == 0)
		e = kp_map(kp, base, bytes);
	if (e == 0)
		return kp;
	snprintf(why, size, "kernel: %s", kp != NULL && *kp_detail(kp) != '\0' ? kp_detail(kp) :
	    strerror(-e));
	kp_close(kp);
	return NULL;
}

void
kernel_unmap(struct kp *kp)
{
	kp_close(kp);
}

bool
kernel_lost(struct kp *kp, uint64_t *ret)
{
	struct kp_status status;

	if (kp_status(kp, &status) != 0)
		return false;
	*ret = 0;
	for (size_t i = 0; i < sizeof status.lost / sizeof status.lost[0]; i++)
		*ret += status.lost[i];
	return true;
}

int
kernel_put_lost(struct kp *kp, int fd)
{
	struct kp_status status;

	if (kp_status(kp, &status) != 0)
		return 0;
	return pwrite_all(fd, status.lost, sizeof status.lost,
	    TNF_EXT_OFFSET + offsetof(struct tnf_ext, lost));
}

bool
kernel_reach(struct kp *kp, int64_t *since)
{
	struct kp_span *span;
	bool any = false;
	int n;

	*since = INT64_MIN;
	if (kp_coverage(kp, &span, &n) != 0)
		return false;
	for (int i = 0; i < n; i++) {
		any |= span[i].first != 0;
		if (span[i].first > 1 && span[i].since > *since)
			*since = span[i].since;
	}
	/* Nothing was overwritten: the buffer reaches back to its oldest event. */
	if (*since == INT64_MIN) {
		*since = INT64_MAX;
		for (int i = 0; i < n; i++)
			if (span[i].first == 1 && span[i].since < *since)
				*since = span[i].since;
	}
	free(span);
	return any;
}

#else

bool
kernel_frozen(struct kp *kp, int64_t *time, char *why, size_t size)
{
	return false;
}

struct kp *
kernel_map(const void **base, size_t *bytes, char *why, size_t size)
{
	snprintf(why, size, "kernel: this tnfwatch was built without kernel probes");
	return NULL;
}

void
kernel_unmap(struct kp *kp)
{
}

bool
kernel_lost(struct kp *kp, uint64_t *ret)
{
	return false;
}

int
kernel_put_lost(struct kp *kp, int fd)
{
	return 0;
}

bool
kernel_reach(struct kp *kp, int64_t *since)
{
	return false;
}

void
kernel_context(struct kp *kp, struct context_writer *w)
{
}

#endif

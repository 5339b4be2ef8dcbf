/*
 * kernel.c - the kernel as a target.
 *
 * State lives in the kernel and outlasts the handle; we read it when a client asks for it.
 * kernel-probes does the work and tells in detail why something failed; this file
 * adds the codes of tnfctl.
 */
#include "libtnfctl/imports.h"

/* The code for a negative errno from kernel-probes, its words as the detail. */
static tnfctl_errcode_t
fail_kernel(struct kp *kp, int e, tnfctl_errcode_t code)
{
	const char *detail = kp_detail(kp);

	if (detail != NULL && *detail != '\0')
		return tnfctl_error_set(code, "%s", detail);
	return tnfctl_error_set(code, "kernel: %s", strerror(-e));
}

tnfctl_errcode_t
tnfctl_kernel_code(struct kp *kp, int e)
{
	if (e == -ENOSYS || e == -EOPNOTSUPP)
		return fail_kernel(kp, e, TNFCTL_ERR_FILENOTFOUND);	/* no BPF, no BTF, no bpffs */
	return e == 0 ? TNFCTL_ERR_NONE : fail_kernel(kp, e, tnfctl_error_code(-e));
}

tnfctl_errcode_t
tnfctl_kernel_argument(struct kp *kp, int e)
{
	return e == -EINVAL || e == -ENOTSUP ? fail_kernel(kp, e, TNFCTL_ERR_BADARG) :
	    tnfctl_kernel_code(kp, e);
}

static tnfctl_errcode_t
kernel_answer(tnfctl_handle_t *h, int e)
{
	return tnfctl_kernel_code(h->priv, e);
}

/* As kernel_answer(), but the errno 'special' means 'code'. */
static tnfctl_errcode_t
answer_where(tnfctl_handle_t *h, int e, int special, tnfctl_errcode_t code)
{
	return e == -special ? fail_kernel(h->priv, e, code) : kernel_answer(h, e);
}

static tnfctl_errcode_t
kernel_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	kp_close(h->priv);
	h->priv = NULL;
	return TNFCTL_ERR_NONE;
}

/* Programs are loaded when there is a buffer: only then the attributes say which probes the
   kernel does not take. */
static tnfctl_errcode_t
probe_read(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	struct kp_probe kp;
	char *attrs;
	int e = kp_probe_get(h->priv, (unsigned)p->id, &kp);

	if (e != 0)
		return fail_kernel(h->priv, e, TNFCTL_ERR_INVALIDPROBE);
	if (strcmp(p->attrs, kp.attrs) != 0) {
		attrs = strdup(kp.attrs);
		if (attrs == NULL)
			return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
		free(p->attrs);
		p->attrs = attrs;
	}
	p->enabled = kp.enabled;
	p->traced = kp.traced;
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
kernel_refresh(tnfctl_handle_t *h)
{
	size_t first = h->nprobes, count, i;
	struct kp_probe kp;
	int e = kp_probe_count(h->priv);

	if (e < 0)
		return kernel_answer(h, e);
	count = (size_t)e;
	for (i = first; i < count; i++) {
		e = kp_probe_get(h->priv, (unsigned)i + 1, &kp);
		if (e != 0)
			return kernel_answer(h, e);
		if (tnfctl_probe_add(h, kp.attrs) == NULL)
			return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	}
	for (i = 0; i < h->nprobes; i++)
		probe_read(h, h->probes[i]);
	if (h->nprobes > first)
		tnfctl_probes_created(h, first);
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
kernel_attrs(tnfctl_handle_t *h, tnfctl_trace_attrs_t *ret)
{
	static const tnfctl_bufstate_t states[] = {
		[KP_NONE] = TNFCTL_BUF_NONE,
		[KP_OK] = TNFCTL_BUF_OK,
		[KP_BROKEN] = TNFCTL_BUF_BROKEN,
	};
	struct kp_status status;
	int e = kp_status(h->priv, &status);

	if (e != 0)
		return kernel_answer(h, e);
	*ret = (tnfctl_trace_attrs_t){
		.trace_buf_size = status.size,
		.trace_min_size = KP_BUFFER_MIN,
		.trace_buf_state = states[status.state],
		.trace_state = status.tracing ? B_TRUE : B_FALSE,
		.filter_state = status.filtering ? B_TRUE : B_FALSE,
		.fill = !status.fill ? TNFCTL_FILL_RING :
		    status.full ? TNFCTL_FILL_FULL : TNFCTL_FILL_STOPS,
	};
	return TNFCTL_ERR_NONE;
}

/* A lack of memory gets the original's code, with a detail that the original does not have. */
static tnfctl_errcode_t
kernel_buffer_alloc(tnfctl_handle_t *h, const char *file, unsigned int bytes)
{
	struct kp_status status;
	size_t got;
	int e = kp_status(h->priv, &status);

	if (e != 0)
		return kernel_answer(h, e);
	if (status.state != KP_NONE)
		return tnfctl_error_set(TNFCTL_ERR_BUFEXISTS, "kernel: a buffer of %zu "
		    "bytes exists: deallocate it first", status.size);
	if (bytes < KP_BUFFER_MIN)
		return tnfctl_error_set(TNFCTL_ERR_SIZETOOSMALL, "%u bytes: the smallest "
		    "buffer has %u", bytes, KP_BUFFER_MIN);
	kp_buffer_fill(h->priv, h->fill);
	e = kp_buffer_alloc(h->priv, bytes, &got);
	if (e == -EEXIST)
		return fail_kernel(h->priv, e, TNFCTL_ERR_BUFEXISTS);
	if (e == -ENOMEM)
		return fail_kernel(h->priv, e, TNFCTL_ERR_INTERNAL);
	return kernel_answer(h, e);
}

static tnfctl_errcode_t
kernel_probe_state(tnfctl_handle_t *h, tnfctl_probe_t *p, tnfctl_probe_state_t *ret)
{
	p->new_probe = false;
	return probe_read(h, p);
}
/* A probe that this kernel does not have stays off without an error, and its attributes say why:
   an error would end a client's loop over all probes. */
static tnfctl_errcode_t
kernel_probe_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	bool enabled, traced;
	int e;
	tnfctl_errcode_t err = probe_read(h, p);

	if (err != TNFCTL_ERR_NONE)
		return err;
	enabled = enabling ? on : p->enabled;
	traced = enabling ? p->traced : on;
	e = kp_probe_set(h->priv, (unsigned)p->id, enabled, traced);
	if (e == -ENOTSUP)
		return fail_kernel(h->priv, e, TNFCTL_ERR_NONE);
	if (e != 0)
		return kernel_answer(h, e);
	p->enabled = enabled;
	p->traced = traced;
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
kernel_mark(tnfctl_handle_t *h, const char *text, const char *by,
    const char *names, const int64_t *values)
{
	tnfctl_errcode_t err = answer_where(h, kp_mark(h->priv, text, by, names, values),
	    ENOENT, TNFCTL_ERR_NOBUF);

	/* The mark's probe may be new. */
	return err != TNFCTL_ERR_NONE ? err : kernel_refresh(h);
}

static tnfctl_errcode_t
kernel_freeze(tnfctl_handle_t *h, const char *why)
{
	return answer_where(h, kp_freeze(h->priv, why), ENOENT, TNFCTL_ERR_NOBUF);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_frozen_get(tnfctl_handle_t *h, int64_t *time, char *why, size_t size)
{
	if (tnfctl_kernel_of(h) == NULL)
		return tnfctl_wrong_kind(ONLY_FROZEN);
	if (!kp_frozen(h->priv, time, why, size))
		*time = 0;
	return TNFCTL_ERR_NONE;
}

static const struct target_ops kernel_ops = {
	.close = kernel_close,
	.refresh = kernel_refresh,
	.attrs = kernel_attrs,
	.buffer_alloc = kernel_buffer_alloc,
	.probe_state = kernel_probe_state,
	.probe_set = kernel_probe_set,
	.mark = kernel_mark,
	.freeze = kernel_freeze,
	.import_add = tnfctl_imports_add,
};

struct kp *
tnfctl_kernel_of(const tnfctl_handle_t *h)
{
	return h->ops == &kernel_ops ? h->priv : NULL;
}

static tnfctl_errcode_t
kernel_handle(struct kp *kp, int e, tnfctl_handle_t **ret)
{
	tnfctl_errcode_t err;
	tnfctl_handle_t *h;

	if (e != 0) {
		err = tnfctl_kernel_code(kp, e);
		kp_close(kp);
		return err;
	}
	h = tnfctl_handle_new(&kernel_ops, 0);
	if (h == NULL) {
		kp_close(kp);
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	}
	h->priv = kp;
	h->first_id = 1;
	err = kernel_refresh(h);
	if (err != TNFCTL_ERR_NONE) {
		kernel_close(h, TNFCTL_TARG_DEFAULT);
		tnfctl_handle_free(h);
		return err;
	}
	*ret = h;
	return TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_kernel_open(tnfctl_handle_t **ret)
{
	struct kp *kp = NULL;
	int e;

	tnfctl_imports_finder();
	e = kp_open(true, &kp);
	return kernel_handle(kp, e, ret);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_kernel_look(tnfctl_handle_t **ret)
{
	struct kp *kp = NULL;
	int e;

	tnfctl_imports_finder();
	e = kp_look(&kp);
	return kernel_handle(kp, e, ret);
}

/* Calls that the kernel alone answers. */

TNFCTL_API tnfctl_errcode_t
tnfctl_buffer_dealloc(tnfctl_handle_t *h)
{
	struct kp_status status;
	int e;

	if (tnfctl_kernel_of(h) == NULL)
		return tnfctl_wrong_kind(NULL);
	e = kp_status(h->priv, &status);
	if (e == 0 && status.state != KP_NONE && status.tracing)
		return tnfctl_error_set(TNFCTL_ERR_BADDEALLOC, "kernel: tracing is on: "
		    "turn it off first");
	return answer_where(h, e != 0 ? e : kp_buffer_dealloc(h->priv), ENOENT, TNFCTL_ERR_NOBUF);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_trace_state_set(tnfctl_handle_t *h, boolean_t on)
{
	int e;

	if (tnfctl_kernel_of(h) == NULL)
		return tnfctl_wrong_kind(NULL);
	e = kp_trace_set(h->priv, on != B_FALSE);
	/* Without a buffer tracing is off already. */
	return !on && e == -ENOENT ? TNFCTL_ERR_NONE : answer_where(h, e, ENOENT, TNFCTL_ERR_NOBUF);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_filter_state_set(tnfctl_handle_t *h, boolean_t on)
{
	return tnfctl_kernel_of(h) == NULL ? tnfctl_wrong_kind(NULL) :
	    kernel_answer(h, kp_filter_set(h->priv, on != B_FALSE));
}

TNFCTL_API tnfctl_errcode_t
tnfctl_filter_list_get(tnfctl_handle_t *h, pid_t **ret, int *ret_n)
{
	return tnfctl_kernel_of(h) == NULL ? tnfctl_wrong_kind(NULL) :
	    kernel_answer(h, kp_filter_list(h->priv, ret, ret_n));
}

TNFCTL_API tnfctl_errcode_t
tnfctl_filter_list_add(tnfctl_handle_t *h, pid_t pid)
{
	return tnfctl_kernel_of(h) == NULL ? tnfctl_wrong_kind(NULL) :
	    kernel_answer(h, kp_filter_add(h->priv, pid));
}

/* A live process that is no member is fine; one that has ended never is. */
TNFCTL_API tnfctl_errcode_t
tnfctl_filter_list_delete(tnfctl_handle_t *h, pid_t pid)
{
	int e;

	if (tnfctl_kernel_of(h) == NULL)
		return tnfctl_wrong_kind(NULL);
	e = kp_filter_delete(h->priv, pid);
	if (pid != 0 && kill(pid, 0) != 0 && errno == ESRCH)
		return tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: no such "
		    "process", (int)pid);
	return e == -ESRCH ? TNFCTL_ERR_NONE : kernel_answer(h, e);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_filter_list_follow(tnfctl_handle_t *h, pid_t pid)
{
	return tnfctl_kernel_of(h) == NULL ? tnfctl_wrong_kind(ONLY_FILTER) :
	    kernel_answer(h, kp_filter_follow(h->priv, pid));
}

TNFCTL_API tnfctl_errcode_t
tnfctl_filter_rule_add(tnfctl_handle_t *h, const char *rule)
{
	return tnfctl_kernel_of(h) == NULL ? tnfctl_wrong_kind(ONLY_FILTER) :
	    answer_where(h, kp_rule_add(h->priv, rule), EINVAL, TNFCTL_ERR_BADARG);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_filter_rule_delete(tnfctl_handle_t *h, const char *rule)
{
	return tnfctl_kernel_of(h) == NULL ? tnfctl_wrong_kind(ONLY_FILTER) :
	    answer_where(h, kp_rule_delete(h->priv, rule), EINVAL, TNFCTL_ERR_BADARG);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_filter_rule_apply(tnfctl_handle_t *h, void (*fn)(void *arg, const char *rule),
    void *arg)
{
	if (tnfctl_kernel_of(h) == NULL)
		return tnfctl_wrong_kind(ONLY_FILTER);
	kp_rules_get(h->priv, fn, arg);
	return TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_lost_get(tnfctl_handle_t *h, tnfctl_lost_t *ret)
{
	struct kp_status status;
	int e;

	if (tnfctl_kernel_of(h) == NULL)
		return tnfctl_wrong_kind(ONLY_LOSSES);
	if ((e = kp_status(h->priv, &status)) != 0)
		return kernel_answer(h, e);
	*ret = (tnfctl_lost_t){ .cpu_max = status.lost_cpu_max };
	for (size_t i = 0; i < sizeof ret->reason / sizeof ret->reason[0]; i++) {
		ret->reason[i] = status.lost[i];
		ret->total += status.lost[i];
	}
	return TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_coverage_get(tnfctl_handle_t *h, tnfctl_span_t **ret, size_t *ret_n)
{
	struct kp_span *span;
	int e, n;

	if (tnfctl_kernel_of(h) == NULL)
		return tnfctl_wrong_kind(ONLY_CPUS);
	if ((e = kp_coverage(h->priv, &span, &n)) != 0)
		return answer_where(h, e, ENOENT, TNFCTL_ERR_NOBUF);
	*ret = calloc(n, sizeof **ret);
	*ret_n = 0;
	for (int cpu = 0; *ret != NULL && cpu < n; cpu++)
		if (span[cpu].first != 0)
			(*ret)[(*ret_n)++] = (tnfctl_span_t){ cpu,
			    span[cpu].first == 1, span[cpu].since };
	free(span);
	return *ret == NULL ? tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL) : TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_setting_set(tnfctl_handle_t *h, const char *name, unsigned int value)
{
	return tnfctl_kernel_of(h) == NULL ? tnfctl_wrong_kind(ONLY_SETTINGS) :
	    answer_where(h, kp_setting_set(h->priv, name, value), EINVAL, TNFCTL_ERR_BADARG);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_setting_get(tnfctl_handle_t *h, const char *name, unsigned int *ret)
{
	return tnfctl_kernel_of(h) == NULL ? tnfctl_wrong_kind(ONLY_SETTINGS) :
	    answer_where(h, kp_setting_get(h->priv, name, ret), EINVAL, TNFCTL_ERR_BADARG);
}

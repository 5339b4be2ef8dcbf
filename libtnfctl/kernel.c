/*
 * kernel.c - the kernel as a target.
 *
 * State lives in the kernel and outlasts the handle; what is answered here is
 * read when it is asked for.  kernel-probes does the work and says in detail
 * what stood in the way; this file gives it the codes of tnfctl.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "kernel-probes/kernel_probes.h"
#include "kernel-probes/uprobe.h"
#include "libtnfctl/handle.h"
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

static tnfctl_errcode_t
kernel_code_of(int e)
{
	switch (-e) {
	case EACCES:
	case EPERM:
		return TNFCTL_ERR_ACCES;
	case EBUSY:
		return TNFCTL_ERR_BUSY;
	case ENOENT:
	case ENOSYS:
	case EOPNOTSUPP:
		return TNFCTL_ERR_FILENOTFOUND;	/* no BPF, no BTF, no bpffs */
	case ESRCH:
		return TNFCTL_ERR_NOPROCESS;
	case ENOMEM:
		return TNFCTL_ERR_ALLOCFAIL;
	default:
		return TNFCTL_ERR_INTERNAL;
	}
}

tnfctl_errcode_t
tnfctl_kernel_code(struct kp *kp, int e)
{
	return e == 0 ? TNFCTL_ERR_NONE : fail_kernel(kp, e, kernel_code_of(e));
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

/* As kernel_answer(), where no buffer is what ENOENT means. */
static tnfctl_errcode_t
answer_buffer(tnfctl_handle_t *h, int e)
{
	return e == -ENOENT ? fail_kernel(h->priv, e, TNFCTL_ERR_NOBUF) :
	    kernel_answer(h, e);
}

/* As kernel_answer(), where an argument is what EINVAL means. */
static tnfctl_errcode_t
answer_argument(tnfctl_handle_t *h, int e)
{
	return e == -EINVAL ? fail_kernel(h->priv, e, TNFCTL_ERR_BADARG) : kernel_answer(h, e);
}

static tnfctl_errcode_t
kernel_close(tnfctl_handle_t *h, tnfctl_targ_op_t op)
{
	kp_close(h->priv);
	h->priv = NULL;
	return TNFCTL_ERR_NONE;
}

/* What the kernel does not take is known only when there is a buffer: then the
   attributes say so. */
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

/* The original answers a lack of memory so: no detail there, one here. */
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
kernel_buffer_dealloc(tnfctl_handle_t *h)
{
	struct kp_status status;
	int e = kp_status(h->priv, &status);

	if (e != 0)
		return answer_buffer(h, e);
	if (status.state != KP_NONE && status.tracing)
		return tnfctl_error_set(TNFCTL_ERR_BADDEALLOC, "kernel: tracing is on: "
		    "turn it off first");
	return answer_buffer(h, kp_buffer_dealloc(h->priv));
}

static tnfctl_errcode_t
kernel_trace_set(tnfctl_handle_t *h, bool on)
{
	int e = kp_trace_set(h->priv, on);

	/* Without a buffer it is off already. */
	return !on && e == -ENOENT ? TNFCTL_ERR_NONE : answer_buffer(h, e);
}

static tnfctl_errcode_t
kernel_filter_set(tnfctl_handle_t *h, bool on)
{
	return kernel_answer(h, kp_filter_set(h->priv, on));
}

static tnfctl_errcode_t
kernel_filter_list(tnfctl_handle_t *h, pid_t **ret, int *ret_n)
{
	return kernel_answer(h, kp_filter_list(h->priv, ret, ret_n));
}

static tnfctl_errcode_t
kernel_filter_add(tnfctl_handle_t *h, pid_t pid)
{
	return kernel_answer(h, kp_filter_add(h->priv, pid));
}

/* A live process that is no member is fine; one that has ended never is. */
static tnfctl_errcode_t
kernel_filter_delete(tnfctl_handle_t *h, pid_t pid)
{
	int e = kp_filter_delete(h->priv, pid);

	if (pid != 0 && kill(pid, 0) != 0 && errno == ESRCH)
		return tnfctl_error_set(TNFCTL_ERR_NOPROCESS, "process %d: no such "
		    "process", (int)pid);
	return e == -ESRCH ? TNFCTL_ERR_NONE : kernel_answer(h, e);
}

static tnfctl_errcode_t
kernel_probe_state(tnfctl_handle_t *h, tnfctl_probe_t *p,
    tnfctl_probe_state_t *ret)
{
	tnfctl_errcode_t err = probe_read(h, p);

	if (err != TNFCTL_ERR_NONE)
		return err;
	*ret = (tnfctl_probe_state_t){
		.id = p->id,
		.attr_string = p->attrs,
		.enabled = p->enabled ? B_TRUE : B_FALSE,
		.traced = p->traced ? B_TRUE : B_FALSE,
		.client_registered_data = p->client,
	};
	return TNFCTL_ERR_NONE;
}

/* A probe that this kernel does not have stays off, as its attributes say why:
   an error would keep "all of them" from the ones that come after it. */
static tnfctl_errcode_t
kernel_probe_set(tnfctl_handle_t *h, tnfctl_probe_t *p,
    enum probe_change change)
{
	bool enabled, traced;
	int e;
	tnfctl_errcode_t err = probe_read(h, p);

	if (err != TNFCTL_ERR_NONE)
		return err;
	enabled = change == PROBE_ENABLE ||
	    (change != PROBE_DISABLE && p->enabled);
	traced = change == PROBE_TRACE ||
	    (change != PROBE_UNTRACE && p->traced);
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
kernel_lost(tnfctl_handle_t *h, tnfctl_lost_t *ret)
{
	struct kp_status status;
	int e = kp_status(h->priv, &status);

	if (e != 0)
		return kernel_answer(h, e);
	*ret = (tnfctl_lost_t){ .cpu_max = status.lost_cpu_max };
	for (size_t i = 0; i < sizeof ret->reason / sizeof ret->reason[0]; i++) {
		ret->reason[i] = status.lost[i];
		ret->total += status.lost[i];
	}
	return TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
kernel_coverage(tnfctl_handle_t *h, tnfctl_span_t **ret, size_t *ret_n)
{
	struct kp_span *span;
	int e, n;

	e = kp_coverage(h->priv, &span, &n);
	if (e != 0)
		return answer_buffer(h, e);
	*ret = calloc(n, sizeof **ret);
	*ret_n = 0;
	for (int cpu = 0; *ret != NULL && cpu < n; cpu++)
		if (span[cpu].first != 0)
			(*ret)[(*ret_n)++] = (tnfctl_span_t){ cpu,
			    span[cpu].first == 1, span[cpu].since };
	free(span);
	return *ret == NULL ? tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL) : TNFCTL_ERR_NONE;
}

static tnfctl_errcode_t
kernel_rule_add(tnfctl_handle_t *h, const char *rule)
{
	return answer_argument(h, kp_rule_add(h->priv, rule));
}

static tnfctl_errcode_t
kernel_rule_delete(tnfctl_handle_t *h, const char *rule)
{
	return answer_argument(h, kp_rule_delete(h->priv, rule));
}

static tnfctl_errcode_t
kernel_rule_apply(tnfctl_handle_t *h, void (*fn)(void *arg, const char *rule), void *arg)
{
	kp_rules_get(h->priv, fn, arg);
	return TNFCTL_ERR_NONE;
}

/* Functions of it may be asked for. */
static tnfctl_errcode_t
remember_file(tnfctl_handle_t *h, const char *path)
{
	char *real = realpath(path, NULL);
	char **v = real == NULL ? NULL :
	    reallocarray(h->files, h->nfiles + 1, sizeof *v);

	if (v == NULL) {
		free(real);
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	}
	h->files = v;
	v[h->nfiles++] = real;
	return TNFCTL_ERR_NONE;
}

/* All probes of a file, in whatever process runs it. */
static tnfctl_errcode_t
add_usdt(tnfctl_handle_t *h, const char *path)
{
	tnfctl_errcode_t err;
	size_t n;

	if (path == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "usdt: of which file?");
	if ((err = tnfctl_imports_of_file(h->priv, path, &n)) == TNFCTL_ERR_NONE)
		err = remember_file(h, path);
	return err != TNFCTL_ERR_NONE ? err : kernel_refresh(h);
}

/* Of the files that were imported. */
static tnfctl_errcode_t
add_functions(tnfctl_handle_t *h, const char *pattern, bool asked)
{
	tnfctl_errcode_t err = tnfctl_error_set(TNFCTL_ERR_NONE, NULL);

	if (pattern == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "function: which?");
	for (size_t i = 0; err == TNFCTL_ERR_NONE && i < h->nfiles; i++)
		err = tnfctl_imports_functions_of_file(h->priv, h->files[i], pattern, asked);
	return err != TNFCTL_ERR_NONE ? err : kernel_refresh(h);
}

static tnfctl_errcode_t
kernel_import_add(tnfctl_handle_t *h, const char *kind, const char *source)
{
	tnfctl_errcode_t err;

	bool asked = strcmp(kind, "return") == 0;

	if (asked || strcmp(kind, "function") == 0)
		return add_functions(h, source, asked);
	if (strcmp(kind, "usdt") == 0)
		return add_usdt(h, source);
	if (strcmp(kind, "tracepoint") != 0 || source != NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: no kind of imported probes", kind);
	err = kernel_answer(h, kp_import_tracepoints(h->priv));
	return err != TNFCTL_ERR_NONE ? err : kernel_refresh(h);
}

static tnfctl_errcode_t
kernel_probe_where(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *conditions)
{
	int e = kp_probe_where(h->priv, (unsigned)p->id, conditions);

	return e == -ENOTSUP ? fail_kernel(h->priv, e, TNFCTL_ERR_BADARG) : answer_argument(h, e);
}

static tnfctl_errcode_t
kernel_probe_args(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *args)
{
	return tnfctl_kernel_argument(h->priv, kp_uprobe_args(h->priv, (unsigned)p->id, args));
}

static tnfctl_errcode_t
kernel_probe_describe(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	return kernel_answer(h, kp_probe_describe(h->priv, (unsigned)p->id));
}

static tnfctl_errcode_t
kernel_filter_follow(tnfctl_handle_t *h, pid_t pid)
{
	return kernel_answer(h, kp_filter_follow(h->priv, pid));
}

static tnfctl_errcode_t
kernel_mark(tnfctl_handle_t *h, const char *text, const char *by)
{
	tnfctl_errcode_t err = answer_buffer(h, kp_mark(h->priv, text, by));

	/* Its probe may be new. */
	return err != TNFCTL_ERR_NONE ? err : kernel_refresh(h);
}

static tnfctl_errcode_t
kernel_setting_set(tnfctl_handle_t *h, const char *name, unsigned int value)
{
	return answer_argument(h, kp_setting_set(h->priv, name, value));
}

static tnfctl_errcode_t
kernel_setting_get(tnfctl_handle_t *h, const char *name, unsigned int *ret)
{
	return answer_argument(h, kp_setting_get(h->priv, name, ret));
}

static const struct target_ops kernel_ops = {
	.close = kernel_close,
	.refresh = kernel_refresh,
	.attrs = kernel_attrs,
	.buffer_alloc = kernel_buffer_alloc,
	.buffer_dealloc = kernel_buffer_dealloc,
	.probe_state = kernel_probe_state,
	.probe_set = kernel_probe_set,
	.trace_set = kernel_trace_set,
	.filter_set = kernel_filter_set,
	.filter_list = kernel_filter_list,
	.filter_add = kernel_filter_add,
	.filter_delete = kernel_filter_delete,
	.filter_follow = kernel_filter_follow,
	.rule_add = kernel_rule_add,
	.rule_delete = kernel_rule_delete,
	.rule_apply = kernel_rule_apply,
	.lost = kernel_lost,
	.coverage = kernel_coverage,
	.mark = kernel_mark,
	.setting_set = kernel_setting_set,
	.setting_get = kernel_setting_get,
	.import_add = kernel_import_add,
	.probe_args = kernel_probe_args,
	.probe_where = kernel_probe_where,
	.probe_describe = kernel_probe_describe,
};

static tnfctl_errcode_t
kernel_handle(struct kp *kp, int e, tnfctl_handle_t **ret)
{
	tnfctl_errcode_t err;
	tnfctl_handle_t *h;

	if (e != 0) {
		err = fail_kernel(kp, e, kernel_code_of(e));
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

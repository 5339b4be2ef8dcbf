/*
 * imports.c - the imported probes of a process, kept and switched.
 */
#include "libtnfctl/fast.h"
#include "libtnfctl/functions.h"
#include "libtnfctl/proc.h"

#define FILES_MAX	8192u
#define BUFFER_SIZE	(4u << 20)	/* as prex makes one */

struct mapped_file {
	struct file_id id;
	bool	 seen;
};

struct imports {
	struct kp *kp;		/* NULL: no session now */
	struct mapped_file *file;
	size_t	 n;
};

/* Numbers of files are those of one file system; containers have several. */
bool
tnfctl_file_is(struct file_id a, const struct mapping *m)
{
	return a.inode == m->inode && a.device == m->device;
}

void
tnfctl_import_free(struct import *i)
{
	if (i == NULL)
		return;
	free(i->keys);
	free(i->name);
	free(i->args);
	free(i->undescribed);
	free(i);
}

void
tnfctl_imports_release(tnfctl_handle_t *h)
{
	if (h->imports == NULL)
		return;
	kp_close(h->imports->kp);
	h->imports->kp = NULL;
}

void
tnfctl_imports_free(tnfctl_handle_t *h)
{
	struct imports *im = h->imports;

	if (im == NULL)
		return;
	tnfctl_imports_release(h);
	free(im->file);
	free(im);
	h->imports = NULL;
}

/* True if this mapped file is known.  Then marks it as seen. */
static bool
file_seen(struct imports *im, const struct mapping *m)
{
	for (size_t i = 0; i < im->n; i++)
		if (tnfctl_file_is(im->file[i].id, m))
			return im->file[i].seen = true;
	return false;
}

static bool
read_file(tnfctl_handle_t *h, const struct maps *maps, const struct mapping *m)
{
	struct imports *im = h->imports;
	char path[KP_FILE_MAX];
	struct mapped_file *v;
	autoclose int fd = -1;

	if (im->n == FILES_MAX || (v = reallocarray(im->file, im->n + 1, sizeof *v)) == NULL)
		return false;
	im->file = v;
	v[im->n++] = (struct mapped_file){ { m->device, m->inode }, true };
	fd = tnfctl_proc_open_mapped(h->pid, m, path, sizeof path);
	return fd < 0 || tnfctl_imports_add_usdt(h, fd, maps, m, path);
}

/* Forgets files that are mapped no more. */
static void
forget_files(tnfctl_handle_t *h)
{
	struct imports *im = h->imports;

	for (size_t f = 0; f < im->n;) {
		struct file_id id = im->file[f].id;

		if (im->file[f].seen) {
			f++;
			continue;
		}
		for (size_t i = 0; i < h->nprobes; i++) {
			const struct import *of = h->probes[i]->import;

			if (of != NULL && of->file.inode == id.inode && of->file.device == id.device)
				h->probes[i]->gone = true;
		}
		im->file[f] = im->file[--im->n];
	}
}

tnfctl_errcode_t
tnfctl_imports_refresh(tnfctl_handle_t *h)
{
	size_t first = h->nprobes;
	struct maps maps;
	bool good = true;
	int error;

	if (h->imports == NULL || h->gone)
		return TNFCTL_ERR_NONE;
	if ((error = tnf_maps_read(h->pid, &maps)) != 0)
		return tnfctl_error_set_errno(error, "process %d: its mappings", (int)h->pid);
	for (size_t i = 0; i < h->imports->n; i++)
		h->imports->file[i].seen = false;
	for (size_t i = 0; good && i < maps.n; i++) {
		if (!maps.m[i].exec || maps.m[i].inode == 0)
			continue;
		good = file_seen(h->imports, &maps.m[i]) || read_file(h, &maps, &maps.m[i]);
	}
	if (maps.n > 0)
		forget_files(h);
	tnf_maps_free(&maps);
	tnfctl_imports_added(h, first);
	return good ? TNFCTL_ERR_NONE : tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
}

/* The kernel's part. */

static int
imports_find(const struct kp_uprobe_spec *spec, struct kp_uprobe_found *ret)
{
	return spec->flags & KP_UPROBE_FUNCTION ? tnfctl_functions_find(spec, ret) :
	    tnfctl_usdt_find(spec, false, ret);
}

static int
imports_find_for_kernel(const struct kp_uprobe_spec *spec, struct kp_uprobe_found *ret)
{
	return spec->flags & KP_UPROBE_FUNCTION ? imports_find(spec, ret) : tnfctl_usdt_find(spec, true, ret);
}

void
tnfctl_imports_finder(void)
{
	kp_uprobe_finder(imports_find_for_kernel);
}

static tnfctl_errcode_t
imports_session(tnfctl_handle_t *h)
{
	tnfctl_errcode_t err;
	struct kp *kp = NULL;
	int e;

	if (h->imports->kp != NULL)
		return TNFCTL_ERR_NONE;
	tnfctl_imports_finder();
	e = kp_open(true, &kp);
	if (e != 0) {
		err = tnfctl_kernel_code(kp, e);
		kp_close(kp);
		return err;
	}
	h->imports->kp = kp;
	return TNFCTL_ERR_NONE;
}

static int
number_of(struct kp *kp, const tnfctl_probe_t *p, unsigned *ret)
{
	const struct import *i = p->import;
	int e = kp_uprobe_add(kp, i->name, i->keys, &i->spec, ret);

	return e != 0 || i->args == NULL ? e : kp_probe_args(kp, *ret, i->args);
}

/* A probe that the kernel has on already stays the kernel's. */
static void
note_state(tnfctl_probe_t *p, const struct kp_probe *state)
{
	p->enabled = state->enabled;
	p->traced = state->traced || (p->traced && !p->enabled);
	if (p->enabled && p->fast != NULL)
		tnfctl_fast_give_up(p, "the kernel has it already");
}

void
tnfctl_imports_added(tnfctl_handle_t *h, size_t first)
{
	struct kp_probe state;
	struct kp *kp = NULL;
	unsigned id;
	size_t i;

	if (h->nprobes == first)
		return;
	tnfctl_imports_finder();
	if (kp_open(false, &kp) == 0)
		for (i = first; i < h->nprobes; i++) {
			tnfctl_work(h, WORK_LOOK);
			if (number_of(kp, h->probes[i], &id) == 0 &&
			    kp_probe_get(kp, id, &state) == 0)
				note_state(h->probes[i], &state);
		}
	kp_close(kp);
	tnfctl_probes_created(h, first);
}

tnfctl_errcode_t
tnfctl_imports_begin(tnfctl_handle_t *h)
{
	if (h->imports != NULL)
		return TNFCTL_ERR_NONE;
	h->imports = calloc(1, sizeof *h->imports);
	if (h->imports == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	return tnfctl_imports_refresh(h);
}

tnfctl_errcode_t
tnfctl_import_gone(const tnfctl_probe_t *p)
{
	return tnfctl_error_set(TNFCTL_ERR_INVALIDPROBE,
	    "probe %lu: its file is not mapped any more", p->id);
}

tnfctl_errcode_t
tnfctl_import_state(tnfctl_handle_t *h, tnfctl_probe_t *p, tnfctl_probe_state_t *ret)
{
	if (p->gone)
		return tnfctl_import_gone(p);
	ret->obj_name = p->import->spec.shown;
	return TNFCTL_ERR_NONE;
}

tnfctl_errcode_t
tnfctl_import_set(tnfctl_handle_t *h, tnfctl_probe_t *p, bool enabling, bool on)
{
	bool enabled = enabling ? on : p->enabled, traced = enabling ? p->traced : on;
	tnfctl_errcode_t err;
	unsigned id;
	int e;

	if (p->gone)
		return tnfctl_import_gone(p);
	if (enabled == p->enabled && traced == p->traced)
		return TNFCTL_ERR_NONE;
	/* No error, as for a probe that the kernel does not have: the other probes go on. */
	if (enabled && !p->enabled && p->import->refused != NULL)
		return tnfctl_error_set(TNFCTL_ERR_NONE, "%s: not available: %s",
		    p->import->name, p->import->refused);
	if ((err = imports_session(h)) != TNFCTL_ERR_NONE)
		return err;
	e = number_of(h->imports->kp, p, &id);
	if (e == 0)
		e = kp_probe_set(h->imports->kp, id, enabled, traced);
	if (e != 0)
		return tnfctl_kernel_code(h->imports->kp, e);
	p->enabled = enabled;
	p->traced = traced;
	return TNFCTL_ERR_NONE;
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_describe(tnfctl_handle_t *h, tnfctl_probe_t *p)
{
	struct kp *kernel = tnfctl_kernel_of(h);
	struct kp_uprobe_found found = { .members = 0 };
	struct import *i = p->import;
	struct kp_uprobe_spec spec;
	char *text;
	size_t n;

	if (kernel != NULL)
		return tnfctl_kernel_code(kernel, kp_probe_describe(kernel, (unsigned)p->id));
	if (i == NULL || p->gone)
		return TNFCTL_ERR_NONE;
	tnfctl_import_decide(h, p, false);
	if (i->described)
		return TNFCTL_ERR_NONE;
	spec = i->spec;
	n = strlen(spec.symbol);
	if (i->args != NULL)
		snprintf(spec.symbol + n, sizeof spec.symbol - n, " %s", i->args);
	imports_find(&spec, &found);
	free(found.site);
	if ((text = tnfctl_import_attrs(i, &found)) == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	i->described = true;
	free(i->undescribed);
	i->undescribed = p->attrs;
	p->attrs = text;
	return TNFCTL_ERR_NONE;
}

/* The arguments of a fast probe that is not made yet. */
static tnfctl_errcode_t
fast_args(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *args)
{
	struct kp_uprobe_found found = { .members = 0 };
	struct kp_uprobe_spec spec = p->import->spec;
	size_t n = strlen(spec.symbol);
	char *copy;
	int e;

	if ((size_t)snprintf(spec.symbol + n, sizeof spec.symbol - n, " %s", args) >= sizeof spec.symbol - n)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s: args: they are too long", p->import->name);
	e = imports_find(&spec, &found);
	free(found.site);
	if (e != 0)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%s", found.why);
	if ((copy = strdup(args)) == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	free(p->import->args);
	p->import->args = copy;
	p->import->described = false;
	return tnfctl_probe_describe(h, p);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_args(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *args)
{
	struct kp *kernel = tnfctl_kernel_of(h);
	tnfctl_errcode_t err;
	char *copy, *old;
	unsigned id = 0;
	int e = 0;

	if (kernel != NULL)
		return tnfctl_kernel_argument(kernel, kp_probe_args(kernel, (unsigned)p->id, args));
	if (p->fast != NULL && p->fast->made)
		return tnfctl_error_set(TNFCTL_ERR_BUSY, "the process has it with other arguments already: "
		    "give them before it is first switched on");
	if (p->import == NULL || p->gone)
		return tnfctl_wrong_kind(ONLY_ARGS);
	tnfctl_import_decide(h, p, true);
	if (p->fast != NULL && strstr(args, "->") != NULL)
		tnfctl_fast_give_up(p, "only the kernel goes to members of structures");
	if (p->fast != NULL)
		return fast_args(h, p, args);
	if ((err = imports_session(h)) != TNFCTL_ERR_NONE)
		return err;
	if ((copy = strdup(args)) == NULL)
		return tnfctl_error_set(TNFCTL_ERR_ALLOCFAIL, NULL);
	old = p->import->args;
	p->import->args = copy;
	if ((e = number_of(h->imports->kp, p, &id)) == 0) {
		free(old);
		p->import->described = false;
		return tnfctl_probe_describe(h, p);
	}
	p->import->args = old;
	free(copy);
	return tnfctl_kernel_argument(h->imports->kp, e);
}

/* The session that has a probe, and the probe's number there. */
static tnfctl_errcode_t
session_of(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *others, struct kp **kp, unsigned *id)
{
	tnfctl_errcode_t err;

	*id = (unsigned)p->id;
	if ((*kp = tnfctl_kernel_of(h)) != NULL)
		return TNFCTL_ERR_NONE;
	if (p->import == NULL || p->gone)
		return tnfctl_wrong_kind(others);
	if ((err = imports_session(h)) != TNFCTL_ERR_NONE)
		return err;
	*kp = h->imports->kp;
	return tnfctl_kernel_argument(*kp, number_of(*kp, p, id));
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_where(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *conditions)
{
	tnfctl_errcode_t err;
	struct kp *kp = NULL;
	unsigned id = 0;

	if (tnfctl_kernel_of(h) == NULL)
		tnfctl_import_decide(h, p, conditions != NULL);
	if (conditions != NULL && (err = tnfctl_fast_ready(h, p, false)) != TNFCTL_ERR_NONE)
		return err;
	if (p->fast != NULL && p->fast->made)
		return p->gone ? tnfctl_import_gone(p) : tnfctl_fast_where(h, p, conditions);
	if (p->fast != NULL && conditions == NULL)
		return TNFCTL_ERR_NONE;
	if (conditions == NULL && tnfctl_kernel_of(h) == NULL && (p->import == NULL || p->gone))
		return TNFCTL_ERR_NONE;
	err = session_of(h, p, ONLY_WHERE, &kp, &id);
	return err != TNFCTL_ERR_NONE ? err :
	    tnfctl_kernel_argument(kp, kp_probe_where(kp, id, conditions));
}

/* The same for what a process that records a fast probe itself cannot do. */
static tnfctl_errcode_t
kernel_session_of(tnfctl_handle_t *h, tnfctl_probe_t *p, const char *others, struct kp **kp,
    unsigned *id)
{
	if (tnfctl_kernel_of(h) == NULL)
		tnfctl_import_decide(h, p, true);
	/* One that another session has made is no import of this one. */
	if (p->fast != NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "%.*s: the process records it itself, which "
		    "knows neither stacks nor freeze: prex --no-fast has the kernel record it",
		    (int)strcspn(p->attrs + strlen("name "), ";"), p->attrs + strlen("name "));
	return session_of(h, p, others, kp, id);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_freezes(tnfctl_handle_t *h, tnfctl_probe_t *p, boolean_t freezes)
{
	tnfctl_errcode_t err;
	struct kp *kp = NULL;
	unsigned id = 0;

	if (!freezes && tnfctl_kernel_of(h) == NULL && (p->import == NULL || p->gone || h->imports->kp == NULL ||
	    p->fast != NULL))
		return TNFCTL_ERR_NONE;
	err = kernel_session_of(h, p, ONLY_FREEZES, &kp, &id);
	return err != TNFCTL_ERR_NONE ? err :
	    tnfctl_kernel_argument(kp, kp_probe_freezes(kp, id, freezes));
}

TNFCTL_API tnfctl_errcode_t
tnfctl_probe_stacks(tnfctl_handle_t *h, tnfctl_probe_t *p, unsigned int kernel, unsigned int user)
{
	tnfctl_errcode_t err;
	struct kp *kp = NULL;
	unsigned id = 0;

	err = kernel_session_of(h, p, ONLY_STACKS, &kp, &id);
	return err != TNFCTL_ERR_NONE ? err :
	    tnfctl_kernel_argument(kp, kp_probe_stacks(kp, id, kernel, user));
}

tnfctl_errcode_t
tnfctl_import_mark(tnfctl_handle_t *h, const char *text, const char *by,
    const char *names, const int64_t *values)
{
	tnfctl_errcode_t err = imports_session(h);
	struct kp_status status;
	int e;

	if (err != TNFCTL_ERR_NONE)
		return err;
	e = kp_mark(h->imports->kp, text, by, names, values);
	/* A pin that is gone is the same error; kernel-probes' own words are for a buffer
	   that one makes by a command, as prex -k does. */
	if (e == -ENOENT && kp_status(h->imports->kp, &status) == 0 && status.size == 0)
		return tnfctl_error_set(TNFCTL_ERR_NOBUF,
		    "mark: the kernel has no buffer for the events "
		    "of this process so far: enable a probe first");
	if (e == -EAGAIN)
		return tnfctl_error_set(TNFCTL_ERR_BADARG,
		    "mark: tracing is off in the kernel, and nothing "
		    "is recorded: switch it on (prex -k, ktrace on)");
	return tnfctl_kernel_code(h->imports->kp, e);
}

TNFCTL_API tnfctl_errcode_t
tnfctl_import_buffer(tnfctl_handle_t *h, size_t size, size_t *ret)
{
	struct kp_status status;
	tnfctl_errcode_t err;
	size_t got = 0;
	int e;

	if (h->imports == NULL)
		return tnfctl_error_set(TNFCTL_ERR_BADARG, "this handle has no imported probes");
	if ((err = imports_session(h)) != TNFCTL_ERR_NONE)
		return err;
	e = kp_status(h->imports->kp, &status);
	if (e == 0 && status.state == KP_NONE) {
		e = kp_buffer_alloc(h->imports->kp, size == 0 ? BUFFER_SIZE : size, &got);
		if (e == 0)
			e = kp_trace_set(h->imports->kp, true);
	}
	if (e != 0)
		return tnfctl_kernel_code(h->imports->kp, e);
	*ret = got;
	return TNFCTL_ERR_NONE;
}

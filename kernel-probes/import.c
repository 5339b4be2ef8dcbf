/*
 * import.c - the imported probes of a session: added, listed, described, and switched on and off.  A
 * mark is one that we hit ourselves.
 */
#include <stdarg.h>

#include "kernel-probes/handle.h"

const struct kp_import_kind *const kp_import_kinds[KP_IMPORT_KINDS] = {
	[KP_IMPORT_TRACEPOINT] = &kp_tracepoint,
	[KP_IMPORT_CALL_ARGS] = &kp_call_args,
	[KP_IMPORT_CALL_PATH] = &kp_call_path,
	[KP_IMPORT_CALL_FD] = &kp_call_fd,
	[KP_IMPORT_UPROBE] = &kp_uprobe,
	[KP_IMPORT_FUNCTION] = &kp_function,
	[KP_IMPORT_MARK] = &kp_mark_kind,
};

/* Kind, name and source together identify a probe. */
struct key {
	char	text[sizeof ((struct kp_asked *)0)->name + sizeof ((struct kp_asked *)0)->source + 16];
	size_t	size;
};

static void
key_make(struct key *k, const struct kp_import_kind *kind, const char *name, const char *source)
{
	k->size = (size_t)snprintf(k->text, sizeof k->text, "%u %s%c%s", kind->number, name, '\0',
	    source);
}

static bool
import_grow(struct kp *kp)
{
	struct kp_import **list = tnf_grow(kp->import, kp->imports, sizeof *list);

	if (list == NULL)
		return false;
	kp->import = list;
	if (kp->imports == 0)
		tnf_map_init(&kp->import_by_key, sizeof(struct kp_import *));
	return true;
}

static void
import_free(struct kp_import *imp)
{
	if (imp == NULL)
		return;
	for (unsigned i = 0; i < imp->members; i++)
		free(imp->member[i].name);
	free(imp->name);
	free(imp->keys);
	free(imp->source);
	free(imp->where);
	free(imp->attrs);
	free(imp->bound);
	free(imp->spec);
	free(imp);
}

static struct kp_import *
import_new(const struct kp_import_new *new)
{
	struct kp_import *imp = calloc(1, sizeof *imp);

	if (imp == NULL)
		return NULL;
	imp->kind = new->kind;
	imp->name = strdup(new->name);
	imp->keys = strdup(new->keys);
	imp->source = strdup(new->source != NULL ? new->source : "");
	imp->attrs = new->attrs != NULL ? strdup(new->attrs) : NULL;
	imp->bound = new->bound != NULL ? strdup(new->bound) : NULL;
	imp->spec_size = new->spec_size;
	imp->spec = new->spec_size > 0 ? malloc(new->spec_size) : NULL;
	imp->row.size = sizeof(struct kp_event);
	imp->slot = -1;
	if (imp->name == NULL || imp->keys == NULL || imp->source == NULL ||
	    (new->attrs != NULL && imp->attrs == NULL) ||
	    (new->bound != NULL && imp->bound == NULL) ||
	    (new->spec_size > 0 && imp->spec == NULL)) {
		import_free(imp);
		return NULL;
	}
	if (imp->spec != NULL)
		memcpy(imp->spec, new->spec, new->spec_size);
	return imp;
}

int
kp_import_add(struct kp *kp, const struct kp_import_new *new, struct kp_import **ret)
{
	const char *source = new->source != NULL ? new->source : "";
	struct kp_import *imp, **at;
	struct key key;
	bool fresh;

	if (strlen(new->name) >= sizeof ((struct kp_asked *)0)->name ||
	    strlen(new->keys) >= sizeof ((struct kp_asked *)0)->keys ||
	    strlen(source) >= sizeof ((struct kp_asked *)0)->source ||
	    new->spec_size > KP_SPEC_MAX)
		return kp_fail(kp, -E2BIG, "%s: its name, keys or origin is too long "
		    "for a probe", new->name);
	if (!import_grow(kp))
		return kp_fail(kp, -ENOMEM, "%s: not enough memory", new->name);
	key_make(&key, new->kind, new->name, source);
	at = tnf_map_put(&kp->import_by_key, key.text, key.size, &fresh);
	if (at == NULL)
		return kp_fail(kp, -ENOMEM, "%s: not enough memory", new->name);
	if (fresh && (imp = import_new(new)) == NULL) {
		tnf_map_remove(&kp->import_by_key, key.text, key.size);
		return kp_fail(kp, -ENOMEM, "%s: not enough memory", new->name);
	}
	if (fresh) {
		imp->id = KP_PROBES + kp->imports;
		kp->import[kp->imports++] = *at = imp;
	}
	*ret = *at;
	return 0;
}

struct kp_import *
kp_import_of(struct kp *kp, unsigned id)
{
	return id >= KP_PROBES && id - KP_PROBES < kp->imports ?
	    kp->import[id - KP_PROBES] : NULL;
}

int
kp_import_member(struct kp_import *imp, const char *type, const char *name)
{
	uint32_t size = kp_defs_scalar(type), at = imp->row.size;
	struct kp_import_member *m = &imp->member[imp->members];

	if (size == 0)
		size = sizeof(tnf_ref32_t);
	/* row.size is a multiple of 8; the last member tells where it really ends. */
	if (imp->members > 0)
		at = m[-1].at + (kp_defs_scalar(m[-1].type) != 0 ?
		    kp_defs_scalar(m[-1].type) : sizeof(tnf_ref32_t));
	at = (at + size - 1) & ~(size - 1);
	if (imp->members == KP_IMPORT_MEMBERS || at + size > KP_FIXED_MAX)
		return -E2BIG;
	m->type = type;
	m->name = strndup(name, TNF_NAME_MAX);
	m->at = at;
	if (m->name == NULL)
		return -ENOMEM;
	imp->row.size = (at + size + 7) & ~7u;
	imp->members++;
	return 0;
}

void
kp_import_lacks(struct kp_import *imp, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(imp->lacks, sizeof imp->lacks, fmt, ap);
	va_end(ap);
}

int
kp_import_describe(struct kp *kp, struct kp_import *imp)
{
	int r;

	if (imp->described)
		return imp->lacks[0] == '\0' ? 0 : -ENOTSUP;
	imp->described = true;
	r = imp->kind->describe != NULL ? imp->kind->describe(kp, imp) : 0;
	if (r == 0)
		r = kp_import_stacks(imp);
	if (r < 0 && imp->lacks[0] == '\0')
		kp_import_lacks(imp, "%s", strerror(-r));
	return r;
}

/* Forgets the members, and the attributes that came with them. */
static int
import_forget(struct kp *kp, struct kp_import *imp)
{
	free(imp->attrs);
	free(imp->bound);
	imp->attrs = imp->bound = NULL;
	while (imp->members > 0)
		free(imp->member[--imp->members].name);
	imp->row.size = sizeof(struct kp_event);
	imp->row.ops = 0;
	imp->row.stacks.at = 0;
	imp->described = false;
	imp->lacks[0] = '\0';
	return imp->kind->revive != NULL ? imp->kind->revive(kp, imp) : 0;
}

/* Takes another spec instead of the probe's, which goes to *ret. */
static int
change_args(struct kp *kp, struct kp_import *imp, const char *args, struct kp_import *ret)
{
	int r;

	ret->spec = imp->spec;
	ret->spec_size = imp->spec_size;
	if (imp->spec_size != 0 && (imp->spec = malloc(imp->spec_size)) != NULL)
		memcpy(imp->spec, ret->spec, imp->spec_size);
	if (imp->spec_size != 0 && imp->spec == NULL)
		return -ENOMEM;
	if ((r = imp->kind->args(kp, imp, args)) < 0)
		return r;
	if (imp->spec_size == ret->spec_size &&
	    (imp->spec_size == 0 || memcmp(imp->spec, ret->spec, imp->spec_size) == 0))
		return 0;
	if (imp->defined)
		return kp_fail(kp, -EBUSY, "%s: the buffer has it with other arguments already: "
		    "free that first (buffer dealloc)", imp->name);
	if ((r = import_forget(kp, imp)) == 0)
		r = kp_import_describe(kp, imp);
	if (r == 0 && (imp->enabled || imp->traced))
		r = kp_asked_put(kp, imp);
	return r;
}

KP_EXPORT int
kp_probe_args(struct kp *kp, unsigned id, const char *args)
{
	struct kp_import *imp = kp_import_of(kp, id), old = { .spec = NULL };
	int r;

	if (imp == NULL || imp->kind->args == NULL)
		return kp_fail(kp, -ENOTSUP, "args: only USDT probes, functions and tracepoints "
		    "have them");
	r = change_args(kp, imp, args, &old);
	if (r == 0) {
		free(old.spec);
		return 0;
	}
	free(imp->spec);
	imp->spec = old.spec;
	imp->spec_size = old.spec_size;
	if (r != -EBUSY)
		import_forget(kp, imp);
	return r;
}

KP_EXPORT int
kp_probe_describe(struct kp *kp, unsigned id)
{
	struct kp_import *imp = kp_import_of(kp, id);

	return imp == NULL ? 0 : kp_import_describe(kp, imp);
}

/* The number of hits that the probe has left out on all CPUs so far. */
static uint64_t
import_omitted(struct kp *kp, const struct kp_import *imp)
{
	struct kp_import_count *c;
	uint32_t slot = (uint32_t)imp->slot;
	uint64_t sum = 0;

	if (imp->slot < 0 || kp->counts_fd < 0 || kp->cpus < 1 ||
	    (c = calloc(kp->cpus, sizeof *c)) == NULL)
		return 0;
	if (bpf_map_lookup_elem(kp->counts_fd, &slot, c) == 0)
		for (int i = 0; i < kp->cpus; i++)
			sum += c[i].omitted;
	free(c);
	return sum;
}

struct text {
	char	*buf;
	size_t	 n, room;
};

static void __attribute__((format(printf, 2, 3)))
text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->n, t->room - t->n, fmt, ap);
	va_end(ap);
	t->n = n < 0 || (size_t)n >= t->room - t->n ? t->room - 1 : t->n + n;
}

int
kp_import_get(struct kp *kp, unsigned id, struct kp_probe *ret)
{
	struct kp_import *imp = kp_import_of(kp, id);
	struct text t = { kp->attrs, 0, sizeof kp->attrs };
	uint64_t left_out;
	char path[PATH_MAX];

	if (imp == NULL)
		return -EINVAL;
	text_add(&t, "name %s;", imp->name);
	if (imp->described) {
		text_add(&t, "slots ");
		for (unsigned i = 0; i < imp->members; i++)
			text_add(&t, "%s ", imp->member[i].name);
		text_add(&t, ";");
	}
	text_add(&t, "keys %s;", imp->keys);
	if (imp->kind->file != NULL) {
		imp->kind->file(imp, path, sizeof path);
		text_add(&t, "file %s;line 1;", path);
	}
	text_add(&t, "%s%sorigin %s;", imp->attrs != NULL ? imp->attrs : "",
	    imp->bound != NULL ? imp->bound : "", imp->kind->name);
	if (imp->row.stacks.kernel != 0)
		text_add(&t, "stack %u;", imp->row.stacks.kernel);
	if (imp->row.stacks.user != 0)
		text_add(&t, "ustack %u;", imp->row.stacks.user);
	if (imp->where != NULL)
		text_add(&t, "where '%s';", imp->where);
	if (imp->freezes)
		text_add(&t, "then freeze;");
	if (imp->lacks[0] != '\0')
		text_add(&t, "unavailable %s;", imp->lacks);
	if ((left_out = import_omitted(kp, imp)) != 0)
		text_add(&t, "omitted %llu;", (unsigned long long)left_out);
	ret->id = id;
	ret->attrs = kp->attrs;
	ret->available = imp->lacks[0] == '\0';
	ret->enabled = imp->enabled;
	ret->traced = imp->traced;
	ret->imported = true;
	return 0;
}

void
kp_imports_free(struct kp *kp)
{
	for (unsigned i = 0; i < kp->imports; i++)
		import_free(kp->import[i]);
	free(kp->import);
	tnf_map_free(&kp->import_by_key);
}

#define PROGRAM	"import_mark"

/* The source has the names of the numbers: each list of names is a probe of its own. */
static int
describe_mark(struct kp *kp, struct kp_import *imp)
{
	char *names = strdup(imp->source), *rest = names, *name;
	int r = names == NULL ? -ENOMEM : kp_import_member(imp, "tnf_string", TNF_N_MARK_TEXT);

	if (r == 0)
		r = kp_import_member(imp, "tnf_string", TNF_N_MARK_BY);
	while (r == 0 && (name = strtok_r(rest, " ", &rest)) != NULL)
		r = kp_import_member(imp, "tnf_int64", name);
	free(names);
	return r;
}

/* The program is attached nowhere: kp_mark() runs it. */
static int
attach_mark(struct kp *kp, struct kp_import *imp, int prog)
{
	return 0;
}

const struct kp_import_kind kp_mark_kind = {
	.number = KP_IMPORT_MARK, .name = "mark", .program = PROGRAM,
	.describe = describe_mark, .attach = attach_mark,
};

static unsigned
numbers(const char *names)
{
	unsigned n = 0;

	for (; *(names += strspn(names, " ")) != '\0'; names += strcspn(names, " "))
		n++;
	return n;
}

/* The program reads the two strings and the numbers out of our memory. */
static int
mark_hit(struct kp *kp, const struct kp_import *imp, const char *text, const char *by,
    const int64_t *values)
{
	uint64_t args[] = { (uint64_t)imp->slot, (uintptr_t)text, (uintptr_t)by,
	    (uintptr_t)values, numbers(imp->source) * sizeof *values };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof args);
	autoclose int prog = bpf_obj_get(KP_DIR_PROG "/" PROGRAM);
	int r;

	if (prog < 0)
		return kp_refused(kp, prog, KP_DIR_PROG "/" PROGRAM);
	if ((r = bpf_prog_test_run_opts(prog, &opts)) < 0)
		return kp_refused(kp, r, "mark");
	return opts.retval == 1 ? 0 : kp_fail(kp, -ENOBUFS, "mark: it was not written: the "
	    "buffer had no room for it: if it is one that is filled once, make it anew "
	    "(buffer dealloc)");
}

/* The mark's probe is on for as long as this call takes. */
KP_EXPORT int
kp_mark(struct kp *kp, const char *text, const char *by, const char *names,
    const int64_t *values)
{
	const struct kp_import_new mark = { .kind = &kp_mark_kind,
	    .name = TNF_N_MARK, .keys = TNF_N_MARK, .source = names };
	struct kp_import *imp;
	bool enabled, traced;
	int r, back;

	if ((r = kp_state_usable(kp)) < 0)
		return r;
	if (kp->state->buffer_size == 0)
		return kp_fail(kp, -ENOENT, "mark: there is no buffer: make one (buffer alloc)");
	if (!kp_is_tracing(kp->state))
		return kp_fail(kp, -EAGAIN, "mark: tracing is off, and nothing is recorded: "
		    "switch it on (ktrace on)");
	if ((r = kp_import_add(kp, &mark, &imp)) < 0)
		return r;
	enabled = imp->enabled;
	traced = imp->traced;
	if ((r = kp_import_set(kp, imp->id, true, true)) < 0)
		return r;
	r = mark_hit(kp, imp, text, by, values);
	back = kp_import_set(kp, imp->id, enabled, traced);
	return r < 0 ? r : back;
}

#define GONE_TRIES	200
#define GONE_US		10000

void
kp_import_stop(struct kp *kp, struct kp_import *imp)
{
	if (imp->slot < 0)
		return;
	if (kp->rows_fd >= 0 && imp->attached)
		kp_import_row_off(kp, imp);
	kp_import_unpin((unsigned)imp->slot);
	if (imp->kind->detached != NULL)
		imp->kind->detached(kp, imp);
	imp->attached = false;
}

static int
import_switch_attach(struct kp *kp, struct kp_import *imp)
{
	char path[PATH_MAX];
	int prog, r;

	snprintf(path, sizeof path, KP_DIR_PROG "/%s", imp->kind->program);
	prog = bpf_obj_get(path);
	for (int i = 0; prog == -ENOENT && i < 2 && imp->kind->otherwise[i] != NULL; i++) {
		snprintf(path, sizeof path, KP_DIR_PROG "/%s", imp->kind->otherwise[i]);
		prog = bpf_obj_get(path);
	}
	if (prog == -ENOENT)
		return kp_fail(kp, -ENOTSUP, "%s: program %s refused by the kernel",
		    imp->name, imp->kind->program);
	if (prog < 0)
		return kp_refused(kp, prog, path);
	kp_import_unpin((unsigned)imp->slot);	/* links that a killed session left */
	/* A worker of the kernel removes an unpinned link a moment later; until then the
	   kernel refuses the same program with the same cookie. */
	for (int i = 0; (r = imp->kind->attach(kp, imp, prog)) == -EEXIST && i < GONE_TRIES; i++)
		usleep(GONE_US);
	close(prog);
	return r;
}

static int
import_switch_start(struct kp *kp, struct kp_import *imp)
{
	int r;

	if (imp->attached)
		return 0;
	if ((r = kp_import_describe(kp, imp)) < 0 || (r = kp_import_load(kp)) < 0 ||
	    (r = kp_pins_dir(kp, KP_DIR_IMPORT)) < 0 || (r = kp_asked_put(kp, imp)) < 0 ||
	    (r = kp_import_define(kp, imp)) < 0)
		return r;
	kp_import_row_prepare(kp, imp);
	if ((r = kp_import_row_where(kp, imp)) < 0 ||
	    (r = kp_import_row_put(kp, imp, false)) < 0 ||
	    (r = import_switch_attach(kp, imp)) < 0 ||
	    (r = kp_import_row_put(kp, imp, true)) < 0) {
		kp_import_unpin((unsigned)imp->slot);
		return r;
	}
	imp->attached = true;
	return 0;
}

static bool
import_switch_records(const struct kp *kp, const struct kp_import *imp)
{
	return kp_is_tracing(kp->state) && kp->state->buffer_size != 0 && imp->enabled &&
	    imp->traced;
}

static int
sync_one(struct kp *kp, struct kp_import *imp)
{
	if (import_switch_records(kp, imp))
		return import_switch_start(kp, imp);
	kp_import_stop(kp, imp);
	return 0;
}

bool
kp_imports_wanted(const struct kp *kp)
{
	return kp_is_tracing(kp->state) && kp->state->buffer_size != 0 && kp->imports_on > 0;
}

int
kp_imports_sync(struct kp *kp)
{
	int r = 0;

	if (kp_imports_wanted(kp))	/* else the reason of an error that is undone here would be lost */
		kp_raw_prepare(kp, import_switch_records);
	for (unsigned i = 0; r == 0 && i < kp->imports; i++)
		if (kp->import[i]->slot >= 0 || import_switch_records(kp, kp->import[i]))
			r = sync_one(kp, kp->import[i]);
	return r;
}

void
kp_import_change(struct kp *kp, struct kp_import *imp, bool enabled, bool traced)
{
	kp->imports_on -= imp->enabled && imp->traced;
	imp->enabled = enabled;
	imp->traced = traced;
	kp->imports_on += imp->enabled && imp->traced;
}

int
kp_import_set(struct kp *kp, unsigned id, bool enabled, bool traced)
{
	struct kp_import *imp = kp_import_of(kp, id);
	bool was_enabled, was_traced;
	int r;

	if (imp == NULL)
		return -EINVAL;
	if (imp->enabled == enabled && imp->traced == traced)
		return 0;
	if ((r = kp_state_usable(kp)) < 0)
		return r;
	if (enabled && !imp->enabled && kp_import_describe(kp, imp) < 0)
		return kp_fail(kp, -ENOTSUP, "%s: not available: %s", imp->name, imp->lacks);
	if ((r = kp_state_make(kp)) < 0)
		return r;
	was_enabled = imp->enabled;
	was_traced = imp->traced;
	kp_import_change(kp, imp, enabled, traced);
	if ((r = kp_asked_save(kp, imp)) < 0 || (r = kp_attach_sync(kp)) < 0 ||
	    (r = sync_one(kp, imp)) < 0) {
		kp_import_change(kp, imp, was_enabled, was_traced);
		kp_asked_save(kp, imp);
		return r;
	}
	return 0;
}

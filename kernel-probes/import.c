/*
 * import.c - the imported probes of a session: added, listed, switched on and off.
 */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <tnf/com.h>

#include "kernel-probes/defs.h"
#include "kernel-probes/handle.h"
#include "kernel-probes/import.h"
#include "kernel-probes/where.h"

const struct kp_import_kind *const kp_import_kinds[KP_IMPORT_KINDS] = {
	[KP_IMPORT_TRACEPOINT] = &kp_tracepoint,
	[KP_IMPORT_CALL_ARGS] = &kp_call_args,
	[KP_IMPORT_CALL_PATH] = &kp_call_path,
	[KP_IMPORT_CALL_FD] = &kp_call_fd,
	[KP_IMPORT_UPROBE] = &kp_uprobe,
	[KP_IMPORT_FUNCTION] = &kp_function,
};

/* Those that are known, by kind, name and source. */

static unsigned
hash_of(const struct kp_import_kind *kind, const char *name, const char *source)
{
	unsigned h = 2166136261u ^ kind->number;

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	for (; *source != '\0'; source++)
		h = (h ^ (unsigned char)*source) * 16777619u;
	return h;
}

/* The place in the table: of the probe if it is there, else a free one. */
static unsigned *
hash_place(struct kp *kp, const struct kp_import_kind *kind, const char *name,
    const char *source)
{
	unsigned i = hash_of(kind, name, source), mask = kp->import_hash_size - 1;
	const struct kp_import *imp;

	for (;; i++) {
		unsigned *at = &kp->import_hash[i & mask];

		if (*at == 0)
			return at;
		imp = kp->import[*at - 1];
		if (imp->kind == kind && strcmp(imp->name, name) == 0 &&
		    strcmp(imp->source, source) == 0)
			return at;
	}
}

static bool
grow(struct kp *kp)
{
	unsigned room = kp->import_room == 0 ? 512 : 2 * kp->import_room;
	struct kp_import **list = realloc(kp->import, room * sizeof *list);
	unsigned *hash;

	if (list == NULL)
		return false;
	kp->import = list;
	hash = calloc(2 * room, sizeof *hash);
	if (hash == NULL)
		return false;
	free(kp->import_hash);
	kp->import_hash = hash;
	kp->import_hash_size = 2 * room;
	kp->import_room = room;
	for (unsigned i = 0; i < kp->imports; i++)
		*hash_place(kp, list[i]->kind, list[i]->name, list[i]->source) = i + 1;
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
	imp->spec_size = new->spec_size;
	imp->spec = new->spec_size > 0 ? malloc(new->spec_size) : NULL;
	imp->row.size = sizeof(struct kp_event);
	imp->slot = -1;
	if (imp->name == NULL || imp->keys == NULL || imp->source == NULL ||
	    (new->attrs != NULL && imp->attrs == NULL) ||
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
	struct kp_import *imp;
	unsigned *at;

	if (strlen(new->name) >= sizeof ((struct kp_asked *)0)->name ||
	    strlen(new->keys) >= sizeof ((struct kp_asked *)0)->keys ||
	    strlen(source) >= sizeof ((struct kp_asked *)0)->source ||
	    new->spec_size > KP_SPEC_MAX)
		return kp_fail(kp, -E2BIG, "%s: its name, keys or origin is too long "
		    "for a probe", new->name);
	if (kp->imports == kp->import_room && !grow(kp))
		return kp_fail(kp, -ENOMEM, "%s: not enough memory", new->name);
	at = hash_place(kp, new->kind, new->name, source);
	if (*at == 0) {
		imp = import_new(new);
		if (imp == NULL)
			return kp_fail(kp, -ENOMEM, "%s: not enough memory", new->name);
		imp->id = KP_PROBES + kp->imports;
		kp->import[kp->imports++] = imp;
		*at = kp->imports;
	}
	*ret = kp->import[*at - 1];
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

static int
describe(struct kp *kp, struct kp_import *imp)
{
	int r;

	if (imp->described)
		return 0;
	imp->described = true;
	r = imp->kind->describe != NULL ? imp->kind->describe(kp, imp) : 0;
	if (r < 0 && imp->lacks[0] == '\0')
		kp_import_lacks(imp, "%s", strerror(-r));
	return r;
}

KP_EXPORT int
kp_probe_describe(struct kp *kp, unsigned id)
{
	struct kp_import *imp = kp_import_of(kp, id);

	return imp == NULL ? 0 : describe(kp, imp);
}

/* What it has left out on all CPUs so far. */
static uint64_t
omitted(struct kp *kp, const struct kp_import *imp)
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
	text_add(&t, "%sorigin %s;", imp->attrs != NULL ? imp->attrs : "", imp->kind->name);
	if (imp->where != NULL)
		text_add(&t, "where '%s';", imp->where);
	if (imp->lacks[0] != '\0')
		text_add(&t, "unavailable %s;", imp->lacks);
	if ((left_out = omitted(kp, imp)) != 0)
		text_add(&t, "omitted %llu;", (unsigned long long)left_out);
	ret->id = id;
	ret->attrs = kp->attrs;
	ret->available = imp->lacks[0] == '\0';
	ret->enabled = imp->enabled;
	ret->traced = imp->traced;
	ret->imported = true;
	return 0;
}

/* What outlives us. */

static int
asked_open(struct kp *kp)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	int r;

	if (kp->asked_fd >= 0)
		return 0;
	kp->asked_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "tnf_asked", sizeof(uint32_t),
	    sizeof(struct kp_asked), KP_IMPORTS, &opts);
	if (kp->asked_fd < 0)
		return kp_refused(kp, kp->asked_fd, "BPF map");
	if ((r = bpf_obj_pin(kp->asked_fd, KP_PIN_ASKED)) < 0)
		return kp_refused(kp, r, KP_PIN_ASKED);
	return 0;
}

static int
slot_give(struct kp *kp, struct kp_import *imp)
{
	for (unsigned i = 0; i < KP_IMPORTS; i++)
		if (!(kp->slots[i / 64] >> i % 64 & 1)) {
			kp->slots[i / 64] |= 1ull << i % 64;
			imp->slot = (int)i;
			return 0;
		}
	return kp_fail(kp, -ENOSPC, "%s: %u imported probes are in use: disable some, or "
	    "make a new buffer", imp->name, KP_IMPORTS);
}

static void
slot_take(struct kp *kp, struct kp_import *imp)
{
	uint32_t slot = (uint32_t)imp->slot;

	bpf_map_delete_elem(kp->asked_fd, &slot);
	kp->slots[slot / 64] &= ~(1ull << slot % 64);
	imp->slot = -1;
}

static int
asked_put(struct kp *kp, struct kp_import *imp)
{
	struct kp_asked a = {
		.kind = imp->kind->number,
		.flags = (imp->enabled ? KP_ASKED_ENABLED : 0) |
		    (imp->traced ? KP_ASKED_TRACED : 0),
		.defined = imp->defined,
		.spec_size = imp->spec_size,
	};
	uint32_t slot;
	int r;

	if ((r = asked_open(kp)) < 0 || (imp->slot < 0 && (r = slot_give(kp, imp)) < 0))
		return r;
	slot = (uint32_t)imp->slot;
	snprintf(a.name, sizeof a.name, "%s", imp->name);
	snprintf(a.keys, sizeof a.keys, "%s", imp->keys);
	snprintf(a.source, sizeof a.source, "%s", imp->source);
	snprintf(a.where, sizeof a.where, "%s", imp->where != NULL ? imp->where : "");
	if (imp->spec != NULL)
		memcpy(a.spec, imp->spec, imp->spec_size);
	r = bpf_map_update_elem(kp->asked_fd, &slot, &a, BPF_ANY);
	return r < 0 ? kp_refused(kp, r, KP_PIN_ASKED) : 0;
}

/* Nobody asks for it any more.  A definition in the buffer stays for its next use. */
static int
asked_save(struct kp *kp, struct kp_import *imp)
{
	if (imp->enabled || imp->traced || imp->defined || imp->where != NULL)
		return asked_put(kp, imp);
	if (imp->slot >= 0)
		slot_take(kp, imp);
	return 0;
}

static void
revive(struct kp *kp, uint32_t slot, struct kp_asked *a)
{
	struct kp_import_new new = { .name = a->name, .keys = a->keys,
	    .source = a->source, .spec = a->spec, .spec_size = a->spec_size };
	struct kp_import_row row;
	struct kp_import *imp;

	if (slot >= KP_IMPORTS)
		return;
	kp->slots[slot / 64] |= 1ull << slot % 64;
	a->where[sizeof a->where - 1] = a->name[sizeof a->name - 1] = a->keys[sizeof a->keys - 1] =
	    a->source[sizeof a->source - 1] = '\0';
	if (a->kind >= KP_IMPORT_KINDS || kp_import_kinds[a->kind] == NULL ||
	    a->spec_size > KP_SPEC_MAX)
		return;
	new.kind = kp_import_kinds[a->kind];
	if (kp_import_add(kp, &new, &imp) < 0)
		return;
	imp->slot = (int)slot;
	imp->where = a->where[0] != '\0' ? strdup(a->where) : NULL;
	imp->enabled = a->flags & KP_ASKED_ENABLED;
	imp->traced = a->flags & KP_ASKED_TRACED;
	imp->defined = a->defined;
	kp->imports_on += imp->enabled && imp->traced;
	imp->attached = kp->rows_fd >= 0 &&
	    bpf_map_lookup_elem(kp->rows_fd, &slot, &row) == 0 && row.on;
	if (imp->kind->revive != NULL && imp->kind->revive(kp, imp) < 0)
		kp_import_lacks(imp, "%s", "what it was is not known any more");
}

static void change(struct kp *kp, struct kp_import *imp, bool enabled, bool traced);
static void stop(struct kp *kp, struct kp_import *imp);

/*
 * What nobody asks for any more goes: probes of processes that have ended, and
 * links that a session left behind when it was killed.
 */
static void
sweep(struct kp *kp)
{
	DIR *d = opendir(KP_DIR_IMPORT);
	struct kp_import *imp;
	char path[PATH_MAX];
	struct dirent *e;
	unsigned slot;

	for (unsigned i = 0; i < kp->imports; i++) {
		imp = kp->import[i];
		if (imp->kind->gone != NULL && (imp->enabled || imp->traced) &&
		    imp->kind->gone(imp)) {
			change(kp, imp, false, false);
			stop(kp, imp);
			asked_save(kp, imp);
		} else if (imp->slot >= 0 && !(imp->enabled && imp->traced))
			stop(kp, imp);
	}
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (sscanf(e->d_name, "%u", &slot) != 1 ||
		    (slot < KP_IMPORTS && kp->slots[slot / 64] >> slot % 64 & 1))
			continue;
		snprintf(path, sizeof path, KP_DIR_IMPORT "/%s", e->d_name);
		unlink(path);
	}
	if (d != NULL)
		closedir(d);
}

int
kp_imports_open(struct kp *kp)
{
	struct kp_asked *a;
	uint32_t slot, next;
	int r;

	kp->asked_fd = bpf_obj_get(KP_PIN_ASKED);
	kp->rows_fd = bpf_obj_get(KP_PIN_ROWS);
	kp->counts_fd = bpf_obj_get(KP_PIN_COUNTS);
	kp->where_fd = bpf_obj_get(KP_PIN_WHERE);
	kp->sites_fd = bpf_obj_get(KP_PIN_SITES);
	if (kp->asked_fd < 0 || (a = malloc(sizeof *a)) == NULL)
		return 0;
	r = bpf_map_get_next_key(kp->asked_fd, NULL, &next);
	while (r == 0) {
		slot = next;
		if (bpf_map_lookup_elem(kp->asked_fd, &slot, a) == 0)
			revive(kp, slot, a);
		r = bpf_map_get_next_key(kp->asked_fd, &slot, &next);
	}
	free(a);
	if (kp->control)
		sweep(kp);
	return 0;
}

int
kp_imports_keep(struct kp *kp)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < kp->imports; i++)
		if (kp->import[i]->enabled || kp->import[i]->traced ||
		    kp->import[i]->where != NULL)
			r = asked_put(kp, kp->import[i]);
	return r;
}

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void
kp_imports_close(struct kp *kp)
{
	close_fd(&kp->asked_fd);
	close_fd(&kp->rows_fd);
	close_fd(&kp->counts_fd);
	close_fd(&kp->where_fd);
	close_fd(&kp->sites_fd);
	memset(kp->slots, 0, sizeof kp->slots);
	for (unsigned i = 0; i < kp->imports; i++) {
		kp->import[i]->slot = -1;
		kp->import[i]->defined = kp->import[i]->attached = false;
	}
}

void
kp_imports_forget(struct kp *kp)
{
	kp_imports_close(kp);
	kp_pins_remove(kp, KP_SUB_IMPORT);
	unlink(KP_PIN_ASKED);
	unlink(KP_PIN_ROWS);
	unlink(KP_PIN_COUNTS);
	unlink(KP_PIN_WHERE);
	unlink(KP_PIN_SITES);
	unlink(KP_PIN_POOL);
}

void
kp_imports_free(struct kp *kp)
{
	for (unsigned i = 0; i < kp->imports; i++)
		import_free(kp->import[i]);
	free(kp->import);
	free(kp->import_hash);
}

/* Attached and detached. */

static void
pin_path(char *path, size_t n, unsigned slot, unsigned link)
{
	if (link == 0)
		snprintf(path, n, KP_DIR_IMPORT "/%u", slot);
	else
		snprintf(path, n, KP_DIR_IMPORT "/%u-%u", slot, link);
}

int
kp_import_pin(struct kp *kp, const struct kp_import *imp, unsigned n, int link)
{
	char path[PATH_MAX];
	int r;

	pin_path(path, sizeof path, (unsigned)imp->slot, n);
	r = bpf_obj_pin(link, path);
	close(link);
	return r < 0 ? kp_refused(kp, r, path) : 0;
}

/* Links are pinned in the order of their numbers. */
static void
unpin(unsigned slot)
{
	char path[PATH_MAX];
	unsigned n = 0;

	do
		pin_path(path, sizeof path, slot, n++);
	while (unlink(path) == 0);
}

static int
row_put(struct kp *kp, struct kp_import *imp, bool on)
{
	uint32_t slot = (uint32_t)imp->slot;
	int r;

	imp->row.on = on;
	r = bpf_map_update_elem(kp->rows_fd, &slot, &imp->row, BPF_ANY);
	return r < 0 ? kp_refused(kp, r, KP_PIN_ROWS) : 0;
}

static void
stop(struct kp *kp, struct kp_import *imp)
{
	if (imp->slot < 0)
		return;
	/* Its row may be of an earlier session; the next start() makes it anew. */
	if (kp->rows_fd >= 0 && imp->attached)
		row_put(kp, imp, false);
	unpin((unsigned)imp->slot);
	if (imp->kind->detached != NULL)
		imp->kind->detached(kp, imp);
	imp->attached = false;
}

static int
define(struct kp *kp, struct kp_import *imp)
{
	char *buf;
	int r;

	if (imp->defined)
		return 0;
	if ((buf = kp_buffer_writable(kp)) == NULL)
		return -ENOMEM;
	r = kp_defs_add(kp, buf, imp);
	if (r == -ENOSPC)
		return kp_fail(kp, r, "%s: the buffer has no room for more definitions: "
		    "make a larger one", imp->name);
	imp->defined = r == 0;
	return r < 0 ? r : asked_put(kp, imp);
}

/* What a rate is in a window of time, 1 at least. */
static uint32_t
per_window(uint32_t rate)
{
	uint64_t n = ((uint64_t)rate << KP_WINDOW_SHIFT) / 1000000000u;

	return rate == 0 ? 0 : n == 0 ? 1 : (uint32_t)n;
}

/* The table of its conditions, before the row that refers to it. */
static int
where_put(struct kp *kp, struct kp_import *imp)
{
	uint32_t slot = (uint32_t)imp->slot;
	struct kp_where w;
	int r;

	imp->row.where = 0;
	if (imp->where == NULL) {
		bpf_map_delete_elem(kp->where_fd, &slot);
		return 0;
	}
	if ((r = kp_where_compile(kp, imp, imp->where, &w)) < 0)
		return r;
	r = bpf_map_update_elem(kp->where_fd, &slot, &w, BPF_ANY);
	if (r < 0)
		return kp_refused(kp, r, KP_PIN_WHERE);
	imp->row.where = w.n;
	return 0;
}

static void
prepare_row(struct kp *kp, struct kp_import *imp)
{
	imp->row.slot = (uint32_t)imp->slot;
	imp->row.id = KP_IMPORT_ID((uint32_t)imp->slot);
	imp->row.rate = per_window(kp->state->import_rate);
}

KP_EXPORT int
kp_probe_where(struct kp *kp, unsigned id, const char *text)
{
	struct kp_import *imp = kp_import_of(kp, id);
	struct kp_where w;
	char *copy = NULL;
	int r;

	if (text != NULL && *text == '\0')
		text = NULL;
	if (imp == NULL)
		return text == NULL ? 0 : kp_fail(kp, -ENOTSUP, "where: only imported probes "
		    "have conditions: for others see tnfdump -e");
	if (text == NULL && imp->where == NULL)
		return 0;
	if ((r = kp_state_usable(kp)) < 0 || (r = describe(kp, imp)) < 0 ||
	    (text != NULL && (r = kp_where_compile(kp, imp, text, &w)) < 0))
		return r;
	if (text != NULL && (strlen(text) >= sizeof ((struct kp_asked *)0)->where ||
	    strpbrk(text, "';") != NULL))
		return kp_fail(kp, -EINVAL, "where: at most 255 characters, without ' and ;");
	if (text != NULL && (copy = strdup(text)) == NULL)
		return kp_fail(kp, -ENOMEM, "where: not enough memory");
	free(imp->where);
	imp->where = copy;
	if ((r = kp_state_make(kp)) < 0 || (r = asked_save(kp, imp)) < 0)
		return r;
	if (!imp->attached)
		return 0;
	prepare_row(kp, imp);
	r = where_put(kp, imp);
	return r < 0 ? r : row_put(kp, imp, true);
}

static int
attach(struct kp *kp, struct kp_import *imp)
{
	char path[PATH_MAX];
	int prog, r;

	snprintf(path, sizeof path, KP_DIR_PROG "/%s", imp->kind->program);
	prog = bpf_obj_get(path);
	if (prog == -ENOENT && imp->kind->otherwise != NULL) {
		snprintf(path, sizeof path, KP_DIR_PROG "/%s", imp->kind->otherwise);
		prog = bpf_obj_get(path);
	}
	if (prog == -ENOENT)
		return kp_fail(kp, -ENOTSUP, "%s: program %s refused by the kernel",
		    imp->name, imp->kind->program);
	if (prog < 0)
		return kp_refused(kp, prog, path);
	unpin((unsigned)imp->slot);	/* half of it, of a session that was killed */
	r = imp->kind->attach(kp, imp, prog);
	close(prog);
	return r;
}

static int
start(struct kp *kp, struct kp_import *imp)
{
	int r;

	if (imp->attached)
		return 0;
	if ((r = describe(kp, imp)) < 0 || (r = kp_import_load(kp)) < 0 ||
	    (r = kp_pins_dir(kp, KP_DIR_IMPORT)) < 0 || (r = asked_put(kp, imp)) < 0 ||
	    (r = define(kp, imp)) < 0)
		return r;
	prepare_row(kp, imp);
	if ((r = where_put(kp, imp)) < 0 || (r = row_put(kp, imp, false)) < 0 || (r = attach(kp, imp)) < 0 ||
	    (r = row_put(kp, imp, true)) < 0) {
		unpin((unsigned)imp->slot);
		return r;
	}
	imp->attached = true;
	return 0;
}

int
kp_imports_rerate(struct kp *kp)
{
	struct kp_import *imp;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < kp->imports; i++) {
		imp = kp->import[i];
		if (!imp->attached || describe(kp, imp) < 0)
			continue;
		prepare_row(kp, imp);
		r = where_put(kp, imp);
		if (r == 0)
			r = row_put(kp, imp, true);
	}
	return r;
}

static bool
records(const struct kp *kp, const struct kp_import *imp)
{
	return kp->state->tracing && kp->state->buffer_size != 0 && imp->enabled &&
	    imp->traced;
}

static int
sync_one(struct kp *kp, struct kp_import *imp)
{
	if (records(kp, imp))
		return start(kp, imp);
	stop(kp, imp);
	return 0;
}

bool
kp_imports_wanted(const struct kp *kp)
{
	return kp->state->tracing && kp->state->buffer_size != 0 && kp->imports_on > 0;
}

int
kp_imports_sync(struct kp *kp)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < kp->imports; i++)
		if (kp->import[i]->slot >= 0 || records(kp, kp->import[i]))
			r = sync_one(kp, kp->import[i]);
	return r;
}

static void
change(struct kp *kp, struct kp_import *imp, bool enabled, bool traced)
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
	if (enabled && !imp->enabled && describe(kp, imp) < 0)
		return kp_fail(kp, -ENOTSUP, "%s: not available: %s", imp->name, imp->lacks);
	if ((r = kp_state_make(kp)) < 0)
		return r;
	was_enabled = imp->enabled;
	was_traced = imp->traced;
	change(kp, imp, enabled, traced);
	if ((r = asked_save(kp, imp)) < 0 || (r = kp_attach_sync(kp)) < 0 ||
	    (r = sync_one(kp, imp)) < 0) {
		change(kp, imp, was_enabled, was_traced);
		asked_save(kp, imp);
		return r;
	}
	return 0;
}

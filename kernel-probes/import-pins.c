/*
 * import-pins.c - the pins of imported probes, which outlive a session: the map of the probes
 * that were asked for, and the links.
 */
#include "kernel-probes/handle.h"

/* The path of a probe's link. */

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
	r = kp_pin(kp, link, path);
	close(link);
	return r;
}

/* Links are pinned in the order of their numbers. */
void
kp_import_unpin(unsigned slot)
{
	char path[PATH_MAX];
	unsigned n = 0;

	do
		pin_path(path, sizeof path, slot, n++);
	while (unlink(path) == 0);
}

/* Makes and pins the map of the probes that were asked for, unless it is open. */
static int
asked_open(struct kp *kp)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);

	if (kp->asked_fd >= 0)
		return 0;
	kp->asked_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "tnf_asked", sizeof(uint32_t),
	    sizeof(struct kp_asked), KP_IMPORTS, &opts);
	if (kp->asked_fd < 0)
		return kp_refused(kp, kp->asked_fd, "BPF map");
	return kp_pin(kp, kp->asked_fd, KP_PIN_ASKED);
}

/* Finds the same probe of a process that has ended, with the same type in the buffer. */
static struct kp_import *
find_ended(struct kp *kp, const struct kp_import *imp)
{
	struct kp_import *old;

	for (unsigned i = 0; i < kp->imports; i++) {
		old = kp->import[i];
		if (old != imp && old->slot >= 0 && old->defined != 0 && !old->enabled &&
		    !old->traced && old->where == NULL && old->kind == imp->kind &&
		    strcmp(old->name, imp->name) == 0 && old->kind->gone(old) &&
		    old->defined == kp_import_type(imp))
			return old;
	}
	return NULL;
}

/*
 * Records in the buffer find their type by their slot, so that a slot is given away only
 * once, except to the same probe in a later process.
 */
static bool
slot_inherit(struct kp *kp, struct kp_import *imp)
{
	struct kp_import *old;

	if (imp->kind->gone == NULL || imp->defined != 0 || kp_import_describe(kp, imp) < 0 ||
	    (old = find_ended(kp, imp)) == NULL)
		return false;
	imp->slot = old->slot;
	imp->defined = old->defined;
	old->slot = -1;
	old->defined = 0;
	old->attached = false;
	kp_import_recount(kp, imp);
	return true;
}

static int
slot_give(struct kp *kp, struct kp_import *imp)
{
	if (slot_inherit(kp, imp))
		return 0;
	for (unsigned i = 0; i < KP_IMPORTS; i++)
		if (!(kp->slots[i / 64] >> i % 64 & 1)) {
			kp->slots[i / 64] |= 1ull << i % 64;
			imp->slot = (int)i;
			kp_import_raw_unload(i);	/* of the slot's earlier probe */
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

int
kp_asked_put(struct kp *kp, struct kp_import *imp)
{
	struct kp_asked a = {
		.kind = imp->kind->number,
		.flags = (imp->enabled ? KP_ASKED_ENABLED : 0) |
		    (imp->traced ? KP_ASKED_TRACED : 0) |
		    (imp->freezes ? KP_ASKED_FREEZES : 0),
		.kernel_frames = imp->row.stacks.kernel, .user_frames = imp->row.stacks.user,
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

/* True if somebody has asked for the probe, for conditions, for stacks, or that it freezes. */
static bool
is_asked(const struct kp_import *imp)
{
	return imp->enabled || imp->traced || imp->where != NULL || imp->freezes ||
	    imp->row.stacks.kernel != 0 || imp->row.stacks.user != 0;
}

/* A probe that nobody asks for keeps its slot while the buffer has its definition. */
int
kp_asked_save(struct kp *kp, struct kp_import *imp)
{
	if (is_asked(imp) || imp->defined)
		return kp_asked_put(kp, imp);
	if (imp->slot >= 0)
		slot_take(kp, imp);
	return 0;
}

static void
import_pins_revive(struct kp *kp, uint32_t slot, struct kp_asked *a)
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
	imp->freezes = a->flags & KP_ASKED_FREEZES;
	imp->row.stacks = (struct kp_stacks){ a->kernel_frames, a->user_frames, 0 };
	imp->defined = a->defined;
	kp->imports_on += imp->enabled && imp->traced;
	imp->attached = kp->rows_fd >= 0 &&
	    bpf_map_lookup_elem(kp->rows_fd, &slot, &row) == 0 && row.on;
	if (imp->kind->revive != NULL && imp->kind->revive(kp, imp) < 0)
		kp_import_lacks(imp, "%s", "what it was is not known any more");
}

/*
 * Switches off the probes of processes that have ended, and removes links that a killed
 * session left behind.
 */
static void
import_pins_sweep(struct kp *kp)
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
			kp_import_change(kp, imp, false, false);
			kp_import_stop(kp, imp);
			kp_asked_save(kp, imp);
		} else if (imp->slot >= 0 && !(imp->enabled && imp->traced))
			kp_import_stop(kp, imp);
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

/* Opens the maps of imported probes.  -EPROTO: another version of ours made one of them. */
static int
import_pins_maps(struct kp *kp)
{
	kp->asked_fd = kp_map_open(KP_PIN_ASKED, sizeof(uint32_t), sizeof(struct kp_asked));
	kp->rows_fd = kp_map_open(KP_PIN_ROWS, sizeof(uint32_t), sizeof(struct kp_import_row));
	kp->counts_fd = kp_map_open(KP_PIN_COUNTS, sizeof(uint32_t), sizeof(struct kp_import_count));
	kp->where_fd = kp_map_open(KP_PIN_WHERE, sizeof(uint32_t), sizeof(struct kp_where));
	kp->sites_fd = kp_map_open(KP_PIN_SITES, sizeof(uint64_t), sizeof(struct kp_site_row));
	return kp->asked_fd == -EPROTO || kp->rows_fd == -EPROTO || kp->counts_fd == -EPROTO ||
	    kp->where_fd == -EPROTO || kp->sites_fd == -EPROTO ? -EPROTO : 0;
}

int
kp_imports_open(struct kp *kp)
{
	struct kp_asked *a;
	uint32_t slot, next;
	int r;

	if (import_pins_maps(kp) != 0) {
		kp_imports_close(kp);
		kp->foreign = true;
		return kp->control ? 0 : kp_state_usable(kp);
	}
	if (kp->asked_fd < 0 || (a = malloc(sizeof *a)) == NULL)
		return 0;
	r = bpf_map_get_next_key(kp->asked_fd, NULL, &next);
	while (r == 0) {
		slot = next;
		if (bpf_map_lookup_elem(kp->asked_fd, &slot, a) == 0)
			import_pins_revive(kp, slot, a);
		r = bpf_map_get_next_key(kp->asked_fd, &slot, &next);
	}
	free(a);
	if (kp->control)
		import_pins_sweep(kp);
	return 0;
}

int
kp_imports_keep(struct kp *kp)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < kp->imports; i++)
		if (is_asked(kp->import[i]))
			r = kp_asked_put(kp, kp->import[i]);
	return r;
}

void
kp_imports_close(struct kp *kp)
{
	kp_close_fd(&kp->asked_fd);
	kp_close_fd(&kp->rows_fd);
	kp_close_fd(&kp->counts_fd);
	kp_close_fd(&kp->where_fd);
	kp_close_fd(&kp->sites_fd);
	memset(kp->slots, 0, sizeof kp->slots);
	for (unsigned i = 0; i < kp->imports; i++) {
		kp->import[i]->slot = -1;
		kp->import[i]->defined = 0;
		kp->import[i]->attached = false;
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

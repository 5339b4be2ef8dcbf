/*
 * import-row.c - an imported probe's definition in the buffer, for readers, and its row and
 * conditions, for the BPF programs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "kernel-probes/defs.h"
#include "kernel-probes/handle.h"
#include "kernel-probes/import-impl.h"
#include "kernel-probes/import.h"

static uint32_t
hash_add(uint32_t h, const char *s)
{
	do
		h = (h ^ (unsigned char)*s) * 16777619u;
	while (*s++ != '\0');
	return h;
}

uint32_t
kp_import_type(const struct kp_import *imp)
{
	uint32_t h = hash_add(2166136261u ^ imp->row.size, imp->name);

	h = hash_add(h, imp->keys);
	h = hash_add(h, imp->attrs != NULL ? imp->attrs : "");
	for (unsigned i = 0; i < imp->members; i++)
		h = hash_add(hash_add(h, imp->member[i].type), imp->member[i].name);
	return h | 1;
}

void
kp_import_recount(struct kp *kp, const struct kp_import *imp)
{
	uint32_t slot = (uint32_t)imp->slot;
	struct kp_import_count *none;

	if (kp->counts_fd < 0 || kp->cpus < 1 ||
	    (none = calloc((size_t)kp->cpus, sizeof *none)) == NULL)
		return;
	bpf_map_update_elem(kp->counts_fd, &slot, none, BPF_ANY);
	free(none);
}

int
kp_import_define(struct kp *kp, struct kp_import *imp)
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
	if (r < 0)
		return r;
	imp->defined = kp_import_type(imp);
	return kp_asked_put(kp, imp);
}

int
kp_import_row_put(struct kp *kp, const struct kp_import *imp, bool on)
{
	struct kp_import_row row = imp->row;
	uint32_t slot = (uint32_t)imp->slot, tags[KP_RECORDS];
	int r;

	row.on = !on ? KP_ROW_OFF : imp->freezes ? KP_ROW_FREEZES : KP_ROW_ON;
	for (unsigned i = 0; i < KP_RECORDS; i++)
		tags[i] = kp->state->record_tag[i];
	kp_import_row_words(&row, tags);
	r = bpf_map_update_elem(kp->rows_fd, &slot, &row, BPF_ANY);
	return r < 0 ? kp_refused(kp, r, KP_PIN_ROWS) : 0;
}

void
kp_import_row_off(struct kp *kp, const struct kp_import *imp)
{
	uint32_t slot = (uint32_t)imp->slot;
	struct kp_import_row row;

	if (bpf_map_lookup_elem(kp->rows_fd, &slot, &row) != 0)
		return;
	row.on = KP_ROW_OFF;
	bpf_map_update_elem(kp->rows_fd, &slot, &row, BPF_EXIST);
}

/* The events in a window of time at 'rate' a second, 1 at least. */
static uint32_t
per_window(uint32_t rate)
{
	uint64_t n = ((uint64_t)rate << KP_WINDOW_SHIFT) / 1000000000u;

	return rate == 0 ? 0 : n == 0 ? 1 : (uint32_t)n;
}

static int
compile(struct kp *kp, const struct kp_import *imp, const char *text, struct kp_where *ret)
{
	const struct kp_where_of of = { imp->name, imp->member, imp->members, kp->detail, sizeof kp->detail };

	return kp_where_compile(&of, text, ret);
}

int
kp_import_row_where(struct kp *kp, struct kp_import *imp)
{
	uint32_t slot = (uint32_t)imp->slot;
	struct kp_where w;
	int r;

	imp->row.where = 0;
	if (imp->where == NULL) {
		bpf_map_delete_elem(kp->where_fd, &slot);
		return 0;
	}
	if ((r = compile(kp, imp, imp->where, &w)) < 0)
		return r;
	r = bpf_map_update_elem(kp->where_fd, &slot, &w, BPF_ANY);
	if (r < 0)
		return kp_refused(kp, r, KP_PIN_WHERE);
	imp->row.where = w.n;
	return 0;
}

void
kp_import_row_prepare(struct kp *kp, struct kp_import *imp)
{
	imp->row.slot = (uint32_t)imp->slot;
	imp->row.id = KP_IMPORT_ID((uint32_t)imp->slot);
	imp->row.rate = per_window(kp->state->import_rate);
}

int
kp_import_row_renew(struct kp *kp, struct kp_import *imp)
{
	int r;

	kp_import_row_prepare(kp, imp);
	r = kp_import_row_where(kp, imp);
	return r < 0 ? r : kp_import_row_put(kp, imp, true);
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
		return kp_row_where(kp, id, text);
	if (text == NULL && imp->where == NULL)
		return 0;
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_import_describe(kp, imp)) < 0 ||
	    (text != NULL && (r = compile(kp, imp, text, &w)) < 0))
		return r;
	if (text != NULL && (strlen(text) >= sizeof ((struct kp_asked *)0)->where ||
	    strpbrk(text, "';") != NULL))
		return kp_fail(kp, -EINVAL, "where: at most 255 characters, without ' and ;");
	if (text != NULL && (copy = strdup(text)) == NULL)
		return kp_fail(kp, -ENOMEM, "where: not enough memory");
	free(imp->where);
	imp->where = copy;
	if ((r = kp_state_make(kp)) < 0 || (r = kp_asked_save(kp, imp)) < 0)
		return r;
	if (!imp->attached)
		return 0;
	return kp_import_row_renew(kp, imp);
}

KP_EXPORT int
kp_probe_freezes(struct kp *kp, unsigned id, bool freezes)
{
	struct kp_import *imp = kp_import_of(kp, id);
	int r;

	if (imp == NULL)
		return kp_row_freezes(kp, id, freezes);
	if (imp->freezes == freezes)
		return 0;
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	imp->freezes = freezes;
	if ((r = kp_asked_save(kp, imp)) < 0)
		return r;
	return imp->attached ? kp_import_row_put(kp, imp, true) : 0;
}

int
kp_imports_rerate(struct kp *kp)
{
	struct kp_import *imp;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < kp->imports; i++) {
		imp = kp->import[i];
		if (!imp->attached || kp_import_describe(kp, imp) < 0)
			continue;
		r = kp_import_row_renew(kp, imp);
	}
	return r;
}

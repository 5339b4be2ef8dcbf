/*
 * import-switch.c - attaches an imported probe when it is to record, and detaches it when it is not.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "kernel-probes/handle.h"
#include "kernel-probes/import-impl.h"

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

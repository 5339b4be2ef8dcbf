/*
 * import-switch.c - loads the programs of imported probes, and attaches and detaches them.
 *
 * The programs go into the kernel when the first imported probe is to record.  A probe is
 * attached when it is to record, and detached when it is not.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kernel-probes/handle.h"
#include "kernel-probes/import-impl.h"
#include "import.skel.h"

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

#define PROGRAMS_MAX	16
#define LOG_SIZE	256	/* the beginning; that there is one is enough */

struct attempt {
	uint32_t refused;	/* programs that the verifier does not take */
	char	 log[PROGRAMS_MAX][LOG_SIZE];
};

static void
choose_programs(struct import_bpf *skel, struct attempt *a)
{
	struct bpf_program *p;
	unsigned n = 0;

	memset(a->log, 0, sizeof a->log);
	bpf_object__for_each_program(p, skel->obj) {
		if (n == PROGRAMS_MAX)
			break;
		bpf_program__set_autoload(p, !(a->refused >> n & 1));
		bpf_program__set_log_buf(p, a->log[n++], LOG_SIZE);
	}
}

/* Programs that are loaded anew use the maps of those before. */
static int
choose_own_maps(struct kp *kp, struct import_bpf *skel)
{
	int r;

	if (kp->rows_fd >= 0)
		return (r = bpf_map__reuse_fd(skel->maps.tnf_rows, kp->rows_fd)) < 0 ||
		    (r = bpf_map__reuse_fd(skel->maps.tnf_counts, kp->counts_fd)) < 0 ||
		    (r = bpf_map__reuse_fd(skel->maps.tnf_where, kp->where_fd)) < 0 ?
		    r : bpf_map__reuse_fd(skel->maps.tnf_sites, kp->sites_fd);
	if ((r = bpf_map__set_max_entries(skel->maps.tnf_rows, KP_IMPORTS)) < 0 ||
	    (r = bpf_map__set_max_entries(skel->maps.tnf_counts, KP_IMPORTS)) < 0)
		return r;
	return bpf_map__set_max_entries(skel->maps.tnf_where, KP_IMPORTS);
}

/* The programs write to the same maps as those of the catalogue. */
static int
choose_maps(struct kp *kp, struct import_bpf *skel)
{
	int r;

	if (kp->pool_fd < 0 && (kp->pool_fd = bpf_obj_get(KP_PIN_POOL)) < 0)
		return kp->pool_fd;
	if ((r = bpf_map__reuse_fd(skel->maps.tnf_buf, kp->buf_fd)) < 0 ||
	    (r = bpf_map__reuse_fd(skel->maps.tnf_pool, kp->pool_fd)) < 0 ||
	    (r = bpf_map__reuse_fd(skel->maps.tnf_cpu, kp->cpu_fd)) < 0 ||
	    (r = bpf_map__reuse_fd(skel->maps.bss, kp->filter_fd)) < 0 ||
	    (r = choose_own_maps(kp, skel)) < 0 ||
	    (r = bpf_map__set_autocreate(skel->maps.tnf_context, false)) < 0 ||
	    (r = bpf_map__set_autocreate(skel->maps.tnf_slots, false)) < 0)
		return r;
	return bpf_map__reuse_fd(skel->maps.data_state, kp->state_fd);
}

static int
load_try(struct kp *kp, struct attempt *a, struct import_bpf **ret)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = kp->types);
	struct import_bpf *skel = import_bpf__open_opts(&opts);
	int r;

	if (skel == NULL)
		return -errno;
	skel->rodata->with_stacks = kp->state->with_stacks;
	choose_programs(skel, a);
	r = choose_maps(kp, skel);
	if (r == 0)
		r = bpf_object__load(skel->obj);
	if (r != 0)
		import_bpf__destroy(skel);
	else
		*ret = skel;
	return r;
}

static int
load_programs(struct kp *kp, struct import_bpf **ret)
{
	libbpf_print_fn_t before = libbpf_set_print(NULL);
	struct attempt a = { 0 };
	uint32_t refused;
	int r;

	do {
		r = load_try(kp, &a, ret);
		refused = a.refused;
		for (unsigned i = 0; i < PROGRAMS_MAX; i++)
			if (r != 0 && a.log[i][0] != '\0')
				a.refused |= 1u << i;
	} while (r != 0 && r != -EPERM && r != -ENOMEM && refused != a.refused);
	libbpf_set_print(before);
	return r;
}

static int
import_load_pin(struct kp *kp, int fd, const char *path)
{
	unlink(path);
	return kp_pin(kp, fd, path);
}

/* Pins the maps last: a session that finds them knows that everything is there. */
static int
pin_all(struct kp *kp, struct import_bpf *skel)
{
	struct bpf_program *p;
	char path[PATH_MAX];
	int r;

	bpf_object__for_each_program(p, skel->obj) {
		if (!bpf_program__autoload(p))
			continue;
		snprintf(path, sizeof path, KP_DIR_PROG "/%s", bpf_program__name(p));
		if ((r = import_load_pin(kp, bpf_program__fd(p), path)) < 0)
			return r;
	}
	if ((r = import_load_pin(kp, bpf_map__fd(skel->maps.tnf_counts), KP_PIN_COUNTS)) < 0 ||
	    (r = import_load_pin(kp, bpf_map__fd(skel->maps.tnf_where), KP_PIN_WHERE)) < 0 ||
	    (r = import_load_pin(kp, bpf_map__fd(skel->maps.tnf_sites), KP_PIN_SITES)) < 0)
		return r;
	return import_load_pin(kp, bpf_map__fd(skel->maps.tnf_rows), KP_PIN_ROWS);
}

int
kp_import_load(struct kp *kp)
{
	struct import_bpf *skel;
	int r;

	/* stacks_reload() takes the programs' pins away, and leaves the maps'. */
	if (kp->rows_fd >= 0 && kp_pinned(KP_DIR_PROG, kp_mark_kind.program))
		return 0;
	r = load_programs(kp, &skel);
	if (r != 0)
		return kp_refused(kp, r, "BPF programs of imported probes");
	r = pin_all(kp, skel);
	import_bpf__destroy(skel);
	if (r < 0)
		return r;
	kp_close_fd(&kp->rows_fd);
	kp_close_fd(&kp->counts_fd);
	kp_close_fd(&kp->where_fd);
	kp_close_fd(&kp->sites_fd);
	kp->rows_fd = bpf_obj_get(KP_PIN_ROWS);
	kp->counts_fd = bpf_obj_get(KP_PIN_COUNTS);
	kp->where_fd = bpf_obj_get(KP_PIN_WHERE);
	kp->sites_fd = bpf_obj_get(KP_PIN_SITES);
	return kp->rows_fd < 0 ? kp_refused(kp, kp->rows_fd, KP_PIN_ROWS) : 0;
}

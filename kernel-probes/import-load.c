/*
 * import-load.c - the programs of imported probes go into the kernel, when the first imported
 * probe is to record; the program of one probe alone (raw.bpf.c), when that probe is.
 */
#include "kernel-probes/handle.h"
#include "import.skel.h"

#define PROGRAMS_MAX	(16 + KP_RAW_PROGRAMS)
#define LOG_SIZE	256	/* the beginning; that there is one is enough */

struct attempt {
	const struct kp_raw_probe *raw;	/* probes whose programs are to be loaded; NULL: those ... */
	unsigned raws;			/* ... of all kinds; so many */
	uint64_t refused;	/* programs that the verifier does not take */
	char	 log[PROGRAMS_MAX][LOG_SIZE];
};

/* Returns which of the programs that one probe has alone it is; KP_RAW_PROGRAMS: none. */
static unsigned
raw_number(const struct bpf_program *p)
{
	unsigned n;

	return sscanf(bpf_program__name(p), "import_raw%u", &n) == 1 && n < KP_RAW_PROGRAMS ?
	    n : KP_RAW_PROGRAMS;
}

static void
choose_programs(struct import_bpf *skel, struct attempt *a)
{
	struct bpf_program *p;
	unsigned n = 0;

	memset(a->log, 0, sizeof a->log);
	bpf_object__for_each_program(p, skel->obj) {
		if (n == PROGRAMS_MAX)
			break;
		bpf_program__set_autoload(p, !(a->refused >> n & 1) && (a->raw != NULL ?
		    raw_number(p) < a->raws : raw_number(p) == KP_RAW_PROGRAMS));
		bpf_program__set_log_buf(p, a->log[n++], LOG_SIZE);
	}
}

/* The maps that imported probes alone have, the rows last: a session that finds their pin knows that
   everything is there. */
#define OWN_MAPS	4

struct own_map {
	struct bpf_map *map;
	int	   *fd;
	const char *path;
	bool	    by_probe;	/* an element for each probe */
};

static void
own_maps(struct kp *kp, struct import_bpf *skel, struct own_map ret[OWN_MAPS])
{
	ret[0] = (struct own_map){ skel->maps.tnf_counts, &kp->counts_fd, KP_PIN_COUNTS, true };
	ret[1] = (struct own_map){ skel->maps.tnf_where, &kp->where_fd, KP_PIN_WHERE, true };
	ret[2] = (struct own_map){ skel->maps.tnf_sites, &kp->sites_fd, KP_PIN_SITES, false };
	ret[3] = (struct own_map){ skel->maps.tnf_rows, &kp->rows_fd, KP_PIN_ROWS, true };
}

/* Programs that are loaded anew use the maps of those before. */
static int
choose_own_maps(struct kp *kp, struct import_bpf *skel)
{
	struct own_map own[OWN_MAPS];
	int r = 0;

	own_maps(kp, skel, own);
	for (unsigned i = 0; r == 0 && i < OWN_MAPS; i++)
		if (kp->rows_fd >= 0)
			r = bpf_map__reuse_fd(own[i].map, *own[i].fd);
		else if (own[i].by_probe)
			r = bpf_map__set_max_entries(own[i].map, KP_IMPORTS);
	return r;
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
	    (r = bpf_map__set_autocreate(skel->maps.tnf_slots, false)) < 0 ||
	    (r = bpf_map__set_autocreate(skel->maps.tnf_left_out, false)) < 0)
		return r;
	return bpf_map__reuse_fd(skel->maps.data_state, kp->state_fd);
}

/* Programs of one probe need few of the maps that their object has; the others are not made. */
static int
choose_raw(struct import_bpf *skel, const struct attempt *a)
{
	bool stacks = false;
	int r = 0;

	for (unsigned i = 0; i < a->raws; i++) {
		skel->rodata->raw_slot[i] = (uint32_t)a->raw[i].imp->slot;
		skel->rodata->raw_args[i] = a->raw[i].args;
		stacks |= a->raw[i].imp->row.stacks.at != 0;
	}
	skel->rodata->with_stacks = stacks;
	r = bpf_map__set_max_entries(skel->maps.raw_scratch, a->raws);
	const struct { struct bpf_map *map; bool needed; } maps[] = {
		{ skel->maps.tracepoint_scratch, false }, { skel->maps.call_scratch, false },
		{ skel->maps.mark_scratch, false }, { skel->maps.tnf_scratch, false },
		{ skel->maps.plain_scratch, false }, { skel->maps.tnf_walk, false },
		{ skel->maps.frames, stacks }, { skel->maps.stack_words, stacks },
		{ skel->maps.known_stacks, stacks },
	};
	for (unsigned i = 0; r == 0 && i < sizeof maps / sizeof *maps; i++)
		r = bpf_map__set_autocreate(maps[i].map, maps[i].needed);
	return r;
}

static int
load_try(struct kp *kp, struct attempt *a, struct import_bpf **ret)
{
	struct import_bpf *skel = calloc(1, sizeof *skel);
	int r;

	if (skel == NULL)
		return -ENOMEM;
	if ((r = import_bpf__create_skeleton(skel)) != 0 ||
	    (r = kp_skeleton_open(kp, skel->skeleton)) != 0) {
		import_bpf__destroy(skel);
		return r;
	}
	skel->rodata->with_stacks = kp->state->with_stacks;
	skel->rodata->with_cast = kp->state->with_stacks && kp->call[KP_CALL_bpf_rdonly_cast] != 0;
	skel->rodata->cast_type = kp->cast_type;
	choose_programs(skel, a);
	r = choose_maps(kp, skel);
	if (r == 0)
		r = a->raw != NULL ? choose_raw(skel, a) :
		    bpf_map__set_autocreate(skel->maps.raw_scratch, false);
	if (r == 0)
		r = bpf_object__load(skel->obj);
	if (r != 0)
		import_bpf__destroy(skel);
	else
		*ret = skel;
	return r;
}

static int
load_programs(struct kp *kp, const struct kp_raw_probe *raw, unsigned raws, struct import_bpf **ret)
{
	libbpf_print_fn_t before = libbpf_set_print(NULL);
	struct attempt a = { .raw = raw, .raws = raws };
	uint64_t refused;
	int r;

	do {
		r = load_try(kp, &a, ret);
		refused = a.refused;
		for (unsigned i = 0; i < PROGRAMS_MAX; i++)
			if (r != 0 && a.log[i][0] != '\0')
				a.refused |= 1ull << i;
	} while (r != 0 && r != -EPERM && r != -ENOMEM && raw == NULL && refused != a.refused);
	libbpf_set_print(before);
	return r;
}

static int
import_load_pin(struct kp *kp, int fd, const char *path)
{
	unlink(path);
	return kp_pin(kp, fd, path);
}

/* Pins programs and maps, in place of those that are there. */
static int
pin_all(struct kp *kp, const struct import_bpf *skel, const struct own_map own[OWN_MAPS])
{
	int r = kp_pin_programs(kp, skel->obj);

	for (unsigned i = 0; r == 0 && i < OWN_MAPS; i++)
		r = import_load_pin(kp, bpf_map__fd(own[i].map), own[i].path);
	return r;
}

int
kp_import_load(struct kp *kp)
{
	struct own_map own[OWN_MAPS];
	struct import_bpf *skel;
	int r;

	/* stacks_reload() takes the programs' pins away, and leaves the maps'. */
	if (kp->rows_fd >= 0 && kp_pinned(KP_DIR_PROG, kp_mark_kind.program))
		return 0;
	r = load_programs(kp, NULL, 0, &skel);
	if (r != 0)
		return kp_refused(kp, r, "BPF programs of imported probes");
	own_maps(kp, skel, own);
	r = pin_all(kp, skel, own);
	import_bpf__destroy(skel);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < OWN_MAPS; i++) {
		kp_close_fd(own[i].fd);
		*own[i].fd = bpf_obj_get(own[i].path);
	}
	return kp->rows_fd < 0 ? kp_refused(kp, kp->rows_fd, KP_PIN_ROWS) : 0;
}

static void
raw_path(char *path, size_t n, unsigned slot)
{
	snprintf(path, n, KP_DIR_PROG "/import_raw-%u", slot);
}

int
kp_import_raw_fd(unsigned slot)
{
	char path[PATH_MAX];

	raw_path(path, sizeof path, slot);
	return bpf_obj_get(path);
}

/* They stay in the kernel for as long as their slots are the probes': their counts of missed hits,
   too. */
int
kp_import_raw_load(struct kp *kp, const struct kp_raw_probe *raw, unsigned n)
{
	struct import_bpf *skel;
	struct bpf_program *p;
	char path[PATH_MAX];
	int r;

	if ((r = load_programs(kp, raw, n, &skel)) != 0)
		return kp_refused(kp, r, raw->imp->name);
	bpf_object__for_each_program(p, skel->obj) {
		if (raw_number(p) >= n)
			continue;
		raw_path(path, sizeof path, (unsigned)raw[raw_number(p)].imp->slot);
		if ((r = import_load_pin(kp, bpf_program__fd(p), path)) < 0)
			break;
	}
	import_bpf__destroy(skel);
	return r;
}

void
kp_import_raw_unload(unsigned slot)
{
	char path[PATH_MAX];

	raw_path(path, sizeof path, slot);
	unlink(path);
}

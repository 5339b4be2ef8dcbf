/*
 * load.c - the programs go into the kernel, with their maps, and are pinned.
 *
 * The maps are made with the buffer, and so are the programs that any trace needs.  Those
 * of a probe follow when it, or another one of its file, is first switched on: to the
 * verifier each program is milliseconds of work.
 */
#include <sys/sysinfo.h>

#include "kernel-probes/handle.h"
#include "kernel.skel.h"

#define ENDED_SHARE	1024	/* bytes of buffer for each thread that ends */
#define ENDED_MAX	65536

static int
program_number(const char *name)
{
	for (unsigned i = 0; i < KP_PROGRAM_COUNT; i++)
		if (strcmp(kp_programs[i].name, name) == 0)
			return i;
	return -1;
}

/*
 * libbpf loads all or nothing.  The kernel writes a log only for the program that its
 * verifier does not take: we leave that program out and try again.
 */
#define LOG_SIZE	256	/* the beginning; that there is one is enough */

typedef char program_logs[KP_PROGRAM_COUNT][LOG_SIZE];

static uint64_t
logs_refused(program_logs logs)
{
	uint64_t refused = 0;

	for (unsigned i = 0; i < KP_PROGRAM_COUNT; i++)
		if (logs[i][0] != '\0')
			refused |= 1ull << i;
	return refused;
}

#define P(name)	(1ull << KP_PROGRAM_##name)

/* Programs that list tasks, and keep the filter and the names: needed by every trace. */
#define ALWAYS	(P(find_nodes) | P(begin_tasks) | P(forget_requests) | P(remember_living) | \
		 P(tell_tasks) | P(filter_exit) | P(filter_fork) | P(filter_name) | \
		 P(filter_group) | P(remember_exit) | P(remember_fork) | P(remember_exec) | P(remember_name))

/* Programs that note the files of processes, and their map. */
#define OBJECTS	(P(object_exec) | P(object_exit))

/* Programs that compare with addresses of the kernel's functions. */
#define WITH_SYMBOLS	(P(thread_create) | P(context_switch) | P(context_switch3))

static bool
file_is_on(const struct kp *kp, const char *file)
{
	for (unsigned id = 1; id < KP_PROBES; id++)
		if (kp->state->enabled & KP_BIT(id) && strcmp(kp_catalogue[id].file, file) == 0)
			return true;
	return false;
}

/* The programs that should be in the kernel and are not yet. */
static uint64_t
programs_lacking(struct kp *kp)
{
	uint64_t programs = ALWAYS;

	if (kp_has_addresses(kp, kp->state->enabled))
		programs |= OBJECTS;
	for (unsigned id = 1; id < KP_PROBES; id++)
		if (file_is_on(kp, kp_catalogue[id].file))
			programs |= kp_needs(kp, &kp_catalogue[id]) |
			    kp_extra(kp, &kp_catalogue[id]);
	programs &= ~(kp->missing | kp->state->refused | kp->loaded);
	for (unsigned i = 0; i < KP_PROGRAM_COUNT; i++)
		if (programs >> i & 1 && kp_pinned(KP_DIR_PROG, kp_programs[i].name))
			kp->loaded |= 1ull << i;
	return programs & ~kp->loaded;
}

static void
choose_programs(struct kernel_bpf *skel, uint64_t programs, program_logs logs)
{
	struct bpf_program *p;
	int n;

	bpf_object__for_each_program(p, skel->obj) {
		n = program_number(bpf_program__name(p));
		bpf_program__set_autoload(p, n >= 0 && programs >> n & 1);
		if (n >= 0)
			bpf_program__set_log_buf(p, logs[n], LOG_SIZE);
	}
}

/* How many threads that end are remembered with a buffer of this size. */
static size_t
ended_room(size_t size)
{
	size_t ended = size / ENDED_SHARE;
	struct sysinfo now;

	if (sysinfo(&now) == 0)
		ended += 2 * now.procs;	/* threads that live when tracing ends */
	return ended > ENDED_MAX ? ENDED_MAX : ended;
}

static int
size_maps(struct kernel_bpf *skel, size_t size)
{
	int cpus = libbpf_num_possible_cpus(), r;
	size_t ended = ended_room(size);

	if (cpus < 0)
		return cpus;
	if ((r = bpf_map__set_max_entries(skel->maps.tnf_buf, size / KP_BLOCK_SIZE)) < 0 ||
	    (r = bpf_map__set_max_entries(skel->maps.tnf_pool, size / KP_BLOCK_SIZE)) < 0 ||
	    (r = bpf_map__set_max_entries(skel->maps.tnf_cpu, cpus)) < 0 ||
	    (r = bpf_map__set_max_entries(skel->maps.tnf_ended, ended)) < 0)
		return r;
	/* Most processes are forked, and then exec. */
	if ((r = bpf_map__set_max_entries(skel->maps.tnf_ran, 2 * ended)) < 0)
		return r;
	return bpf_map__set_max_entries(skel->maps.tnf_renamed, ended);
}

/* The path of a map's pin, for programs that are loaded later; false: it needs no pin. */
static bool
map_pin(const struct bpf_map *map, char *path, size_t n)
{
	const char *name = bpf_map__name(map);

	snprintf(path, n, KP_DIR "/%s", strncmp(name, "tnf_", 4) == 0 ? name + 4 : name);
	return !bpf_map__is_internal(map);
}

/* Programs that are loaded later use the maps that were made with the buffer. */
static int
share_maps(struct kernel_bpf *skel)
{
	char path[PATH_MAX];
	struct bpf_map *map;
	int fd, r;

	bpf_object__for_each_map(map, skel->obj) {
		if (!map_pin(map, path, sizeof path))
			continue;
		if ((fd = bpf_obj_get(path)) < 0) {
			if (map == skel->maps.tnf_objects)	/* it is made when it is needed */
				continue;
			return fd;
		}
		r = bpf_map__reuse_fd(map, fd);
		close(fd);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The filter's map takes the place of .bss: one more variable there and no program loads. */
_Static_assert(sizeof *((struct kernel_bpf *)0)->bss == KP_FILTER_MAX,
    ".bss is filter_set alone");

static int
choose_maps(struct kp *kp, struct kernel_bpf *skel, size_t size, uint64_t programs)
{
	int r = size != 0 ? size_maps(skel, size) : share_maps(skel);

	if (r < 0 ||
	    (r = bpf_map__set_autocreate(skel->maps.tnf_objects, (programs & OBJECTS) != 0)) < 0 ||
	    (programs & OBJECTS && (size != 0 || !kp_pinned(KP_DIR, "objects")) &&
	    (r = bpf_map__set_max_entries(skel->maps.tnf_objects,
	    ended_room(size != 0 ? size : kp->state->buffer_size))) < 0) ||
	    (r = bpf_map__reuse_fd(skel->maps.tnf_rules, kp->rules_fd)) < 0 ||
	    (r = bpf_map__reuse_fd(skel->maps.bss, kp->filter_fd)) < 0)
		return r;
	return bpf_map__reuse_fd(skel->maps.data_state, kp->state_fd);
}

/* Tells libbpf the number of the hook of a program in a section "tnf/...".  Until then the program has
   a type that needs no such number, because libbpf would read all of the kernel's types to find it. */
static int
program_prepare(struct bpf_program *p, struct bpf_prog_load_opts *opts, long unused)
{
	int n = program_number(bpf_program__name(p));

	if (n < 0)
		return -EINVAL;
	opts->attach_btf_id = kp_hook[n];
	opts->expected_attach_type = kp_programs[n].kind == KP_KIND_ITER ? BPF_TRACE_ITER : BPF_TRACE_RAW_TP;
	bpf_program__set_type(p, BPF_PROG_TYPE_TRACING);
	return bpf_program__set_expected_attach_type(p, opts->expected_attach_type);
}

static int
load_try(struct kp *kp, size_t size, uint64_t programs, program_logs logs,
    struct kernel_bpf **ret)
{
	struct kernel_bpf *skel = calloc(1, sizeof *skel);
	int r;

	if (skel == NULL)
		return -ENOMEM;
	if ((r = kernel_bpf__create_skeleton(skel)) != 0 ||
	    (r = kp_skeleton_open(kp, skel->skeleton)) != 0) {
		kernel_bpf__destroy(skel);
		return r;
	}
	skel->rodata->with_stacks = kp->state->with_stacks;
	skel->rodata->with_cast = kp->state->with_stacks && kp->call[KP_CALL_bpf_rdonly_cast] != 0;
	skel->rodata->cast_type = kp->cast_type;
	choose_programs(skel, programs, logs);
	r = choose_maps(kp, skel, size, programs);
	if (r == 0)
		r = bpf_object__load(skel->obj);
	if (r != 0)
		kernel_bpf__destroy(skel);
	else
		*ret = skel;
	return r;
}

/* Loads the programs but those that the verifier refuses, which others may have to replace. */
static int
load_programs(struct kp *kp, size_t size, uint64_t programs, struct kernel_bpf **ret)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = program_prepare);
	libbpf_print_fn_t before = libbpf_set_print(NULL);
	static int handler;	/* it stays: libbpf 1.1 frees the last one twice */
	uint64_t refused;
	program_logs logs;
	int r;

	if (handler <= 0)
		handler = libbpf_register_prog_handler("tnf+", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &opts);
	if (handler < 0) {
		libbpf_set_print(before);
		return handler;
	}
	for (;;) {
		memset(logs, 0, sizeof logs);
		r = load_try(kp, size, programs, logs, ret);
		refused = logs_refused(logs) & programs;
		if (r == 0 || r == -EPERM || r == -ENOMEM || refused == 0)
			break;
		kp->state->refused |= refused;
		programs &= ~refused;
	}
	libbpf_set_print(before);
	return r;
}

static int
pin_maps(struct kp *kp, struct kernel_bpf *skel)
{
	char path[PATH_MAX];
	struct bpf_map *map;
	int r;

	bpf_object__for_each_map(map, skel->obj) {
		if (!map_pin(map, path, sizeof path) || map == skel->maps.tnf_rules ||
		    map == skel->maps.bss)
			continue;
		unlink(path);		/* of a session that was killed */
		if (bpf_map__autocreate(map) && (r = kp_pin(kp, bpf_map__fd(map), path)) < 0)
			return r;
	}
	return 0;
}

static int
pin_objects(struct kp *kp, struct kernel_bpf *skel)
{
	return !bpf_map__autocreate(skel->maps.tnf_objects) || kp_pinned(KP_DIR, "objects") ? 0 :
	    kp_pin(kp, bpf_map__fd(skel->maps.tnf_objects), KP_PIN_OBJECTS);
}

static int
pin_programs(struct kp *kp, struct kernel_bpf *skel)
{
	int r;

	return (r = kp_pins_dir(kp, KP_DIR_PROG)) < 0 || (r = kp_pins_dir(kp, KP_DIR_LINK)) < 0 ? r :
	    kp_pin_programs(kp, skel->obj);
}

int
kp_load(struct kp *kp, size_t size)
{
	struct kernel_bpf *skel;
	uint64_t programs;
	int r = 0;

	while (r == 0 && (programs = programs_lacking(kp)) != 0) {
		if (programs & WITH_SYMBOLS)
			kp_symbols_find(kp->state);
		r = load_programs(kp, size, programs, &skel);
		if (r == -ENOMEM && size != 0)
			return kp_fail(kp, r, "buffer of %zu bytes: not enough memory", size);
		if (r != 0 && r != -EPERM && kp->lacks != NULL)
			return kp_fail(kp, r, "BPF programs: %s", kp->lacks);
		if (r != 0)
			return kp_refused(kp, r, "BPF programs");
		if ((r = pin_programs(kp, skel)) == 0)
			r = size != 0 ? pin_maps(kp, skel) : pin_objects(kp, skel);
		kernel_bpf__destroy(skel);
		size = 0;
	}
	return r;
}

/*
 * load.c - the programs go into the kernel, with their maps, and are pinned.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

#include <bpf/libbpf.h>

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
 * libbpf loads all or nothing.  The kernel writes a log for the program that its
 * verifier does not take, and for no other: it is then left out, and the rest
 * tried again.
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

static void
choose_programs(struct kp *kp, struct kernel_bpf *skel, program_logs logs)
{
	struct bpf_program *p;
	int n;

	bpf_object__for_each_program(p, skel->obj) {
		n = program_number(bpf_program__name(p));
		bpf_program__set_autoload(p, n >= 0 &&
		    !((kp->missing | kp->state->refused) >> n & 1));
		if (n >= 0)
			bpf_program__set_log_buf(p, logs[n], LOG_SIZE);
	}
}

static int
choose_maps(struct kp *kp, struct kernel_bpf *skel, size_t size)
{
	int cpus = libbpf_num_possible_cpus(), r;
	size_t ended = size / ENDED_SHARE;
	struct sysinfo now;

	if (cpus < 0)
		return cpus;
	if (sysinfo(&now) == 0)
		ended += 2 * now.procs;	/* those that live in the end */
	if (ended > ENDED_MAX)
		ended = ENDED_MAX;
	if ((r = bpf_map__set_max_entries(skel->maps.tnf_buf, size / KP_BLOCK_SIZE)) < 0 ||
	    (r = bpf_map__set_max_entries(skel->maps.tnf_pool, size / KP_BLOCK_SIZE)) < 0 ||
	    (r = bpf_map__set_max_entries(skel->maps.tnf_cpu, cpus)) < 0 ||
	    (r = bpf_map__set_max_entries(skel->maps.tnf_ended, ended)) < 0 ||
	    (r = bpf_map__set_max_entries(skel->maps.tnf_renamed, ended)) < 0 ||
	    (r = bpf_map__reuse_fd(skel->maps.tnf_rules, kp->rules_fd)) < 0 ||
	    (r = bpf_map__reuse_fd(skel->maps.tnf_filter, kp->filter_fd)) < 0)
		return r;
	return bpf_map__reuse_fd(skel->maps.data_state, kp->state_fd);
}

static int
load_try(struct kp *kp, size_t size, program_logs logs, struct kernel_bpf **ret)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = kp->types);
	struct kernel_bpf *skel = kernel_bpf__open_opts(&opts);
	int r;

	if (skel == NULL)
		return -errno;
	choose_programs(kp, skel, logs);
	r = choose_maps(kp, skel, size);
	if (r == 0)
		r = bpf_object__load(skel->obj);
	if (r != 0)
		kernel_bpf__destroy(skel);
	else
		*ret = skel;
	return r;
}

static int
load_programs(struct kp *kp, size_t size, struct kernel_bpf **ret)
{
	libbpf_print_fn_t before = libbpf_set_print(NULL);
	uint64_t refused;
	program_logs logs;
	int r;

	for (;;) {
		memset(logs, 0, sizeof logs);
		r = load_try(kp, size, logs, ret);
		refused = logs_refused(logs) & ~kp->state->refused;
		if (r == 0 || r == -EPERM || r == -ENOMEM || refused == 0)
			break;
		kp->state->refused |= refused;
	}
	libbpf_set_print(before);
	return r;
}

static int
pin_all(struct kp *kp, struct kernel_bpf *skel)
{
	struct bpf_program *p;
	char path[PATH_MAX];
	int r;

	if ((r = kp_pins_dir(kp, KP_DIR_PROG)) < 0 ||
	    (r = kp_pins_dir(kp, KP_DIR_LINK)) < 0 ||
	    (r = kp_pin(kp, bpf_map__fd(skel->maps.tnf_buf), KP_PIN_BUF)) < 0 ||
	    (r = kp_pin(kp, bpf_map__fd(skel->maps.tnf_cpu), KP_PIN_CPU)) < 0 ||
	    (r = kp_pin(kp, bpf_map__fd(skel->maps.tnf_pool), KP_PIN_POOL)) < 0 ||
	    (r = kp_pin(kp, bpf_map__fd(skel->maps.tnf_ended), KP_PIN_ENDED)) < 0 ||
	    (r = kp_pin(kp, bpf_map__fd(skel->maps.tnf_renamed), KP_PIN_RENAMED)) < 0)
		return r;
	bpf_object__for_each_program(p, skel->obj) {
		if (!bpf_program__autoload(p))
			continue;
		snprintf(path, sizeof path, KP_DIR_PROG "/%s", bpf_program__name(p));
		if ((r = kp_pin(kp, bpf_program__fd(p), path)) < 0)
			return r;
	}
	return 0;
}

int
kp_load(struct kp *kp, size_t size)
{
	struct kernel_bpf *skel;
	int r = load_programs(kp, size, &skel);

	if (r == -ENOMEM)
		return kp_fail(kp, r, "buffer of %zu bytes: not enough memory", size);
	if (r != 0 && r != -EPERM && kp->lacks != NULL)
		return kp_fail(kp, r, "BPF programs: %s", kp->lacks);
	if (r != 0)
		return kp_refused(kp, r, "BPF programs");
	r = pin_all(kp, skel);
	if (r == 0) {
		kp->pool_fd = fcntl(bpf_map__fd(skel->maps.tnf_pool), F_DUPFD_CLOEXEC, 3);
		r = kp->pool_fd < 0 ? -errno : 0;
	}
	if (r == 0)
		kp_iterate(KP_PROGRAM_find_nodes);
	kernel_bpf__destroy(skel);
	return r;
}

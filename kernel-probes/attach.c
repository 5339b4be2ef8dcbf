/*
 * attach.c - programs are attached while a probe needs them.
 *
 * A link is pinned as soon as it is made, so it outlives us; to remove the pin
 * is to detach.  Everything is worked out anew from the state each time: a
 * session puts right what a killed one has left half done.
 *
 * The physio probes hang on every system call.  Unless the setting "rawio"
 * asks for them in any case, they are attached only while somebody has a block
 * device open for unbuffered I/O.
 */
#include <linux/perf_event.h>

#include "kernel-probes/handle.h"

/* True if a descriptor is open with O_DIRECT, by /proc/PID/fdinfo/N.  'dir' is /proc/PID/fd. */
static bool
is_direct(int dir, const char *fd)
{
	char path[NAME_MAX + 16], text[256];
	autoclose int info = -1;
	unsigned flags;
	ssize_t n;

	snprintf(path, sizeof path, "../fdinfo/%s", fd);
	if ((info = openat(dir, path, O_RDONLY | O_CLOEXEC)) == -1 ||
	    (n = read(info, text, sizeof text - 1)) < 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "pos: %*s flags: %o", &flags) == 1 && flags & O_DIRECT;
}

static bool
process_has_raw(int proc, const char *pid)
{
	char path[NAME_MAX + 16];
	autoclosedir DIR *d = NULL;
	struct dirent *e;
	struct stat st;

	snprintf(path, sizeof path, "%s/fd", pid);
	if ((d = directory_open(proc, path)) == NULL)
		return false;
	while ((e = readdir(d)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]) &&
		    fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISBLK(st.st_mode) &&
		    is_direct(dirfd(d), e->d_name))
			return true;
	return false;
}

/* True if a process has a block device open for unbuffered I/O. */
static bool
kp_raw_is_open(void)
{
	autoclosedir DIR *proc = opendir("/proc");
	struct dirent *e;

	if (proc == NULL)
		return true;	/* who cannot be asked may do it */
	while ((e = readdir(proc)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]) &&
		    process_has_raw(dirfd(proc), e->d_name))
			return true;
	return false;
}

#define RAW_PROBES	(KP_BIT(KP_PHYSIO_START) | KP_BIT(KP_PHYSIO_END))

/* The physio programs, once attached, stay as long as tracing is on. */
static bool
raw_is_wanted(const struct kp *kp)
{
	return kp->state->rawio ||
	    kp_pinned(KP_DIR_LINK, kp_programs[KP_PROGRAM_physio_start].name) ||
	    kp_raw_is_open();
}

static uint64_t
wanted_probes(const struct kp *kp)
{
	const struct kp_shared *s = kp->state;
	uint64_t probes = kp_is_tracing(s) && s->buffer_size != 0 ? s->enabled & s->traced : 0;

	if (probes & RAW_PROBES && !raw_is_wanted(kp))
		probes &= ~RAW_PROBES;
	return probes;
}

int
kp_iterator(enum kp_program program)
{
	char path[PATH_MAX];
	int prog, link, fd;

	snprintf(path, sizeof path, KP_DIR_PROG "/%s", kp_programs[program].name);
	prog = bpf_obj_get(path);
	link = prog < 0 ? prog : bpf_link_create(prog, 0, BPF_TRACE_ITER, NULL);
	fd = link < 0 ? link : bpf_iter_create(link);
	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	return fd;
}

/* Runs an iterator once, if this kernel took it; its output does not matter. */
void
kp_iterate(enum kp_program program)
{
	int fd = kp_iterator(program);
	char byte;

	if (fd < 0)
		return;
	while (read(fd, &byte, 1) > 0)
		;
	close(fd);
}

static uint64_t
wanted_programs(const struct kp *kp, uint64_t probes)
{
	bool some = probes != 0 || kp_imports_wanted(kp);
	uint64_t programs = 0;

	for (unsigned id = 1; id < KP_PROBES; id++)
		if (probes & KP_BIT(id))
			programs |= kp_needs(kp, &kp_catalogue[id]) |
			    kp_extra(kp, &kp_catalogue[id]);
	/* How long a call took is known if its beginning was seen. */
	if (probes & KP_BIT(KP_SYSCALL_END) && kp->state->call_longer != 0)
		programs |= 1ull << KP_PROGRAM_syscall_start;
	if (some && kp->state->filter & KP_FILTER_MODE)
		programs |= 1ull << KP_PROGRAM_filter_exit |
		    1ull << KP_PROGRAM_filter_fork;
	if (some && kp->state->filter & KP_FILTER_MODE && kp->state->rules & KP_FILTER_NAME)
		programs |= 1ull << KP_PROGRAM_filter_name;
	if (some && kp->state->filter & KP_FILTER_MODE && kp->state->rules & KP_FILTER_GROUP)
		programs |= 1ull << KP_PROGRAM_filter_group;
	if (some)
		programs |= 1ull << KP_PROGRAM_remember_exit |
		    1ull << KP_PROGRAM_remember_fork |
		    1ull << KP_PROGRAM_remember_exec |
		    1ull << KP_PROGRAM_remember_name;
	if (some && kp_has_addresses(kp, probes))
		programs |= 1ull << KP_PROGRAM_object_exec | 1ull << KP_PROGRAM_object_exit;
	programs &= ~(1ull << KP_PROGRAM_find_nodes);
	return programs & ~(kp->missing | kp->state->refused);
}

/* A program at a software event has a link for each CPU. */
static bool
is_event(unsigned program)
{
	return kp_programs[program].kind == KP_KIND_FAULTS ||
	    kp_programs[program].kind == KP_KIND_CLOCK;
}

static void
pin_name(char *buf, size_t n, unsigned program, int cpu)
{
	if (is_event(program))
		snprintf(buf, n, "%s-%d", kp_programs[program].name, cpu);
	else
		snprintf(buf, n, "%s", kp_programs[program].name);
}

/* On one CPU: every fault that is done, or the clock while a thread runs. */
static int
cpu_event(const struct kp *kp, unsigned program, int cpu)
{
	struct perf_event_attr faults = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof faults,
		.config = program == KP_PROGRAM_major_done ?
		    PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_ADDR,
	}, clock = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof clock,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = kp->state->sample_rate,
		.exclude_idle = 1,
	};
	int fd = syscall(SYS_perf_event_open,
	    kp_programs[program].kind == KP_KIND_CLOCK ? &clock : &faults, -1, cpu, -1,
	    PERF_FLAG_FD_CLOEXEC);

	return fd == -1 ? -errno : fd;
}

static int
make_link(const struct kp *kp, unsigned program, int prog, int cpu)
{
	const struct kp_program_row *p = &kp_programs[program];
	int event, link;

	if (!is_event(program))
		return bpf_raw_tracepoint_open(p->kind == KP_KIND_RAW ? p->hook : NULL, prog);
	event = cpu_event(kp, program, cpu);
	if (event < 0)
		return event;
	link = bpf_link_create(prog, event, BPF_PERF_EVENT, NULL);
	close(event);
	return link;
}

/* Debian has a 3 in there, which asks for more than CAP_PERFMON. */
int
kp_event_refused(struct kp *kp, int r, const char *event)
{
	char text[16];
	int paranoid = tnf_proc_file(text, sizeof text,
	    "/proc/sys/kernel/perf_event_paranoid") > 0 ? atoi(text) : 0;

	if (r != -EACCES || paranoid <= 2)
		return kp_refused(kp, r, event);
	return kp_fail(kp, r, "%s: no permission: kernel.perf_event_paranoid is %d: "
	    "needs CAP_SYS_ADMIN, or 2 there", event, paranoid);
}

/* Programs that were detached between the beginning and the end of an interrupt have left a
   note of it behind. */
static void
forget_interrupts(struct kp *kp)
{
	int fd = bpf_obj_get(KP_PIN_INTERRUPTS);
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof info, zero = 0;
	void *none;

	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	    (none = calloc(kp->cpus, (info.value_size + 7) & ~7u)) != NULL) {
		bpf_map_update_elem(fd, &zero, none, BPF_ANY);
		free(none);
	}
	close(fd);
}

static int
attach_one(struct kp *kp, unsigned program, int prog, int cpu)
{
	char name[64], path[PATH_MAX];
	int link, r;

	pin_name(name, sizeof name, program, cpu);
	if (kp_pinned(KP_DIR_LINK, name))
		return 0;
	if (program == KP_PROGRAM_remember_exit)
		kp_iterate(KP_PROGRAM_begin_tasks);
	if (program == KP_PROGRAM_bio_queue)
		kp_iterate(KP_PROGRAM_forget_requests);
	if (program == KP_PROGRAM_irq_end)
		forget_interrupts(kp);
	link = make_link(kp, program, prog, cpu);
	if (link == -ENODEV)		/* this CPU is off */
		return 0;
	if (link < 0)
		return (is_event(program) ? kp_event_refused : kp_refused)(kp, link, kp_programs[program].hook);
	snprintf(path, sizeof path, KP_DIR_LINK "/%s", name);
	r = kp_pin(kp, link, path);
	close(link);
	return r;
}

static int
attach_program(struct kp *kp, unsigned program)
{
	int n = is_event(program) ? kp->cpus : 1;
	char path[PATH_MAX];
	int prog, r = 0;

	snprintf(path, sizeof path, KP_DIR_PROG "/%s", kp_programs[program].name);
	prog = bpf_obj_get(path);
	if (prog < 0)
		return kp_refused(kp, prog, path);
	for (int cpu = 0; r == 0 && cpu < n; cpu++)
		r = attach_one(kp, program, prog, cpu);
	close(prog);
	return r;
}

void
kp_detach(struct kp *kp, unsigned program)
{
	int n = is_event(program) ? kp->cpus : 1;
	char name[64], path[PATH_MAX];

	for (int cpu = 0; cpu < n; cpu++) {
		pin_name(name, sizeof name, program, cpu);
		snprintf(path, sizeof path, KP_DIR_LINK "/%s", name);
		unlink(path);
	}
}

static bool
is_needed(const struct kp *kp, unsigned program, uint64_t probes)
{
	for (unsigned id = 1; id < KP_PROBES; id++)
		if (probes & KP_BIT(id) &&
		    kp_needs(kp, &kp_catalogue[id]) >> program & 1)
			return true;
	return false;
}

static bool
sees_fault_ends(uint64_t programs)
{
	char path[PATH_MAX];

	if (programs >> KP_PROGRAM_fault_counted & 1)
		return kp_pinned(KP_DIR_LINK, kp_programs[KP_PROGRAM_fault_counted].name);
	pin_name(path, sizeof path, KP_PROGRAM_minor_done, 0);
	return programs >> KP_PROGRAM_minor_done & 1 && kp_pinned(KP_DIR_LINK, path);
}

int
kp_attach_sync(struct kp *kp)
{
	uint64_t probes, programs;
	int r = 0;

	if (kp->state->buffer_size == 0)
		return 0;
	probes = wanted_probes(kp);
	programs = wanted_programs(kp, probes);
	kp->state->on &= probes | KP_IMPORTED;
	kp->state->has_filemap_fault = !(kp->missing >> KP_PROGRAM_file_fault & 1);
	kp_filter_notes(kp, false);
	for (unsigned i = 0; i < KP_PROGRAM_COUNT; i++) {
		if (!(programs >> i & 1))
			continue;
		r = attach_program(kp, i);
		if (r < 0 && is_needed(kp, i, probes))
			return r;
	}
	kp->state->fault_ends = sees_fault_ends(programs);
	/* Without filter_fork a new thread could have a stack that is noted as left out.  On an error
	   above there are no notes, which takes time and loses nothing. */
	kp_filter_notes(kp, programs >> KP_PROGRAM_filter_fork & 1 &&
	    kp_pinned(KP_DIR_LINK, kp_programs[KP_PROGRAM_filter_fork].name));
	if (probes & ~kp->state->on & KP_BIT(KP_SYSCALL_END))
		kp->state->call_since = (__u64)clock_ns(CLOCK_MONOTONIC);
	__atomic_store_n(&kp->state->on, probes | (kp_imports_wanted(kp) ? KP_IMPORTED : 0),
	    __ATOMIC_RELEASE);
	/* A BPF program may have frozen the buffer by now. */
	if (kp->state->frozen != 0)
		__atomic_store_n(&kp->state->on, 0, __ATOMIC_RELEASE);
	/* remember_exit is detached below, and then no program notes the threads that
	   end.  So those that live are noted now; else they would have no name. */
	if (probes == 0 && !kp_imports_wanted(kp) &&
	    kp_pinned(KP_DIR_LINK, kp_programs[KP_PROGRAM_remember_exit].name))
		kp_iterate(KP_PROGRAM_remember_living);
	for (unsigned i = KP_PROGRAM_COUNT; i-- > 0;)
		if (!(programs >> i & 1))
			kp_detach(kp, i);
	return 0;
}

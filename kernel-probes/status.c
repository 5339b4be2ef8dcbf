/*
 * status.c - the state of a buffer (size, switches, losses), its settings, and the time that
 * it covers for each CPU.
 */
#include "kernel-probes/handle.h"

#define PROGRAMS	(KP_PROGRAM_COUNT + KP_IMPORT_KINDS)

static const char *
program_name(unsigned i)
{
	const struct kp_import_kind *kind;

	if (i < KP_PROGRAM_COUNT)
		return kp_programs[i].name;
	kind = kp_import_kinds[i - KP_PROGRAM_COUNT];
	return kind != NULL ? kind->program : NULL;
}

/* A watching program asks ten times a second: each pin is opened only once.  Programs are pinned
   when the first probe that needs them is switched on. */
static int
program_fd(struct kp *kp, unsigned i)
{
	bool first = kp->program_fd == NULL;
	char path[PATH_MAX];

	if (first && (kp->program_fd = malloc(PROGRAMS * sizeof *kp->program_fd)) == NULL)
		return -1;
	for (unsigned n = 0; first && n < PROGRAMS; n++)
		kp->program_fd[n] = -ENOENT;
	if (kp->program_fd[i] == -ENOENT && program_name(i) != NULL) {
		snprintf(path, sizeof path, KP_DIR_PROG "/%s", program_name(i));
		kp->program_fd[i] = bpf_obj_get(path);
	}
	return kp->program_fd[i];
}

void
kp_programs_close(struct kp *kp)
{
	for (unsigned i = 0; kp->program_fd != NULL && i < PROGRAMS; i++)
		if (kp->program_fd[i] >= 0)
			close(kp->program_fd[i]);
	free(kp->program_fd);
	kp->program_fd = NULL;
}

/* Hits of a hook that came while its program ran already on that CPU. */
static uint64_t
misses_of(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof info;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
		return 0;
	return info.recursion_misses;
}

static uint64_t
hook_misses(struct kp *kp)
{
	uint64_t sum = 0;
	int fd;

	for (unsigned i = 0; i < PROGRAMS; i++)
		sum += misses_of(program_fd(kp, i));
	/* Those of one probe alone. */
	for (unsigned i = 0; i < kp->imports; i++) {
		if (kp->import[i]->slot < 0 || kp->import[i]->kind != &kp_tracepoint)
			continue;
		fd = kp_import_raw_fd((unsigned)kp->import[i]->slot);
		sum += misses_of(fd);
		kp_close_fd(&fd);
	}
	return sum;
}

static bool
header_holds(struct kp *kp)
{
	const struct tnf_file_header *h;
	const void *map;
	size_t size;

	if (kp_map(kp, &map, &size) != 0)
		return false;
	h = map;
	return h->magic == TNF_MAGIC && h->block_size == KP_BLOCK_SIZE &&
	    h->block_count == size / KP_BLOCK_SIZE;
}

static void
count_lost(struct kp *kp, struct kp_status *s)
{
	for (int i = 0; i < kp->cpus; i++) {
		uint64_t sum = 0;

		for (int r = 0; r < TNF_LOST_REASONS; r++) {
			uint64_t n = __atomic_load_n(&kp->cpu[i].lost[r], __ATOMIC_RELAXED);

			s->lost[r] += n;
			sum += n;
		}
		if (sum > s->lost_cpu_max) {
			s->lost_cpu_max = sum;
			s->lost_cpu = i;
		}
		s->full |= __atomic_load_n(&kp->cpu[i].full, __ATOMIC_RELAXED) != 0;
	}
	s->lost[TNF_LOST_HOOK] += hook_misses(kp);
}

KP_EXPORT enum kp_state
kp_standing(struct kp *kp)
{
	if (!kp->foreign && kp->state->buffer_size == 0)
		return KP_NONE;
	return !kp->foreign && header_holds(kp) ? KP_OK : KP_BROKEN;
}

KP_EXPORT int
kp_status(struct kp *kp, struct kp_status *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->state = kp_standing(kp);
	if (kp->foreign)
		return 0;
	ret->filtering = (kp->state->filter & KP_FILTER_MODE) != KP_FILTER_OFF;
	ret->tracing = kp_is_tracing(kp->state);
	ret->size = kp->state->buffer_size;
	ret->fill = kp->state->fill;
	if (ret->size != 0 && kp->cpu != NULL)
		count_lost(kp, ret);
	return 0;
}

static const struct {
	const char *name;
	size_t	at;
	__u32	min, max;
} settings[] = {
	{ "stack_depth", offsetof(struct kp_shared, stack_depth), 0, KP_STACK_MAX },
	{ "rawio", offsetof(struct kp_shared, rawio), 0, 1 },
	{ "filter_except", offsetof(struct kp_shared, filter_except), 0, 1 },
	{ "import_rate", offsetof(struct kp_shared, import_rate), 0, UINT32_MAX },
	{ "recover_reason", offsetof(struct kp_shared, recover), 0, 1 },
	{ "sample_rate", offsetof(struct kp_shared, sample_rate), 1, 10000 },
	{ "sample_stack", offsetof(struct kp_shared, sample_stack), 0, 1 },
};

/* The setting's place in the state and its range; NULL: there is none of this name. */
static __u32 *
settings_find(struct kp_shared *s, const char *name, __u32 *min, __u32 *max)
{
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (strcmp(name, settings[i].name) == 0) {
			*min = settings[i].min;
			*max = settings[i].max;
			return (__u32 *)(void *)((char *)s + settings[i].at);
		}
	return NULL;
}

KP_EXPORT int
kp_setting_get(struct kp *kp, const char *name, unsigned *ret)
{
	__u32 min, max, *p = settings_find(kp->state, name, &min, &max);

	if (p == NULL)
		return kp_fail(kp, -EINVAL, "%s: no such setting", name);
	*ret = *p;
	return 0;
}

KP_EXPORT int
kp_setting_set(struct kp *kp, const char *name, unsigned value)
{
	__u32 min, max, *p;
	int r;

	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	p = settings_find(kp->state, name, &min, &max);
	if (p == NULL)
		return kp_fail(kp, -EINVAL, "%s: no such setting", name);
	if (value > max)
		return kp_fail(kp, -EINVAL, "%s: %u is more than %u", name, value, max);
	if (value < min)
		return kp_fail(kp, -EINVAL, "%s: %u is less than %u", name, value, min);
	*p = value;
	if (p == &kp->state->import_rate)
		return kp_imports_rerate(kp);
	if (p == &kp->state->sample_rate)
		kp_detach(kp, KP_PROGRAM_sample_take);
	return kp_attach_sync(kp);
}

/* A block begins with a schedule record, which has the block's CPU, number and time. */
static void
look_at_block(struct kp_span *span, int cpus, const char *block, uint32_t sched_tag)
{
	const struct tnf_block_header *h = (const void *)block;
	const struct tnf_kernel_schedule *s = (const void *)(block + KP_BLOCK_HEADER);
	uint32_t generation = __atomic_load_n(&h->generation, __ATOMIC_ACQUIRE);
	struct tnf_kernel_schedule copy;

	if (generation == TNF_GENERATION_FREE || generation == TNF_GENERATION_TAG ||
	    __atomic_load_n(&h->bytes_valid, __ATOMIC_ACQUIRE) < KP_BLOCK_HEADER + sizeof copy)
		return;
	copy = *s;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* The block may have been taken again while we read it. */
	if (__atomic_load_n(&h->generation, __ATOMIC_ACQUIRE) != generation ||
	    copy.tag != sched_tag || copy.cpuid < 0 || copy.cpuid >= cpus ||
	    copy.number == 0)
		return;
	span += copy.cpuid;
	if (span->first == 0 || copy.number < span->first) {
		span->first = copy.number;
		span->since = copy.time_base;
	}
}

KP_EXPORT int
kp_coverage(struct kp *kp, struct kp_span **ret, int *ret_n)
{
	const void *map;
	size_t size;
	int r;

	if ((r = kp_map(kp, &map, &size)) < 0)
		return r;
	*ret = calloc(kp->cpus, sizeof **ret);
	if (*ret == NULL)
		return kp_fail(kp, -ENOMEM, "buffer: not enough memory");
	for (size_t at = KP_DATA; at < size; at += KP_BLOCK_SIZE)
		look_at_block(*ret, kp->cpus, (const char *)map + at, kp->state->sched_tag);
	*ret_n = kp->cpus;
	return 0;
}

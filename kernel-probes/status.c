/*
 * status.c - how it stands: size, switches, losses.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <tnf/com.h>

#include "kernel-probes/handle.h"
#include "kernel-probes/import.h"

/* Hits of a hook that came while its program ran already on that CPU. */
static uint64_t
misses_of(const char *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof info;
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof path, KP_DIR_PROG "/%s", program);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return 0;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
		info.recursion_misses = 0;
	close(fd);
	return info.recursion_misses;
}

static uint64_t
hook_misses(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < KP_PROGRAM_COUNT; i++)
		sum += misses_of(kp_programs[i].name);
	for (unsigned i = 0; i < KP_IMPORT_KINDS; i++)
		if (kp_import_kinds[i] != NULL)
			sum += misses_of(kp_import_kinds[i]->program);
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
	s->lost[TNF_LOST_HOOK] += hook_misses();
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
	ret->filtering = kp->state->filter;
	ret->tracing = kp->state->tracing;
	ret->size = kp->state->buffer_size;
	ret->fill = kp->state->fill;
	if (ret->size == 0)
		return 0;
	if (kp->cpu != NULL)
		count_lost(kp, ret);
	return 0;
}

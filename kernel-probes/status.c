/*
 * status.c - how it stands: size, switches, losses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <tnf/com.h>

#include "kernel-probes/handle.h"
#include "kernel-probes/import.h"

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

/* Whoever watches asks ten times a second: what is pinned is opened once.  Programs are pinned
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
misses_of(struct kp *kp, unsigned i)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof info;
	int fd = program_fd(kp, i);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
		return 0;
	return info.recursion_misses;
}

static uint64_t
hook_misses(struct kp *kp)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < PROGRAMS; i++)
		sum += misses_of(kp, i);
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
	ret->filtering = kp->state->filter;
	ret->tracing = kp->state->tracing;
	ret->size = kp->state->buffer_size;
	ret->fill = kp->state->fill;
	if (ret->size != 0 && kp->cpu != NULL)
		count_lost(kp, ret);
	return 0;
}

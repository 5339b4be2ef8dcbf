/*
 * schedule.c - schedule records: who was running, and from when deltas count.
 */
#include <stdlib.h>
#include <string.h>

#include "libtnf/file.h"
#include "libtnf/schedule.h"
#include "libtnf/type.h"

#define CACHED	256u
/* 146 years.  Whoever subtracts the times of two events need not think of
   overflow. */
#define TIME_MAX	((INT64_C(1) << 62) - (INT64_C(1) << 33))

struct sched_cache {
	struct sched at[CACHED];	/* by offset; pos 0: free */
};

struct sched_cache *
tnf_sched_cache_new(void)
{
	return calloc(1, sizeof(struct sched_cache));
}

void
tnf_sched_cache_free(struct sched_cache *c)
{
	free(c);
}

/* An integer member of any width; absent: 'none'. */
static int64_t
schedule_integer(const struct tnf_file *f, uint32_t pos, const struct tnf_member *m,
    int64_t none)
{
	if (m->type == NULL)
		return none;
	switch (m->type->kind) {
	case TNF_K_INT64:
	case TNF_K_UINT64:
		return (int64_t)bytes_u64(&f->bytes, (uint64_t)pos + m->offset);
	case TNF_K_UINT32:
		return bytes_u32(&f->bytes, (uint64_t)pos + m->offset);
	case TNF_K_INT32:
		return (int32_t)bytes_u32(&f->bytes, (uint64_t)pos + m->offset);
	default:
		return none;
	}
}

static void
schedule_find(const struct type *t, const char *name, struct tnf_member *m)
{
	const struct tnf_member *s = tnf_type_slot(t, name);

	if (s != NULL)
		*m = *s;
}

static void
schedule_learn(struct type *t)
{
	struct sched_layout *l = &t->sched;

	schedule_find(t, "tid", &l->tid);
	schedule_find(t, "lwpid", &l->lwpid);
	schedule_find(t, "pid", &l->pid);
	schedule_find(t, "time_base", &l->base);
	schedule_find(t, "cpuid", &l->cpu);
	l->usable = l->base.type != NULL && l->tid.type != NULL;
	l->kernel = l->usable &&
	    strcmp(l->tid.type->name, "tnf_kthread_id") == 0;
	l->known = true;
}

static bool
read_sched(struct tnf_file *f, uint32_t pos, struct sched *s)
{
	struct type *t = tnf_type_of_record(f, pos);

	if (t == NULL)
		return false;
	if (!t->sched.known)
		schedule_learn(t);
	const struct sched_layout *l = &t->sched;
	if (!l->usable)
		return tnf_file_fail(f, pos, "event without a schedule record");
	s->base = schedule_integer(f, pos, &l->base, 0);
	s->tid = (uint64_t)schedule_integer(f, pos, &l->tid, 0);
	s->lwpid = (uint32_t)schedule_integer(f, pos, &l->lwpid, 0);
	s->pid = (int32_t)schedule_integer(f, pos, &l->pid, 0);
	s->cpu = (int32_t)schedule_integer(f, pos, &l->cpu, -1);
	s->kernel = l->kernel;
	/* Behind cpuid, where the original has padding. */
	if (f->has_ext && s->kernel && f->block_header_size == sizeof(struct tnf_block_header))
		s->block = bytes_u32(&f->bytes, (uint64_t)pos +
		    offsetof(struct tnf_kernel_schedule, number));
	if (s->base < -TIME_MAX || s->base > TIME_MAX)
		return tnf_file_fail(f, pos, "a schedule record has an impossible time");
	return true;
}

const struct sched *
tnf_sched_at(struct tnf_file *f, uint32_t pos)
{
	struct sched *s = &f->scheds->at[(pos >> 3) % CACHED];
	uint32_t generation = file_block(f, file_block_off(f, pos)).generation;
	struct sched n = { .pos = pos, .generation = generation };

	if (s->pos == pos && s->generation == generation)
		return s;
	if (!read_sched(f, pos, &n))
		return NULL;
	*s = n;
	return s;
}

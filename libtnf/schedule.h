/*
 * schedule.h - schedule records: who was running, and from when deltas count.
 */
#ifndef LIBTNF_SCHEDULE_H
#define LIBTNF_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct tnf_file;

struct sched {
	uint32_t pos;
	uint32_t generation;	/* of its block */
	int64_t	 base;
	uint64_t tid;
	uint32_t lwpid;
	int32_t	 pid;
	int32_t	 cpu;		/* -1: not told */
	bool	 kernel;
	uint32_t block;		/* kernel: its number among those of the CPU, or 0 */
};

struct sched_cache;

struct sched_cache *tnf_sched_cache_new(void);
void		    tnf_sched_cache_free(struct sched_cache *);

/* The one at 'pos'; NULL: no schedule record, see file->why.  Valid until the
   next call. */
const struct sched *tnf_sched_at(struct tnf_file *, uint32_t pos);

#endif /* LIBTNF_SCHEDULE_H */

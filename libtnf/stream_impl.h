/*
 * stream_impl.h - inside of a stream: its files, probes and merge.
 */
#ifndef LIBTNF_STREAM_IMPL_H
#define LIBTNF_STREAM_IMPL_H

#include <tnf/stream.h>

#include "libtnf/table.h"
#include "libtnf/file.h"
#include "libtnf/follow.h"
#include "libtnf/merge.h"

struct tnf_stream {
	struct tnf_file	 **files;
	unsigned	   n_files;
	struct tnf_probe **probes;	/* by id */
	unsigned	   n_probes;
	unsigned	   room_probes;
	struct merge	   merge;
	struct follow	   follow;
	struct siblings	   siblings;
	struct arena	   arena;	/* probes */
	tnf_stream_damage_fn *damage;
	void		  *damage_arg;
	bool		   accept_cut;
	uint64_t	   lazy;	/* files of so many bytes are read as they are
					   asked for; 0: none is */
};

/*
 * The first pass over a file: its probes, its blocks' times, its damage.  Of one
 * that is read as it is asked for (survey.h) it does only what must be known at
 * once, and the rest of it goes on as blocks are opened.
 */
int tnf_scan_file(tnf_stream_t *, struct tnf_file *, struct scan *);
/* All of the pass for the block at 'off'. */
void tnf_scan_block_at(tnf_stream_t *, struct tnf_file *, uint32_t off, struct scan *);
/* The rest of the pass for a block that is opened; false: it has no events, or has been
   taken over. */
bool tnf_scan_entry(tnf_stream_t *, struct tnf_file *, struct entry *, struct walk);
/* Times of its first and last event; nothing is noted.  false: it has none. */
bool tnf_scan_times(tnf_stream_t *, struct tnf_file *, const struct entry *,
    int64_t *first, int64_t *last);
/* The writer's mark in a block's header that a thread has it. */
bool tnf_scan_is_held(const struct tnf_file *, uint32_t off);
/* What was found is told, once. */
void tnf_scan_tell_damage(tnf_stream_t *, struct tnf_file *);

/* The event at which 'w' stands, at this time on the stream's line; false: out of
   memory. */
bool tnf_stream_fill(tnf_stream_t *, struct tnf_event *, int64_t time, const struct walk *,
    const struct sched *);

/* The probe of an event's type; NULL: out of memory. */
struct tnf_probe *tnf_probe_of(tnf_stream_t *, struct tnf_file *, struct type *);

/*
 * Numbers the probes from 'first' on as their definitions follow each other in
 * the file: events may precede them, in data blocks before late definitions.
 */
void tnf_probes_sort(tnf_stream_t *, unsigned first);

void tnf_stream_damage(tnf_stream_t *, struct tnf_file *, uint32_t block,
    const char *text);

#endif /* LIBTNF_STREAM_IMPL_H */

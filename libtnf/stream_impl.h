/*
 * stream_impl.h - inside of a stream: its files, probes and merge.
 */
#ifndef LIBTNF_STREAM_IMPL_H
#define LIBTNF_STREAM_IMPL_H

#include <tnf/stream.h>

#include "libtnf/arena.h"
#include "libtnf/file.h"
#include "libtnf/follow.h"
#include "libtnf/merge.h"
#include "libtnf/sibling.h"

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
};

/* The first pass over a file: its probes, its blocks' times, its damage. */
int scan_file(tnf_stream_t *, struct tnf_file *, struct scan *);

/* The probe of an event's type; NULL: out of memory. */
struct tnf_probe *probe_of(tnf_stream_t *, struct tnf_file *, struct type *);

/*
 * Numbers the probes from 'first' on as their definitions follow each other in
 * the file: events may precede them, in data blocks before late definitions.
 */
void probes_sort(tnf_stream_t *, unsigned first);

void stream_damage(tnf_stream_t *, struct tnf_file *, uint32_t block,
    const char *text);

#endif /* LIBTNF_STREAM_IMPL_H */

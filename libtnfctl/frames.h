/*
 * frames.h - the functions that a stopped thread is in, the innermost first.
 */
#ifndef LIBTNFCTL_FRAMES_H
#define LIBTNFCTL_FRAMES_H

#include "common/maps.h"
#include "libtnfctl/proc.h"

struct frames;		/* what the objects of one process say about frames */

/* 'maps' must stay until tnfctl_frames_free(); NULL: no memory. */
struct frames *tnfctl_frames_new(struct proc *, const struct maps *);
void	tnfctl_frames_free(struct frames *);

/*
 * Calls fn with an address in each function that the thread is in.  True: fn has said
 * true for each, and the last is the one that the thread began with.  False also where
 * a frame cannot be told for certain: code without call frame information, a signal
 * handler's frame, a stack that is not the thread's own.
 */
bool	tnfctl_frames_all(struct frames *, const struct thread *,
	    bool (*fn)(void *, uintptr_t ip), void *arg);

#endif

/*
 * call.h - call functions of the target, on a stack of our own.
 */
#ifndef LIBTNFCTL_CALL_H
#define LIBTNFCTL_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "common/proc.h"
#include "libtnfctl/arch/arch.h"
#include "libtnfctl/proc.h"

/* Everything that calls of functions in one process need. */
struct calls {
	tnfctl_handle_t *h;
	struct proc *p;
	struct maps maps;
	struct frames *frames;		/* NULL: nobody has asked for callers yet */
	const struct mapping *linker;	/* its code */
	const struct mapping *library;	/* libtnfprobe's code, or NULL */
	uintptr_t malloc, mmap, munmap, restorer;
	uintptr_t stack;		/* ours, in the target; 0: none */
	int	 tries;			/* to find a thread */
	bool	 in_use;		/* a call has not come back from there */
	uintptr_t noted;		/* where the target's memory says so; 0: nowhere */
};

#define CALL_DATA	8192u	/* bytes that tnfctl_call_put() has room for */

/*
 * The target must be stopped.  tries: how often we look for a thread that may make
 * the call; between the looks the target runs for a moment.  NULL: calls can be made, and
 * the target has memory for their stack.  Otherwise the reason why not, and nothing has changed;
 * p->gone or p->event says if the target has ended or called exec() meanwhile.
 * tnfctl_call_end() is due in either case.
 */
const char *tnfctl_call_begin(struct calls *, tnfctl_handle_t *, int tries);
void	tnfctl_call_end(struct calls *);
/* Copies data to where the calls can use it; its address there, 0: failed. */
uintptr_t tnfctl_call_put(struct calls *, size_t offset, const void *, size_t);
bool	tnfctl_call_get(struct calls *, size_t offset, void *, size_t);
/* NULL: the call has been made, and the target is stopped. */
const char *tnfctl_call_make(struct calls *, struct call *);
/* A system call; false: it has not been made, or has failed. */
bool	tnfctl_call_kernel(struct calls *, long number, uintptr_t, uintptr_t, uintptr_t,
	    uintptr_t, long *ret);
/* Reads what another controller's tnfctl_call_put() has put at offset 0; its calls had their
   memory at 'stack'. */
bool	tnfctl_call_get_of(const struct calls *, uintptr_t stack, void *ret, size_t);
/* Is a thread still in a call of theirs? */
bool	tnfctl_call_is_used(const struct calls *, uintptr_t stack);

/* hand-over.c: closes descriptors that the last controller has left.  False: the target has no
   place to note that calls are made, or we cannot tell yet which descriptors are left. */
bool	tnfctl_left_settle(struct calls *);

/* remote.c: makes one call, in the thread that 'struct call' names. */
enum remote_result {
	REMOTE_DONE,
	REMOTE_NOT_STARTED,
	REMOTE_LATE,		/* it goes on, and will come back by itself */
	REMOTE_ENDED		/* the process has, or it has called exec() */
};

/* Bytes of the stack that the saved registers take. */
#define REMOTE_FRAME	(18u << 10)

/* The process is stopped before and after. */
enum remote_result tnfctl_remote_call(struct proc *, struct call *, int max_ms);

/* Is the thread, at this instruction, within a restartable sequence? */
bool	tnfctl_remote_is_in_sequence(struct proc *, const struct thread *,
	    uintptr_t ip);

struct frames;		/* what the objects of one process say about frames */

/* 'maps' must stay until tnfctl_frames_free(); NULL: no memory. */
struct frames *tnfctl_frames_new(struct proc *, const struct maps *);
void	tnfctl_frames_free(struct frames *);

/*
 * Calls fn with an address in each function that the thread is in.  True: fn has returned
 * true for each, and the last is the function that the thread began with.  False also if
 * a frame cannot be told for certain: code without call frame information, a signal
 * handler's frame, a stack that is not the thread's own.
 */
bool	tnfctl_frames_all(struct frames *, const struct thread *,
	    bool (*fn)(void *, uintptr_t ip), void *arg);

#endif

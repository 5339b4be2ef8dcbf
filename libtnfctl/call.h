/*
 * call.h - call functions of the target, on a stack of our own.
 */
#ifndef LIBTNFCTL_CALL_H
#define LIBTNFCTL_CALL_H

#include "common/maps.h"
#include "libtnfctl/remote.h"

/* What it takes to call functions in one process. */
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

/* A call; its arguments are numbers, or addresses from tnfctl_call_put(). */
struct call {
	uintptr_t function;
	uintptr_t args[6];
	bool	 alone;		/* it needs no other thread: they stay stopped */
	/* Set by tnfctl_call_make(): */
	long	 result;	/* of the last system call inside */
	int	 error;		/* of the last one that failed, or 0 */
};

#define CALL_DATA	8192u	/* bytes that tnfctl_call_put() has room for */

/*
 * The target is stopped.  tries: how often we look for a thread that may make
 * the call; between the looks the target runs for a moment.  NULL: calls can be made, and the target has memory
 * for their stack.  Otherwise the reason why not, and nothing has changed;
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
/* What tnfctl_call_put() has put at offset 0 of the memory at 'stack', that of calls of
   another controller. */
bool	tnfctl_call_get_of(const struct calls *, uintptr_t stack, void *ret, size_t);
/* Is a thread still in a call of theirs? */
bool	tnfctl_call_is_used(const struct calls *, uintptr_t stack);

#endif

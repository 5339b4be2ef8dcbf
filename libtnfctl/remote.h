/*
 * remote.h - call a function in a thread of the target.
 */
#ifndef LIBTNFCTL_REMOTE_H
#define LIBTNFCTL_REMOTE_H

#include "proc.h"

struct remote {
	struct thread	*thread;	/* stopped, at a place where it may */
	uintptr_t	function;
	const char	*string;	/* first argument, a string */
	uintptr_t	flags;		/* second argument */
	uintptr_t	restorer;	/* code: system call rt_sigreturn */
	int		error;		/* of the last system call that failed
					   inside, or 0 */
};

enum remote_result {
	REMOTE_DONE,
	REMOTE_NOT_STARTED,
	REMOTE_LATE		/* it goes on, and will come back by itself */
};

/* The process is stopped before and after; the other threads run meanwhile.
   r->thread is not valid any more after it. */
enum remote_result remote_call(struct proc *, struct remote *r, int max_ms);

/* Room, in bytes, that it wants below the stack pointer. */
#define REMOTE_STACK	(96u << 10)

/* Where the thread is: instruction and stack pointer, system call or -1. */
bool	remote_where(const struct thread *, uintptr_t *ip, uintptr_t *sp,
	    long *call);
/* Code that makes a signal handler return, as the C library has it. */
extern const unsigned char remote_restorer[];
extern const size_t remote_restorer_size;

#endif

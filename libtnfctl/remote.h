/*
 * remote.h - call a function in a thread of the target.
 */
#ifndef LIBTNFCTL_REMOTE_H
#define LIBTNFCTL_REMOTE_H

#include "libtnfctl/proc.h"

struct remote {
	pid_t		tid;		/* stopped, at a place where it may */
	uintptr_t	function;
	uintptr_t	args[6];
	uintptr_t	stack;		/* end of the memory it uses as its stack */
	uintptr_t	restorer;	/* code: system call rt_sigreturn */
	bool		alone;		/* the others stay stopped in any case */
	bool		waits;		/* has waited for others, which then run */
	long		result;		/* of the last system call inside */
	int		error;		/* of the last one that failed, or 0 */
};

enum remote_result {
	REMOTE_DONE,
	REMOTE_NOT_STARTED,
	REMOTE_LATE,		/* it goes on, and will come back by itself */
	REMOTE_ENDED		/* the process has, or it has called exec() */
};

/* Bytes of the stack that the saved registers take. */
#define REMOTE_FRAME	(18u << 10)

/* The process is stopped before and after. */
enum remote_result tnfctl_remote_call(struct proc *, struct remote *, int max_ms);

/* Is it at this instruction within a restartable sequence? */
bool	tnfctl_remote_is_in_sequence(struct proc *, const struct thread *,
	    uintptr_t ip);

#endif

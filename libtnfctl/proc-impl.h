/*
 * proc-impl.h - what the files of proc.h have of each other.
 */
#ifndef LIBTNFCTL_PROC_IMPL_H
#define LIBTNFCTL_PROC_IMPL_H

#include "libtnfctl/proc.h"

/* The thread, which is new if it was not there; NULL: no memory. */
struct thread *tnfctl_proc_thread_add(struct proc *, pid_t tid);
/* A child that is to run free: it stops at its birth, and must be let go. */
void	tnfctl_proc_thread_add_foreign(struct proc *, pid_t child);
/* Another thread takes its place in the array; a child that nobody was told of goes free. */
void	tnfctl_proc_thread_drop(struct proc *, struct thread *);
/* All that are the process's own. */
void	tnfctl_proc_threads_drop(struct proc *);
/* Those of ptrace that its threads are to have. */
unsigned int tnfctl_proc_options(const struct proc *);
/* Those whom an exec() of another thread has ended, be it while they stood still, or before
   their mother could tell of them: that exec() waits until we have reaped them. */
void	tnfctl_proc_reap(struct proc *);
/* Does this thread of ours trace it? */
bool	tnfctl_proc_is_ours(pid_t tid);
/* seize.c: 0, also if it is dead; or an errno, ETIMEDOUT if it is late for the process.
   The calls before and after those for all threads. */
int	tnfctl_seize(struct proc *, pid_t tid);
void	tnfctl_seize_begin(struct proc *);
void	tnfctl_seize_end(struct proc *);
/* Asks wait(2) once about each thread that runs; was there anything? */
bool	tnfctl_proc_take_round(struct proc *);

#endif

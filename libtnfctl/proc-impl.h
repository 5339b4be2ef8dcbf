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
/* Asks wait(2) once about each thread that runs; was there anything? */
bool	tnfctl_proc_take_round(struct proc *);

#endif

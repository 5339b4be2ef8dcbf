/*
 * scout.h - look at a process without waiting for what the kernel holds back.
 */
#ifndef LIBTNFCTL_SCOUT_H
#define LIBTNFCTL_SCOUT_H

#include "libtnfctl/proc.h"

typedef tnfctl_errcode_t scout_fn(struct proc *);

/*
 * Returns the error of 'look' for the process, with its detail.  A child of ours calls 'look', with a copy of
 * *p.  After tnfctl_proc_hurry(); if the child takes longer than that allows, it is left
 * alone, and the answer is TNFCTL_ERR_INTERNAL.  Every signal is blocked.
 */
tnfctl_errcode_t tnfctl_scout(struct proc *p, scout_fn *look);

#endif

/*
 * family.h - the children of the target, with --follow-fork.
 *
 * A process that is traced belongs to the thread that attached to it, and a
 * thread can wait for one target: so each child gets a thread here, which
 * does what it is told.  All of these are called by the main thread, except
 * for family_add(), which the others call for children of their own.
 */
#ifndef PREX_FAMILY_H
#define PREX_FAMILY_H

#include <tnf/tnfctl.h>

struct family;
struct shell;

struct family *family_new(struct shell *);
/* Takes the handle of a child that has just been made, or why there is none. */
void	family_add(struct family *, tnfctl_errcode_t, tnfctl_handle_t *child);

/* NULL is a family without members. */
void	family_run(struct family *);
void	family_stop(struct family *);
/* Calls op for every probe of every member; the first failure is returned. */
tnfctl_errcode_t family_apply(struct family *, tnfctl_probe_op_t op, void *arg);
/* Lets all of them go and frees the family. */
void	family_close(struct family *, tnfctl_targ_op_t);

#endif

/*
 * family.h - the children of the target, with --follow-fork.
 */
#ifndef PREX_FAMILY_H
#define PREX_FAMILY_H

#include <stdbool.h>
#include <sys/types.h>

#include <tnf/tnfctl.h>

struct family;
struct shell;

struct family *family_new(struct shell *);
/* Opens the first of the children of a process without probes, and of theirs, that has
   some: it becomes the target.  false: none has. */
bool	family_open_first(struct shell *, pid_t);
/* Takes the children of a process, and theirs, that are there.  Each records into a
   file of its own: FILE.PID, where 'file' is given, or as prex names them, that has the
   size of the target's. */
void	family_adopt(struct family *, pid_t, const char *file, bool fill);
/* Members that have no trace file get it now; NULL is fine. */
void	family_make_files(struct family *);
/* Lets the target and all members run until something happens.  What happens to
   a member is dealt with, and told as the target's event FORK.  NULL is a
   family without members. */
tnfctl_errcode_t family_continue(struct family *, tnfctl_handle_t *target,
	    tnfctl_event_t *);
/* Calls fn for every member; the first failure is returned. */
tnfctl_errcode_t family_each(struct family *,
	    tnfctl_errcode_t (*fn)(tnfctl_handle_t *, void *arg), void *arg);
/* Lets all of them go and frees the family. */
void	family_close(struct family *, tnfctl_targ_op_t);

#endif

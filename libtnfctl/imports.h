/*
 * imports.h - probes of a process that the kernel hits for us: USDT.
 *
 * They are listed from the files that the process has mapped, which takes no rights
 * beyond those to read /proc/PID/maps.  What changes one goes to the kernel's
 * session (kernel-probes), which is opened for it and closed when the target runs
 * on or is let go, so that others get their turn.
 */
#ifndef LIBTNFCTL_IMPORTS_H
#define LIBTNFCTL_IMPORTS_H

#include "libtnfctl/handle.h"

struct import;			/* what a tnfctl_probe has of it; NULL: TNF's own */
struct imports;			/* what a handle has; NULL: nobody asked for them */

/* From now on the handle has them.  BADARG: no handle on another process. */
tnfctl_errcode_t tnfctl_imports_begin(tnfctl_handle_t *);
/* As tnfctl_import_add() for a process: its functions, and the USDT probes of its files. */
tnfctl_errcode_t tnfctl_imports_add(tnfctl_handle_t *, const char *kind, const char *source);
/* Looks for files that came or went; new probes through tnfctl_probe_add(). */
tnfctl_errcode_t tnfctl_imports_refresh(tnfctl_handle_t *);
/* Lets others have the kernel's session. */
void	tnfctl_imports_release(tnfctl_handle_t *);
void	tnfctl_imports_free(tnfctl_handle_t *);
void	tnfctl_import_free(struct import *);

tnfctl_errcode_t tnfctl_import_state(tnfctl_handle_t *, tnfctl_probe_t *,
    tnfctl_probe_state_t *);
tnfctl_errcode_t tnfctl_import_set(tnfctl_handle_t *, tnfctl_probe_t *, enum probe_change);
/* Has the attributes of a function's probe tell its slots, for which debugging
   information is read.  Does nothing for others. */
tnfctl_errcode_t tnfctl_import_describe(tnfctl_handle_t *, tnfctl_probe_t *);
/* As tnfctl_probe_args(). */
tnfctl_errcode_t tnfctl_import_args(tnfctl_handle_t *, tnfctl_probe_t *, const char *args);
/* As tnfctl_probe_where(). */
tnfctl_errcode_t tnfctl_import_where(tnfctl_handle_t *, tnfctl_probe_t *, const char *conditions);
/* A mark in the kernel's buffer, where the events of these probes are. */
tnfctl_errcode_t tnfctl_import_mark(tnfctl_handle_t *, const char *text, const char *by);

/* Registers what finds the probes of files for a session of the kernel.  Called before
   one is opened: it may have to finish what an interrupted session began. */
void	tnfctl_imports_finder(void);

struct kp;
/* Adds the probes of a file to the kernel's, for all processes that run it. */
tnfctl_errcode_t tnfctl_imports_of_file(struct kp *, const char *path, size_t *ret_n);

/* Adds the functions that the pattern fits (functions.h): of all files that the
   process maps, or of a file to the kernel's.  Their returns come with them where that
   does no harm; asked: the returns alone, in any case.  The detail of NONE tells of the
   harm.  BADARG: too many, none. */
tnfctl_errcode_t tnfctl_imports_functions(tnfctl_handle_t *, const char *pattern, bool asked);
tnfctl_errcode_t tnfctl_imports_functions_of_file(struct kp *, const char *path,
    const char *pattern, bool asked);

/* kernel.c: the code for a negative errno, with the session's own words; 0 is
   NONE. */
tnfctl_errcode_t tnfctl_kernel_code(struct kp *, int e);
/* The same, where an argument is what EINVAL and ENOTSUP mean. */
tnfctl_errcode_t tnfctl_kernel_argument(struct kp *, int e);

#endif

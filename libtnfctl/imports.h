/*
 * imports.h - probes that the kernel hits for us: USDT, functions.
 *
 * A process's imported probes are listed from the files that it has mapped, which takes no rights
 * beyond those to read /proc/PID/maps.  Changes go to the kernel's session
 * (kernel-probes), which is opened for a change and closed when the target runs on or is let
 * go: so other clients get their turn.  A handle on the kernel has the session
 * itself, and gives it the probes of any file, in all processes that run the file.
 */
#ifndef LIBTNFCTL_IMPORTS_H
#define LIBTNFCTL_IMPORTS_H

#include "common/proc.h"
#include "kernel-probes/kernel_probes.h"
#include "libtnfctl/handle.h"

struct kp;
struct imports;			/* what a handle has; NULL: nobody asked for them */

struct file_id {		/* as the process's mappings tell it */
	uint64_t device;
	uint64_t inode;
};

struct import {			/* what a tnfctl_probe of a process has; NULL: it is TNF's own */
	struct kp_uprobe_spec spec;
	char	*keys;
	char	*name;
	char	*args;		/* how somebody has called its arguments, or NULL */
	struct file_id file;
	const char *refused;	/* why it cannot be enabled; static; NULL: it can */
	bool	 fast;		/* libtnfprobe records it, or is to when it is switched on (fast.h) */
	const char *slow;	/* why it is no fast probe; static; NULL: it is one, or nobody asked */
	bool	 described;	/* the attributes tell the slots */
	char	*undescribed;	/* the attributes before that, which somebody may have */
};

/* target_ops.import_add of all kinds of targets. */
tnfctl_errcode_t tnfctl_imports_add(tnfctl_handle_t *, const char *kind, const char *source);
/* Gives the handle on a process the USDT probes of its files, from now on. */
tnfctl_errcode_t tnfctl_imports_begin(tnfctl_handle_t *);
/* Looks for files that came or went; new probes through tnfctl_probe_add(). */
tnfctl_errcode_t tnfctl_imports_refresh(tnfctl_handle_t *);
/* Lets others have the kernel's session. */
void	tnfctl_imports_release(tnfctl_handle_t *);
void	tnfctl_imports_free(tnfctl_handle_t *);
void	tnfctl_import_free(struct import *);

/* The error of a probe whose file is not mapped any more. */
tnfctl_errcode_t tnfctl_import_gone(const tnfctl_probe_t *);
/* As target_ops has them. */
tnfctl_errcode_t tnfctl_import_state(tnfctl_handle_t *, tnfctl_probe_t *,
    tnfctl_probe_state_t *);
tnfctl_errcode_t tnfctl_import_set(tnfctl_handle_t *, tnfctl_probe_t *, bool enabling, bool on);
/* Writes a mark in the kernel's buffer, which has the events of these probes. */
tnfctl_errcode_t tnfctl_import_mark(tnfctl_handle_t *, const char *text, const char *by,
    const char *names, const int64_t *values);

/* Registers the functions that find probes in files for a session of the kernel.  Must be
   called before a session is opened, which may have to finish what an interrupted one began. */
void	tnfctl_imports_finder(void);

/* imports-add.c: adds the USDT probes of a file that the process has mapped and we have open as
   'fd', by the name 'path'.  False: no memory. */
bool	tnfctl_imports_add_usdt(tnfctl_handle_t *, int fd, const struct maps *, const struct mapping *,
	    const char *path);
/* Finds out whether a USDT probe of the process can be a fast one, and all others of its file with
   it.  'run': see tnfctl_fast_none(); without it the question may stay open. */
void	tnfctl_import_decide(tnfctl_handle_t *, tnfctl_probe_t *, bool run);
/* The probe's attribute string, malloc'ed; found: NULL, or the facts about its arguments. */
char	*tnfctl_import_attrs(const struct import *, const struct kp_uprobe_found *found);
/* imports.c: notes which of the probes from 'first' on an earlier session has left on (none, if
   we have no right to look), and tells the client of them all. */
void	tnfctl_imports_added(tnfctl_handle_t *, size_t first);
bool	tnfctl_file_is(struct file_id, const struct mapping *);

/* kernel.c: the code for a negative errno, with the session's own words; 0 is
   NONE. */
tnfctl_errcode_t tnfctl_kernel_code(struct kp *, int e);
/* The same for calls in which EINVAL and ENOTSUP mean a wrong argument. */
tnfctl_errcode_t tnfctl_kernel_argument(struct kp *, int e);
/* The session of a handle on the kernel; NULL: the handle is of another kind. */
struct kp *tnfctl_kernel_of(const tnfctl_handle_t *);

#endif

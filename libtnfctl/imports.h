/*
 * imports.h - probes that the kernel hits for us: USDT, functions.
 *
 * A process's imported probes are listed from the files that it has mapped, which takes no rights
 * beyond those to read /proc/PID/maps.  Changes go to the kernel's session
 * (kernel-probes), which is opened for it and closed when the target runs
 * on or is let go, so that others get their turn.  A handle on the kernel has the session
 * itself, and gives it the probes of any file, in all processes that run it.
 */
#ifndef LIBTNFCTL_IMPORTS_H
#define LIBTNFCTL_IMPORTS_H

#include "common/proc.h"
#include "kernel-probes/uprobe.h"
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
	bool	 described;	/* the attributes tell the slots */
	char	*undescribed;	/* the attributes before that, which somebody may have */
};

/* target_ops.import_add of all kinds of targets. */
tnfctl_errcode_t tnfctl_imports_add(tnfctl_handle_t *, const char *kind, const char *source);
/* From now on the handle on a process has those of USDT. */
tnfctl_errcode_t tnfctl_imports_begin(tnfctl_handle_t *);
/* Looks for files that came or went; new probes through tnfctl_probe_add(). */
tnfctl_errcode_t tnfctl_imports_refresh(tnfctl_handle_t *);
/* Lets others have the kernel's session. */
void	tnfctl_imports_release(tnfctl_handle_t *);
void	tnfctl_imports_free(tnfctl_handle_t *);
void	tnfctl_import_free(struct import *);

/* As target_ops has them. */
tnfctl_errcode_t tnfctl_import_state(tnfctl_handle_t *, tnfctl_probe_t *,
    tnfctl_probe_state_t *);
tnfctl_errcode_t tnfctl_import_set(tnfctl_handle_t *, tnfctl_probe_t *, bool enabling, bool on);
/* A mark in the kernel's buffer, where the events of these probes are. */
tnfctl_errcode_t tnfctl_import_mark(tnfctl_handle_t *, const char *text, const char *by);

/* Registers what finds the probes of files for a session of the kernel.  Called before
   one is opened: it may have to finish what an interrupted session began. */
void	tnfctl_imports_finder(void);

/* imports-add.c: the USDT probes of a file that the process has mapped, which is open as fd;
   'path' is how we open it.  False: no memory. */
bool	tnfctl_imports_add_usdt(tnfctl_handle_t *, int fd, const struct mapping *, const char *path);
/* Its attribute string, malloc'ed; found: NULL, or what is known of its arguments. */
char	*tnfctl_import_attrs(const struct import *, const struct kp_uprobe_found *found);
/* imports.c: what an earlier session has left on of the probes from 'first' on; who may not
   look sees them off.  Then they are told to the client. */
void	tnfctl_imports_added(tnfctl_handle_t *, size_t first);
bool	tnfctl_file_is(struct file_id, const struct mapping *);

/* kernel.c: the code for a negative errno, with the session's own words; 0 is
   NONE. */
tnfctl_errcode_t tnfctl_kernel_code(struct kp *, int e);
/* The same, where an argument is what EINVAL and ENOTSUP mean. */
tnfctl_errcode_t tnfctl_kernel_argument(struct kp *, int e);
/* The session of a handle on the kernel; NULL: it is another kind. */
struct kp *tnfctl_kernel_of(const tnfctl_handle_t *);

#endif

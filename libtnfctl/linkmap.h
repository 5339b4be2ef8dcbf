/*
 * linkmap.h - the dynamic linker's own list of what it has loaded.
 */
#ifndef LIBTNFCTL_LINKMAP_H
#define LIBTNFCTL_LINKMAP_H

#include "libtnfctl/handle.h"

/* A process, and how its memory is read: all n bytes, or false. */
struct reader {
	pid_t	 pid;
	bool	 (*read)(void *arg, uintptr_t, void *, size_t n);
	void	 *arg;
};

struct linker {
	uintptr_t debug;	/* its struct r_debug; 0: not found yet */
	uintptr_t brk;		/* function it calls at each change */
	bool	 consistent;	/* as of the latest tnfctl_linkmap_look() */
	uint64_t print;		/* changes when the list does */
	bool	 alone;		/* there is none: the program is linked statically */
};

/* Without 'debug' finds it; then reads state and fingerprint.  False: the
   program's linker has not come that far. */
bool	tnfctl_linkmap_look(const struct reader *, struct linker *);
/* target_ops.objects of a process that we see through /proc: calls tnfctl_object_seen() with
   the handle for each object in the list. */
tnfctl_errcode_t tnfctl_linkmap_objects(tnfctl_handle_t *, const struct reader *,
    struct linker *);

/* An entry of /proc/PID/auxv; 0: not there. */
uintptr_t tnfctl_auxv_get(pid_t, unsigned long type);

#endif

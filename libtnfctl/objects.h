/*
 * objects.h - what is loaded in a process.
 */
#ifndef LIBTNFCTL_OBJECTS_H
#define LIBTNFCTL_OBJECTS_H

#include "libtnfctl/handle.h"

/* Symbols that we look for in every object. */
enum known {
	KNOWN_CONTROL,		/* libtnfprobe: _tnf_process_control */
	KNOWN_INTERNAL_FLAG,	/* libtnfctl: the target controls itself */
	KNOWN_EXTERNAL_PID,	/* libtnfctl: who is controlled from outside */
	KNOWN_COUNT
};

struct section {
	uintptr_t address;
	size_t	 size;
};

struct object {
	struct object	*next;
	char		*name;		/* as users see it */
	char		*file;		/* where to open it, if fd is -1 */
	int		 fd;
	uintptr_t	 bias;		/* memory address - file address */
	uintptr_t	 key[2];	/* what tells it from a later one there */
	struct section	*sections;	/* of control blocks */
	size_t		 nsections;
	uintptr_t	 known[KNOWN_COUNT];
	bool		 seen;
	bool		 fresh;		/* its probes have not been read yet */
	bool		 main;		/* the executable */
};

/* What the kind of target says about one. */
struct object_info {
	const char	*name;
	const char	*file;
	int		 fd;		/* stays the caller's; -1: open 'file' */
	uintptr_t	 bias;		/* or NO_BIAS: compute from 'base' */
	uintptr_t	 base;		/* where it is loaded, 0 unknown */
	uintptr_t	 key[2];
	bool		 main;
};
#define NO_BIAS		UINTPTR_MAX

struct objects_change {
	bool	came;
	bool	went;
};

/* Brings h->objects up to date; probes of what went are marked gone. */
tnfctl_errcode_t tnfctl_objects_refresh(tnfctl_handle_t *, struct objects_change *ret);
/* For target_ops.objects: is it known?  Then it is marked as still there. */
bool	tnfctl_object_known(tnfctl_handle_t *, const uintptr_t key[2]);
tnfctl_errcode_t tnfctl_object_seen(tnfctl_handle_t *, const struct object_info *);
void	tnfctl_objects_free(tnfctl_handle_t *);

/* Opens the file of an object; -1: it cannot be had any more. */
int	tnfctl_object_open(const struct object *);
/* A regular file, whatever the name leads to; else -1 and errno. */
int	tnfctl_file_open(const char *path);

/* The function's address in the target; lib: base name or NULL for the first
   that has it. */
bool	tnfctl_objects_function(tnfctl_handle_t *, const char *lib, const char *name,
	    uintptr_t *ret);
/* Static storage of the caller; false: no name for it. */
bool	tnfctl_objects_function_at(tnfctl_handle_t *, uintptr_t, char *ret, size_t);
/* Address of a known symbol, the first that defines it; 0: none. */
uintptr_t tnfctl_objects_known(tnfctl_handle_t *, enum known, struct object **ret);

#endif

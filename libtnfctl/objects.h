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

/* The kind of target says this about an object. */
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

#define TEXT_SIZE	4096u	/* of the longest attribute string, with NUL */

/* Many strings lie close together: the surroundings are kept. */
struct text;

struct text *tnfctl_text_new(void);	/* free() it */
/* False: no readable memory, or no NUL within TEXT_SIZE. */
bool	tnfctl_text_read(tnfctl_handle_t *, struct text *, uintptr_t,
	    char ret[TEXT_SIZE]);

#endif

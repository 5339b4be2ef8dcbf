/*
 * import.h - probes that nobody wrote for us: named points of the kernel and of
 * programs that become probes when somebody asks for them.
 *
 * Such a probe is a struct kp_import: a name, keys, and members that are known when they
 * are needed.  It is listed from the time when somebody adds it (kp_import_add()),
 * with a number behind those of the catalogue.  When it is enabled or traced it gets
 * a slot, and what the next session must know of it goes into the pinned map
 * "asked".  When it is to record, its events' type is added to the buffer (defs.c),
 * its row to the map "rows", and its kind attaches the kind's BPF program, whose links
 * are pinned one by one as import/SLOT or import/SLOT-N.  To switch it off is to remove
 * these pins, whoever made them: a session puts right what a killed one has left half
 * done.
 *
 * To add a kind of probe:
 *
 *   1. Give it a number in enum kp_import_number (it is pinned: never change one) and
 *      write a struct kp_import_kind, with a row in kp_import_kinds[].
 *   2. Write its BPF program in a file of its own, which includes import.bpf.h, and
 *      add that file to 'import_sources' in meson.build: it is linked into the object
 *      with all imports' programs, which is loaded when the first of them is to
 *      record.  The program gets the slot as its cookie:
 *
 *		u32 slot = bpf_get_attach_cookie(ctx);
 *		struct import_hit h;
 *
 *		if (!import_on(&h, slot))	// off, not of this process, over its rate
 *			return ...;
 *		// Put an image of the event together: members where h.row says, or
 *		// where your own map says; strings by import_string().
 *		import_write(&h, image, size);	// _late: if you may have slept
 *
 *   3. attach() makes a link for each place, with imp->slot as the cookie, and hands it
 *      to kp_import_pin(), which pins and closes it.
 */
#ifndef KERNEL_PROBES_IMPORT_H
#define KERNEL_PROBES_IMPORT_H

#include "kernel-probes/kernel_probes.h"
#include "kernel-probes/record.h"

#define KP_IMPORT_MEMBERS	64u	/* of one probe */

enum kp_import_number {
	KP_IMPORT_TRACEPOINT = 1,
	KP_IMPORT_UPROBE = 2,
	KP_IMPORT_FUNCTION = 3,
	KP_IMPORT_CALL_ARGS = 4,
	KP_IMPORT_CALL_PATH = 5,
	KP_IMPORT_CALL_FD = 6,
	KP_IMPORT_MARK = 7,
	KP_IMPORT_KINDS
};

struct kp_import;

struct kp_import_kind {
	enum kp_import_number number;
	const char *name;	/* the value of the attribute "origin" */
	const char *program;	/* in the BPF object, and where it is pinned */
	const char *otherwise[2]; /* the next to try, if the kernel refuses it; or NULL */
	/* Finds the members, calls kp_import_member() for each, and may set 'attrs' and
	   operations: called once, before the first use.  NULL: they were given. */
	int	(*describe)(struct kp *, struct kp_import *);
	/* Attaches the program, whose descriptor is 'prog', wherever it has to be. */
	int	(*attach)(struct kp *, struct kp_import *, int prog);
	/* Tells where the probe is described: attributes "file" and "line".  NULL: nowhere. */
	void	(*file)(const struct kp_import *, char *buf, size_t n);
	/* Adds the members of a probe that an earlier session asked for; its name, keys,
	   source and spec are known.  NULL: describe() does this. */
	int	(*revive)(struct kp *, struct kp_import *);
	/* Puts what somebody has called the arguments into the spec, which is malloc'ed.  NULL: they
	   cannot be named. */
	int	(*args)(struct kp *, struct kp_import *, const char *text);
	/* Called when nothing is attached any more.  NULL: there is nothing to do. */
	void	(*detached)(struct kp *, struct kp_import *);
	/* True if the probe's object (a process) is gone.  Then the next session that controls switches the
	   probe off when it is opened.  NULL: objects of this kind stay. */
	bool	(*gone)(const struct kp_import *);
};

extern const struct kp_import_kind *const kp_import_kinds[KP_IMPORT_KINDS];	/* or NULL */

struct kp_import_member {
	const char *type;	/* of format/core.h; static */
	char	   *name;
	uint32_t    at;		/* its place in an event, found by kp_import_member() */
};

struct kp_import {
	const struct kp_import_kind *kind;
	unsigned    id;
	char	   *name;
	char	   *keys;	/* blanks between them */
	char	   *source;	/* where it is; kind, name and source identify it */
	char	   *where;	/* conditions on members, or NULL */
	bool	    freezes;	/* the first event that it records ends the recording */
	char	   *attrs;	/* "name value;" each, or NULL */
	char	   *bound;	/* more attributes, of this probe alone: not in its type */
	void	   *spec;	/* the kind's own, pinned with it */
	size_t	    spec_size;
	bool	    described;
	struct kp_import_member member[KP_IMPORT_MEMBERS];
	unsigned    members;
	struct kp_import_row row;	/* size and operations are the kind's to fill in */
	bool	    enabled;
	bool	    traced;
	int	    slot;	/* -1: none yet */
	/* 0: the buffer has no definition of this probe; otherwise kp_import_type(), a
	   hash of the definition that it has. */
	uint32_t    defined;
	bool	    attached;	/* as far as this session knows */
	char	    lacks[160];	/* why it cannot be had, or "" */
};

/* A probe that is to be added.  Strings and spec are copied. */
struct kp_import_new {
	const struct kp_import_kind *kind;
	const char *name;	/* at most 127 characters */
	const char *keys;	/* at most 127 */
	const char *source;	/* at most 255; NULL: none */
	const char *attrs;
	const char *bound;
	const void *spec;
	size_t	    spec_size;	/* at most KP_SPEC_MAX */
};

/*
 * Adds a probe.  One that is there already (same kind, name and source) stays as it is.  *ret
 * belongs to the session.  -ENOMEM, -E2BIG: a string or the spec is too long.
 */
int kp_import_add(struct kp *, const struct kp_import_new *, struct kp_import **ret);

/*
 * Adds a member: a scalar type of format/core.h, "tnf_string", or "tnf_T_array".  Its
 * place is that of a C struct; row.size grows.  -E2BIG: there are too many, or they are
 * too large together.
 */
int kp_import_member(struct kp_import *, const char *type, const char *name);

/* Pins a link as the n-th of its probe, and closes it; an only link has n = 0. */
int kp_import_pin(struct kp *, const struct kp_import *, unsigned n, int link);

/* Notes why the probe cannot be had here, for its attributes and for whoever enables it. */
void kp_import_lacks(struct kp_import *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* tracepoint.c: arguments of system calls. */
extern const struct kp_import_kind kp_call_args, kp_call_path, kp_call_fd;

/* import.c */
extern const struct kp_import_kind kp_mark_kind;

/* tracepoint.c */
extern const struct kp_import_kind kp_tracepoint;

/* uprobe.c */
extern const struct kp_import_kind kp_uprobe, kp_function;

/*
 * Conditions on members: from text to the table that programs compare by.
 */
struct kp_where_of {
	const char *probe;	/* its name */
	const struct kp_import_member *member;
	unsigned members;
	char	*why;		/* gets what is not understood ... */
	size_t	 size;		/* ... and has so many bytes */
};

/*
 * "len > 1000 and dev = \"eth0\" or rc != 0": comparisons of a member with a number
 * or a text, joined by "and", these by "or".  = (==), !=, <, <=, >, >= and & (has
 * any of these bits) for numbers; = and != for texts, which may end in * (what
 * follows may be anything).  0 and the number of conditions in ret->n, or -EINVAL.
 */
int kp_where_compile(const struct kp_where_of *, const char *text, struct kp_where *ret);

/*
 * Functions that the files of imported probes share.
 */

/* import.c */
/* Finds a probe's members when they are first needed.  After a failure 'lacks' says why. */
int kp_import_describe(struct kp *, struct kp_import *);

/* import-pins.c */
/* Gives a probe a slot if it has none, and pins what the next session must know of it. */
int kp_asked_put(struct kp *, struct kp_import *);
/* The same, or takes the slot away when nobody asks for the probe any more. */
int kp_asked_save(struct kp *, struct kp_import *);
/* Removes the links of a slot's probe, whichever session made them. */
void kp_import_unpin(unsigned slot);

/* import-row.c */
/* A hash of a probe's type as the buffer defines it, never 0. */
uint32_t kp_import_type(const struct kp_import *);
/* Forgets what the slot's earlier probe has left out. */
void kp_import_recount(struct kp *, const struct kp_import *);
/* Adds a probe's type to the buffer's definitions, once. */
int kp_import_define(struct kp *, struct kp_import *);
/* The row without its conditions, ... */
void kp_import_row_prepare(struct kp *, struct kp_import *);
/* ... the table of its conditions, before the row that refers to it, ... */
int kp_import_row_where(struct kp *, struct kp_import *);
/* ... and the row goes to where programs look. */
int kp_import_row_put(struct kp *, const struct kp_import *, bool on);
/* All three, for a probe that records. */
int kp_import_row_renew(struct kp *, struct kp_import *);
/* Programs that begin from now on record nothing.  The rest of the row stays: programs that
   have begun still read it, and this session's copy of the row may be empty. */
void kp_import_row_off(struct kp *, const struct kp_import *);

/* import-load.c */
struct kp_raw_probe {
	const struct kp_import *imp;	/* it has a slot */
	unsigned args;			/* its tracepoint has so many arguments */
};
/* Loads the programs that these probes have alone, KP_RAW_PROGRAMS at most. */
int kp_import_raw_load(struct kp *, const struct kp_raw_probe *, unsigned n);
int kp_import_raw_fd(unsigned slot);	/* -ENOENT: the slot's probe has no program alone */
void kp_import_raw_unload(unsigned slot);

/* tracepoint-args.c */
/* The members that are named in a text, as a raw tracepoint's program reads them. */
struct kp_raw {
	unsigned args;			/* the tracepoint has so many */
	struct kp_site_row site;	/* its members; their places are missing */
	struct {
		const char *type;	/* of format/core.h */
		char name[64];
	} member[KP_OPERANDS_MAX];
	bool	follows;		/* a member is behind a pointer */
	char	why[160];		/* after a failure */
};
/*
 * "prev->comm:string, next->pid": arguments of the tracepoint, and what they lead to.  With
 * 'of_record', "member=path": the members of the tracepoint's record.  0, or -EINVAL with 'why'.
 */
int kp_raw_read(struct kp *, const char *event, const char *text, bool of_record, struct kp_raw *ret);

/* tracepoint-raw.c */
/* Finds how a raw tracepoint's program makes the probe's events, without its record.  -ENOTSUP: that
   is not known; -EINVAL: the arguments that somebody has named are not there any more. */
int kp_raw_find(struct kp *, const struct kp_import *, struct kp_raw *ret);
/* Attaches the probe's own program, and loads it unless it is in the kernel. */
int kp_raw_attach(struct kp *, struct kp_import *, struct kp_raw *);
/* Loads the programs of all probes that are to record and need one, several at once. */
void kp_raw_prepare(struct kp *, bool (*wanted)(const struct kp *, const struct kp_import *));

/* uprobe.c */
/* Puts operands that need no look at memory into the probe's row: quicker.  'only': the probe
   has no other place. */
void kp_import_operands(struct kp_import *, const struct kp_site_row *, bool only);
/* Deletes the rows of a probe's places. */
void kp_sites_forget(struct kp *, struct kp_import *);

/* stacks.c */
/* Adds the members for stacks that were asked for. */
int kp_import_stacks(struct kp_import *);

/* import.c */
void kp_import_stop(struct kp *, struct kp_import *);
void kp_import_change(struct kp *, struct kp_import *, bool enabled, bool traced);

/* The directory of tracefs, as far as kp_tracefs_find() knows. */
const char *kp_tracefs_dir(void);
/* Finds tracefs, and mounts it if it is not mounted and we may.  0, or a negative errno. */
int kp_tracefs_find(struct kp *);
/* The whole of a file, malloc'ed, with a NUL behind it; or a negative errno. */
int kp_tracefs_read(struct kp *, const char *path, char **ret);

struct tracefs_field {
	char	    name[128];
	const char *type;	/* of an event's member (format/core.h) */
	enum kp_op_kind how;
	uint32_t    offset;
	uint32_t    size;	/* bytes to be copied; strings: at most */
};

/* "tnf_uint32", "tnf_int8_array": 'size' is 1, 2, 4 or 8. */
const char *kp_number_type(bool array, uint32_t size, bool is_signed);

/* The next field that 'format' describes; returns the text behind it, or NULL. */
const char *kp_tracefs_next_field(const char *format, struct tracefs_field *ret);

#endif /* KERNEL_PROBES_IMPORT_H */

/*
 * import-impl.h - declarations that the files of imported probes share.
 */
#ifndef KERNEL_PROBES_IMPORT_IMPL_H
#define KERNEL_PROBES_IMPORT_IMPL_H

#include "kernel-probes/import.h"

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

struct kp;

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

/* print-format.c: the names that a tracepoint's print format has for values. */
/*
 * Calls fn for each member whose values have names, with these as a text (tnf(5),
 * "Context"): "symbolic MASK VALUE=NAME,..." or "flags MASK DELIMITER VALUE=NAME,...".
 * Parts that cannot be understood are left out.
 */
void kp_print_format_names(const char *format, void (*fn)(void *arg, const char *member,
    const char *names), void *arg);

#endif /* KERNEL_PROBES_IMPORT_IMPL_H */

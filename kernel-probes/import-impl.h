/*
 * import-impl.h - what the files of imported probes have of each other.
 */
#ifndef KERNEL_PROBES_IMPORT_IMPL_H
#define KERNEL_PROBES_IMPORT_IMPL_H

#include "kernel-probes/import.h"

/* import.c */
/* Its members, once they are needed.  Why it has none is in 'lacks', too. */
int kp_import_describe(struct kp *, struct kp_import *);
/* The next description begins with these attributes, and without members. */
int kp_import_forget(struct kp_import *, const char *attrs);

/* import-pins.c */
/* Gives it a slot if it has none, and pins what the next session must know of it. */
int kp_asked_put(struct kp *, struct kp_import *);
/* The same, or takes the slot away when nobody asks for it any more. */
int kp_asked_save(struct kp *, struct kp_import *);
/* Removes its links, whoever made them. */
void kp_import_unpin(unsigned slot);

/* import-row.c */
/* A number of its type, as the buffer has it defined: not 0, and the same for the
   same. */
uint32_t kp_import_type(const struct kp_import *);
/* Forgets what the slot's earlier probe has left out. */
void kp_import_recount(struct kp *, const struct kp_import *);
/* Adds its type to the buffer's definitions, once. */
int kp_import_define(struct kp *, struct kp_import *);
/* The row without its conditions, ... */
void kp_import_row_prepare(struct kp *, struct kp_import *);
/* ... the table of its conditions, before the row that refers to it, ... */
int kp_import_row_where(struct kp *, struct kp_import *);
/* ... and the row goes to where programs look. */
int kp_import_row_put(struct kp *, const struct kp_import *, bool on);
/* Programs that begin now record nothing.  All else in the row stays: those that have begun
   still look there, and the row that this session knows may be empty. */
void kp_import_row_off(struct kp *, const struct kp_import *);

/* import-words.c */
/* What follows from the operations of a row that is about to be put.  'tags' are those of
   the buffer's records, by enum kp_record. */
void kp_import_row_words(struct kp_import_row *, const uint32_t *tags);

/* import-switch.c */
void kp_import_stop(struct kp *, struct kp_import *);
void kp_import_change(struct kp *, struct kp_import *, bool enabled, bool traced);

/* where.c: conditions on members, as the kernel compares them. */
/*
 * "len > 1000 and dev = \"eth0\" or rc != 0": comparisons of a member with a number
 * or a text, joined by "and", these by "or".  = (==), !=, <, <=, >, >= and & (has
 * any of these bits) for numbers; = and != for texts, which may end in * (what
 * follows may be anything).  0 and the number of conditions in ret->n; -EINVAL, and
 * kp_detail() tells what is not understood.
 */
int kp_where_compile(struct kp *, const struct kp_import *, const char *text,
    struct kp_where *ret);

#endif /* KERNEL_PROBES_IMPORT_IMPL_H */

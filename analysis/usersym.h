/*
 * usersym.h - functions of traced processes.
 */
#ifndef ANALYSIS_USERSYM_H
#define ANALYSIS_USERSYM_H

#include <tnf/context.h>

/* The objects that have been looked into.  The contexts that they come from outlive
   it; names live as long as it does. */
struct usersyms;

struct usersyms *usersyms_new(void);
void usersyms_free(struct usersyms *);

/*
 * The function that holds an address of the process, from the object's symbols if
 * the object is still the one that was traced (same build id), else the object's
 * name; how far in.  NULL: not known.
 */
const char *usersyms_find(struct usersyms *, const tnf_context_t *, int32_t pid,
    uint64_t addr, uint64_t *offset);

/* The functions that the compiler has inlined there, the innermost first, at most
   'max'; returns how many.  0: none, or there is no debugging information. */
unsigned usersyms_inlined(struct usersyms *, const tnf_context_t *, int32_t pid,
    uint64_t addr, const char **names, unsigned max);

#endif

/*
 * usersym.h - functions of traced processes.
 */
#ifndef ANALYSIS_USERSYM_H
#define ANALYSIS_USERSYM_H

#include <tnf/context.h>

/* The objects read so far.  Their contexts must outlive them; names live as long as they do. */
struct usersyms;

struct usersyms *usersyms_new(void);
void usersyms_free(struct usersyms *);

/*
 * The function at an address of the process, and the offset in it.  The name comes from the
 * object's symbols if the object is still the one that was traced (same build id),
 * otherwise it is the object's name.  NULL: not known.
 */
const char *usersyms_find(struct usersyms *, const tnf_context_t *, int32_t pid,
    uint64_t addr, uint64_t *offset);

/* The names of the functions that the compiler has inlined at the address, the innermost
   first, at most 'max'; returns how many.  0: none, or there is no debugging information. */
unsigned usersyms_inlined(struct usersyms *, const tnf_context_t *, int32_t pid,
    uint64_t addr, const char **names, unsigned max);

#endif

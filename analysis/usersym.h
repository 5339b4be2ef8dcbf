/*
 * usersym.h - functions of traced processes, and their callers.
 */
#ifndef ANALYSIS_USERSYM_H
#define ANALYSIS_USERSYM_H

#include <stdint.h>

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

/*
 * The callers of what a process did, from a copy of its stack.
 *
 * The files of the process say how each of their functions leaves its frame (.eh_frame,
 * .debug_frame); libdw reads that.  The files must be those that were traced.
 */
#define UNWIND_REGISTERS	34u	/* most, of any machine */

struct unwind_stack {
	uint64_t	 registers[UNWIND_REGISTERS];	/* in the order of struct pt_regs */
	unsigned	 n_registers;	/* tells the machine */
	const uint64_t	*words;		/* from the stack pointer up */
	unsigned	 n_words;
};

struct unwinder;

struct unwinder *unwinder_new(void);
void unwinder_free(struct unwinder *);

/* The addresses of the functions under way, the innermost first: at most 'max'; returns how
   many.  0: not another machine's, or nothing is known of the process.  The context must
   outlive the unwinder. */
unsigned unwind(struct unwinder *, const tnf_context_t *, int32_t pid,
    const struct unwind_stack *, uint64_t *pc, unsigned max);

#endif

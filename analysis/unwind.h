/*
 * unwind.h - the callers of what a process did, from a copy of its stack.
 *
 * The files of the process say how each of their functions leaves its frame (.eh_frame,
 * .debug_frame); libdw reads that.  The files must be those that were traced.
 */
#ifndef ANALYSIS_UNWIND_H
#define ANALYSIS_UNWIND_H

#include <tnf/context.h>

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

/*
 * move.h - what libtnfctl must know of a kind of machine to put a jump into its code; one file
 * in arch/ for each.  tnfctl_site_relocate() and tnfctl_site_to_pad() are there, too.
 */
#ifndef LIBTNFCTL_MOVE_H
#define LIBTNFCTL_MOVE_H

#include "libtnfctl/sites.h"

/* NULL, or why this build moves no instructions at all. */
const char *tnfctl_move_unknown(void);

/* Has a jump bytes that threads may come to from elsewhere?  Not if it replaces one
   instruction. */
extern const bool tnfctl_move_needs_branches;

/* The size of the instruction for indirect branches that a function may begin with; 0: it has
   none. */
size_t	tnfctl_move_landing(const uint8_t *bytes, size_t n);

/*
 * Sets the pushed and lost of *s, and returns the size of the first instruction if the jump has to be put
 * behind it: else a breakpoint of the kernel (uprobe) there, whoever made it, would lead
 * threads into the jump.  0: no need; SIZE_MAX: this cannot be.
 */
size_t	tnfctl_move_first(const uint8_t *bytes, size_t n, struct site *s);

/* Does an instruction begin at this distance from the first of those that n bytes hold? */
bool	tnfctl_move_steps_to(const uint8_t *bytes, size_t n, size_t distance);

/*
 * Can the instructions that n bytes begin with make room for a jump?  The function has 'inside'
 * of these bytes.  NULL: length, calls, nops and bytes of *s are set; else why not.
 */
const char *tnfctl_move_judge(const uint8_t *bytes, size_t n, size_t inside, struct site *s);

#endif

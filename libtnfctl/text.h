/*
 * text.h - strings in the target's memory.
 */
#ifndef LIBTNFCTL_TEXT_H
#define LIBTNFCTL_TEXT_H

#include "libtnfctl/handle.h"

#define TEXT_SIZE	4096u	/* of the longest attribute string, with NUL */

/* Many strings lie close together: the surroundings are kept. */
struct text;

struct text *tnfctl_text_new(void);	/* free() it */
/* False: no readable memory, or no NUL within TEXT_SIZE. */
bool	tnfctl_text_read(tnfctl_handle_t *, struct text *, uintptr_t,
	    char ret[TEXT_SIZE]);

#endif

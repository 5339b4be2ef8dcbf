/*
 * printable.h - text of others, for a terminal that is not to act on it.
 */
#ifndef PREX_PRINTABLE_H
#define PREX_PRINTABLE_H

#include <stdio.h>

/* With control characters escaped; the caller frees it. */
char	*printable(const char *s);
/* Prints s as it is, but printable where fp is a terminal. */
void	print_text(FILE *fp, const char *s);

#endif

/*
 * screen.h - what somebody at a terminal would see.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <stddef.h>

enum { SCREEN_MAX = 200 };

struct screen {
	int	rows, cols, row, col;
	char	cell[SCREEN_MAX][SCREEN_MAX + 1];
	char	esc[64];	/* a sequence that has not ended yet */
	size_t	n_esc;
	int	unknown;	/* sequences that were not understood */
};

void	screen_init(struct screen *, int rows, int cols);
void	screen_write(struct screen *, const char *s, size_t n);
/* The row without trailing blanks, in a static buffer. */
const char *screen_row(const struct screen *, int row);

#endif

/*
 * cursor.h - --cursor: where a later --follow goes on.
 */
#ifndef TNFDUMP_CURSOR_H
#define TNFDUMP_CURSOR_H

#include "tnfdump/tnfdump.h"

int cursor_set(struct dump *, const char *path);
/* Called when the output is written: writes the place into the file. */
void cursor_save(struct dump *);

#endif /* TNFDUMP_CURSOR_H */

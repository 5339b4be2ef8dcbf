/*
 * color.h - colour, on a terminal only unless asked for.
 */
#ifndef TNFDUMP_TEXT_COLOR_H
#define TNFDUMP_TEXT_COLOR_H

#include "tnfdump/tnfdump.h"

enum color { COLOR_NONE, COLOR_HEADER, COLOR_TIME, COLOR_PROBE, COLOR_MEMBER,
    COLOR_ERROR, COLOR_COUNT };

int color_set(struct dump *, const char *when);	/* the option */

/* True if output is coloured.  auto: standard output is a terminal that can show colour,
   and NO_COLOR is not set. */
bool color_wanted(const struct dump *);

void color_on(struct out *, enum color);
void color_off(struct out *);

#endif

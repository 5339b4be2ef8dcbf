/*
 * top.h - --top: what happens now, anew each second.
 */
#ifndef TNFDUMP_REPORT_TOP_H
#define TNFDUMP_REPORT_TOP_H

#include "tnfdump/tnfdump.h"

int  top_set(struct dump *, const char *list);		/* the options */
int  interval_set(struct dump *, const char *seconds);
bool top_asked(const struct dump *);

/* While no event comes: keys, and the table if its time has come. */
void top_tick(struct dump *);

#endif

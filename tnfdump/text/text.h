/*
 * text.h - the output format that Solaris had.
 */
#ifndef TNFDUMP_TEXT_TEXT_H
#define TNFDUMP_TEXT_TEXT_H

#include "tnfdump/tnfdump.h"

int text_begin(struct dump *);
int text_event(struct dump *, const struct tnf_event *);
int text_end(struct dump *);

#endif

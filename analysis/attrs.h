/*
 * attrs.h - what a probe's attributes say: "keys a b;file x.c;line 3;".
 */
#ifndef ANALYSIS_ATTRS_H
#define ANALYSIS_ATTRS_H

#include <tnf/stream.h>

/* The value of an attribute and its length; NULL: it is not there, or has none. */
const char *attrs_find(const char *attrs, const char *name, size_t *len);

/* What an event is part of: 0 application, 1 system call, 2 kernel,
   3 interrupt. */
unsigned attrs_level(const struct tnf_event *);

#endif

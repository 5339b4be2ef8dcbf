/*
 * json.h - values as JSON.
 */
#ifndef TNFWATCH_JSON_H
#define TNFWATCH_JSON_H

#include <stdio.h>

#include <tnf/stream.h>

/* A string with its quotes; bytes that are no UTF-8 become U+FFFD.  NULL: null. */
void json_string(FILE *, const char *);
/* "2026-11-21T03:12:20.000000000Z" of ns since 1970. */
void json_wall(FILE *, int64_t ns);
/* An event with its probe, thread and all values. */
void json_event(FILE *, const struct tnf_event *, int64_t mono_to_wall);

#endif /* TNFWATCH_JSON_H */

/*
 * json.h - JSON text (RFC 8259) of strings and of TNF values.
 *
 * Every type survives: integers are written in full, opaque ones as strings
 * ("0x1f"), floating point so that it reads back equal, NaN and infinities as
 * strings.  A string that is not valid UTF-8 becomes {"$bytes":"<hex>"}.
 * Records are objects with their type under "$type"; one that leads into
 * itself is null there.
 */
#ifndef TNFDUMP_JSON_H
#define TNFDUMP_JSON_H

#include <tnf/stream.h>

#include "tnfdump/out.h"

void json_string(struct out *, const char *, size_t);
void json_cstring(struct out *, const char *);	/* NULL: null */
/* A name, always a JSON string: of what is not valid UTF-8, each byte is one
   of U+0000 to U+00FF. */
void json_name(struct out *, const char *);
void json_value(struct out *, const struct tnf_file *, const struct tnf_value *);
/* "name":value,... of the arguments, without braces. */
void json_args(struct out *, const struct tnf_event *);
/* ["a","b"] from "a b" */
void json_words(struct out *, const char *);

#endif

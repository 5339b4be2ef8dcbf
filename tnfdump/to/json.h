/*
 * json.h - JSON text (RFC 8259) of strings and of TNF values.
 *
 * Every type survives: integers are written in full, opaque ones as strings
 * ("0x1f"), floating point so that it reads back equal, NaN and infinities as
 * strings.  A string that is not valid UTF-8 becomes {"$bytes":"<hex>"}.
 * Records are objects with their type under "$type"; one that leads into
 * itself is null there, and told.  With --pretty, numbers that have names are
 * these names, and addresses and devices are as --pretty has them; sizes stay.
 */
#ifndef TNFDUMP_TO_JSON_H
#define TNFDUMP_TO_JSON_H

#include "tnfdump/tnfdump.h"

void json_string(struct out *, const char *, size_t);
void json_cstring(struct out *, const char *);	/* NULL: null */
/* A text or a name, always a JSON string: of what is not valid UTF-8, each byte
   is one of U+0000 to U+00FF. */
void json_text(struct out *, const char *, size_t);
void json_name(struct out *, const char *);
/* Of a member of the event; its name, or NULL. */
void json_value(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *, const char *name);
/* "name":value,... of the arguments, without braces. */
void json_args(struct dump *, struct out *, const struct tnf_event *);
/* ["a","b"] from "a b" */
void json_words(struct out *, const char *);

#endif

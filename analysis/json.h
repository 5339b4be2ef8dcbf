/*
 * json.h - JSON text (RFC 8259) of strings, of TNF values and of events.
 *
 * The type of a value can be told from the text: integers are written in full, opaque ones
 * as strings ("0x1f"), floating point so that it reads back equal, NaN and infinities as
 * strings.  A string that is not valid UTF-8 becomes {"$bytes":"<hex>"}.  Records are
 * objects with their type under "$type"; a record that leads into itself is null there.
 */
#ifndef ANALYSIS_JSON_H
#define ANALYSIS_JSON_H

#include "analysis/attrs.h"
#include "analysis/value.h"

void json_string(struct out *, const char *, size_t);
void json_cstring(struct out *, const char *);	/* NULL: null */
/* A text or a name, always as a JSON string: if it is not valid UTF-8, each byte becomes
   one of U+0000 to U+00FF. */
void json_text(struct out *, const char *, size_t);
void json_name(struct out *, const char *);	/* NULL: null */
/* ,"key": and ,"key":"text", by json_name() */
void json_key(struct out *, const char *key);
void json_member(struct out *, const char *key, const char *text);
/* ["a","b"] from "a b" */
void json_words(struct out *, const char *);
/* "2026-11-21T03:12:20.000000000Z" of ns since 1970 */
void json_wall(struct out *, int64_t ns);

struct json_values {
	struct out *o;
	struct nest in;		/* in.partial is set if not all of a value was written */
	/* Writes a value in another form; false: the value has none.  NULL: no value has one. */
	bool	  (*other)(void *arg, const struct tnf_event *, const struct tnf_value *,
	    const char *name);
	void	   *arg;
	/* Texts that are the same for each event of a probe, made once; all zero at first.  NULL:
	   they are made for each event. */
	struct perprobe *names;
};

/* Writes a member of the event; 'name' is its name, or NULL. */
void json_value(struct json_values *, const struct tnf_event *, const struct tnf_value *,
    const char *name);
/* "name":value,... of the members, without braces. */
void json_args(struct json_values *, const struct tnf_event *);
void json_names_free(struct perprobe *);
/* ,"pid":...,"lwpid":...,"tid":... and ,"cpu":... if it is known */
void json_who(struct out *, const struct tnf_event *);
/* ,"probe":...,"keys":[...] and where the probe stands in its source, if that is known */
void json_probe(struct out *, const struct tnf_probe *);

#endif

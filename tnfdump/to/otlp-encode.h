/*
 * otlp-encode.h - the messages of OpenTelemetry's protocol, as JSON or as protobuf.
 *
 * Both encodings have the same messages: each function takes a field's number, which
 * protobuf writes, and the field's name, which JSON writes.  Field numbers and names are
 * those of OpenTelemetry's published protos (trace, resource, common).  In JSON, 64-bit
 * integers are strings, enumerations are numbers and ids are hexadecimal.
 */
#ifndef TNFDUMP_TO_OTLP_ENCODE_H
#define TNFDUMP_TO_OTLP_ENCODE_H

#include <tnf/stream.h>

#include "common/out.h"

struct dump;

struct otlp {
	struct out	*o;		/* in memory: fd -1 */
	struct out	*text;		/* for values that only text can show; in memory, too */
	bool		 json;
};

/* Begins a message; 'name' is NULL for an element of a list.  otlp_close() takes what
   otlp_open() returned. */
size_t otlp_open(struct otlp *, unsigned field, const char *name);
void otlp_close(struct otlp *, size_t opened);
/* A list of messages or values, which protobuf does not mark. */
void otlp_list(struct otlp *, const char *name);
void otlp_list_end(struct otlp *);
/* Appends elements or fields that were encoded before; none if n is 0. */
void otlp_append(struct otlp *, const char *bytes, size_t n);

void otlp_text(struct otlp *, unsigned field, const char *name, const char *, size_t n);
void otlp_string(struct otlp *, unsigned field, const char *name, const char *);
void otlp_fixed64(struct otlp *, unsigned field, const char *name, uint64_t);
void otlp_enum(struct otlp *, unsigned field, const char *name, unsigned);
void otlp_id(struct otlp *, unsigned field, const char *name, const uint8_t *, size_t n);

/* Attributes, elements of the list of that field: a text (NULL: none is written), a number,
   true, a member of an event. */
void otlp_attr_string(struct otlp *, unsigned field, const char *key, const char *);
void otlp_attr_int(struct otlp *, unsigned field, const char *key, int64_t);
void otlp_attr_true(struct otlp *, unsigned field, const char *key);
void otlp_attr_value(struct otlp *, unsigned field, const char *key, struct dump *,
    const struct tnf_event *, const struct tnf_value *, const char *member);

#endif

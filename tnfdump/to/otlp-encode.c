/*
 * otlp-encode.c - the messages of OpenTelemetry's protocol, as JSON or as protobuf.
 */
#include <math.h>

#include "analysis/json.h"
#include "tnfdump/text/pretty.h"
#include "tnfdump/to/otlp-spans.h"
#include "tnfdump/to/protobuf.h"

/* A message's length is written behind the message, into a varint of constant size. */
#define LENGTH_SIZE	5

enum {				/* KeyValue, AnyValue */
	ATTR_KEY = 1, ATTR_VALUE = 2,
	VALUE_STRING = 1, VALUE_BOOL = 2, VALUE_INT = 3, VALUE_DOUBLE = 4,
};

/* In JSON, writes the comma and the name in front of a value. */
static void
json_field(struct otlp *e, const char *name)
{
	struct out *o = e->o;
	char last = o->p > o->base ? o->p[-1] : '{';

	if (last != '{' && last != '[' && last != '\n')
		out_char(o, ',');
	if (name != NULL) {
		json_name(o, name);
		out_char(o, ':');
	}
}

size_t
otlp_open(struct otlp *e, unsigned field, const char *name)
{
	if (e->json) {
		json_field(e, name);
		out_char(e->o, '{');
		return 0;
	}
	proto_varint(e->o, (uint64_t)field << 3 | 2);
	out_room(e->o);
	e->o->p += LENGTH_SIZE;
	return out_size(e->o);
}

void
otlp_close(struct otlp *e, size_t opened)
{
	size_t n;
	char *p;

	if (e->json) {
		out_char(e->o, '}');
		return;
	}
	n = out_size(e->o) - opened;
	p = e->o->base + opened - LENGTH_SIZE;
	for (int i = 0; i < LENGTH_SIZE; i++, n >>= 7)
		p[i] = (char)(n & 0x7f) | (i < LENGTH_SIZE - 1 ? (char)0x80 : 0);
}

void
otlp_list(struct otlp *e, const char *name)
{
	if (!e->json)
		return;
	json_field(e, name);
	out_char(e->o, '[');
}

void
otlp_list_end(struct otlp *e)
{
	if (e->json)
		out_char(e->o, ']');
}

void
otlp_append(struct otlp *e, const char *bytes, size_t n)
{
	if (n == 0)
		return;
	if (e->json)
		json_field(e, NULL);
	tnf_out_bytes(e->o, bytes, n);
}

void
otlp_text(struct otlp *e, unsigned field, const char *name, const char *s, size_t n)
{
	if (e->json) {
		json_field(e, name);
		json_text(e->o, s, n);
	} else
		proto_bytes(e->o, field, s, n);
}

void
otlp_string(struct otlp *e, unsigned field, const char *name, const char *s)
{
	otlp_text(e, field, name, s, strlen(s));
}

static void
json_digits(struct otlp *e, const char *name, uint64_t v, bool negative)
{
	json_field(e, name);
	out_str(e->o, negative ? "\"-" : "\"");
	tnf_out_u64(e->o, negative ? -v : v);
	out_char(e->o, '"');
}

void
otlp_fixed64(struct otlp *e, unsigned field, const char *name, uint64_t v)
{
	if (e->json)
		json_digits(e, name, v, false);
	else
		proto_fixed64(e->o, field, v);
}

void
otlp_enum(struct otlp *e, unsigned field, const char *name, unsigned v)
{
	if (e->json) {
		json_field(e, name);
		tnf_out_u64(e->o, v);
	} else
		proto_u64(e->o, field, v);
}

void
otlp_id(struct otlp *e, unsigned field, const char *name, const uint8_t *id, size_t n)
{
	if (!e->json) {
		proto_bytes(e->o, field, (const char *)id, n);
		return;
	}
	json_field(e, name);
	out_char(e->o, '"');
	for (size_t i = 0; i < n; i++) {
		out_char(e->o, "0123456789abcdef"[id[i] >> 4]);
		out_char(e->o, "0123456789abcdef"[id[i] & 15]);
	}
	out_char(e->o, '"');
}

/* An attribute that is being written: the message and the message of its value. */
struct attr {
	size_t	 entry, value;
};

static struct attr
attr_begin(struct otlp *e, unsigned field, const char *key)
{
	struct attr a;

	a.entry = otlp_open(e, field, NULL);
	otlp_string(e, ATTR_KEY, "key", key);
	a.value = otlp_open(e, ATTR_VALUE, "value");
	return a;
}

static void
attr_end(struct otlp *e, struct attr a)
{
	otlp_close(e, a.value);
	otlp_close(e, a.entry);
}

void
otlp_attr_string(struct otlp *e, unsigned field, const char *key, const char *s)
{
	struct attr a;

	if (s == NULL)
		return;
	a = attr_begin(e, field, key);
	otlp_string(e, VALUE_STRING, "stringValue", s);
	attr_end(e, a);
}

static void
value_int(struct otlp *e, int64_t v)
{
	if (e->json)
		json_digits(e, "intValue", (uint64_t)v, v < 0);
	else
		proto_u64(e->o, VALUE_INT, (uint64_t)v);
}

void
otlp_attr_int(struct otlp *e, unsigned field, const char *key, int64_t v)
{
	struct attr a = attr_begin(e, field, key);

	value_int(e, v);
	attr_end(e, a);
}

void
otlp_attr_true(struct otlp *e, unsigned field, const char *key)
{
	struct attr a = attr_begin(e, field, key);

	if (e->json) {
		json_field(e, "boolValue");
		out_lit(e->o, "true");
	} else
		proto_u64(e->o, VALUE_BOOL, 1);
	attr_end(e, a);
}

static void
value_double(struct otlp *e, double v)
{
	if (!e->json)
		proto_double(e->o, VALUE_DOUBLE, v);
	else if (isfinite(v)) {
		json_field(e, "doubleValue");
		tnf_out_double(e->o, v);
	} else
		otlp_string(e, 0, "doubleValue", isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
}

/* Writes a value that only text can show: a record, an array, an address, a large number. */
static void
value_text(struct otlp *e, struct dump *d, const struct tnf_event *ev,
    const struct tnf_value *v, const char *member, bool pretty)
{
	struct out *text = e->text;

	text->p = text->base;
	if (pretty)
		pretty_value(d, text, ev, v, member);
	else
		print_json(d, text, ev, v, member);
	const char *s = text->base;
	size_t n = out_size(text);
	if (n >= 2 && *s == '"' && s[n - 1] == '"') {
		s++;
		n -= 2;
	}
	otlp_text(e, VALUE_STRING, "stringValue", s, n);
}

void
otlp_attr_value(struct otlp *e, unsigned field, const char *key, struct dump *d,
    const struct tnf_event *ev, const struct tnf_value *v, const char *member)
{
	bool scalar = v->kind != TNF_K_STRUCT && v->kind != TNF_K_ARRAY;
	bool pretty = d->pretty && scalar && pretty_differs(d, ev, v, member);
	struct attr a;
	size_t n;

	if (v->null)
		return;
	a = attr_begin(e, field, key);
	if (pretty || v->type->opaque)
		value_text(e, d, ev, v, member, pretty);
	else switch (v->kind) {
	case TNF_K_UINT64:
		if (v->u.u > INT64_MAX) {
			value_text(e, d, ev, v, member, false);
			break;
		}
		__attribute__((fallthrough));
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32:
		value_int(e, v->u.i);
		break;
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		value_double(e, v->u.d);
		break;
	case TNF_K_STRING:
		if (!v->type->blob) {
			const char *s = print_marked(d, v, &n);
			otlp_text(e, VALUE_STRING, "stringValue", s, n);
			break;
		}
		__attribute__((fallthrough));
	default:
		value_text(e, d, ev, v, member, false);
	}
	attr_end(e, a);
}

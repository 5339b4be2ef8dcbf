/*
 * json.c - JSON text of strings, of TNF values and of events.
 */
#include <math.h>

#include "analysis/json.h"
#include "analysis/timespec.h"
#include "common/text.h"

static void
hex_bytes(struct out *o, const char *s, size_t n, bool cut)
{
	static const char hex[] = "0123456789abcdef";

	out_lit(o, "{\"$bytes\":\"");
	for (size_t i = 0; i < n; i++) {
		out_char(o, hex[(unsigned char)s[i] >> 4]);
		out_char(o, hex[s[i] & 15]);
	}
	out_char(o, '"');
	if (cut)
		out_lit(o, ",\"$cut\":true");
	out_char(o, '}');
}

static void
json_escape(struct out *o, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	switch (c) {
	case '"':	out_lit(o, "\\\""); break;
	case '\\':	out_lit(o, "\\\\"); break;
	case '\n':	out_lit(o, "\\n"); break;
	case '\t':	out_lit(o, "\\t"); break;
	case '\r':	out_lit(o, "\\r"); break;
	default:
		out_lit(o, "\\u00");
		out_char(o, hex[c >> 4]);
		out_char(o, hex[c & 15]);
	}
}

/* True for U+2028 to U+202F and U+2060 to U+206F; some of these turn the direction of a line. */
static bool
json_turns(const unsigned char *s, size_t n)
{
	return n > 2 && s[0] == 0xe2 && ((s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xaf) ||
	    (s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf));
}

static void
json_escape_turn(struct out *o, const unsigned char *s)
{
	static const char hex[] = "0123456789abcdef";
	unsigned low = (s[1] & 3u) << 6 | (s[2] & 0x3fu);

	out_lit(o, "\\u20");
	out_char(o, hex[low >> 4]);
	out_char(o, hex[low & 15]);
}

/* The characters that a string may have as they are, if no escape begins with one of them. */
static const bool json_plain[256] = {
	[' '] = true, ['!'] = true, ['#' ... '['] = true, [']' ... '~'] = true,
};

/* The length of the leading part of a string that needs no escapes; mostly the whole string. */
static size_t
json_plain_length(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && json_plain[(unsigned char)s[i]])
		i++;
	return i;
}

void
json_string(struct out *o, const char *s, size_t n)
{
	size_t plain = 0;

	if (n <= OUT_MARGIN / 2 && json_plain_length(s, n) == n) {
		out_room(o);
		*o->p++ = '"';
		memcpy(o->p, s, n);
		o->p += n;
		*o->p++ = '"';
		return;
	}
	if (!tnf_utf8_is_valid(s, n)) {
		hex_bytes(o, s, n, false);
		return;
	}
	out_char(o, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		/* U+0080 to U+009F control terminals as well. */
		bool high = c == 0xc2 && n - i > 1 && (unsigned char)s[i + 1] < 0xa0;

		bool turns = c == 0xe2 && json_turns((const unsigned char *)s + i, n - i);

		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f && !high && !turns)
			continue;
		tnf_out_bytes(o, s + plain, i - plain);
		if (turns) {
			json_escape_turn(o, (const unsigned char *)s + i);
			i += 2;
		} else
			json_escape(o, high ? (unsigned char)s[++i] : c);
		plain = i + 1;
	}
	tnf_out_bytes(o, s + plain, n - plain);
	out_char(o, '"');
}

void
json_cstring(struct out *o, const char *s)
{
	if (s == NULL)
		out_lit(o, "null");
	else
		json_string(o, s, strlen(s));
}

void
json_text(struct out *o, const char *s, size_t n)
{
	if (json_plain_length(s, n) == n || tnf_utf8_is_valid(s, n)) {
		json_string(o, s, n);
		return;
	}
	out_char(o, '"');
	for (; n > 0; s++, n--) {
		if (*s >= ' ' && *s != '"' && *s != '\\' && *s != 0x7f)
			out_char(o, *s);
		else
			json_escape(o, (unsigned char)*s);
	}
	out_char(o, '"');
}

void
json_name(struct out *o, const char *s)
{
	if (s == NULL)
		out_lit(o, "null");
	else
		json_text(o, s, strlen(s));
}

void
json_key(struct out *o, const char *key)
{
	out_char(o, ',');
	json_name(o, key);
	out_char(o, ':');
}

void
json_member(struct out *o, const char *key, const char *text)
{
	json_key(o, key);
	json_name(o, text);
}

void
json_words(struct out *o, const char *s)
{
	bool first = true;

	out_char(o, '[');
	while (*(s += strspn(s, " \t")) != '\0') {
		size_t n = strcspn(s, " \t");
		if (!first)
			out_char(o, ',');
		json_string(o, s, n);
		first = false;
		s += n;
	}
	out_char(o, ']');
}

void
json_wall(struct out *o, int64_t ns)
{
	out_char(o, '"');
	wall_utc(o, ns);
	out_char(o, '"');
}

static void
json_real(struct out *o, double d)
{
	if (isnan(d))
		out_lit(o, "\"NaN\"");
	else if (isinf(d))
		out_str(o, d < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
		tnf_out_double(o, d);
}

static void
json_record(struct json_values *w, const struct tnf_event *ev, const struct tnf_value *v)
{
	struct tnf_value item;

	out_lit(w->o, "{\"$type\":");
	json_name(w->o, v->u.r.type->name);
	for (unsigned i = 0; nest_item(&w->in, ev->file, v, i, &item); i++) {
		const char *name = v->u.r.type->members[i].name;
		json_key(w->o, name);
		json_value(w, ev, &item, name);
	}
	out_char(w->o, '}');
}

static void
json_array(struct json_values *w, const struct tnf_event *ev, const struct tnf_value *v)
{
	struct tnf_value item;

	out_char(w->o, '[');
	for (unsigned i = 0; nest_item(&w->in, ev->file, v, i, &item); i++) {
		if (i > 0)
			out_char(w->o, ',');
		json_value(w, ev, &item, NULL);
	}
	out_char(w->o, ']');
}

static void
json_opaque(struct out *o, uint64_t v)
{
	out_lit(o, "\"0x");
	tnf_out_hex(o, v);
	out_char(o, '"');
}

/* Writes a string or bytes; a cut text ends in three dots, cut bytes are marked by
   hex_bytes(). */
static void
json_chars(struct out *o, const struct tnf_value *v)
{
	const char *s = v->u.s.chars;
	size_t n = v->u.s.len;

	if (v->type->blob || (v->cut && !tnf_utf8_is_valid(s, n)))
		hex_bytes(o, s, n, v->cut);
	else {
		json_string(o, s, n);
		if (v->cut) {
			o->p--;		/* the quotation mark */
			out_lit(o, "...\"");
		}
	}
}

static void
json_scalar(struct out *o, const struct tnf_value *v)
{
	char c;

	switch (v->kind) {
	case TNF_K_CHAR:
		c = (char)v->u.i;
		json_string(o, &c, 1);
		break;
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		tnf_out_i64(o, v->u.i);
		break;
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32: case TNF_K_UINT64:
		if (v->type->opaque)
			json_opaque(o, v->u.u);
		else
			tnf_out_u64(o, v->u.u);
		break;
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		json_real(o, v->u.d);
		break;
	case TNF_K_STRING:
		json_chars(o, v);
		break;
	default:
		json_cstring(o, v->type->name);
	}
}

void
json_value(struct json_values *w, const struct tnf_event *ev, const struct tnf_value *v,
    const char *name)
{
	bool holds = v->kind == TNF_K_STRUCT || v->kind == TNF_K_ARRAY;

	if (v->null || (holds && !nest_enter(&w->in, v)))
		out_lit(w->o, "null");
	else if (holds) {
		if (v->kind == TNF_K_STRUCT)
			json_record(w, ev, v);
		else
			json_array(w, ev, v);
		nest_leave(&w->in);
	} else if (w->other == NULL || !w->other(w->arg, ev, v, name))
		json_scalar(w->o, v);
}

/* The pieces of a line of JSON that come before the values of a probe's members. */
struct names {
	char	*text;
	uint32_t *ends;		/* of each member's piece of the text */
};

/* "name": or ,"name": */
static void
json_before(struct out *o, const struct tnf_probe *p, unsigned i)
{
	if (i > 0)
		out_char(o, ',');
	json_name(o, p->members[i].name);
	out_char(o, ':');
}

static void
names_make(struct names *n, const struct tnf_probe *p)
{
	struct out o;

	tnf_out_memory(&o);
	n->ends = tnf_xreallocarray(NULL, p->n_members, sizeof(*n->ends));
	for (unsigned i = 0; i < p->n_members; i++) {
		json_before(&o, p, i);
		n->ends[i] = (uint32_t)out_size(&o);
	}
	out_room(&o);		/* more than out_made() reads behind them */
	n->text = o.base;
}

void
json_names_free(struct perprobe *all)
{
	struct names *n = (struct names *)(void *)all->base;

	for (size_t i = 0; i < all->n; i++) {
		free(n[i].text);
		free(n[i].ends);
	}
	free(n);
	*all = (struct perprobe){ NULL, 0 };
}

/* NULL: they are made for each event. */
static const struct names *
names_of(struct json_values *w, const struct tnf_probe *p)
{
	struct names *n;

	if (w->names == NULL)
		return NULL;
	n = perprobe(w->names, p, sizeof(*n));
	if (n->text == NULL)
		names_make(n, p);
	return n;
}

void
json_args(struct json_values *w, const struct tnf_event *ev)
{
	const struct tnf_probe *p = ev->probe;
	const struct names *names = names_of(w, p);
	struct tnf_value v;
	uint32_t from = 0;

	for (unsigned i = 0; i < p->n_members && tnf_event_value(ev, i, &v); i++) {
		if (names == NULL)
			json_before(w->o, p, i);
		else {
			out_made(w->o, names->text + from, names->ends[i] - from);
			from = names->ends[i];
		}
		json_value(w, ev, &v, p->members[i].name);
	}
}

void
json_who(struct out *o, const struct tnf_event *ev)
{
	out_lit(o, ",\"pid\":");
	tnf_out_i64(o, ev->pid);
	out_lit(o, ",\"lwpid\":");
	tnf_out_u64(o, ev->lwpid);
	out_lit(o, ",\"tid\":");
	if (ev->kernel)
		json_opaque(o, ev->tid);
	else
		tnf_out_u64(o, ev->tid);
	if (ev->cpu >= 0) {
		out_lit(o, ",\"cpu\":");
		tnf_out_i64(o, ev->cpu);
	}
}

void
json_probe(struct out *o, const struct tnf_probe *p)
{
	const char *s;
	size_t n;

	out_lit(o, ",\"probe\":");
	json_cstring(o, p->name);
	out_lit(o, ",\"keys\":");
	json_words(o, p->keys);
	if ((s = attrs_find(p->attrs, "file", &n)) != NULL) {
		out_lit(o, ",\"src\":");
		json_string(o, s, n);
	}
	if ((s = attrs_find(p->attrs, "line", &n)) != NULL &&
	    n > 0 && n < 10 && strspn(s, "0123456789") == n) {
		out_lit(o, ",\"line\":");
		tnf_out_bytes(o, s, n);
	}
}

/*
 * json.c - values as JSON.
 */
#include <inttypes.h>
#include <math.h>

#include "analysis/walltime.h"
#include "common/printable.h"
#include "common/utf8.h"
#include "tnfwatch/json.h"

#define DEPTH_MAX	4	/* records in records */
#define ITEMS_MAX	64u	/* of an array */

static void
json_bytes(FILE *f, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;
	size_t len;

	putc('"', f);
	for (; p < end; p += len) {
		len = 1;
		if (*p == '"' || *p == '\\')
			fprintf(f, "\\%c", *p);
		else if (*p < ' ' || *p == 0x7f)
			fprintf(f, "\\u%04x", *p);
		else if (*p < 0x80)
			putc(*p, f);
		else if ((len = tnf_printable_length(p, (size_t)(end - p))) > 0)
			fwrite(p, 1, len, f);
		else if ((len = tnf_utf8_length(p, (size_t)(end - p))) == 2)
			fprintf(f, "\\u%04x", (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu));
		else if (len == 3)
			fprintf(f, "\\u%04x", (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu));
		else {
			len = 1;
			fputs("\\ufffd", f);
		}
	}
	putc('"', f);
}

void
json_string(FILE *f, const char *s)
{
	if (s == NULL)
		fputs("null", f);
	else
		json_bytes(f, s, strlen(s));
}

void
json_wall(FILE *f, int64_t ns)
{
	char buf[WALL_SIZE];
	unsigned n = wall_format(buf, ns, true);

	fprintf(f, "\"%.*s\"", (int)n, buf);
}

static void json_value(FILE *, const struct tnf_file *, const struct tnf_value *, unsigned depth);

static void
json_items(FILE *f, const struct tnf_file *file, const struct tnf_value *v, unsigned depth)
{
	bool array = v->kind == TNF_K_ARRAY;
	struct tnf_value item;

	putc(array ? '[' : '{', f);
	for (unsigned i = 0; depth < DEPTH_MAX && i < v->u.r.count && i < ITEMS_MAX &&
	    tnf_value_item(file, v, i, &item); i++) {
		if (i > 0)
			fputs(", ", f);
		if (!array) {
			json_string(f, v->u.r.type->members[i].name);
			fputs(": ", f);
		}
		json_value(f, file, &item, depth + 1);
	}
	putc(array ? ']' : '}', f);
}

static void
json_value(FILE *f, const struct tnf_file *file, const struct tnf_value *v, unsigned depth)
{
	if (v->null) {
		fputs("null", f);
		return;
	}
	switch (v->kind) {
	case TNF_K_CHAR:
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		fprintf(f, "%" PRId64, v->u.i);
		break;
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32: case TNF_K_UINT64:
		fprintf(f, "%" PRIu64, v->u.u);
		break;
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		if (isfinite(v->u.d))
			fprintf(f, "%.17g", v->u.d);
		else
			fputs("null", f);
		break;
	case TNF_K_STRING:
		json_bytes(f, v->u.s.chars, v->u.s.len);
		break;
	case TNF_K_STRUCT:
	case TNF_K_ARRAY:
		json_items(f, file, v, depth);
		break;
	default:
		fputs("null", f);
	}
}

void
json_event(FILE *f, const struct tnf_event *ev, int64_t mono_to_wall)
{
	struct tnf_value v;

	fputs("{\"probe\": ", f);
	json_string(f, ev->probe->name);
	fprintf(f, ", \"time_ns\": %" PRId64 ", \"time\": ", ev->time);
	json_wall(f, ev->time + mono_to_wall);
	fprintf(f, ", \"pid\": %" PRId32 ", \"tid\": %" PRIu32, ev->pid, ev->lwpid);
	if (ev->cpu >= 0)
		fprintf(f, ", \"cpu\": %" PRId32, ev->cpu);
	fputs(", \"values\": {", f);
	for (unsigned i = 0; i < ev->probe->n_members && tnf_event_value(ev, i, &v); i++) {
		if (i > 0)
			fputs(", ", f);
		json_string(f, ev->probe->members[i].name);
		fputs(": ", f);
		json_value(f, ev->file, &v, 0);
	}
	fputs("}}", f);
}

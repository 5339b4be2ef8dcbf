/*
 * events.c - reads a trace file through libtnf.
 */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/stream.h>

#include "tests/writer/events.h"

static void
damage(void *arg, struct tnf_file *file, uint64_t offset, const char *text)
{
	struct events *e = arg;

	if (e->damaged++ < 5)
		fprintf(stderr, "%s: 0x%" PRIx64 ": %s\n", tnf_file_name(file),
		    offset, text);
}

static void
put_value(FILE *f, const struct tnf_event *ev, const struct tnf_value *v)
{
	struct tnf_value item;
	unsigned i;

	if (v->null) {
		fputs("NULL", f);
		return;
	}
	switch (v->kind) {
	case TNF_K_STRING:
		fprintf(f, "\"%.*s\"%s", (int)v->u.s.len, v->u.s.chars,
		    v->cut ? "..." : "");
		break;
	case TNF_K_STRUCT:
		putc('{', f);
		for (i = 0; tnf_value_item(ev->file, v, i, &item); i++) {
			fprintf(f, "%s%s=", i == 0 ? "" : " ",
			    v->u.r.type->members[i].name);
			put_value(f, ev, &item);
		}
		putc('}', f);
		break;
	case TNF_K_FLOAT32:
	case TNF_K_FLOAT64:
		fprintf(f, "%g", v->u.d);
		break;
	case TNF_K_UINT8:
	case TNF_K_UINT16:
	case TNF_K_UINT32:
	case TNF_K_UINT64:
		fprintf(f, "%" PRIu64, v->u.u);
		break;
	default:
		fprintf(f, "%" PRId64, v->u.i);
	}
}

static char *
text_of(const struct tnf_event *ev)
{
	struct tnf_value v;
	char *text = NULL;
	size_t len;
	unsigned i;
	FILE *f;

	f = open_memstream(&text, &len);
	if (f == NULL)
		err(1, "open_memstream");
	fputs(ev->probe->name, f);
	for (i = 0; i < ev->probe->n_members; i++) {
		fprintf(f, " %s=", ev->probe->members[i].name);
		if (tnf_event_value(ev, i, &v))
			put_value(f, ev, &v);
	}
	fclose(f);
	return text;
}

void
events_read(const char *path, struct events *e)
{
	struct event_line *l;
	struct tnf_file *file;
	struct tnf_summary sum;
	struct tnf_event ev;
	tnf_stream_t *s;
	size_t room = 0;
	int r;

	memset(e, 0, sizeof(*e));
	if (tnf_stream_new(&s) != 0)
		errx(1, "no stream");
	tnf_stream_on_damage(s, damage, e);
	r = tnf_stream_add(s, path, &file);
	if (r != 0)
		errx(1, "%s: cannot be read (%d)", path, r);
	while ((r = tnf_stream_next(s, &ev)) == 1) {
		if (e->n == room) {
			room = room * 2 + 64;
			e->v = realloc(e->v, room * sizeof(*e->v));
			if (e->v == NULL)
				err(1, "events");
		}
		l = &e->v[e->n++];
		l->time = ev.time;
		l->pid = ev.pid;
		l->tid = ev.lwpid;
		l->cpu = ev.cpu;
		l->pos = ev.pos;
		l->text = text_of(&ev);
	}
	if (r < 0)
		errx(1, "%s: reading stopped (%d)", path, r);
	e->probes = tnf_stream_probes(s);
	tnf_file_summary(file, &sum);
	e->held = sum.blocks_held;
	if (tnf_file_ext(file) != NULL)
		e->ext = *tnf_file_ext(file);
	tnf_stream_close(s);
}

void
events_free(struct events *e)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		free(e->v[i].text);
	free(e->v);
	memset(e, 0, sizeof(*e));
}

/*
 * probe.c - probes: a type of event, and what its definition says about it.
 */
#include <stdlib.h>
#include <string.h>

#include "libtnf/slot.h"
#include "libtnf/stream_impl.h"
#include "libtnf/type.h"

#define KEYS	"keys "

/* The value of the attribute "keys", which comes first. */
static const char *
keys_of(struct arena *a, const char *attrs)
{
	if (attrs == NULL || strncmp(attrs, KEYS, strlen(KEYS)) != 0)
		return "";
	attrs += strlen(KEYS);
	return tnf_arena_strndup(a, attrs, strcspn(attrs, ";"));
}

static int
read_attrs(struct arena *a, const struct tnf_file *f, const struct type *t,
    struct tnf_probe *p)
{
	const char *s;
	size_t len;

	if (t->meta == META_PROBE &&
	    tnf_type_string(f, t->pos + T_PROBE_STRING, &s, &len) &&
	    (p->attrs = tnf_arena_strndup(a, s, len)) == NULL)
		return -1;
	return (p->keys = keys_of(a, p->attrs)) == NULL ? -1 : 0;
}

static int
probe_append(tnf_stream_t *s, struct tnf_probe *p)
{
	unsigned room = s->room_probes == 0 ? 64 : 2 * s->room_probes;
	struct tnf_probe **list;

	if (s->n_probes == s->room_probes) {
		if ((list = realloc(s->probes, room * sizeof(*list))) == NULL)
			return -1;
		s->probes = list;
		s->room_probes = room;
	}
	p->id = s->n_probes;
	s->probes[s->n_probes++] = p;
	return 0;
}

struct tnf_probe *
tnf_probe_of(tnf_stream_t *s, struct tnf_file *f, struct type *t)
{
	struct tnf_probe *p;

	if (t->probe != NULL)
		return t->probe;
	if ((p = tnf_arena_zalloc(&s->arena, sizeof *p)) == NULL ||
	    read_attrs(&s->arena, f, t, p) != 0 || probe_append(s, p) != 0) {
		tnf_file_fail(f, t->pos, "out of memory");
		return NULL;
	}
	p->name = t->pub.name;
	p->file = f;
	p->pos = t->pos;
	p->n_members = t->pub.n_members - t->first_arg;
	p->members = p->n_members == 0 ? NULL : t->pub.members + t->first_arg;
	t->probe = p;
	return p;
}

static int
by_pos(const void *a, const void *b)
{
	const struct tnf_probe *const *p = a, *const *q = b;

	return ((*p)->pos > (*q)->pos) - ((*p)->pos < (*q)->pos);
}

void
tnf_probes_sort(tnf_stream_t *s, unsigned first)
{
	if (s->n_probes > first)
		qsort(s->probes + first, s->n_probes - first,
		    sizeof(*s->probes), by_pos);
	for (unsigned i = first; i < s->n_probes; i++)
		s->probes[i]->id = i;
}

/*
 * sibling.c - files that hold parts of what one writer wrote.
 */
#include <string.h>

#include "format/header.h"
#include "libtnf/file.h"
#include "libtnf/merge.h"

_Static_assert(sizeof(struct sibling_key) == 40, "keys are compared as bytes");

void
tnf_siblings_join(struct siblings *s, struct tnf_file *f, struct tnf_file **files, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!files[i]->has_ext || !f->has_ext || !tnf_ext_same(&files[i]->ext, &f->ext))
			continue;
		if (files[i]->sibling == 0)
			files[i]->sibling = ++s->n;
		f->sibling = files[i]->sibling;
		return;
	}
}

static uint64_t
hash_name(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return h;
}

/* Most times have a few events only; NULL: no memory. */
static uint64_t *
siblings_count(struct siblings *s, const struct sibling_key *key)
{
	for (unsigned i = 0; i < s->n_few; i++)
		if (memcmp(&s->few[i].key, key, sizeof(*key)) == 0)
			return &s->few[i].n;
	if (s->n_few == SIBLINGS_FEW)
		return tnf_map_put(&s->more, key, sizeof(*key), NULL);
	s->few[s->n_few].key = *key;
	s->few[s->n_few].n = 0;
	return &s->few[s->n_few++].n;
}

int
tnf_siblings_seen(struct siblings *s, const struct tnf_event *ev)
{
	struct sibling_key key = { ev->tid, hash_name(ev->probe->name), ev->lwpid, ev->pid,
	    ev->cpu, ev->block, ev->file->sibling, ev->file->number + 1 };
	uint64_t *in_file, *out;

	if (ev->time != s->time || s->n_few == 0) {
		tnf_siblings_done(s);
		s->n_few = 0;
		s->time = ev->time;
		tnf_map_init(&s->more, sizeof(uint64_t));
	}
	if ((in_file = siblings_count(s, &key)) == NULL)
		return -1;
	key.file = 0;
	if ((out = siblings_count(s, &key)) == NULL)
		return -1;
	if (++*in_file <= *out)
		return 1;
	*out = *in_file;
	return 0;
}

void
tnf_siblings_done(struct siblings *s)
{
	if (s->more.n > 0)
		tnf_map_free(&s->more);
}

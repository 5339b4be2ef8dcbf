/*
 * scan.c - the first pass over a file: probes, times of blocks, damage.
 */
#include <stdlib.h>
#include <string.h>

#include "slot.h"
#include "stream_impl.h"
#include "type.h"

/* Events of one block. */
struct tally {
	uint64_t events, overwritten;
	int64_t	 min, max, last;
	bool	 sorted;
};

static void
count_event(struct tally *t, int64_t time)
{
	if (t->events++ == 0) {
		t->min = t->max = time;
		t->sorted = true;
	} else {
		if (time < t->last)
			t->sorted = false;
		if (time < t->min)
			t->min = time;
		if (time > t->max)
			t->max = time;
	}
	t->last = time;
}

static bool
is_probe_record(const struct walk *w)
{
	return type_has(w->type, PROP(TYPE)) &&
	    strcmp(w->type->pub.name, "tnf_probe_type") == 0;
}

/* A definition: known from now on, whether or not an event uses it. */
static bool
define(tnf_stream_t *s, struct tnf_file *f, uint32_t pos)
{
	struct type *t = type_at(f, pos);
	struct tnf_probe *p = t == NULL ? NULL : probe_of(s, f, t);

	if (p != NULL)
		p->defined = true;
	return p != NULL;
}

/* One record; false: the block is damaged here. */
static bool
take(tnf_stream_t *s, struct walk *w, struct event_clock *clock,
    struct tally *t)
{
	int64_t time;

	if (walk_is_event(w)) {
		switch (event_time(clock, w, &time)) {
		case EVENT_LOST:
			t->overwritten++;
			return true;
		case EVENT_BAD:
			return false;
		case EVENT_OK:
			break;
		}
		if (w->type->probe == NULL &&
		    probe_of(s, w->file, w->type) == NULL)
			return false;
		count_event(t, time);
		return members_sound(w);
	}
	if (w->type->pub.kind == TNF_K_STRUCT)
		return members_sound(w);
	return !is_probe_record(w) || define(s, w->file, w->pos);
}

/*
 * Walks the block.  A record that cannot be understood but whose extent is
 * known is left out; one whose extent is unknown ends the block.
 */
static bool
scan_block(tnf_stream_t *s, struct walk *w, struct tally *t)
{
	struct event_clock clock = { 0 };
	enum walk_status r;
	const char *why = NULL;
	uint64_t why_pos = 0;
	bool sound = true;

	while ((r = walk_next(w)) == WALK_RECORD)
		if (!take(s, w, &clock, t) && sound) {
			sound = false;
			why = w->file->why;
			why_pos = w->file->why_pos;
		}
	if (!sound)
		file_fail(w->file, why_pos, why);
	return sound && r == WALK_END;
}

static void
add_entry(struct scan *sc, const struct walk *w, const struct tally *t)
{
	struct entry *e = &sc->entries[sc->n++];

	e->min = t->min;
	e->block = w->block >> w->file->block_shift;
	e->sorted = t->sorted;
	e->generation = w->generation;
}

static void
sum_block(struct tnf_summary *sum, const struct walk *w, const struct tally *t)
{
	if (w->generation == TNF_GENERATION_TAG)
		sum->blocks_tag++;
	else {
		sum->blocks_data++;
		if (w->generation > sum->generation)
			sum->generation = w->generation;
	}
	sum->overwritten += t->overwritten;
	if (t->events == 0)
		return;
	if (sum->events == 0 || t->min < sum->first)
		sum->first = t->min;
	if (sum->events == 0 || t->max > sum->last)
		sum->last = t->max;
	sum->events += t->events;
}

static void
take_block(tnf_stream_t *s, struct tnf_file *f, uint32_t off, struct scan *sc)
{
	struct tally t = { 0 };
	struct walk w;
	enum walk_status r = walk_start(&w, f, off);

	if (f->seen != NULL && r == WALK_RECORD)
		f->seen[off >> f->block_shift] =
		    (struct seen){ .generation = w.generation, .used = w.end - off };
	switch (r) {
	case WALK_END:
		sc->sum.blocks_free++;
		return;
	case WALK_BAD:
		break;
	case WALK_RECORD:
		if (scan_block(s, &w, &t))
			goto sound;
	}
	/* A live block that has been taken over is not damaged. */
	if (file_block(f, off).generation != w.generation) {
		f->lost += f->seen == NULL;
		return;
	}
	sc->sum.damaged++;
	stream_damage(s, f, off);
sound:
	sum_block(&sc->sum, &w, &t);
	if (t.events > 0)
		add_entry(sc, &w, &t);
}

static void
sum_file(const struct tnf_file *f, struct tnf_summary *sum)
{
	sum->size = (uint64_t)f->block_count << f->block_shift;
	sum->size_real = f->whole;
	sum->swapped = f->bytes.swap;
	sum->word_bits = f->block_header_size >= 24 ? 64 : 32;
	sum->block_size = f->block_size;
}

int
scan_file(tnf_stream_t *s, struct tnf_file *f, struct scan *sc)
{
	unsigned before = s->n_probes;
	uint64_t off;

	/* All at once: what is not touched costs nothing. */
	sc->room = (uint32_t)(f->bytes.size >> f->block_shift) + 1;
	if ((sc->entries = malloc(sc->room * sizeof *sc->entries)) == NULL)
		return TNF_ERR_ALLOCFAIL;
	for (off = f->data_start; off < f->bytes.size; off += f->block_size)
		take_block(s, f, (uint32_t)off, sc);
	probes_sort(s, before);
	sum_file(f, &sc->sum);
	sc->sum.probes = s->n_probes - before;
	return 0;
}

/*
 * scan.c - the first pass over a file: probes, times of blocks, damage by its cause.
 */
#include <stdio.h>

#include "libtnf/survey.h"

/* Events of one block. */
struct tally {
	uint64_t events, overwritten;
	int64_t	 min, max, last;
	bool	 sorted;
	const struct visit *visit;	/* who is shown each; or NULL */
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

/* Reads a definition, which is known from now on, whether or not an event uses it. */
static bool
scan_define(tnf_stream_t *s, struct tnf_file *f, uint32_t pos)
{
	struct type *t = tnf_type_at(f, pos);
	struct tnf_probe *p = t == NULL ? NULL : tnf_probe_of(s, f, t);

	if (p != NULL)
		p->defined = true;
	return p != NULL;
}

/* Fails because of the record's type. */
static bool
bad_type(const struct walk *w, const char *why)
{
	return tnf_file_fail_at(w->file, w->pos, w->type->pos, why);
}

static void
show_event(tnf_stream_t *s, const struct visit *v, const struct walk *w, const struct sched *sched,
    int64_t time)
{
	struct tnf_event ev;

	/* The writer may have taken the block over: then this belongs to another lap. */
	if (file_generation(w->file, w->block) == w->generation &&
	    stream_fill(s, &ev, file_shifted(w->file, time), w, sched))
		v->fn(v->arg, &ev);
}

/* Takes an event; false: the event cannot be handed out. */
static bool
take_event(tnf_stream_t *s, struct walk *w, struct event_clock *clock,
    struct tally *t)
{
	int64_t time;

	if (!event_time_again(clock, w, &time))
		switch (tnf_event_time(clock, w, &time)) {
		case EVENT_LOST:
			t->overwritten++;
			return true;
		case EVENT_BAD:
			return false;
		case EVENT_OK:
			break;
		}
	if (w->type->probe == NULL && tnf_probe_of(s, w->file, w->type) == NULL)
		return false;
	count_event(t, time);
	if (t->visit != NULL)
		show_event(s, t->visit, w, &clock->sched, time);
	return true;
}

/* Takes one record; false: the record is of no use. */
static bool
scan_take(tnf_stream_t *s, struct walk *w, struct event_clock *clock,
    struct tally *t)
{
	if (walk_is_event(w))
		return take_event(s, w, clock, t);
	if ((w->word & TNF_REF32_T_MASK) == TNF_REF32_T_PAIR)
		return bad_type(w, "the type of an event is not that of a record");
	switch (w->type->pub.kind) {
	case TNF_K_STRUCT:
	case TNF_K_STRING:
	case TNF_K_ARRAY:
		return true;
	case TNF_K_TYPE:
		return !is_probe_record(w) || scan_define(s, w->file, w->pos);
	default:
		return bad_type(w, "the type of a record is of no known kind");
	}
}

/*
 * Walks the block.  A record that cannot be understood but whose extent is
 * known is left out; one whose extent is unknown ends the block.
 */
static bool
scan_block(tnf_stream_t *s, struct walk *w, struct tally *t, struct damage *d)
{
	struct event_clock clock = { 0 };
	enum walk_status r;

	while ((r = walk_next(w)) != WALK_END) {
		if (r == WALK_BAD) {
			tnf_damage_add(d, w->file, w->block, DAMAGE_REST);
			break;
		}
		if (r == WALK_UNREADABLE || !scan_take(s, w, &clock, t))
			tnf_damage_add(d, w->file, w->block, DAMAGE_RECORD);
		else if (w->type->pub.kind == TNF_K_STRUCT && !tnf_members_sound(w))
			tnf_damage_add(d, w->file, w->block, DAMAGE_VALUE);
	}
	return d->n == 0;
}

static void
add_entry(struct scan *sc, const struct walk *w, const struct tally *t)
{
	struct entry *e = &sc->entries[sc->n++];

	*e = (struct entry){ .min = t->min, .block = w->block >> w->file->block_shift,
	    .sorted = t->sorted, .scanned = true, .generation = w->generation };
}

static void
sum_block(struct tnf_summary *sum, const struct walk *w)
{
	if (w->generation == TNF_GENERATION_TAG)
		sum->blocks_tag++;
	else {
		sum->blocks_data++;
		if (w->generation > sum->generation)
			sum->generation = w->generation;
	}
}

static void
sum_events(struct tnf_summary *sum, const struct tally *t)
{
	sum->overwritten += t->overwritten;
	if (t->events == 0)
		return;
	if (sum->events == 0 || t->min < sum->first)
		sum->first = t->min;
	if (sum->events == 0 || t->max > sum->last)
		sum->last = t->max;
	sum->events += t->events;
}

bool
tnf_scan_is_held(const struct tnf_file *f, uint32_t off)
{
	return f->has_ext && f->ext.kind == TNF_EXT_PROCESS &&
	    bytes_u8(&f->bytes, off +
	    offsetof(struct tnf_block_header, A_lock)) != 0;
}

/* Adds a block's damage to that of the file.  false: a writer has taken the block again
   during the pass, which is no damage. */
static bool
take_damage(struct scan *sc, struct tnf_file *f, const struct walk *w,
    const struct damage *d)
{
	if (d->n == 0)
		return true;
	if (file_block(f, w->block).generation != w->generation) {
		f->lost += f->seen == NULL;
		return false;
	}
	sc->sum.damaged++;
	tnf_damage_merge(sc->damage, d);
	return true;
}

void
tnf_scan_block_at(tnf_stream_t *s, struct tnf_file *f, uint32_t off, struct scan *sc)
{
	struct tally t = { 0 };
	struct damage d;
	struct walk w;
	enum walk_status r = tnf_walk_start(&w, f, off);

	if (f->seen != NULL && r == WALK_RECORD) {
		f->seen[off >> f->block_shift].generation = w.generation;
		f->seen[off >> f->block_shift].used = w.end - off;
		f->seen[off >> f->block_shift].first = w.end - off;
	}
	if (r == WALK_END) {
		sc->sum.blocks_free++;
		return;
	}
	d.n = 0;
	if (r == WALK_BAD)
		tnf_damage_add(&d, f, off, DAMAGE_BLOCK);
	else
		scan_block(s, &w, &t, &d);
	if (!take_damage(sc, f, &w, &d))
		return;
	sum_block(&sc->sum, &w);
	sum_events(&sc->sum, &t);
	if (w.generation != TNF_GENERATION_TAG)
		sc->sum.blocks_held += tnf_scan_is_held(f, off);
	if (t.events > 0)
		add_entry(sc, &w, &t);
}

bool
tnf_scan_entry(tnf_stream_t *s, struct tnf_file *f, struct entry *e, struct walk w,
    const struct visit *visit)
{
	struct tally t = { .visit = visit };
	struct damage d;

	d.n = 0;
	scan_block(s, &w, &t, &d);
	if (!take_damage(f->scan, f, &w, &d))
		return false;
	sum_events(&f->scan->sum, &t);
	e->scanned = true;
	e->sorted = t.sorted;
	return t.events > 0;
}

bool
tnf_scan_times(tnf_stream_t *s, struct tnf_file *f, const struct entry *e,
    int64_t *first, int64_t *last)
{
	struct tally t = { 0 };
	struct damage d;
	struct walk w;

	d.n = 0;
	if (tnf_walk_start(&w, f, (uint32_t)e->block << f->block_shift) != WALK_RECORD ||
	    w.generation != e->generation)
		return false;
	scan_block(s, &w, &t, &d);
	*first = t.min;
	*last = t.max;
	return t.events > 0;
}

/* Original readers find the header's members through its type, by name. */
static bool
has_header_type(struct tnf_file *f)
{
	static const char *const names[] = { "file_version",
	    "file_logical_size", "block_header_size", "block_size",
	    "directory_size", "block_count" };
	const struct type *t = tnf_type_of_record(f, FILE_HEADER_POS);

	for (unsigned i = 0; t != NULL && i < sizeof names / sizeof names[0]; i++)
		if (tnf_type_slot(t, names[i]) == NULL)
			return tnf_file_fail_at(f, FILE_HEADER_POS, t->pos,
			    "the type of the file header lacks a member");
	return t != NULL;
}

/* Laps are counted in a space that is larger than the file by less than half. */
static bool
has_laps_of_its_size(struct tnf_file *f)
{
	uint64_t size = (uint64_t)f->block_count << f->block_shift;

	return size > (uint64_t)1 << f->generation_shift >> 1 ||
	    tnf_file_fail(f, FILE_HEADER_POS,
	    "the file header's logical size and number of blocks disagree");
}

static void
check_file(struct tnf_file *f, struct damage *d)
{
	if (!has_header_type(f))
		tnf_damage_add(d, f, 0, DAMAGE_TOLD);
	if (!has_laps_of_its_size(f))
		tnf_damage_add(d, f, 0, DAMAGE_TOLD);
	if (f->excess != 0) {
		tnf_file_fail(f, f->excess, FILE_EXCESS);
		tnf_damage_add(d, f, 0, DAMAGE_TOLD);
	}
}

void
tnf_scan_tell_damage(tnf_stream_t *s, struct tnf_file *f)
{
	struct damage *d = f->scan->damage;
	char text[DAMAGE_TEXT];

	f->scan->damage = NULL;
	if (d != NULL && f->scan->survey != NULL)
		tnf_damage_sort(d);
	for (unsigned i = 0; d != NULL && i < d->n; i++) {
		tnf_damage_text(&d->causes[i], text);
		tnf_stream_damage(s, f, d->causes[i].block, text);
	}
	free(d);
}

static uint32_t
kernel_laps(const struct tnf_file *f)
{
	uint64_t start = f->ext.data_start, blocks;

	if (start >= f->bytes.size)
		return 1;
	blocks = (f->bytes.size - start) >> f->block_shift;
	return blocks == 0 ? 1 : (uint32_t)((f->ext.data_cursor + blocks - 1) / blocks);
}

static void
sum_file(const struct tnf_file *f, struct tnf_summary *sum)
{
	sum->size = (uint64_t)f->block_count << f->block_shift;
	sum->size_real = f->whole;
	sum->swapped = f->bytes.swap;
	sum->word_bits = f->block_header_size >= 24 ? 64 : 32;
	sum->block_size = f->block_size;
	/* A kernel's generations tell only an order; its cursor counts the blocks taken. */
	if (f->has_ext && f->ext.kind == TNF_EXT_KERNEL && sum->blocks_data > 0)
		sum->generation = kernel_laps(f);
}

/* Scans blocks from 'off' on, one after another; 'definitions': only up to the first block
   without these.  Returns where it stopped. */
static uint64_t
scan_blocks(tnf_stream_t *s, struct tnf_file *f, uint64_t off, bool definitions)
{
	for (; off < f->bytes.size; off += f->block_size) {
		if (definitions && file_block(f, (uint32_t)off).generation !=
		    TNF_GENERATION_TAG)
			break;
		tnf_scan_block_at(s, f, (uint32_t)off, f->scan);
	}
	return off;
}

static int
scan_by_blocks(tnf_stream_t *s, struct tnf_file *f)
{
	uint64_t off = f->data_start;
	int err = ENOTSUP;

	if (tnf_survey_wanted(s, f)) {
		off = scan_blocks(s, f, off, true);
		err = tnf_survey_file(s, f, off);
	}
	if (err != ENOTSUP)
		return err;
	scan_blocks(s, f, off, false);
	tnf_scan_tell_damage(s, f);
	return 0;
}

int
tnf_scan_file(tnf_stream_t *s, struct tnf_file *f, struct scan *sc)
{
	unsigned before = s->n_probes;
	int err;

	/* We reserve all entries at once: pages that are never touched cost nothing. */
	sc->entries = malloc(((f->bytes.size >> f->block_shift) + 1) * sizeof *sc->entries);
	if (sc->entries == NULL)
		return TNF_ERR_ALLOCFAIL;
	if ((sc->damage = malloc(sizeof *sc->damage)) == NULL)
		return TNF_ERR_ALLOCFAIL;
	sc->damage->n = 0;
	check_file(f, sc->damage);
	if ((err = scan_by_blocks(s, f)) != 0)
		return err;
	tnf_probes_sort(s, before);
	sum_file(f, &sc->sum);
	sc->sum.probes = s->n_probes - before;
	return 0;
}

/* All damage in the records of a data block is one cause; so is a damaged definition,
   wherever it is used. */
static uint64_t
damage_place_of(const struct tnf_file *f, uint32_t block)
{
	return f->cause >= block && f->cause - block < f->block_size &&
	    file_block(f, block).generation != TNF_GENERATION_TAG ?
	    block : f->cause;
}

static struct cause *
cause_of(struct damage *d, const char *why, uint64_t at, uint32_t block)
{
	for (unsigned i = 0; i < d->n; i++)
		if (d->causes[i].why == NULL ||
		    (d->causes[i].at == at && strcmp(d->causes[i].why, why) == 0))
			return &d->causes[i];
	struct cause *c = &d->causes[d->n++];
	*c = (struct cause){ .why = d->n <= DAMAGE_CAUSES ? why : NULL,
	    .at = at, .block = block };
	return c;
}

void
tnf_damage_add(struct damage *d, const struct tnf_file *f, uint32_t block,
    enum damage_extent extent)
{
	cause_of(d, f->why, damage_place_of(f, block), block)->n[extent]++;
}

void
tnf_damage_merge(struct damage *d, const struct damage *from)
{
	for (unsigned i = 0; i < from->n; i++) {
		const struct cause *a = &from->causes[i];
		struct cause *c = cause_of(d, a->why, a->at, a->block);
		if (a->block < c->block)
			c->block = a->block;
		for (unsigned k = 0; k < DAMAGE_EXTENTS; k++)
			c->n[k] += a->n[k];
	}
}

/* Sorts by the place in the file: blocks may have been looked at in order of time. */
COMPARE_BY(by_block, struct cause, block)

void
tnf_damage_sort(struct damage *d)
{
	if (d->n > 1)
		qsort(d->causes, d->n, sizeof(d->causes[0]), by_block);
}

static const struct { const char *one, *many; } extents[DAMAGE_EXTENTS] = {
	[DAMAGE_VALUE] = { "value is not shown", "values are not shown" },
	[DAMAGE_RECORD] = { "record is left out", "records are left out" },
	[DAMAGE_REST] = { "record with the rest of its block is left out",
	    "records with the rest of their blocks are left out" },
	[DAMAGE_BLOCK] = { "block is left out", "blocks are left out" },
};

void
tnf_damage_text(const struct cause *c, char buf[DAMAGE_TEXT])
{
	size_t n = (size_t)snprintf(buf, DAMAGE_TEXT, "%s",
	    c->why != NULL ? c->why : "more damage of many kinds");
	if (c->why != NULL && c->at != c->block)
		n += (size_t)snprintf(buf + n, DAMAGE_TEXT - n, " (at 0x%llx)",
		    (unsigned long long)c->at);
	for (unsigned k = DAMAGE_TOLD + 1; k < DAMAGE_EXTENTS; k++)
		if (c->n[k] != 0)
			n += (size_t)snprintf(buf + n, DAMAGE_TEXT - n,
			    "; %llu %s", (unsigned long long)c->n[k],
			    c->n[k] == 1 ? extents[k].one : extents[k].many);
}

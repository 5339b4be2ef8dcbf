/*
 * survey-part.c - looks at a piece of a large file, block by block, in one thread; and finds
 * the blocks of all pieces that lie before or behind a time.
 */
#include "libtnf/context.h"
#include "libtnf/survey.h"

#define AHEAD_BYTES	8192u	/* what is fetched before it is looked at */
#define TIME_MAX	((INT64_C(1) << 62) - (INT64_C(1) << 33))

/* A thread's number, from 0; o->n: no memory. */
static uint32_t
owners_number(struct owners *o, uint64_t key)
{
	struct owner *list = tnf_grow(o->list, o->n, sizeof(*list));
	uint32_t *number;
	bool fresh;

	if (list == NULL)
		return o->n;
	o->list = list;
	if (o->by_key.value_size == 0)
		tnf_map_init(&o->by_key, sizeof(*number));
	if ((number = tnf_map_put(&o->by_key, &key, sizeof(key), &fresh)) == NULL)
		return o->n;
	if (fresh) {
		o->list[o->n] = (struct owner){ .key = key };
		*number = o->n++;
	}
	return *number;
}

void
tnf_owners_free(struct owners *o)
{
	free(o->list);
	tnf_map_free(&o->by_key);
	*o = (struct owners){ 0 };
}

/* True if the thread that wrote both blocks took 'a' after 'b'. */
static bool
is_later(const struct mark *a, const struct mark *b)
{
	if (a->min != b->min)
		return a->min > b->min;
	if (a->generation != b->generation)
		return a->generation > b->generation;
	return a->block > b->block;
}

/* Notes a block of the owner, and the block's entry, if it has one. */
static void
owner_take(struct owner *o, const struct mark *m, struct entry *e)
{
	if (o->any && !is_later(m, &o->last))
		return;
	o->any = true;
	o->last = *m;
	o->entry = e;
}

/*
 * Returns the offset of the schedule record of the block's first event; 0: not found.  A block
 * begins with this record; or it begins with the event, whose first word refers to the record
 * directly, or to a word that does.
 */
static uint32_t
first_sched(const struct part *p, uint32_t off, uint32_t used)
{
	const struct bytes *b = &p->f->bytes;
	uint32_t first = off + p->f->block_header_size, pos = first, end = off + used;
	uint32_t word = bytes_u32(b, pos);

	if (word != p->words->sched) {
		if ((word & TNF_REF32_T_MASK) != TNF_REF32_T_PAIR)
			return 0;
		pos += (uint32_t)(int32_t)(int16_t)(word & 0xfffc);
		if (pos <= first || pos >= end)
			return 0;
		word = bytes_u32(b, pos);
		if ((word & (TNF_REF32_PERMANENT | TNF_REF32_T_MASK)) == TNF_REF32_T_FULL) {
			pos += word;
			if (pos <= first || pos >= end)
				return 0;
			word = bytes_u32(b, pos);
		}
		if (word != p->words->sched)
			return 0;
	}
	return end - pos >= p->words->size ? pos : 0;
}

static bool
part_odd(struct part *p, uint32_t off)
{
	uint32_t *odd = tnf_grow(p->odd, p->n_odd, sizeof(*odd));

	if (odd == NULL)
		return false;
	p->odd = odd;
	p->odd[p->n_odd++] = off;
	return true;
}

static uint64_t
sched_key(const struct words *words, const struct bytes *b, uint32_t sched)
{
	return (uint64_t)bytes_u32(b, sched + words->pid) << 32 |
	    bytes_u32(b, sched + words->tid);
}

struct entry
tnf_entry_of(const struct mark *m, bool keep)
{
	return (struct entry){ .min = m->min, .block = m->block & 0xfffffff, .sorted = true,
	    .keep = keep, .generation = m->generation };
}

/* The blocks that may become a stretch, while part_stretch() looks at them. */
struct making {
	struct stretch s;
	struct entry entries[STRETCH_MAX];
	uint32_t n;
	bool	 alike;			/* so far nothing keeps them from being a stretch */
};

/* Notes the owner of a block, the thread that wrote it.  Mostly it also wrote the block before, so
   that owner is compared first. */
static bool
making_take(struct part *p, struct making *k, uint64_t key, const struct mark *m)
{
	struct owner *o = NULL;
	struct last *lasts;
	uint32_t i;

	if (p->n_lasts > k->s.lasts)
		o = &p->owners.list[p->lasts[p->n_lasts - 1].owner];
	if (o == NULL || o->key != key) {
		if ((i = owners_number(&p->owners, key)) == p->owners.n)
			return false;
		o = &p->owners.list[i];
	}
	owner_take(o, m, NULL);
	i = o->of_stretch;
	if (i >= k->s.lasts && i < p->n_lasts && &p->owners.list[p->lasts[i].owner] == o) {
		if (is_later(m, &p->lasts[i].mark))
			p->lasts[i].mark = *m;
		return true;
	}
	if ((lasts = tnf_grow(p->lasts, p->n_lasts, sizeof(*lasts))) == NULL)
		return false;
	p->lasts = lasts;
	o->of_stretch = p->n_lasts;
	p->lasts[p->n_lasts++] = (struct last){ *m, (uint32_t)(o - p->owners.list) };
	return true;
}

/* Adds a block whose first event has the time that 'sched' tells. */
static bool
part_entry(struct part *p, struct making *k, const struct mark *m, bool held, uint32_t sched)
{
	if (k->n == 0) {
		k->s.min = k->s.max = m->min;
		k->s.generation = m->generation;
	}
	if (m->min < k->s.min)
		k->s.min = m->min;
	if (m->min > k->s.max)
		k->s.max = m->min;
	k->alike = k->alike && !held && m->generation == k->s.generation;
	k->entries[k->n++] = tnf_entry_of(m, held);
	return making_take(p, k, sched_key(p->words, &p->f->bytes, sched), m);
}

uint32_t
tnf_block_begins(const struct part *p, const struct block *b, uint32_t word)
{
	const struct bytes *bytes = &p->f->bytes;
	uint32_t sched;

	if (word != p->words->header || b->generation == TNF_GENERATION_TAG ||
	    b->generation == TNF_GENERATION_FREE || b->used <= p->f->block_header_size ||
	    b->used > p->f->block_size || (sched = first_sched(p, b->off, b->used)) == 0)
		return 0;
	int64_t base = (int64_t)bytes_u64(bytes, sched + p->words->base);
	return base < -TIME_MAX || base > TIME_MAX ? 0 : sched;
}

/* false: no memory. */
static bool
part_block(struct part *p, struct making *k, uint32_t off)
{
	const struct tnf_file *f = p->f;
	uint32_t word = bytes_u32(&f->bytes, off), sched;
	struct block b = file_block(f, off);

	if ((b.generation == TNF_GENERATION_FREE || word == 0) &&
	    b.used <= f->block_header_size) {
		p->blocks_free++;
		k->alike = false;
		return true;
	}
	if ((sched = tnf_block_begins(p, &b, word)) == 0) {
		k->alike = false;
		return part_odd(p, off);
	}
	bool held = tnf_scan_is_held(f, off);
	p->blocks_data++;
	p->blocks_held += held;
	if (b.generation > p->generation)
		p->generation = b.generation;
	struct mark m = (struct mark){ (int64_t)bytes_u64(&f->bytes, sched + p->words->base),
	    off >> f->block_shift, b.generation };
	return part_entry(p, k, &m, held, sched);
}

/* These blocks are no stretch: makes an entry for each of them now, and not when the turn of the
   first has come. */
static bool
part_entries(struct part *p, const struct making *k)
{
	struct entry *list;

	p->n_lasts = k->s.lasts;
	for (uint32_t i = 0; i < k->n; i++) {
		if ((list = tnf_grow(p->entries, p->n, sizeof(*list))) == NULL)
			return false;
		p->entries = list;
		p->entries[p->n++] = k->entries[i];
	}
	return true;
}

/* false: no memory. */
static bool
part_stretch(struct part *p, uint64_t off)
{
	struct making k = { .alike = true,
	    .s = { .block = (uint32_t)(off >> p->f->block_shift), .lasts = p->n_lasts } };
	const struct bytes *b = &p->f->bytes;

	for (uint32_t i = 0; i < p->stretch && off < p->to; i++, off += p->f->block_size) {
		__builtin_prefetch(bytes_at(b, off + AHEAD_BYTES, 1));
		if (!part_block(p, &k, (uint32_t)off))
			return false;
	}
	if (!k.alike || k.n < p->stretch)
		return part_entries(p, &k);
	k.s.n_lasts = (uint16_t)(p->n_lasts - k.s.lasts);
	p->stretches[p->n_stretches++] = k.s;
	return true;
}

void *
tnf_part_run(void *arg)
{
	struct part *p = arg;

	for (uint64_t off = p->from; off < p->to && !p->failed;
	    off += (uint64_t)p->stretch << p->f->block_shift)
		p->failed = !part_stretch(p, off);
	return NULL;
}

/*
 * True if pid and tid tell the threads of this file apart.  If processes of several pid name
 * spaces wrote the file, two of its threads may have the same numbers.  This cannot be if only
 * one process wrote the file, or if the file names all processes that attached to it.
 */
static bool
survey_apart(struct tnf_file *f)
{
	struct survey *v = f->scan->survey;

	if (!v->apart_known) {
		v->apart = !f->has_ext || f->ext.attached <= 1 ||
		    tnf_context_own_processes(f->bytes.base, f->whole) >= f->ext.attached;
		v->apart_known = true;
	}
	return v->apart;
}

/* false: no memory. */
static bool
entry_before(struct owners *o, const struct tnf_file *f, struct entry *e)
{
	const struct part *p = &f->scan->survey->parts[0];
	const struct mark m = { e->min, e->block, e->generation };
	struct block b = file_block(f, (uint32_t)e->block << f->block_shift);
	uint32_t sched = tnf_block_begins(p, &b, bytes_u32(&f->bytes, b.off)), i;

	/* A writer has taken the block again since the survey, so nothing from before 'from' is left
	   in it. */
	if (sched == 0 || b.generation != e->generation)
		return true;
	i = owners_number(o, sched_key(p->words, &f->bytes, sched));
	if (i == o->n)
		return false;
	owner_take(&o->list[i], &m, e);
	return true;
}

static bool
stretch_before(struct owners *o, const struct part *p, const struct stretch *t)
{
	for (uint32_t i = t->lasts; i < t->lasts + t->n_lasts; i++) {
		uint32_t owner = owners_number(o, p->owners.list[p->lasts[i].owner].key);
		if (owner == o->n)
			return false;
		owner_take(&o->list[owner], &p->lasts[i].mark, NULL);
	}
	return true;
}

/* Makes the entries of stretches that begin before 'from' and go on after it; notes the
   owners of stretches that lie before it as a whole. */
static bool
stretches_before(struct owners *o, struct tnf_file *f, int64_t from)
{
	struct survey *v = f->scan->survey;

	for (unsigned i = 0; i < v->n_parts; i++) {
		const struct part *p = &v->parts[i];

		for (uint32_t k = 0; k < p->n_stretches; k++) {
			struct stretch *t = &p->stretches[k];

			if (t->opened || t->min >= from)
				continue;
			if (t->max < from ? !stretch_before(o, p, t) :
			    tnf_stretch_open(f, p, t) != 0)
				return false;
		}
	}
	return true;
}

/* Finds each thread's last block that begins before 'from', over all parts. */
static bool
owners_before(struct owners *o, struct tnf_file *f, int64_t from)
{
	struct survey *v = f->scan->survey;

	if (!stretches_before(o, f, from))
		return false;
	for (uint32_t i = 0; i < v->n_stores; i++)
		for (uint32_t k = 0; k < v->stores[i].n; k++)
			if (v->stores[i].entries[k].min < from &&
			    !entry_before(o, f, &v->stores[i].entries[k]))
				return false;
	return true;
}

/* Marks each thread's last block before 'from', so that store_keep() does not drop it.  Blocks of
   stretches have no entries so far: theirs are made, in a new store.  false: no memory. */
static bool
owners_keep(const struct owners *o, struct survey *v)
{
	struct entry *kept = malloc((o->n + 1) * sizeof(*kept));
	uint32_t i, n = 0;

	if (kept == NULL)
		return false;
	for (i = 0; i < o->n; i++)
		if (o->list[i].entry != NULL)
			o->list[i].entry->keep = true;
		else
			kept[n++] = tnf_entry_of(&o->list[i].last, true);
	if (tnf_store_add(v, kept, n))
		return true;
	free(kept);
	return false;
}

/* Drops entries that are opened, or begin before 'from' and need not be kept; the others stay in
   order. */
static void
store_keep(struct store *t, int64_t from)
{
	uint32_t k, n = 0;

	for (k = 0; k < t->n; k++) {
		const struct entry *e = &t->entries[k];

		if (!e->opened && (e->min >= from || e->keep))
			t->entries[n++] = *e;
	}
	t->n = n;
}

static void
part_keep(struct part *p, int64_t from)
{
	uint32_t k, n = 0;

	for (k = 0; k < p->n_stretches; k++)
		if (!p->stretches[k].opened && p->stretches[k].min >= from)
			p->stretches[n++] = p->stretches[k];
	p->n_stretches = n;
}

static int
survey_drop(struct merge *m, struct tnf_file *f, const struct owners *before, int64_t from)
{
	struct survey *v = f->scan->survey;
	int err = 0;

	if (!owners_keep(before, v))
		return TNF_ERR_ALLOCFAIL;
	tnf_merge_forget(m, f);
	for (uint32_t k = 0; k < v->n_stores; k++)
		store_keep(&v->stores[k], from);
	for (uint32_t k = 0; k < v->n_parts; k++)
		part_keep(&v->parts[k], from);
	for (uint32_t k = 0; k < f->scan->n && err == 0; k++)
		if (!f->scan->entries[k].opened)
			err = tnf_merge_add(m, f, &f->scan->entries[k], 1);
	return err != 0 ? err : tnf_survey_merge(m, f);
}

int
tnf_survey_skip(struct merge *m, struct tnf_file *f, int64_t from)
{
	struct owners before = { 0 };
	int64_t first, last;
	int err = TNF_ERR_ALLOCFAIL;

	if (__builtin_sub_overflow(from, f->shift, &from) || !survey_apart(f))
		return 0;
	/* tnf_survey_span() needs blocks that survey_drop() drops, so it comes first. */
	tnf_survey_span(f->stream, f, &first, &last);
	if (owners_before(&before, f, from))
		err = survey_drop(m, f, &before, from);
	tnf_owners_free(&before);
	return err;
}

struct span {
	tnf_stream_t *s;
	struct tnf_file *f;
	int64_t first, last;
};

static void
span_entry(struct span *w, const struct entry *e)
{
	int64_t min, max;

	if (!tnf_scan_times(w->s, w->f, e, &min, &max))
		return;
	if (min < w->first)
		w->first = min;
	if (max > w->last)
		w->last = max;
}

/* Looks at each block of the file that begins before w->first, the earliest time found so far;
   with 'all', at every block. */
static void
span_blocks(struct span *w, bool all)
{
	const struct survey *v = w->f->scan->survey;
	struct entry list[STRETCH_MAX];

	for (uint32_t i = 0; i < v->n_stores; i++)
		for (uint32_t k = 0; k < v->stores[i].n; k++)
			if (all || v->stores[i].entries[k].min < w->first)
				span_entry(w, &v->stores[i].entries[k]);
	for (uint32_t i = 0; i < v->n_parts; i++)
		for (uint32_t k = 0; k < v->parts[i].n_stretches; k++) {
			const struct stretch *t = &v->parts[i].stretches[k];

			if (t->opened || (!all && t->min >= w->first))
				continue;
			uint32_t n = tnf_stretch_entries(w->f, &v->parts[i], t, list);
			for (uint32_t j = 0; j < n; j++)
				if (all || list[j].min < w->first)
					span_entry(w, &list[j]);
		}
}

/* The latest event of the file is in the last block of some thread. */
static void
span_last(struct span *w)
{
	const struct survey *v = w->f->scan->survey;

	for (unsigned i = 0; i < v->n_parts; i++)
		for (uint32_t k = 0; k < v->parts[i].owners.n; k++) {
			struct entry e = tnf_entry_of(&v->parts[i].owners.list[k].last, false);
			span_entry(w, &e);
		}
}

bool
tnf_survey_span(tnf_stream_t *s, struct tnf_file *f, int64_t *first, int64_t *last)
{
	const struct tnf_summary *sum = &f->scan->sum;
	struct survey *v = f->scan->survey;
	struct span w = { s, f, INT64_MAX, INT64_MIN };

	if (!v->spanned) {
		if (sum->events > 0) {
			w.first = sum->first;
			w.last = sum->last;
		}
		span_blocks(&w, !survey_apart(f));
		span_last(&w);
		v->first = w.first;
		v->last = w.last;
		v->any = v->first <= v->last;
		v->spanned = true;
	}
	*first = v->first;
	*last = v->last;
	return v->any;
}

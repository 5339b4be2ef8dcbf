/*
 * survey-part.c - a piece of a large file, looked at block by block, by one thread.
 */
#include <stdlib.h>

#include "libtnf/ref.h"
#include "libtnf/survey-impl.h"
#include "libtnf/type.h"

#define AHEAD_BYTES	8192u	/* what is fetched before it is looked at */
#define TIME_MAX	((INT64_C(1) << 62) - (INT64_C(1) << 33))

void *
tnf_survey_room(void *list, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room == 0 ? 64 : 2 * *room;
	void *p;

	if (n < *room)
		return list;
	if ((p = realloc(list, more * size)) != NULL)
		*room = more;
	return p;
}

static bool
owners_grow(struct owners *o)
{
	uint32_t room = o->room == 0 ? 64 : 2 * o->room;
	struct owner *list = realloc(o->list, room * sizeof(*list));

	if (list == NULL)
		return false;
	o->list = list;
	o->room = room;
	if (o->n == 0)
		tnf_map_init(&o->by_key, sizeof(uint32_t));
	return true;
}

uint32_t
tnf_owners_number(struct owners *o, uint64_t key)
{
	uint32_t *number;
	bool fresh;

	if (o->n == o->room && !owners_grow(o))
		return o->n;
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

/* Of two blocks of a thread, the one that it has had later. */
static bool
is_later(const struct mark *a, const struct mark *b)
{
	if (a->min != b->min)
		return a->min > b->min;
	if (a->generation != b->generation)
		return a->generation > b->generation;
	return a->block > b->block;
}

void
tnf_owner_take(struct owner *o, const struct mark *m, struct entry *e)
{
	if (o->any && !is_later(m, &o->last))
		return;
	o->any = true;
	o->last = *m;
	o->entry = e;
}

/*
 * The schedule record of the block's first event, if it is told where the block
 * begins: it stands there, or behind the event, whose first word leads to it or to
 * a word that does.  0: neither.
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
	uint32_t *odd = tnf_survey_room(p->odd, p->n_odd, &p->room_odd, sizeof(*odd));

	if (odd == NULL)
		return false;
	p->odd = odd;
	p->odd[p->n_odd++] = off;
	return true;
}

uint64_t
tnf_sched_key(const struct words *words, const struct bytes *b, uint32_t sched)
{
	return (uint64_t)bytes_u32(b, sched + words->pid) << 32 |
	    bytes_u32(b, sched + words->tid);
}

struct entry
tnf_entry_of(const struct mark *m, bool held)
{
	return (struct entry){ .min = m->min, .block = m->block & 0xfffffff, .sorted = true,
	    .held = held, .generation = m->generation };
}

/* A stretch while its blocks are looked at. */
struct making {
	struct stretch s;
	struct entry entries[STRETCH_MAX];
	uint32_t n;
	bool	 alike;			/* so far it is one */
};

/* The owner of its latest block, and of most before that. */
static bool
making_take(struct part *p, struct making *k, uint64_t key, const struct mark *m)
{
	struct owner *o = NULL;
	struct last *lasts;
	uint32_t i;

	if (p->n_lasts > k->s.lasts)
		o = &p->owners.list[p->lasts[p->n_lasts - 1].owner];
	if (o == NULL || o->key != key) {
		if ((i = tnf_owners_number(&p->owners, key)) == p->owners.n)
			return false;
		o = &p->owners.list[i];
	}
	tnf_owner_take(o, m, NULL);
	i = o->of_stretch;
	if (i >= k->s.lasts && i < p->n_lasts && &p->owners.list[p->lasts[i].owner] == o) {
		if (is_later(m, &p->lasts[i].mark))
			p->lasts[i].mark = *m;
		return true;
	}
	if ((lasts = tnf_survey_room(p->lasts, p->n_lasts, &p->room_lasts,
	    sizeof(*lasts))) == NULL)
		return false;
	p->lasts = lasts;
	o->of_stretch = p->n_lasts;
	p->lasts[p->n_lasts++] = (struct last){ *m, (uint32_t)(o - p->owners.list) };
	return true;
}

/* A block whose first event is at the time that 'sched' tells. */
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
	return making_take(p, k, tnf_sched_key(p->words, &p->f->bytes, sched), m);
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

/* Blocks that are not alike have entries at once. */
static bool
part_entries(struct part *p, const struct making *k)
{
	struct entry *list;

	p->n_lasts = k->s.lasts;
	for (uint32_t i = 0; i < k->n; i++) {
		if ((list = tnf_survey_room(p->entries, p->n, &p->room, sizeof(*list))) == NULL)
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

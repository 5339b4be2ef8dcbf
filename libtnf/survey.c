/*
 * survey.c - large files: what is known of all blocks before any is read.
 */
#include <sys/mman.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "libtnf/ref.h"
#include "libtnf/stream_impl.h"
#include "libtnf/survey.h"
#include "libtnf/type.h"

#define PARTS_MAX	4u	/* more threads than this wait for memory */
#define PART_BLOCKS	12u	/* fewer are not worth a thread in any case */
#define SAMPLE_BLOCKS	64u	/* where the words to look for are looked for */
#define LARGE_PAGE	((size_t)2 << 20)
#define AHEAD_BYTES	8192u	/* what is fetched before it is looked at */
#define TIME_MAX	((INT64_C(1) << 62) - (INT64_C(1) << 33))

/* What blocks begin with, in this file. */
struct words {
	uint32_t header;	/* first word of a block */
	uint32_t sched;		/* first word of a schedule record */
	uint32_t size;		/* of that record, and its members: */
	uint32_t tid, pid, base;
};

/* One thread of the writer; empty: entry is NULL. */
struct owner {
	uint64_t key;			/* pid and tid */
	struct entry *entry;		/* the last block, by time */
};

struct owners {
	struct owner *list;
	uint32_t n, room;
	struct map by_key;		/* uint32_t: the number */
};

/* A stretch of the file, surveyed by one thread. */
struct part {
	const struct tnf_file *f;
	const struct words *words;
	uint64_t from, to;		/* offsets */
	struct entry *entries;
	uint32_t *owner_of;		/* by entry: its number in 'owners' */
	uint32_t n;
	size_t room;
	struct owners owners;
	uint32_t *odd;			/* offsets of blocks that begin otherwise */
	uint32_t n_odd, room_odd;
	uint32_t blocks_data, blocks_free, blocks_held, generation;
	bool failed;			/* no memory */
	pthread_t thread;
	bool has_thread;
};

struct survey {
	struct words words;
	unsigned n_parts;
	struct part parts[PARTS_MAX];
	bool spanned, any;		/* first and last are known; there are events */
	int64_t first, last;
};

/* --- who wrote a block --- */

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
		map_init(&o->by_key, sizeof(uint32_t));
	return true;
}

/* Its number, from 0; o->n: no memory. */
static uint32_t
owners_number(struct owners *o, uint64_t key)
{
	uint32_t *number;
	bool fresh;

	if (o->n == o->room && !owners_grow(o))
		return o->n;
	if ((number = map_put(&o->by_key, &key, sizeof(key), &fresh)) == NULL)
		return o->n;
	if (fresh) {
		o->list[o->n] = (struct owner){ .key = key };
		*number = o->n++;
	}
	return *number;
}

static void
owners_free(struct owners *o)
{
	free(o->list);
	map_free(&o->by_key);
	*o = (struct owners){ 0 };
}

/* Of two blocks of a thread, the one that it has had later. */
static bool
is_later(const struct entry *a, const struct entry *b)
{
	if (a->min != b->min)
		return a->min > b->min;
	if (a->generation != b->generation)
		return a->generation > b->generation;
	return a->block > b->block;
}

static void
owner_take(struct owner *o, struct entry *e)
{
	if (o->entry == NULL || is_later(e, o->entry))
		o->entry = e;
}

/* --- one part --- */

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
	uint32_t room = p->room_odd == 0 ? 64 : 2 * p->room_odd, *odd;

	if (p->n_odd == p->room_odd) {
		if ((odd = realloc(p->odd, room * sizeof(*odd))) == NULL)
			return false;
		p->odd = odd;
		p->room_odd = room;
	}
	p->odd[p->n_odd++] = off;
	return true;
}

/* A block whose first event is at the time that 'sched' tells. */
static bool
part_entry(struct part *p, uint32_t off, uint32_t generation, bool held,
    uint32_t sched, int64_t base)
{
	const struct bytes *b = &p->f->bytes;
	uint64_t key = (uint64_t)bytes_u32(b, sched + p->words->pid) << 32 |
	    bytes_u32(b, sched + p->words->tid);
	struct entry *e = &p->entries[p->n];
	uint32_t last = p->n > 0 ? p->owner_of[p->n - 1] : 0, owner;

	owner = p->n > 0 && p->owners.list[last].key == key ? last :
	    owners_number(&p->owners, key);
	if (owner == p->owners.n)
		return false;
	*e = (struct entry){ .min = base, .block = off >> p->f->block_shift,
	    .sorted = true, .held = held, .generation = generation };
	p->owner_of[p->n++] = owner;
	owner_take(&p->owners.list[owner], e);
	return true;
}

/* false: no memory. */
static bool
part_block(struct part *p, uint32_t off)
{
	const struct tnf_file *f = p->f;
	uint32_t word = bytes_u32(&f->bytes, off), sched;
	struct block b = file_block(f, off);
	bool held;
	int64_t base;

	if ((b.generation == TNF_GENERATION_FREE || word == 0) &&
	    b.used <= f->block_header_size) {
		p->blocks_free++;
		return true;
	}
	if (word != p->words->header || b.generation == TNF_GENERATION_TAG ||
	    b.generation == TNF_GENERATION_FREE || b.used <= f->block_header_size ||
	    b.used > f->block_size || (sched = first_sched(p, off, b.used)) == 0)
		return part_odd(p, off);
	base = (int64_t)bytes_u64(&f->bytes, sched + p->words->base);
	if (base < -TIME_MAX || base > TIME_MAX)
		return part_odd(p, off);
	held = scan_is_held(f, off);
	p->blocks_data++;
	p->blocks_held += held;
	if (b.generation > p->generation)
		p->generation = b.generation;
	return part_entry(p, off, b.generation, held, sched, base);
}

static void *
part_run(void *arg)
{
	struct part *p = arg;
	const struct bytes *b = &p->f->bytes;
	uint64_t off;

	for (off = p->from; off < p->to && !p->failed; off += p->f->block_size) {
		__builtin_prefetch(bytes_at(b, off + AHEAD_BYTES, 1));
		p->failed = !part_block(p, (uint32_t)off);
	}
	return NULL;
}

/* --- all parts --- */

static unsigned
parts_wanted(uint64_t blocks)
{
	uint64_t n = 1;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = (uint64_t)CPU_COUNT(&set);
	if (n > PARTS_MAX)
		n = PARTS_MAX;
	if (n > blocks / PART_BLOCKS)
		n = blocks / PART_BLOCKS;
	return n == 0 ? 1 : (unsigned)n;
}

/* All of it will be touched, soon and once: a fault for each page would take longer
   than what it is for.  NULL: no memory. */
static void *
large_new(size_t size)
{
	void *p;

	if (size < LARGE_PAGE)
		return malloc(size);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_HUGEPAGE);
	return p;
}

static void
large_free(void *p, size_t size)
{
	if (size < LARGE_PAGE)
		free(p);
	else if (p != NULL)
		munmap(p, size);
}

static bool
part_begin(struct part *p)
{
	p->room = (size_t)((p->to - p->from) >> p->f->block_shift) + 1;
	p->entries = large_new(p->room * sizeof(*p->entries));
	p->owner_of = large_new(p->room * sizeof(*p->owner_of));
	return p->entries != NULL && p->owner_of != NULL;
}

static int
survey_begin(struct survey *v, const struct tnf_file *f, uint64_t from)
{
	uint64_t blocks = (f->bytes.size - from + f->block_size - 1) >> f->block_shift;
	unsigned i;

	v->n_parts = parts_wanted(blocks);
	for (i = 0; i < v->n_parts; i++) {
		struct part *p = &v->parts[i];

		p->f = f;
		p->words = &v->words;
		p->from = from;
		p->to = i + 1 == v->n_parts ? f->bytes.size :
		    from + (blocks / v->n_parts << f->block_shift);
		from = p->to;
		if (!part_begin(p))
			return TNF_ERR_ALLOCFAIL;
	}
	return 0;
}

/* Signals are the caller's, whose thread does the last part itself. */
static void
survey_run(struct survey *v)
{
	struct part *last = &v->parts[v->n_parts - 1], *p;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (p = v->parts; p < last; p++)
		p->has_thread = pthread_create(&p->thread, NULL, part_run, p) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	part_run(last);
	for (p = v->parts; p < last; p++)
		if (p->has_thread)
			pthread_join(p->thread, NULL);
		else
			part_run(p);
}

static uint32_t
uint32_member(const struct tnf_member *m)
{
	return m->type != NULL && (m->type->kind == TNF_K_UINT32 ||
	    m->type->kind == TNF_K_INT32) ? m->offset : 0;
}

/* From a schedule record; false: not one whose members are where they can be
   read without more ado. */
static bool
words_learn_sched(struct words *w, const struct walk *walk)
{
	const struct type *t = walk->type;
	const struct tnf_member *base = type_slot(t, "time_base"), *tid, *pid;

	if ((walk->word & (TNF_REF32_PERMANENT | TNF_REF32_T_MASK)) !=
	    (TNF_REF32_PERMANENT | TNF_REF32_T_TAG) || t->pub.kind != TNF_K_STRUCT ||
	    base == NULL || (tid = type_slot(t, "tid")) == NULL ||
	    (pid = type_slot(t, "pid")) == NULL || base->type->kind != TNF_K_INT64 ||
	    strcmp(tid->type->name, "tnf_kthread_id") == 0)
		return false;
	w->tid = uint32_member(tid);
	w->pid = uint32_member(pid);
	w->base = base->offset;
	w->size = t->step;
	w->sched = walk->word;
	return w->tid != 0 && w->pid != 0 && w->size != 0;
}

/* From the first blocks in use. */
static bool
words_learn(struct words *w, struct tnf_file *f, uint64_t off)
{
	unsigned n = 0;
	struct walk walk;

	for (; off < f->bytes.size && n < SAMPLE_BLOCKS; off += f->block_size) {
		if (walk_start(&walk, f, (uint32_t)off) != WALK_RECORD ||
		    walk.generation == TNF_GENERATION_TAG)
			continue;
		w->header = bytes_u32(&f->bytes, off);
		for (n++; walk_next(&walk) == WALK_RECORD;)
			if (words_learn_sched(w, &walk))
				return true;
	}
	return false;
}

static void
survey_odd(tnf_stream_t *s, struct tnf_file *f)
{
	const struct survey *v = f->scan->survey;
	unsigned i, k;

	for (i = 0; i < v->n_parts; i++)
		for (k = 0; k < v->parts[i].n_odd; k++)
			scan_block_at(s, f, v->parts[i].odd[k], f->scan);
}

static void
survey_sum(const struct survey *v, struct tnf_summary *sum)
{
	unsigned i;

	for (i = 0; i < v->n_parts; i++) {
		const struct part *p = &v->parts[i];

		sum->blocks_data += p->blocks_data;
		sum->blocks_free += p->blocks_free;
		sum->blocks_held += p->blocks_held;
		if (p->generation > sum->generation)
			sum->generation = p->generation;
	}
}

bool
survey_wanted(const tnf_stream_t *s, const struct tnf_file *f)
{
	return s->lazy != 0 && f->bytes.size >= s->lazy && !s->follow.on &&
	    (!f->has_ext || f->ext.kind == TNF_EXT_PROCESS);
}

int
survey_file(tnf_stream_t *s, struct tnf_file *f, uint64_t from)
{
	struct survey *v = calloc(1, sizeof(*v));
	unsigned i;
	int err;

	if (v == NULL)
		return TNF_ERR_ALLOCFAIL;
	if (!words_learn(&v->words, f, from))
		err = ENOTSUP;
	else if ((err = survey_begin(v, f, from)) == 0) {
		survey_run(v);
		for (i = 0; i < v->n_parts; i++)
			if (v->parts[i].failed)
				err = TNF_ERR_ALLOCFAIL;
	}
	if (err != 0) {
		survey_free(v);
		return err;
	}
	f->scan->survey = v;
	survey_sum(v, &f->scan->sum);
	survey_odd(s, f);
	return 0;
}

void
survey_free(struct survey *v)
{
	unsigned i;

	if (v == NULL)
		return;
	for (i = 0; i < v->n_parts; i++) {
		large_free(v->parts[i].entries, v->parts[i].room * sizeof(v->parts[i].entries[0]));
		large_free(v->parts[i].owner_of, v->parts[i].room * sizeof(v->parts[i].owner_of[0]));
		free(v->parts[i].odd);
		owners_free(&v->parts[i].owners);
	}
	free(v);
}

int
survey_merge(struct merge *m, struct tnf_file *f)
{
	struct survey *v = f->scan->survey;
	unsigned i;
	int err = 0;

	for (i = 0; i < v->n_parts && err == 0; i++)
		err = merge_add(m, f, v->parts[i].entries, v->parts[i].n);
	return err;
}

/* --- a time in the middle --- */

/* Of each thread the last block that begins before 'from', over all parts. */
static bool
owners_before(struct owners *o, const struct survey *v, int64_t from)
{
	uint32_t owner, k;
	unsigned i;

	for (i = 0; i < v->n_parts; i++) {
		const struct part *p = &v->parts[i];

		for (k = 0; k < p->n; k++) {
			if (p->entries[k].min >= from)
				continue;
			owner = owners_number(o, p->owners.list[p->owner_of[k]].key);
			if (owner == o->n)
				return false;
			owner_take(&o->list[owner], &p->entries[k]);
		}
	}
	return true;
}

/* The entries stay in order, and what is dropped is gone. */
static void
part_keep(struct part *p, int64_t from)
{
	uint32_t k, n = 0;

	for (k = 0; k < p->n; k++) {
		struct entry *e = &p->entries[k];

		if (!e->opened && (e->min >= from || e->held)) {
			p->owner_of[n] = p->owner_of[k];
			p->entries[n++] = *e;
		}
	}
	p->n = n;
}

int
survey_skip(struct merge *m, struct tnf_file *f, int64_t from)
{
	struct survey *v = f->scan->survey;
	struct owners before = { 0 };
	int64_t first, last;
	uint32_t k;
	unsigned i;
	int err = 0;

	if (__builtin_sub_overflow(from, f->shift, &from))
		return 0;
	/* Now, as part_keep() drops entries that this needs. */
	survey_span(f->stream, f, &first, &last);
	if (!owners_before(&before, v, from)) {
		owners_free(&before);
		return TNF_ERR_ALLOCFAIL;
	}
	for (k = 0; k < before.n; k++)
		before.list[k].entry->held = true;
	owners_free(&before);
	merge_forget(m, f);
	for (i = 0; i < v->n_parts; i++)
		part_keep(&v->parts[i], from);
	for (k = 0; k < f->scan->n && err == 0; k++)
		if (!f->scan->entries[k].opened)
			err = merge_add(m, f, &f->scan->entries[k], 1);
	return err != 0 ? err : survey_merge(m, f);
}

/* --- the whole --- */

static void
span_first(tnf_stream_t *s, struct tnf_file *f, int64_t *first)
{
	const struct survey *v = f->scan->survey;
	int64_t min, max;
	uint32_t k;
	unsigned i;

	for (i = 0; i < v->n_parts; i++)
		for (k = 0; k < v->parts[i].n; k++)
			if (v->parts[i].entries[k].min < *first &&
			    scan_times(s, f, &v->parts[i].entries[k], &min, &max) &&
			    min < *first)
				*first = min;
}

/* Nothing is later than what is in the last block of some thread. */
static void
span_last(tnf_stream_t *s, struct tnf_file *f, int64_t *last)
{
	const struct survey *v = f->scan->survey;
	int64_t min, max;
	uint32_t k;
	unsigned i;

	for (i = 0; i < v->n_parts; i++)
		for (k = 0; k < v->parts[i].owners.n; k++)
			if (scan_times(s, f, v->parts[i].owners.list[k].entry, &min,
			    &max) && max > *last)
				*last = max;
}

bool
survey_span(tnf_stream_t *s, struct tnf_file *f, int64_t *first, int64_t *last)
{
	const struct tnf_summary *sum = &f->scan->sum;
	struct survey *v = f->scan->survey;

	if (!v->spanned) {
		v->first = sum->events > 0 ? sum->first : INT64_MAX;
		v->last = sum->events > 0 ? sum->last : INT64_MIN;
		span_first(s, f, &v->first);
		span_last(s, f, &v->last);
		v->any = v->first <= v->last;
		v->spanned = true;
	}
	*first = v->first;
	*last = v->last;
	return v->any;
}

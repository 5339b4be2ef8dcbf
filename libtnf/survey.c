/*
 * survey.c - large files: finds out about all blocks before it reads any of them whole.
 */
#include <sys/mman.h>

#include <sched.h>
#include <signal.h>

#include "libtnf/survey.h"

#define PART_BLOCKS	12u	/* fewer are not worth a thread in any case */
#define SMALL_BLOCKS	4096u
#define STRETCH_SMALL	4u	/* blocks of a stretch in a file of less than SMALL_BLOCKS */
#define SAMPLE_BLOCKS	64u	/* words_learn() looks into so many for a schedule record */
#define LARGE_PAGE	((size_t)2 << 20)

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

/* Memory of which every page will be touched soon, and once: a page fault for each would take
   longer than the work itself.  NULL: no memory. */
static void *
large_new(size_t size)
{
	if (size < LARGE_PAGE)
		return malloc(size);
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
	uint64_t blocks = (p->to - p->from) >> p->f->block_shift;

	p->stretch = p->f->block_count < SMALL_BLOCKS ? STRETCH_SMALL : STRETCH_MAX;
	p->room_stretches = (size_t)(blocks / p->stretch) + 1;
	p->stretches = large_new(p->room_stretches * sizeof(*p->stretches));
	return p->stretches != NULL;
}

static int
survey_begin(struct survey *v, const struct tnf_file *f, uint64_t from)
{
	uint64_t blocks = (f->bytes.size - from + f->block_size - 1) >> f->block_shift;

	v->n_parts = parts_wanted(blocks);
	for (unsigned i = 0; i < v->n_parts; i++) {
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

/* The threads that we start get no signals: those are for the caller, whose thread does the
   last part itself. */
static void
survey_run(struct survey *v)
{
	struct part *last = &v->parts[v->n_parts - 1], *p;
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (p = v->parts; p < last; p++)
		p->has_thread = pthread_create(&p->thread, NULL, tnf_part_run, p) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	tnf_part_run(last);
	for (p = v->parts; p < last; p++)
		if (p->has_thread)
			pthread_join(p->thread, NULL);
		else
			tnf_part_run(p);
}

static uint32_t
uint32_member(const struct tnf_member *m)
{
	return m->type != NULL && (m->type->kind == TNF_K_UINT32 ||
	    m->type->kind == TNF_K_INT32) ? m->offset : 0;
}

/* Learns from a schedule record where its members are.  False: it is no schedule record, or its
   members have no fixed offsets. */
static bool
words_learn_sched(struct words *w, const struct walk *walk)
{
	const struct type *t = walk->type;
	const struct tnf_member *base = tnf_type_slot(t, "time_base"), *tid, *pid;

	if ((walk->word & (TNF_REF32_PERMANENT | TNF_REF32_T_MASK)) !=
	    (TNF_REF32_PERMANENT | TNF_REF32_T_TAG) || t->pub.kind != TNF_K_STRUCT ||
	    base == NULL || (tid = tnf_type_slot(t, "tid")) == NULL ||
	    (pid = tnf_type_slot(t, "pid")) == NULL || base->type->kind != TNF_K_INT64 ||
	    strcmp(tid->type->name, "tnf_kthread_id") == 0)
		return false;
	w->tid = uint32_member(tid);
	w->pid = uint32_member(pid);
	w->base = base->offset;
	w->size = t->step;
	w->sched = walk->word;
	return w->tid != 0 && w->pid != 0 && w->size != 0;
}

/* Looks for a schedule record in the first blocks in use.  False: none has one, and the file is
   read without a survey. */
static bool
words_learn(struct words *w, struct tnf_file *f, uint64_t off)
{
	unsigned n = 0;
	struct walk walk;

	for (; off < f->bytes.size && n < SAMPLE_BLOCKS; off += f->block_size) {
		if (tnf_walk_start(&walk, f, (uint32_t)off) != WALK_RECORD ||
		    walk.generation == TNF_GENERATION_TAG)
			continue;
		w->header = bytes_u32(&f->bytes, off);
		for (n++; tnf_walk_next(&walk) == WALK_RECORD;)
			if (words_learn_sched(w, &walk))
				return true;
	}
	return false;
}

static void
survey_odd(tnf_stream_t *s, struct tnf_file *f)
{
	const struct survey *v = f->scan->survey;

	for (unsigned i = 0; i < v->n_parts; i++)
		for (unsigned k = 0; k < v->parts[i].n_odd; k++)
			tnf_scan_block_at(s, f, v->parts[i].odd[k], f->scan);
}

static void
survey_sum(const struct survey *v, struct tnf_summary *sum)
{
	for (unsigned i = 0; i < v->n_parts; i++) {
		const struct part *p = &v->parts[i];

		sum->blocks_data += p->blocks_data;
		sum->blocks_free += p->blocks_free;
		sum->blocks_held += p->blocks_held;
		if (p->generation > sum->generation)
			sum->generation = p->generation;
	}
}

bool
tnf_survey_wanted(const tnf_stream_t *s, const struct tnf_file *f)
{
	return s->lazy != 0 && f->bytes.size >= s->lazy && !s->follow.on &&
	    (!f->has_ext || f->ext.kind == TNF_EXT_PROCESS);
}

bool
tnf_store_add(struct survey *v, struct entry *entries, uint32_t n)
{
	struct store *list = tnf_grow(v->stores, v->n_stores, sizeof(*list));

	if (list == NULL)
		return false;
	v->stores = list;
	v->stores[v->n_stores++] = (struct store){ entries, n };
	return true;
}

static bool
survey_store(struct survey *v)
{
	for (unsigned i = 0; i < v->n_parts; i++) {
		struct part *p = &v->parts[i];

		if (p->failed || !tnf_store_add(v, p->entries, p->n))
			return false;
		p->entries = NULL;
	}
	return true;
}

int
tnf_survey_file(tnf_stream_t *s, struct tnf_file *f, uint64_t from)
{
	struct survey *v = calloc(1, sizeof(*v));
	int err;

	if (v == NULL)
		return TNF_ERR_ALLOCFAIL;
	if (!words_learn(&v->words, f, from))
		err = ENOTSUP;
	else if ((err = survey_begin(v, f, from)) == 0) {
		survey_run(v);
		if (!survey_store(v))
			err = TNF_ERR_ALLOCFAIL;
	}
	if (err != 0) {
		tnf_survey_free(v);
		return err;
	}
	f->scan->survey = v;
	survey_sum(v, &f->scan->sum);
	survey_odd(s, f);
	return 0;
}

void
tnf_survey_free(struct survey *v)
{
	if (v == NULL)
		return;
	for (unsigned i = 0; i < v->n_parts; i++) {
		struct part *p = &v->parts[i];

		large_free(p->stretches, p->room_stretches * sizeof(p->stretches[0]));
		free(p->lasts);
		free(p->entries);
		free(p->odd);
		tnf_owners_free(&p->owners);
	}
	for (unsigned i = 0; i < v->n_stores; i++)
		free(v->stores[i].entries);
	free(v->stores);
	free(v);
}

uint32_t
tnf_stretch_entries(struct tnf_file *f, const struct part *p, const struct stretch *t,
    struct entry *entries)
{
	uint32_t i, n = 0, sched, off;
	struct mark m;

	for (i = 0; i < p->stretch; i++) {
		off = (t->block + i) << f->block_shift;
		struct block b = file_block(f, off);
		if (b.generation != t->generation ||
		    (sched = tnf_block_begins(p, &b, bytes_u32(&f->bytes, off))) == 0) {
			tnf_follow_lost(f, off, t->generation);
			continue;
		}
		m = (struct mark){ (int64_t)bytes_u64(&f->bytes, sched + p->words->base),
		    t->block + i, t->generation };
		entries[n++] = tnf_entry_of(&m, false);
	}
	return n;
}

int
tnf_stretch_open(struct tnf_file *f, const struct part *p, struct stretch *t)
{
	struct survey *v = f->scan->survey;
	struct entry *entries = malloc(p->stretch * sizeof(*entries));

	if (entries == NULL)
		return TNF_ERR_ALLOCFAIL;
	if (!tnf_store_add(v, entries, 0)) {
		free(entries);
		return TNF_ERR_ALLOCFAIL;
	}
	t->opened = true;
	v->stores[v->n_stores - 1].n = tnf_stretch_entries(f, p, t, entries);
	return 0;
}

static const struct part *
stretch_part(const struct survey *v, const struct stretch *t)
{
	const struct part *p = v->parts;

	while (t < p->stretches || t >= p->stretches + p->n_stretches)
		p++;
	return p;
}

int
tnf_survey_open(struct merge *m, struct tnf_file *f, struct stretch *t)
{
	struct survey *v = f->scan->survey;
	int err = tnf_stretch_open(f, stretch_part(v, t), t);

	if (err != 0)
		return err;
	const struct store *last = &v->stores[v->n_stores - 1];
	return tnf_merge_add(m, f, last->entries, last->n);
}

int64_t
tnf_survey_time(const struct stretch *t)
{
	return t->min;
}

struct stretch *
tnf_survey_next(struct stretch *t)
{
	return t + 1;
}

/* Adds runs of stretches, in which each stretch begins no earlier than the one before it. */
static int
merge_stretches(struct merge *m, struct tnf_file *f, struct part *p)
{
	uint32_t i, from = 0;

	for (i = 1; i <= p->n_stretches; i++) {
		if (i < p->n_stretches && p->stretches[i - 1].min <= p->stretches[i].min)
			continue;
		int err = tnf_merge_add_later(m, f, &p->stretches[from], &p->stretches[i]);
		if (err != 0)
			return err;
		from = i;
	}
	return 0;
}

int
tnf_survey_merge(struct merge *m, struct tnf_file *f)
{
	struct survey *v = f->scan->survey;
	int err = 0;

	for (unsigned i = 0; i < v->n_stores && err == 0; i++)
		err = tnf_merge_add(m, f, v->stores[i].entries, v->stores[i].n);
	for (unsigned i = 0; i < v->n_parts && err == 0; i++)
		err = merge_stretches(m, f, &v->parts[i]);
	return err;
}

/*
 * survey-time.c - of a large file, what is left from a time on, and its whole span.
 */
#include <stdlib.h>

#include "libtnf/context.h"
#include "libtnf/survey-impl.h"

/*
 * Do pid and tid tell the threads of this file apart?  Threads of two pid name spaces
 * may bear the same numbers, if several processes have written the file.  They do not
 * if the file names as many processes as have attached to it.
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

	/* Taken over since. */
	if (sched == 0 || b.generation != e->generation)
		return true;
	i = tnf_owners_number(o, tnf_sched_key(p->words, &f->bytes, sched));
	if (i == o->n)
		return false;
	tnf_owner_take(&o->list[i], &m, e);
	return true;
}

static bool
stretch_before(struct owners *o, const struct part *p, const struct stretch *t)
{
	for (uint32_t i = t->lasts; i < t->lasts + t->n_lasts; i++) {
		uint32_t owner = tnf_owners_number(o, p->owners.list[p->lasts[i].owner].key);
		if (owner == o->n)
			return false;
		tnf_owner_take(&o->list[owner], &p->lasts[i].mark, NULL);
	}
	return true;
}

/* Makes the entries of stretches that begin before 'from' and go on after it; notes of
   the rest what is before. */
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

/* Of each thread the last block that begins before 'from', over all parts. */
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

/* The last blocks of threads stay: in their stores, or, from stretches, in one of their
   own.  false: no memory. */
static bool
owners_keep(const struct owners *o, struct survey *v)
{
	struct entry *kept = malloc((o->n + 1) * sizeof(*kept));
	uint32_t i, n = 0;

	if (kept == NULL)
		return false;
	for (i = 0; i < o->n; i++)
		if (o->list[i].entry != NULL)
			o->list[i].entry->held = true;
		else
			kept[n++] = tnf_entry_of(&o->list[i].last, true);
	if (tnf_store_add(v, kept, n))
		return true;
	free(kept);
	return false;
}

/* The entries stay in order, and what is dropped is gone. */
static void
store_keep(struct store *t, int64_t from)
{
	uint32_t k, n = 0;

	for (k = 0; k < t->n; k++) {
		const struct entry *e = &t->entries[k];

		if (!e->opened && (e->min >= from || e->held))
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
	/* Now, as survey_drop() drops what this needs. */
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

/* Entries of the whole file that begin before what is the first time by then; or all. */
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

/* Nothing is later than what is in the last block of some thread. */
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

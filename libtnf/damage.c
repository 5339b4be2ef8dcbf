/*
 * damage.c - what the first pass over a file could not read, by its cause.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtnf/damage.h"
#include "libtnf/file.h"

/* What is wrong with the records of a data block is one cause; a definition
   that is wrong is one wherever it is used. */
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

/* As they stand in the file: blocks may have been looked at in order of time. */
static int
by_block(const void *a, const void *b)
{
	const struct cause *p = a, *q = b;

	return (p->block > q->block) - (p->block < q->block);
}

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

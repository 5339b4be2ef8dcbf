/*
 * long.c - texts and bytes that lie in pieces: tnf(5), "Long values".
 *
 * A value of one piece is that piece.  One of several is put together once and kept by
 * its place, because readers may keep what they were given until the stream is
 * closed.  A file whose arrays share pieces, which no writer makes, could be blown up
 * that way; so what is kept may not become larger than the file.
 */
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "libtnf/long.h"
#include "libtnf/ref.h"
#include "libtnf/type.h"

#define ARRAYS_MAX	64u		/* of one value */
#define BYTES_MAX	(1u << 20)

struct longs {
	struct arena	 arena;
	struct map	 known;		/* by place and lap */
};

struct whole {
	const char	*chars;
	size_t		 len;
	bool		 cut;
};

struct place {
	uint32_t pos;
	uint32_t generation;
};

/* Goes over the pieces; 'to' NULL: only counts. */
struct pieces {
	struct tnf_file	*f;
	char		*to;
	size_t		 room;		/* a live file may have changed in between */
	const char	*first;
	size_t		 first_len;
	size_t		 n;
	size_t		 len;
	bool		 cut;
};

static void
take_piece(struct pieces *p, const char *chars, size_t len)
{
	if (len > p->room - p->len) {
		p->cut = true;
		return;
	}
	if (p->n++ == 0) {
		p->first = chars;
		p->first_len = len;
	}
	if (p->to != NULL)
		memcpy(p->to + p->len, chars, len);
	p->len += len;
}

/* An array that lies in its block; its cells. */
static bool
cells_of(struct tnf_file *f, uint32_t pos, const struct type *t, uint32_t *n)
{
	uint32_t size = bytes_u32(&f->bytes, (uint64_t)pos + 4);

	*n = 0;
	if (size < t->header_size ||
	    size > f->block_size - (pos - file_block_off(f, pos)) ||
	    !bytes_has(&f->bytes, pos, size))
		return false;
	*n = size - t->header_size;
	return true;
}

static bool
take_cell(struct pieces *p, uint64_t cell, uint32_t *ret_next)
{
	const struct tnf_file *f = p->f;
	const struct type *t;
	uint32_t pos, n;

	if (tnf_ref_follow(f, cell, &pos) != REF_OK ||
	    (t = tnf_type_of_record(p->f, pos)) == NULL ||
	    !type_has(t, PROP(ARRAY)) || !cells_of(p->f, pos, t, &n))
		return false;
	if (t->is_long) {
		*ret_next = pos;
		return true;
	}
	const char *at = (const char *)bytes_at(&f->bytes, (uint64_t)pos + t->header_size, 0);
	if (t->pub.kind == TNF_K_STRING)
		n = (uint32_t)bytes_strlen(&f->bytes,
		    (uint64_t)pos + t->header_size, n);
	uint8_t padding = t->padded && n > 0 ?
	    bytes_u8(&f->bytes, (uint64_t)pos + t->header_size + n - 1) : 0;
	if (padding <= n && padding < 4)
		n -= padding;
	take_piece(p, at, n);
	return true;
}

static void
take_all(struct pieces *p, uint32_t pos)
{
	uint32_t n, i, next;

	for (unsigned arrays = 0; pos != 0; arrays++, pos = next) {
		next = 0;
		const struct type *t = tnf_type_of_record(p->f, pos);
		if (arrays == ARRAYS_MAX || t == NULL ||
		    !cells_of(p->f, pos, t, &n)) {
			p->cut = true;
			return;
		}
		for (i = 0; i + 4 <= n && next == 0 && !p->cut; i += 4)
			if (!take_cell(p, (uint64_t)pos + t->header_size + i,
			    &next))
				p->cut = true;
	}
}

static struct longs *
longs_of(struct tnf_file *f)
{
	struct longs *l = f->longs;

	if (l == NULL && (l = calloc(1, sizeof(*l))) != NULL) {
		l->arena.limit = f->bytes.size + BYTES_MAX;
		tnf_map_init(&l->known, sizeof(struct whole));
		f->longs = l;
	}
	return l;
}

/* Puts it together, or finds it put together. */
static const struct whole *
whole_of(struct pieces *p, uint32_t pos)
{
	struct place place = { pos, file_block(p->f, file_block_off(p->f,
	    pos)).generation };
	struct longs *l = longs_of(p->f);
	struct whole *w;
	bool fresh;

	if (l == NULL ||
	    (w = tnf_map_put(&l->known, &place, sizeof(place), &fresh)) == NULL)
		return NULL;
	if (!fresh)
		return w->chars == NULL ? NULL : w;
	if ((p->to = tnf_arena_zalloc(&l->arena, p->len + 1)) == NULL)
		return NULL;
	p->room = p->len;
	p->len = p->n = 0;
	p->cut = false;
	take_all(p, pos);
	w->chars = p->to;
	w->len = p->len;
	w->cut = p->cut;
	return w;
}

bool
tnf_long_read(struct tnf_file *f, struct tnf_value *v)
{
	struct pieces p = { .f = f, .room = BYTES_MAX };
	const struct whole *w;
	uint32_t pos = v->u.r.pos;

	take_all(&p, pos);
	v->kind = TNF_K_STRING;
	v->cut = p.cut;
	v->u.s.chars = p.n == 0 ? "" : p.first;
	v->u.s.len = p.len;
	if (p.n < 2)
		return true;
	if ((w = whole_of(&p, pos)) == NULL) {
		v->u.s.len = p.first_len;
		v->cut = true;
		return true;
	}
	v->u.s.chars = w->chars;
	v->u.s.len = w->len;
	v->cut = w->cut;
	return true;
}

void
tnf_long_done(struct tnf_file *f)
{
	if (f->longs == NULL)
		return;
	tnf_arena_free(&f->longs->arena);
	tnf_map_free(&f->longs->known);
	free(f->longs);
	f->longs = NULL;
}

/*
 * long.c - texts and bytes of up to 64 KiB: tnf(5), "Long values".
 *
 * No record is larger than a block.  So a long value is an array of references (118 at most) to
 * pieces, two of which fill a block; the last reference of an array leads to a
 * further array if there are more pieces than one can name, and is null if the value
 * has been cut.
 */
#include <tnf/runtime.h>

#include "libtnfprobe/internal.h"

#define RECORD_SIZE	240u	/* of a piece, its head included */
#define CELLS_MAX	118u	/* of an array */
#define MARK_SIZE	16u	/* an array of one null reference: all is cut */
#define SHARE		8	/* one part in so many of the file's blocks is the
				   most that a value may take */
_Static_assert(HEADER_SIZE + 2 * RECORD_SIZE <= CHAIN_PLACE, "tnf_block_chain()");

struct value {
	struct thread	*t;
	const char	*at;
	size_t		 left;		/* bytes */
	uint32_t	 array_tag;
	uint32_t	 piece_tag;
	uint32_t	 padded_tag;	/* of a piece whose bytes are no multiple of 4 */
	uint32_t	 piece;		/* bytes in one */
	bool		 text;
	bool		 cut;
	bool		 shortened;	/* for want of room */
	uint8_t		 loose;		/* t->used, if the last block that the hit
					   has reached holds pieces alone */
};

/* A character is not cut in two. */
static size_t
whole_characters(const char *s, size_t len)
{
	size_t n = len;

	while (n > 0 && len - n < 3 && ((unsigned char)s[n] & 0xc0) == 0x80)
		n--;
	return ((unsigned char)s[n] & 0xc0) == 0x80 ? len : n;
}

static void
long_limit(struct value *v)
{
	size_t share = v->t->file->data_blocks / SHARE, max;

	/* All values of an event together get two shares. */
	if (v->t->nloose > share)
		share = v->t->nloose > 2 * share ? 0 : 2 * share - v->t->nloose;
	max = share * 2 * v->piece;
	if (max > TNF_LONG_MAX)
		max = TNF_LONG_MAX;
	if (v->left <= max)
		return;
	v->shortened = max < TNF_LONG_MAX;
	v->left = v->text ? whole_characters(v->at, max) : max;
	v->cut = true;
}

/* Long values leave some blocks to the other arguments. */
static char *
long_room(struct thread *t, uint32_t size)
{
	if ((size_t)(t->lim - t->next) < size && t->used >= HELD_LONG)
		return NULL;
	return tnf_value_room(t, size);
}

static uint32_t *
put_array(struct value *v, uint32_t cells)
{
	uint32_t size = (8 + 4 * cells + 7) & ~7u;
	char *at = cells > 1 ? long_room(v->t, size) : tnf_value_room(v->t, size);
	uint32_t *r = (uint32_t *)(void *)at;

	if (at == NULL)
		return NULL;
	v->loose = 0;
	memset(at, 0, size);
	r[0] = v->array_tag;
	r[1] = 8 + 4 * cells;
	return r;
}

static char *
piece_room(struct value *v, uint32_t size)
{
	struct thread *t = v->t;
	bool full = (size_t)(t->lim - t->next) < size;
	char *at;

	if (full && v->loose > 0 && v->loose == t->used && !tnf_value_publish(t))
		return NULL;
	if ((at = long_room(t, size)) != NULL && full)
		v->loose = t->used;
	return at;
}

/*
 * The next one; false: there is no room.  Readers step by a record's own size, which is
 * therefore a multiple of 4: the last byte of padding tells how many bytes that is.
 */
static bool
put_piece(struct value *v, tnf_reference_t *cell)
{
	uint32_t n = v->left < v->piece ? (uint32_t)v->left : v->piece;
	uint32_t end = (8 + n + v->text + 3) & ~3u, size = (end + 7) & ~7u;
	bool padded = !v->text && n % 4 != 0;
	char *at = piece_room(v, size);
	uint32_t *r = (uint32_t *)(void *)at;

	if (at == NULL)
		return false;
	r[(size >> 2) - 1] = r[(size >> 2) - 2] = 0;
	r[0] = padded ? v->padded_tag : v->piece_tag;
	r[1] = end;
	memcpy(r + 2, v->at, n);
	if (padded)
		at[end - 1] = (char)(end - 8 - n);
	v->at += n;
	v->left -= n;
	*cell = tnf_value_reference(v->t, cell, at);
	return true;
}

/* An array and its pieces.  Returns the cell that leads to the next array; NULL: all
   has been written that there is room for. */
static tnf_reference_t *
put_pieces(struct value *v, tnf_reference_t *link, tnf_reference_t *ret_ref)
{
	size_t pieces = (v->left + v->piece - 1) / v->piece + v->cut;
	uint32_t cells = pieces > CELLS_MAX ? CELLS_MAX : (uint32_t)pieces;
	bool more = pieces > CELLS_MAX;
	uint32_t *r = put_array(v, cells), i;

	if (r == NULL)
		return NULL;
	*ret_ref = tnf_value_reference(v->t, link, (char *)r);
	for (i = 0; i < cells - more; i++)
		if (v->left == 0 || !put_piece(v, &r[2 + i]))
			return NULL;
	return more ? &r[2 + i] : NULL;
}

tnf_reference_t
tnf_long_put(struct thread *t, const struct tnf_tag_data *type, const char *p,
    size_t len, tnf_reference_t *cell)
{
	bool text = type->kind == TNF_TAG_TEXT;
	struct value v = {
		.t = t, .at = p, .left = len, .text = text,
		.array_tag = __atomic_load_n(text ? &tnf_p.text_tag :
		    &tnf_p.blob_tag, __ATOMIC_RELAXED),
		.piece_tag = text ? tnf_p.string_tag :
		    __atomic_load_n(&tnf_p.bytes_tag, __ATOMIC_RELAXED),
		.padded_tag = text ? tnf_p.string_tag :
		    __atomic_load_n(&tnf_p.padded_tag, __ATOMIC_RELAXED),
		.piece = RECORD_SIZE - 8 - text,
	};
	tnf_reference_t first = 0, *link;

	if (p == NULL || v.array_tag == 0 || v.piece_tag == 0 || v.padded_tag == 0)
		return 0;
	long_limit(&v);
	link = put_pieces(&v, cell, &first);
	while (link != NULL)
		link = put_pieces(&v, link, link);
	if (t->failed)
		return 0;
	if (first == 0 && put_array(&v, 1) != NULL)
		first = tnf_value_reference(t, cell, t->next - MARK_SIZE);
	if (v.left > 0 || v.shortened)
		tnf_value_shortened(t);
	return first;
}

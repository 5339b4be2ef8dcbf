/*
 * raw.c - every record of a file, in file order (-r).
 *
 * A large file is printed by two processes in turn (turns.h): each reads every other
 * piece of the file, and notes what is wrong there until it is its turn.
 */
#include "common/xalloc.h"
#include "tnfdump/input.h"
#include "tnfdump/text/raw-record.h"
#include "tnfdump/text/raw.h"
#include "tnfdump/turns.h"

#define RAW_LARGE	(4u << 20)	/* bytes: smaller files are done sooner by one */
#define RAW_PIECE	(64u << 10)	/* bytes that one process reads at a time, whole blocks */

/* Damage that waits for this process's turn to be told. */
struct raw_damage {
	uint64_t    block;
	const char *text;		/* libtnf's, static */
};

struct raw {
	struct dump *d;
	TNF	    *tnf;
	const char  *path;
	struct raw_records *records;
	uint32_t     block_size;
	uint32_t     data_start;
	uint64_t     blocks_end;	/* offset behind the last block */
	uint64_t     end;		/* of this piece, an offset; or UINT64_MAX */
	uint64_t     told;		/* damaged block that was told last */
	struct turns *turns;		/* or NULL: this process prints all */
	struct raw_damage *damage;
	size_t	     n_damage, room;
};

static void
raw_damaged(struct raw *r, uint64_t block, const char *text)
{
	if (r->turns == NULL) {
		input_damage(r->d, r->path, block, text);
		return;
	}
	if (r->n_damage == r->room) {
		r->room = r->room == 0 ? 16 : 2 * r->room;
		r->damage = tnf_xreallocarray(r->damage, r->room, sizeof(*r->damage));
	}
	r->damage[r->n_damage++] = (struct raw_damage){ block, text };
}

/* What libtnf could not make sense of since the last call, once a block.  Blocks from
   'end' on are the other process's to tell; what lies behind all blocks is not. */
static bool
raw_tell_damage(struct raw *r, uint64_t end, uint64_t *at)
{
	const char *text;
	uint64_t offset, block;
	tnf_errcode_t code = tnf_error_last(&offset, &text);

	if (code == TNF_ERR_NONE)
		return false;
	block = offset & ~(uint64_t)(r->block_size - 1);
	*at = block;
	if (block >= end && block < r->blocks_end)
		return true;
	if (block != r->told)
		raw_damaged(r, block, *text != '\0' ? text : tnf_error_message(code));
	r->told = block;
	return true;
}

/* The header of the next block of this piece that can be read, behind the one at 'off'. */
static tnf_datum_t
next_sound_block(struct raw *r, uint64_t off)
{
	uint64_t end = r->end < r->blocks_end ? r->end : r->blocks_end, at;

	off = off < r->data_start ? r->data_start : off + r->block_size;
	for (; off < end; off += r->block_size) {
		unsigned n = (unsigned)((off - r->data_start) / r->block_size);
		tnf_datum_t v = tnf_get_block_absolute(r->tnf, n);
		if (!raw_tell_damage(r, UINT64_MAX, &at) && v != TNF_DATUM_NULL)
			return v;
	}
	return TNF_DATUM_NULL;
}

/* From the file's header, or else from the first block of this piece. */
static void
raw_walk(struct raw *r, uint64_t begin)
{
	tnf_datum_t v;
	uint64_t at;

	if (begin > 0)
		v = next_sound_block(r, begin - r->block_size);
	else {
		v = tnf_get_file_header(r->tnf);
		if (raw_tell_damage(r, UINT64_MAX, &at))
			v = next_sound_block(r, 0);
	}
	while (v != TNF_DATUM_NULL && tnf_get_offset(v) < r->end && r->d->out.error == 0) {
		raw_record_put(r->records, v);
		if (r->turns != NULL)
			turns_bound(r->d, r->turns);
		raw_tell_damage(r, UINT64_MAX, &at);
		v = tnf_get_next_record(v);
		if (raw_tell_damage(r, r->end, &at))
			v = next_sound_block(r, at);
	}
}

/* Both processes may have met the same damage, the one at the end of its piece and the
   other at the beginning: with the turn goes what was told last. */
static void
raw_take_turn(struct raw *r)
{
	uint64_t told = UINT64_MAX;

	turns_take(r->d, r->turns, &told);
	for (size_t i = 0; i < r->n_damage && r->d->out.error == 0; i++) {
		if (r->damage[i].block != told)
			input_damage(r->d, r->path, r->damage[i].block, r->damage[i].text);
		told = r->damage[i].block;
	}
	r->n_damage = 0;
	r->told = UINT64_MAX;
	turns_give(r->d, r->turns, told);
}

static void
raw_pieces(struct raw *r)
{
	bool mine = turns_in_child(r->turns);
	uint64_t begin = 0;

	for (r->end = r->data_start; r->end < r->blocks_end && r->d->out.error == 0; begin = r->end) {
		r->end += RAW_PIECE;
		mine = !mine;
		if (mine) {
			raw_walk(r, begin);
			raw_take_turn(r);
		}
	}
	turns_end(r->d, r->turns, mine);
	free(r->damage);
}

/* --strict ends at the first damage, wherever that is. */
static bool
raw_is_for_two(const struct raw *r)
{
	return r->blocks_end - r->data_start >= RAW_LARGE && r->block_size <= RAW_PIECE &&
	    !r->d->strict && !r->d->escape && turns_worth_it();
}

static void
raw_file(struct dump *d, const struct input *in)
{
	struct raw r = { .d = d, .path = in->path, .end = UINT64_MAX, .told = UINT64_MAX };
	int err = tnf_reader_begin((caddr_t)(uintptr_t)in->base, in->size, &r.tnf);

	if (err != TNF_ERR_NONE) {
		input_refused(d, in->path, err);
		return;
	}
	tnf_get_geometry(r.tnf, &r.block_size, &r.data_start);
	r.blocks_end = r.data_start + (uint64_t)tnf_get_block_count(r.tnf) * r.block_size;
	r.records = raw_records_new(d);
	if (raw_is_for_two(&r))
		r.turns = turns_begin(d);
	if (r.turns != NULL)
		raw_pieces(&r);
	else
		raw_walk(&r, 0);
	raw_records_free(r.records);
	tnf_reader_end(r.tnf);
}

void
raw_run(struct dump *d, char **paths)
{
	struct input in;

	for (; *paths != NULL; paths++) {
		if (!input_open(d, *paths, &in))
			continue;
		raw_file(d, &in);
		tnf_image_close(in.base, in.size);
	}
}

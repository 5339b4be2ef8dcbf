/*
 * raw.c - every record of a file, in file order (-r).
 */
#include "tnfdump/input.h"
#include "tnfdump/text/raw-record.h"
#include "tnfdump/text/raw.h"

struct raw {
	struct dump *d;
	TNF	    *tnf;
	const char  *path;
	struct raw_records *records;
	uint32_t     block_size;
	uint32_t     data_start;
	uint64_t     blocks_end;	/* offset behind the last block */
	uint64_t     told;		/* damaged block reported last */
};

/* Tells, once for each block, about damage that libtnf has met since the last call.
   *ret_block is the offset of the damaged block. */
static bool
raw_tell_damage(struct raw *r, uint64_t *ret_block)
{
	const char *text;
	uint64_t offset, block;
	tnf_errcode_t code = tnf_error_last(&offset, &text);

	if (code == TNF_ERR_NONE)
		return false;
	block = offset & ~(uint64_t)(r->block_size - 1);
	*ret_block = block;
	if (block != r->told)
		input_damage(r->d, r->path, block, *text != '\0' ? text : tnf_error_message(code));
	r->told = block;
	return true;
}

/* The header of the next readable block after the one at 'off'. */
static tnf_datum_t
next_sound_block(struct raw *r, uint64_t off)
{
	uint64_t at;

	off = off < r->data_start ? r->data_start : off + r->block_size;
	for (; off < r->blocks_end; off += r->block_size) {
		unsigned n = (unsigned)((off - r->data_start) / r->block_size);
		tnf_datum_t v = tnf_get_block_absolute(r->tnf, n);
		if (!raw_tell_damage(r, &at) && v != TNF_DATUM_NULL)
			return v;
	}
	return TNF_DATUM_NULL;
}

static void
raw_walk(struct raw *r)
{
	uint64_t at;
	tnf_datum_t v = tnf_get_file_header(r->tnf);

	if (raw_tell_damage(r, &at))
		v = next_sound_block(r, 0);
	while (v != TNF_DATUM_NULL && r->d->out.error == 0) {
		raw_record_put(r->records, v);
		raw_tell_damage(r, &at);
		v = tnf_get_next_record(v);
		if (raw_tell_damage(r, &at))
			v = next_sound_block(r, at);
	}
}

static void
raw_file(struct dump *d, const struct input *in)
{
	struct raw r = { .d = d, .path = in->path, .told = UINT64_MAX };
	int err = tnf_reader_begin((caddr_t)(uintptr_t)in->base, in->size, &r.tnf);

	if (err != TNF_ERR_NONE) {
		input_refused(d, in->path, err);
		return;
	}
	tnf_get_geometry(r.tnf, &r.block_size, &r.data_start);
	r.blocks_end = r.data_start + (uint64_t)tnf_get_block_count(r.tnf) * r.block_size;
	r.records = raw_records_new(d);
	raw_walk(&r);
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

/*
 * ref.c - 32-bit references: tnf(5), "References".
 */
#include "libtnf/file.h"
#include "libtnf/ref.h"

/* Longer chains of forwarding words are somebody's bad joke. */
#define FORWARD_MAX	64

/* The low 31 bits are signed; the last two are not part of the distance. */
static int64_t
ref_distance(uint32_t word)
{
	int64_t d = word & 0x7ffffffc;

	return d & 0x40000000 ? d - 0x80000000LL : d;
}

/* A place 'd' bytes from 'src' in the endless log that the laps make. */
static enum ref_status
ref_reclaimable(const struct tnf_file *f, uint64_t src, int64_t d, uint32_t *dst)
{
	int64_t v = (int64_t)src + d;
	uint64_t phys = (uint64_t)v & (((uint64_t)1 << f->generation_shift) - 1);

	if (!bytes_has(&f->bytes, phys, 4))
		return REF_BAD;
	*dst = (uint32_t)phys;
	if (src < f->data_start || phys < f->data_start)
		return REF_OK;
	struct block from = file_block(f, file_block_off(f, src));
	struct block to = file_block(f, file_block_off(f, phys));
	if (from.generation == TNF_GENERATION_TAG)
		return REF_OK;
	/* Our writers refer to definitions for good: one has come in between. */
	if (to.generation == TNF_GENERATION_TAG)
		return f->has_ext ? REF_NULL : REF_OK;
	uint32_t expected = from.generation + (uint32_t)(v >> f->generation_shift);
	if (to.generation != expected || phys - to.off >= to.used)
		return REF_NULL;
	return REF_OK;
}

static enum ref_status
ref_step(const struct tnf_file *f, uint64_t src, uint32_t word, uint32_t *dst)
{
	int64_t d = ref_distance(word);

	if (word == 0)
		return REF_NULL;
	if (!(word & TNF_REF32_PERMANENT))
		return ref_reclaimable(f, src, d, dst);
	if (d < 0 || !bytes_has(&f->bytes, (uint64_t)d, 4))
		return REF_BAD;
	*dst = (uint32_t)d;
	return REF_OK;
}

/* From a forwarding word, or the record, at *dst to the record. */
static enum ref_status
ref_forward(const struct tnf_file *f, uint32_t *dst)
{
	enum ref_status r;

	for (unsigned n = 0; n < FORWARD_MAX; n++) {
		uint32_t word = bytes_u32(&f->bytes, *dst);
		if (word == 0 || (word & TNF_REF32_T_MASK) != TNF_REF32_T_FULL)
			return REF_OK;
		if ((r = ref_step(f, *dst, word, dst)) != REF_OK)
			return r;
	}
	return REF_BAD;
}

enum ref_status
tnf_ref_follow(const struct tnf_file *f, uint64_t src, uint32_t *dst)
{
	uint32_t word = bytes_u32(&f->bytes, src), to;
	enum ref_status r;

	switch (word & TNF_REF32_T_MASK) {
	case TNF_REF32_T_PAIR:
		return tnf_ref_pair_tag(f, src, word, dst);
	case TNF_REF32_T_RESERVED:
		return REF_BAD;
	}
	if ((r = ref_step(f, src, word, &to)) == REF_OK &&
	    (r = ref_forward(f, &to)) == REF_OK)
		*dst = to;
	return r;
}

enum ref_status
tnf_ref_pair_tag(const struct tnf_file *f, uint64_t src, uint32_t word,
    uint32_t *dst)
{
	uint32_t half = word >> 16, to;
	int64_t at;
	enum ref_status r;

	switch (half & TNF_REF32_T_MASK) {
	case TNF_TAG16_ABS:
		at = half & ~TNF_REF32_T_MASK;
		break;
	case TNF_REF32_T_FULL:
		at = (int64_t)src + (int16_t)half;
		break;
	default:
		return REF_BAD;
	}
	if (at < 0 || (uint64_t)at == src || bytes_u32(&f->bytes, (uint64_t)at) == 0)
		return REF_BAD;
	to = (uint32_t)at;
	if ((r = ref_forward(f, &to)) == REF_OK)
		*dst = to;
	return r;
}

enum ref_status
tnf_ref_pair_arg(const struct tnf_file *f, uint64_t src, uint32_t word,
    uint32_t *dst)
{
	int16_t d = (int16_t)(word & 0xfffc);
	enum ref_status r;
	uint32_t to;

	if (d == 0)
		return REF_NULL;
	if ((r = ref_reclaimable(f, src, d, &to)) != REF_OK)
		return r;
	if (bytes_u32(&f->bytes, to) == 0)
		return REF_NULL;
	if ((r = ref_forward(f, &to)) == REF_OK)
		*dst = to;
	return r;
}

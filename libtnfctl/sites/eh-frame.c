/*
 * eh-frame.c - which bytes belong to which function, and where exceptions are
 * caught: the call frame information that a program brings for its own use
 * (.eh_frame, .gcc_except_table).
 */
#include <dwarf.h>
#include <string.h>

#include "common/elf-file.h"
#include "libtnfctl/sites/code.h"

#define SITES_MAX	(64u << 20)	/* entries for calls, in all exception tables of a file */
#define OMIT		DW_EH_PE_omit

/* Bytes that are not read yet; after the first failure nothing more is read. */
struct piece {
	const uint8_t *p;
	size_t	 left;
	uint64_t address;	/* of p */
	bool	 failed;
};

struct reading {
	struct code *code;
	unsigned sites;		/* that may still be looked at */
	bool	 failed;	/* something was not understood */
};

struct frame_kind {		/* of a CIE */
	uint64_t address;	/* 0: none yet */
	bool	 has_sizes, has_table, is_signal;
	uint8_t	 pointers, tables;	/* how they are written */
};

static bool
piece_at(const struct code *c, uint64_t address, struct piece *ret)
{
	*ret = (struct piece){ .address = address };
	ret->p = tnfctl_code_at(c, address, &ret->left);
	return ret->p != NULL;
}

/* The next n bytes as a number; of any size up to 8. */
static uint64_t
take(struct piece *b, size_t n)
{
	uint64_t v = 0;

	if (b->failed || n > b->left) {
		b->failed = true;
		return 0;
	}
	memcpy(&v, b->p, n);
	b->p += n;
	b->left -= n;
	b->address += n;
	return v;
}

static uint64_t
take_leb(struct piece *b, bool is_signed)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)take(b, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !b->failed);
	if (is_signed && byte & 0x40 && shift < 64)
		v |= UINT64_MAX << shift;
	return v;
}

static uint64_t
take_number(struct piece *b, uint8_t format)
{
	switch (format & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return take(b, 8);
	case DW_EH_PE_uleb128:
		return take_leb(b, false);
	case DW_EH_PE_sleb128:
		return take_leb(b, true);
	case DW_EH_PE_udata2:
		return take(b, 2);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)take(b, 2);
	case DW_EH_PE_udata4:
		return take(b, 4);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)take(b, 4);
	default:
		b->failed = true;
		return 0;
	}
}

/* An address; 0: none, or one that is only known at run time. */
static uint64_t
take_pointer(struct piece *b, uint8_t encoding)
{
	uint64_t at = b->address, v;

	if (encoding == OMIT)
		return 0;
	v = take_number(b, encoding);
	if (v == 0 || encoding & DW_EH_PE_indirect)
		return 0;
	switch (encoding & 0x70) {
	case DW_EH_PE_absptr:
		return v;
	case DW_EH_PE_pcrel:
		return at + v;
	default:
		b->failed = true;
		return 0;
	}
}

/* Takes the next entry and returns its body; no bytes: the list ends here, or b->failed. */
static struct piece
take_entry(struct piece *b)
{
	uint64_t size = take(b, 4);
	struct piece entry;

	if (size == UINT32_MAX)
		size = take(b, 8);
	if (b->failed || size > b->left) {
		b->failed = true;
		size = 0;
	}
	entry = (struct piece){ b->p, size, b->address, b->failed };
	b->p += size;
	b->left -= size;
	b->address += size;
	return entry;
}

/* Reads a CIE's augmentation: its letters say which data follow.  False: a letter is not known. */
static bool
kind_augment(const char *letters, struct piece *b, struct frame_kind *ret)
{
	if (letters[0] == '\0')
		return true;
	if (letters[0] != 'z')
		return false;
	ret->has_sizes = true;
	take_leb(b, false);
	for (const char *s = letters + 1; *s != '\0'; s++)
		switch (*s) {
		case 'R':
			ret->pointers = (uint8_t)take(b, 1);
			break;
		case 'L':
			ret->has_table = true;
			ret->tables = (uint8_t)take(b, 1);
			break;
		case 'P':
			take_pointer(b, (uint8_t)take(b, 1));
			break;
		case 'S':
			ret->is_signal = true;
			break;
		case 'B':	/* 64-bit ARM: return addresses are signed */
			break;
		default:
			return false;
		}
	return !b->failed;
}

/* false: not understood. */
static bool
kind_read(const struct code *c, uint64_t address, struct frame_kind *ret)
{
	struct piece b, cie;
	const char *letters;
	uint64_t version;
	size_t n;

	*ret = (struct frame_kind){ .address = address };
	if (!piece_at(c, address, &b))
		return false;
	cie = take_entry(&b);
	if (take(&cie, 4) != 0)
		return false;
	version = take(&cie, 1);
	letters = (const char *)cie.p;
	n = strnlen(letters, cie.left);
	if (n == cie.left || (version != 1 && version != 3))
		return false;
	cie.p += n + 1;
	cie.left -= n + 1;
	cie.address += n + 1;
	take_leb(&cie, false);
	take_leb(&cie, true);
	if (version == 1)
		take(&cie, 1);
	else
		take_leb(&cie, false);
	return kind_augment(letters, &cie, ret) && !cie.failed;
}

/* Marks where the exceptions of a function's calls are caught. */
static void
mark_landings(struct reading *r, uint64_t table, uint64_t function)
{
	uint64_t base = function, landing;
	uint8_t encoding;
	struct piece b;
	size_t size;

	if (!piece_at(r->code, table, &b))
		return;
	if ((encoding = (uint8_t)take(&b, 1)) != OMIT)
		base = take_pointer(&b, encoding);
	if (take(&b, 1) != OMIT)
		take_leb(&b, false);
	encoding = (uint8_t)take(&b, 1);
	size = take_leb(&b, false);
	if (!b.failed && size < b.left)
		b.left = size;
	while (!b.failed && b.left > 0 && r->sites > 0) {
		r->sites--;
		take_number(&b, encoding);
		take_number(&b, encoding);
		landing = take_number(&b, encoding);
		take_leb(&b, false);
		if (!b.failed && landing != 0)
			tnfctl_code_mark(r->code, base + landing);
	}
}

static bool
add_frame(struct code *c, const struct code_frame *f)
{
	struct code_frame *v = tnf_grow(c->frames, c->nframes, sizeof *v);

	if (v == NULL) {
		c->failed = true;
		return false;
	}
	c->frames = v;
	v[c->nframes++] = *f;
	return true;
}

/* Reads the entry (FDE) of one function, from behind the word that leads to its CIE, 'kind'. */
static bool
frame_read(struct reading *r, struct piece *b, const struct frame_kind *kind)
{
	struct code_frame f = { .is_signal = kind->is_signal };
	uint64_t table = 0;

	f.start = take_pointer(b, kind->pointers);
	f.end = f.start + take_number(b, kind->pointers);
	if (kind->has_sizes)
		take_leb(b, false);
	if (kind->has_table)
		table = take_pointer(b, kind->tables);
	if (b->failed || f.end < f.start)
		return false;
	if (f.start == 0 || f.end == f.start)
		return true;
	if (table != 0)
		mark_landings(r, table, f.start);
	return add_frame(r->code, &f);
}

COMPARE_BY(by_address, struct code_frame, start)

/* One section of frames; false: not understood. */
static bool
section_read(struct reading *r, struct piece *b)
{
	struct frame_kind kind = { .address = 0 };
	struct piece entry;
	uint64_t at, distance;

	while (b->left >= 4 && !b->failed) {
		entry = take_entry(b);
		if (entry.left == 0)
			break;
		at = entry.address;
		if ((distance = take(&entry, 4)) == 0)
			continue;
		if (at - distance != kind.address && !kind_read(r->code, at - distance, &kind))
			return false;
		if (!frame_read(r, &entry, &kind))
			return false;
	}
	return !b->failed;
}

static bool
each_section(void *arg, uint64_t address, uint64_t size)
{
	struct reading *r = arg;
	struct piece b;

	if (!piece_at(r->code, address, &b) || size > b.left) {
		r->failed = true;
		return false;
	}
	b.left = size;
	r->failed = !section_read(r, &b);
	return !r->failed;
}

bool
tnfctl_code_read_frames(struct code *c, struct elffile *e)
{
	struct reading r = { .code = c, .sites = SITES_MAX };

	tnf_elffile_sections(e, ".eh_frame", each_section, &r);
	if (c->nframes > 0)
		qsort(c->frames, c->nframes, sizeof *c->frames, by_address);
	return !r.failed && r.sites > 0;
}

struct code_frame *
tnfctl_code_frame(const struct code *c, uint64_t address)
{
	size_t low = 0, high = c->nframes, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (c->frames[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < c->frames[low - 1].end ? &c->frames[low - 1] : NULL;
}

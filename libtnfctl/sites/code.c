/*
 * code.c - the bytes of an ELF file as they are loaded, and the marks on them: where threads
 * may come to.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "common/elf-file.h"
#include "libtnfctl/sites/code.h"

#define LOADED_MAX	((uint64_t)1 << 30)	/* bytes of one object */
#define ADDRESS_MAX	((uint64_t)1 << 47)

struct loading {
	struct code *code;
	struct elffile *elf;
	uint64_t total;
	int	 error;
};

static bool
load_segment(void *arg, const struct elffile_segment *s)
{
	struct loading *l = arg;
	struct code *c = l->code;
	struct code_segment *into = &c->segments[c->n];

	if (s->type != PT_LOAD || s->size == 0)
		return true;
	if (c->n == CODE_SEGMENTS_MAX || s->size > LOADED_MAX - l->total ||
	    s->address > ADDRESS_MAX) {
		l->error = EFBIG;
		return false;
	}
	*into = (struct code_segment){ .address = s->address, .size = s->size, .exec = s->exec };
	l->total += s->size;
	into->bytes = malloc(s->size);
	into->marks = s->exec ? calloc(s->size / 8 + 1, 1) : NULL;
	c->n++;
	if (into->bytes == NULL || (s->exec && into->marks == NULL))
		l->error = ENOMEM;
	else
		into->size = tnf_elffile_read(l->elf, s->address, into->bytes, s->size);
	return l->error == 0;
}

bool
tnfctl_code_load(struct elffile *e, struct code *ret)
{
	struct loading l = { .code = ret, .elf = e };

	memset(ret, 0, sizeof *ret);
	tnf_elffile_segments(e, load_segment, &l);
	errno = l.error;
	return l.error == 0;
}

void
tnfctl_code_keep_executed(struct code *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (!c->segments[i].exec) {
			free(c->segments[i].bytes);
			c->segments[i].bytes = NULL;
		}
	free(c->anchors);
	c->anchors = NULL;
	c->nanchors = 0;
}

void
tnfctl_code_free(struct code *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		free(c->segments[i].bytes);
		free(c->segments[i].marks);
	}
	free(c->frames);
	free(c->anchors);
	memset(c, 0, sizeof *c);
}

static const struct code_segment *
segment_at(const struct code *c, uint64_t address)
{
	for (unsigned i = 0; i < c->n; i++)
		if (address - c->segments[i].address < c->segments[i].size)
			return &c->segments[i];
	return NULL;
}

const uint8_t *
tnfctl_code_at(const struct code *c, uint64_t address, size_t *left)
{
	const struct code_segment *s = segment_at(c, address);

	if (s == NULL || s->bytes == NULL)
		return NULL;
	*left = s->size - (address - s->address);
	return s->bytes + (address - s->address);
}

static bool
code_is_executed(const struct code *c, uint64_t address)
{
	const struct code_segment *s = segment_at(c, address);

	return s != NULL && s->exec;
}

void
tnfctl_code_mark(struct code *c, uint64_t address)
{
	const struct code_segment *s = segment_at(c, address);
	uint64_t at;

	if (s == NULL || s->marks == NULL)
		return;
	at = address - s->address;
	s->marks[at / 8] |= (uint8_t)(1u << at % 8);
}

bool
tnfctl_code_is_marked(const struct code *c, uint64_t address)
{
	const struct code_segment *s = segment_at(c, address);
	uint64_t at;

	if (s == NULL || s->marks == NULL)
		return false;
	at = address - s->address;
	return s->marks[at / 8] >> at % 8 & 1;
}

/* false: no memory. */
static bool
code_anchor(struct code *c, uint64_t address)
{
	uint64_t *v = tnf_grow(c->anchors, c->nanchors, sizeof *v);

	if (v == NULL) {
		c->failed = true;
		return false;
	}
	c->anchors = v;
	v[c->nanchors++] = address;
	return true;
}

/*
 * Where threads may come to: what all instructions, addresses in code and
 * in data, relocations and tables of an object lead to.
 *
 * Code is decoded from one anchor (a symbol, the start or end of a function's frame) to the next,
 * gaps included.  Where that does not come out even, data is among the code, and
 * an instruction is supposed at every byte.  A mark too many costs a site; one too few costs
 * the program its life.
 */

struct sweep {
	struct code *code;
	bool	 fixed;		/* numbers in code may be addresses */
	bool	 relocated;	/* so is code itself */
	uint64_t *tables;	/* whose entries may lead to code */
	size_t	 ntables;
	struct code_frame *frame;	/* of the latest instruction */
};

/* Leads the entry of 4 bytes at this address to code, relative to the beginning of its table? */
static bool
table_leads(const struct sweep *s, uint64_t table, uint64_t entry, uint64_t *ret)
{
	size_t left;
	const uint8_t *p = tnfctl_code_at(s->code, entry, &left);
	int32_t distance;

	if (p == NULL || left < sizeof distance)
		return false;
	memcpy(&distance, p, sizeof distance);
	*ret = table + (uint64_t)(int64_t)distance;
	return code_is_executed(s->code, *ret);
}

/* The address of something is taken: of code, or of a table. */
static void
mark_taken(struct sweep *s, uint64_t address)
{
	uint64_t *v, target;

	tnfctl_code_mark(s->code, address);
	if (!table_leads(s, address, address, &target))
		return;
	if ((v = tnf_grow(s->tables, s->ntables, sizeof *v)) == NULL) {
		s->code->failed = true;
		return;
	}
	s->tables = v;
	v[s->ntables++] = address;
}

COMPARE_NUMBERS(by_number, uint64_t)

/* Marks where the entries of all tables lead to.  A table ends where the next begins, or at the
   first entry that does not lead to code. */
static void
mark_tables(struct sweep *s)
{
	uint64_t next, target;

	if (s->ntables > 0)
		qsort(s->tables, s->ntables, sizeof *s->tables, by_number);
	for (size_t i = 0; i < s->ntables; i++) {
		next = i + 1 < s->ntables ? s->tables[i + 1] : UINT64_MAX;
		for (uint64_t at = s->tables[i]; at < next &&
		    table_leads(s, s->tables[i], at, &target); at += 4)
			tnfctl_code_mark(s->code, target);
	}
	free(s->tables);
}

static struct code_frame *
sweep_frame(struct sweep *s, uint64_t address)
{
	if (s->frame == NULL || address < s->frame->start || address >= s->frame->end)
		s->frame = tnfctl_code_frame(s->code, address);
	return s->frame;
}

static void
sweep_look(struct sweep *s, uint64_t address, const struct insn *i)
{
	uint64_t end = address + i->length, place = end + (uint64_t)i->relative;
	struct code_frame *f;

	if (i->has_target)
		tnfctl_code_mark(s->code, place);
	if (i->kind == INSN_LANDING)
		tnfctl_code_mark(s->code, address);
	if (i->kind == INSN_CALL || i->kind == INSN_CALL_TO)
		tnfctl_code_mark(s->code, end);	/* the call returns there */
	if (i->is_lea) {
		mark_taken(s, place);
		f = code_is_executed(s->code, place) ? sweep_frame(s, address) : NULL;
		if (f != NULL && place > f->start && place < f->end)
			f->computes = true;
	}
	for (unsigned n = 0; s->fixed && n < 2; n++)
		if (i->number[n] != 0)
			mark_taken(s, i->number[n]);
}

/* True if the instructions from start end at end. */
static bool
sweep_even(struct sweep *s, uint64_t start, uint64_t end)
{
	struct insn i;
	size_t left;

	for (uint64_t at = start; at < end; at += i.length) {
		const uint8_t *p = tnfctl_code_at(s->code, at, &left);

		if (p == NULL || !tnfctl_insn_decode(p, left < INSN_MAX ? left : INSN_MAX, &i) ||
		    i.length > end - at)
			return false;
		sweep_look(s, at, &i);
	}
	return true;
}

static void
sweep_piece(struct sweep *s, uint64_t start, uint64_t end)
{
	struct insn i;
	size_t left;

	if (sweep_even(s, start, end))
		return;
	for (uint64_t at = start; at < end; at++) {
		const uint8_t *p = tnfctl_code_at(s->code, at, &left);

		if (p != NULL && tnfctl_insn_decode(p, left < INSN_MAX ? left : INSN_MAX, &i))
			sweep_look(s, at, &i);
	}
}

static bool
note_label(void *arg, const char *name, uint64_t address, bool is_resolver)
{
	struct sweep *s = arg;

	if (!code_is_executed(s->code, address))
		return true;
	tnfctl_code_mark(s->code, address);
	return code_anchor(s->code, address);
}

static bool
note_relocation(void *arg, uint64_t place, uint64_t address, bool is_resolver)
{
	struct sweep *s = arg;

	s->relocated |= code_is_executed(s->code, place);
	mark_taken(s, address);
	return true;
}

/* Collects the anchors, in order; false: no memory. */
static bool
find_anchors(struct sweep *s, struct elffile *e)
{
	struct code *c = s->code;

	for (unsigned i = 0; i < c->n; i++)
		if (c->segments[i].exec && (!code_anchor(c, c->segments[i].address) ||
		    !code_anchor(c, c->segments[i].address + c->segments[i].size)))
			return false;
	for (size_t i = 0; i < c->nframes; i++) {
		tnfctl_code_mark(c, c->frames[i].start);
		if (!code_anchor(c, c->frames[i].start) ||
		    !code_anchor(c, c->frames[i].end))
			return false;
	}
	tnf_elffile_labels(e, note_label, s);
	if (c->failed)
		return false;
	if (c->nanchors > 0)
		qsort(c->anchors, c->nanchors, sizeof *c->anchors, by_number);
	return true;
}

/* Words that are addresses of code.  They may lie at any multiple of 4. */
static void
mark_words(struct code *c, const struct code_segment *data)
{
	uint64_t lowest = UINT64_MAX, highest = 0, word;

	for (unsigned i = 0; i < c->n; i++)
		if (c->segments[i].exec) {
			const struct code_segment *x = &c->segments[i];

			lowest = x->address < lowest ? x->address : lowest;
			highest = x->address + x->size > highest ? x->address + x->size : highest;
		}
	for (uint64_t at = -data->address & 3; at + sizeof word <= data->size; at += 4) {
		memcpy(&word, data->bytes + at, sizeof word);
		if (word >= lowest && word < highest)
			tnfctl_code_mark(c, word);
	}
}

const char *
tnfctl_code_read_branches(struct code *c, struct elffile *e)
{
	struct sweep s = { .code = c, .fixed = tnf_elffile_is_fixed(e) };

	if (!find_anchors(&s, e))
		return NULL;	/* c->failed tells it */
	for (size_t i = 0; i + 1 < c->nanchors; i++)
		if (code_is_executed(c, c->anchors[i]))
			sweep_piece(&s, c->anchors[i], c->anchors[i + 1]);
	for (unsigned i = 0; i < c->n; i++)
		mark_words(c, &c->segments[i]);
	tnf_elffile_relocations(e, note_relocation, &s);
	mark_tables(&s);
	return s.relocated ? "its code is relocated" : NULL;
}

/*
 * import-words.c - derives from the operations on a tracepoint's record how much of the record
 * BPF reads at once and, if the event always has one length, the event's words.
 *
 * A word needs no call and no decision, an operation needs both.
 */
#include <string.h>

#include "kernel-probes/import-impl.h"

#define EVENT_MAX	(KP_WORDS_FROM * 2)	/* with the records that it refers to */

/* The source of each byte of an event, before the event's words are known. */
struct picture {
	uint8_t fixed[EVENT_MAX];
	uint8_t from[EVENT_MAX];	/* 0: it is fixed */
	unsigned size;
};

static bool
paint(struct picture *p, unsigned to, unsigned from, unsigned n)
{
	if (to + n > EVENT_MAX || from + n > KP_WORDS_FROM || from == 0)
		return false;
	for (unsigned i = 0; i < n; i++)
		p->from[to + i] = (uint8_t)(from + i);
	return true;
}

/* Appends a record as import_append() does. */
static bool
paint_record(struct picture *p, const struct kp_op *op, const uint32_t *tags)
{
	uint32_t head[2] = { tags[op->type], 8 + ((op->size + 3u) & ~3u) };
	uint32_t reference = p->size - op->to;

	if (op->to + sizeof reference > EVENT_MAX || p->size + sizeof head > EVENT_MAX ||
	    !paint(p, p->size + sizeof head, op->from, op->size))
		return false;
	memcpy(p->fixed + op->to, &reference, sizeof reference);
	memcpy(p->fixed + p->size, head, sizeof head);
	p->size += (sizeof head + op->size + 7) & ~7u;
	return p->size <= EVENT_MAX;
}

static bool
paint_event(struct picture *p, const struct kp_import_row *row, const uint32_t *tags)
{
	const struct kp_op *op;
	bool fits = row->size <= EVENT_MAX;

	memset(p, 0, sizeof *p);
	p->size = row->size;
	for (unsigned i = 0; fits && i < row->ops; i++) {
		op = &row->op[i];
		if (op->kind == KP_OP_COPY)
			fits = paint(p, op->to, op->from, op->size);
		else
			fits = op->kind == KP_OP_ARRAY && op->type < KP_RECORDS &&
			    paint_record(p, op, tags);
	}
	return fits;
}

/* The number of bytes that lie side by side in the record, too. */
static unsigned
run_length(const uint8_t *from, unsigned at)
{
	unsigned n = 1;

	while (at + n < 8 && from[at + n] == from[at] + n)
		n++;
	return n;
}

/* Adds the parts of the word at 'to'; returns their number, KP_WORDS_MAX + 1: too many. */
static unsigned
add_word(struct kp_word *word, unsigned n, const struct picture *p, unsigned to)
{
	const uint8_t *from = p->from + to;
	unsigned first = n;

	for (unsigned at = 0, run; at < 8; at += run) {
		run = from[at] == 0 ? 1 : run_length(from, at);
		if (from[at] == 0)
			continue;
		if (n == KP_WORDS_MAX)
			return KP_WORDS_MAX + 1;
		word[n++] = (struct kp_word){ .from = (__u8)(from[at] - at), .to = (__u16)to,
		    .below = (__u8)(8 * at), .above = (__u8)(8 * (8 - at - run)) };
	}
	if (n == KP_WORDS_MAX && n == first)
		return KP_WORDS_MAX + 1;
	if (n == first)
		word[n++] = (struct kp_word){ .to = (__u16)to, .below = 63, .above = 63 };
	for (unsigned i = first + 1; i < n; i++)
		word[i].again = 1;
	memcpy(&word[first].fixed, p->fixed + to, sizeof word[first].fixed);
	return n;
}

/* The part of the record's beginning that the operations need. */
static unsigned
needed(const struct kp_import_row *row)
{
	unsigned most = 0, end;

	for (unsigned i = 0; i < row->ops; i++) {
		end = row->op[i].from + (row->op[i].kind >= KP_OP_LOC_STRING ? 4u : row->op[i].size);
		if (row->op[i].kind != KP_OP_STRING && end <= KP_WORDS_FROM && end > most)
			most = end;
	}
	return (most + 7) / 8;
}

void
kp_import_row_words(struct kp_import_row *row, const uint32_t *tags)
{
	struct kp_word word[KP_WORDS_MAX];
	struct picture p;
	unsigned n = 0;

	_Static_assert(sizeof word <= sizeof row->op, "they fit");
	if (row->plain || row->ops == 0)
		return;
	row->read = (__u16)needed(row);
	if (!paint_event(&p, row, tags))
		return;
	for (unsigned to = 8; to < p.size && n <= KP_WORDS_MAX; to += 8)
		n = add_word(word, n, &p, to);
	if (n > KP_WORDS_MAX)
		return;
	row->whole = p.size;
	row->words = (__u16)n;
	memcpy(row->word, word, n * sizeof word[0]);
}

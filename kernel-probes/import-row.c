/*
 * import-row.c - an imported probe's definition in the buffer, for readers, and its row and
 * conditions, for the BPF programs.
 *
 * From the operations on a tracepoint's record we compute how many bytes of the record BPF reads
 * at once.  If all events of the probe have one length, we also compute the event as words of
 * 8 bytes: BPF writes a word without a call or a branch, while an operation takes both.
 */
#include "kernel-probes/handle.h"

#define EVENT_MAX	(KP_WORDS_FROM * 2)	/* with the records that it refers to */

/* For each byte of an event: the offset in the record from which it comes, or 0 and its value. */
struct picture {
	uint8_t fixed[EVENT_MAX];
	uint8_t from[EVENT_MAX];	/* 0: the value is fixed */
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

/* Returns how many bytes from 'at' on are neighbours in the record as well as in the event. */
static unsigned
run_length(const uint8_t *from, unsigned at)
{
	unsigned n = 1;

	while (at + n < 8 && from[at + n] == from[at] + n)
		n++;
	return n;
}

/* Adds the parts of the word at 'to' to the n parts; returns the number of all of them, or
   KP_WORDS_MAX + 1 if there are too many. */
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

/* Returns how many words of 8 bytes, from the record's beginning, the operations read. */
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

/* Computes a row's read, whole, words and word from its operations, before the row goes into
   the map.  'tags' are those of the buffer's records, by enum kp_record. */
static void
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

static uint32_t
hash_add(uint32_t h, const char *s)
{
	do
		h = (h ^ (unsigned char)*s) * 16777619u;
	while (*s++ != '\0');
	return h;
}

uint32_t
kp_import_type(const struct kp_import *imp)
{
	uint32_t h = hash_add(2166136261u ^ imp->row.size, imp->name);

	h = hash_add(h, imp->keys);
	h = hash_add(h, imp->attrs != NULL ? imp->attrs : "");
	for (unsigned i = 0; i < imp->members; i++)
		h = hash_add(hash_add(h, imp->member[i].type), imp->member[i].name);
	return h | 1;
}

void
kp_import_recount(struct kp *kp, const struct kp_import *imp)
{
	uint32_t slot = (uint32_t)imp->slot;
	struct kp_import_count *none;

	if (kp->counts_fd < 0 || kp->cpus < 1 ||
	    (none = calloc((size_t)kp->cpus, sizeof *none)) == NULL)
		return;
	bpf_map_update_elem(kp->counts_fd, &slot, none, BPF_ANY);
	free(none);
}

int
kp_import_define(struct kp *kp, struct kp_import *imp)
{
	char *buf;
	int r;

	if (imp->defined)
		return 0;
	if ((buf = kp_buffer_writable(kp)) == NULL)
		return -ENOMEM;
	r = kp_defs_add(kp, buf, imp);
	if (r == -ENOSPC)
		return kp_fail(kp, r, "%s: the buffer has no room for more definitions: "
		    "make a larger one", imp->name);
	if (r < 0)
		return r;
	imp->defined = kp_import_type(imp);
	return kp_asked_put(kp, imp);
}

int
kp_import_row_put(struct kp *kp, const struct kp_import *imp, bool on)
{
	struct kp_import_row row = imp->row;
	uint32_t slot = (uint32_t)imp->slot, tags[KP_RECORDS];
	int r;

	row.on = !on ? KP_ROW_OFF : imp->freezes ? KP_ROW_FREEZES : KP_ROW_ON;
	for (unsigned i = 0; i < KP_RECORDS; i++)
		tags[i] = kp->state->record_tag[i];
	kp_import_row_words(&row, tags);
	r = bpf_map_update_elem(kp->rows_fd, &slot, &row, BPF_ANY);
	return r < 0 ? kp_refused(kp, r, KP_PIN_ROWS) : 0;
}

void
kp_import_row_off(struct kp *kp, const struct kp_import *imp)
{
	uint32_t slot = (uint32_t)imp->slot;
	struct kp_import_row row;

	if (bpf_map_lookup_elem(kp->rows_fd, &slot, &row) != 0)
		return;
	row.on = KP_ROW_OFF;
	bpf_map_update_elem(kp->rows_fd, &slot, &row, BPF_EXIST);
}

/* The events in a window of time at 'rate' a second, 1 at least. */
static uint32_t
per_window(uint32_t rate)
{
	uint64_t n = ((uint64_t)rate << KP_WINDOW_SHIFT) / 1000000000u;

	return rate == 0 ? 0 : n == 0 ? 1 : (uint32_t)n;
}

static int
compile(struct kp *kp, const struct kp_import *imp, const char *text, struct kp_where *ret)
{
	const struct kp_where_of of = { imp->name, imp->member, imp->members, kp->detail, sizeof kp->detail };

	return kp_where_compile(&of, text, ret);
}

int
kp_import_row_where(struct kp *kp, struct kp_import *imp)
{
	uint32_t slot = (uint32_t)imp->slot;
	struct kp_where w;
	int r;

	imp->row.where = 0;
	if (imp->where == NULL) {
		bpf_map_delete_elem(kp->where_fd, &slot);
		return 0;
	}
	if ((r = compile(kp, imp, imp->where, &w)) < 0)
		return r;
	r = bpf_map_update_elem(kp->where_fd, &slot, &w, BPF_ANY);
	if (r < 0)
		return kp_refused(kp, r, KP_PIN_WHERE);
	imp->row.where = w.n;
	return 0;
}

void
kp_import_row_prepare(struct kp *kp, struct kp_import *imp)
{
	imp->row.slot = (uint32_t)imp->slot;
	imp->row.id = KP_IMPORT_ID((uint32_t)imp->slot);
	imp->row.rate = per_window(kp->state->import_rate);
}

int
kp_import_row_renew(struct kp *kp, struct kp_import *imp)
{
	int r;

	kp_import_row_prepare(kp, imp);
	r = kp_import_row_where(kp, imp);
	return r < 0 ? r : kp_import_row_put(kp, imp, true);
}

KP_EXPORT int
kp_probe_where(struct kp *kp, unsigned id, const char *text)
{
	struct kp_import *imp = kp_import_of(kp, id);
	struct kp_where w;
	char *copy = NULL;
	int r;

	if (text != NULL && *text == '\0')
		text = NULL;
	if (imp == NULL)
		return kp_row_where(kp, id, text);
	if (text == NULL && imp->where == NULL)
		return 0;
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_import_describe(kp, imp)) < 0 ||
	    (text != NULL && (r = compile(kp, imp, text, &w)) < 0))
		return r;
	if (text != NULL && (strlen(text) >= sizeof ((struct kp_asked *)0)->where ||
	    strpbrk(text, "';") != NULL))
		return kp_fail(kp, -EINVAL, "where: at most 255 characters, and none of ' and ;");
	if (text != NULL && (copy = strdup(text)) == NULL)
		return kp_fail(kp, -ENOMEM, "where: not enough memory");
	free(imp->where);
	imp->where = copy;
	if ((r = kp_state_make(kp)) < 0 || (r = kp_asked_save(kp, imp)) < 0)
		return r;
	if (!imp->attached)
		return 0;
	return kp_import_row_renew(kp, imp);
}

KP_EXPORT int
kp_probe_freezes(struct kp *kp, unsigned id, bool freezes)
{
	struct kp_import *imp = kp_import_of(kp, id);
	int r;

	if (imp == NULL)
		return kp_row_freezes(kp, id, freezes);
	if (imp->freezes == freezes)
		return 0;
	if ((r = kp_state_usable(kp)) < 0 || (r = kp_state_make(kp)) < 0)
		return r;
	imp->freezes = freezes;
	if ((r = kp_asked_save(kp, imp)) < 0)
		return r;
	return imp->attached ? kp_import_row_put(kp, imp, true) : 0;
}

int
kp_imports_rerate(struct kp *kp)
{
	struct kp_import *imp;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < kp->imports; i++) {
		imp = kp->import[i];
		if (!imp->attached || kp_import_describe(kp, imp) < 0)
			continue;
		r = kp_import_row_renew(kp, imp);
	}
	return r;
}

/*
 * tnf-event.c - writes events of a TNF file, and the records that they refer to.
 *
 * An event is in one block with the schedule record of its thread.  Its strings and records
 * follow it, in further blocks if needed.  References are distances and lead forward.  Only
 * a reference of a record to itself, or to a record before it, is a permanent one: an
 * offset in the file.
 */
#include "tnfdump/to/tnf-write.h"

#define NESTED_MAX 64		/* records of one event */
#define PIECE	 232u		/* bytes of a text or blob that lie together, a NUL included */
#define CELLS_MAX 118u		/* references to pieces in an array */

struct tnfw_probe {
	uint32_t word;		/* directory word: its offset in the file */
	uint32_t size;		/* of the event's record */
	unsigned n;
	struct slot {
		uint32_t offset;
		uint32_t size;
	} slots[];
};

/* One event while it is written: its blocks, and the input's records placed in them. */
struct job {
	struct tnf_writer *w;
	const struct tnf_file *file;
	bool		   full;
	bool		   fresh;	/* the event begins a block and may take more */
	unsigned	   n_blocks;
	struct tnfw_block *blocks[TNFW_CHAIN_MAX];
	unsigned	   n_placed;
	struct { uint32_t pos, at; } placed[NESTED_MAX];	/* file offsets */
};

static struct tnfw_probe too_large;

static void
tnf_event_put32(char *to, uint32_t v)
{
	memcpy(to, &v, 4);
}

static struct tnfw_probe *
make_probe(struct tnf_writer *w, const struct tnf_probe *p)
{
	uint32_t at = 0, offset;

	if (w->n_directory == TNFW_WORDS)
		return NULL;
	int def = tnfw_probe_def(w, p);
	offset = tnfw_place(w, def);
	if (w->too_large)
		return &too_large;
	if (offset == 0)
		return NULL;
	const struct tnfw_def *d = &w->defs[def];
	struct tnfw_probe *r = tnf_xcalloc(1, sizeof(*r) + d->n_slots * sizeof(r->slots[0]));
	r->n = d->n_slots - 2;
	r->size = d->size;
	for (unsigned i = 0; i < d->n_slots; i++) {
		at = tnfw_round(at, tnfw_slot_align(w, d->slots[i]));
		if (i >= 2) {
			r->slots[i - 2].offset = at;
			r->slots[i - 2].size = tnfw_slot_size(w, d->slots[i]);
		}
		at += tnfw_slot_size(w, d->slots[i]);
	}
	r->word = TNFW_BLOCK + 4 * w->n_directory;
	w->directory[w->n_directory++] = TNF_REF32_PERMANENT | offset;
	return r;
}

void
tnfw_free_probes(struct tnf_writer *w)
{
	struct tnfw_probe **p = (struct tnfw_probe **)(void *)w->probes.base;

	for (size_t i = 0; i < w->probes.n; i++)
		if (p[i] != &too_large)
			free(p[i]);
	free(p);
}

static void
tnf_event_put_scalar(char *to, uint32_t size, const struct tnf_value *v)
{
	float f = v->kind == TNF_K_FLOAT32 ? (float)v->u.d : 0;

	if (size == 1)
		*to = (char)v->u.u;
	else if (size == 2)
		memcpy(to, &(uint16_t){ (uint16_t)v->u.u }, 2);
	else if (size == 4 && v->kind == TNF_K_FLOAT32)
		memcpy(to, &f, 4);
	else if (size == 4)
		tnf_event_put32(to, (uint32_t)v->u.u);
	else if (size == 8)
		memcpy(to, &v->u.u, 8);
}

static uint32_t
tag_word(struct tnf_writer *w, int def)
{
	return tnf_define_tag_of(tnfw_place(w, def) | TNF_REF32_PERMANENT);
}

static void tnf_event_put_value(struct job *, char *cell, uint32_t size,
    const struct tnf_value *);

/* Gives room after what the event has already.  NULL: the event is tried again at the start
   of a block; if it is there already, it is too large. */
static char *
nested_room(struct job *j, uint32_t size)
{
	struct tnfw_block *b = j->blocks[j->n_blocks - 1];
	char *p = size > TNFW_BLOCK ? NULL : tnfw_room(b, size);

	if (p != NULL)
		return p;
	j->full = true;
	if (!j->fresh || j->n_blocks == TNFW_CHAIN_MAX ||
	    size > TNFW_BLOCK - sizeof(struct tnf_block_header))
		return NULL;
	b = tnf_xcalloc(1, sizeof(*b));
	if (!tnfw_begin_block(j->w, b, TNFW_FILE_LIMIT)) {
		free(b);
		return NULL;
	}
	j->full = false;
	j->blocks[j->n_blocks++] = b;
	return tnfw_room(b, size);
}

/* The file offset of a place in one of the event's blocks. */
static uint32_t
tnf_event_place_of(const struct job *j, const char *p)
{
	unsigned i = j->n_blocks;

	while (--i > 0)
		if (p >= j->blocks[i]->bytes &&
		    p < j->blocks[i]->bytes + TNFW_BLOCK)
			break;
	return j->blocks[i]->offset + (uint32_t)(p - j->blocks[i]->bytes);
}

/* Stores a reference to the record at 'to', an offset in the file. */
static void
tnf_event_put_reference(struct job *j, char *cell, uint32_t to)
{
	uint32_t from = tnf_event_place_of(j, cell);

	if (to > from)
		tnf_event_put32(cell, to - from);
	else if (to < TNFW_REACH)
		tnf_event_put32(cell, to | TNF_REF32_PERMANENT);
	else
		j->w->unreachable++;
}

/* Writes a string, or a piece of a long text or blob; returns its place, or 0. */
static uint32_t
put_piece(struct job *j, const struct tnf_value *v, size_t from, uint32_t len)
{
	uint32_t size = tnfw_round(8 + len + !v->type->blob, 4), padding = size - 8 - len;
	bool cut = v->cut && len == TNF_STRING_MAX && !v->type->text && !v->type->blob;
	char *p = nested_room(j, size + 4 * cut);

	if (p == NULL)
		return 0;
	tnf_event_put32(p, tag_word(j->w, !v->type->blob ? TNF_CORE_string :
	    padding > 0 ? TNF_CORE_padded_bytes : TNF_CORE_bytes));
	tnf_event_put32(p + 4, size + 4 * cut);
	if (cut)
		tnf_event_put32(p + size, TNF_STRING_CUT);
	memcpy(p + 8, v->u.s.chars + from, len);
	if (v->type->blob && padding > 0)
		p[size - 1] = (char)padding;
	return tnf_event_place_of(j, p);
}

/* Writes an array of pieces.  If there are too many, the last element refers to a further
   array.  If the value had been cut, a null element follows the last piece. */
static uint32_t
put_long(struct job *j, const struct tnf_value *v, size_t from)
{
	uint32_t def = (uint32_t)tnfw_type(j->w, v->type), at, to, n, i, len;
	uint32_t piece = PIECE - !v->type->blob;
	size_t left = v->u.s.len - from;
	char *p;

	n = (uint32_t)((left + piece - 1) / piece) + v->cut;
	if (n > CELLS_MAX)
		n = CELLS_MAX;
	if ((p = nested_room(j, 8 + 4 * n)) == NULL)
		return 0;
	at = tnf_event_place_of(j, p);
	tnf_event_put32(p, tag_word(j->w, (int)def));
	tnf_event_put32(p + 4, 8 + 4 * n);
	for (i = 0; i < n && left > 0; i++, left -= len, from += len) {
		len = left < piece ? (uint32_t)left : piece;
		if (i == n - 1 && n == CELLS_MAX && (left > len || v->cut)) {
			to = put_long(j, v, from);
			left = len = 0;
		} else
			to = put_piece(j, v, from, len);
		if (to == 0)
			return 0;
		tnf_event_put_reference(j, p + 8 + 4 * i, to);
	}
	return at;
}

/* The number of items to write.  A type that is malformed or nested too deep has a general
   definition, which does not describe the value: none are written. */
static unsigned
items_that_fit(const struct tnf_value *v, const struct tnfw_def *d)
{
	unsigned room = d->n_slots > 0 ? d->n_slots - 1 : 0;

	if (v->kind == TNF_K_ARRAY)
		return d->base == TNF_CORE_type_none ? 0 : v->u.r.count;
	return v->u.r.count < room ? v->u.r.count : room;
}

/* Arrays of bytes may be texts, and those of words a program's memory: --redact leaves zeros. */
static bool
is_secret(const struct job *j, const struct tnf_value *v, int element)
{
	return j->w->redacted != NULL && v->kind == TNF_K_ARRAY &&
	    (tnfw_slot_size(j->w, element) == 1 ||
	    strcmp(v->u.r.type->name, "tnf_uint64_array") == 0);
}

static void
put_items(struct job *j, const struct tnf_value *v, char *p,
    const struct tnfw_def *d)
{
	uint32_t at = v->kind == TNF_K_ARRAY ? 8 : 4, size;
	struct tnf_value item;

	/* The definitions may move while a new type is met below. */
	const int *slots = d->slots;
	int element = d->base;
	unsigned n = items_that_fit(v, d);
	bool secret = is_secret(j, v, element);

	for (unsigned i = 0; i < n && !j->full; i++) {
		int def = v->kind == TNF_K_ARRAY ? element : slots[i + 1];
		size = tnfw_slot_size(j->w, def);
		at = tnfw_round(at, tnfw_slot_align(j->w, def));
		if (!secret && tnf_value_item(j->file, v, i, &item))
			tnf_event_put_value(j, p + at, size, &item);
		at += size;
	}
}

/* Writes a record once, even if several references lead to it; returns its place, or 0. */
static uint32_t
tnf_event_put_record(struct job *j, const struct tnf_value *v)
{
	int def = tnfw_type(j->w, v->u.r.type);
	const struct tnfw_def *d = &j->w->defs[def];
	uint64_t size = d->size < 4 ? 4 : d->size;

	for (unsigned i = 0; i < j->n_placed; i++)
		if (j->placed[i].pos == v->u.r.pos)
			return j->placed[i].at;
	if (v->kind == TNF_K_ARRAY)
		size = 8 + (uint64_t)v->u.r.count *
		    (d->base == TNF_CORE_type_none ? 0 : tnfw_slot_size(j->w, d->base));
	if (size > TNFW_BLOCK || j->n_placed == NESTED_MAX) {
		j->full = true;
		return 0;
	}
	char *p = nested_room(j, (uint32_t)size);
	if (p == NULL)
		return 0;
	uint32_t at = tnf_event_place_of(j, p);
	j->placed[j->n_placed].pos = v->u.r.pos;
	j->placed[j->n_placed++].at = at;
	tnf_event_put32(p, tag_word(j->w, def));
	if (v->kind == TNF_K_ARRAY)
		tnf_event_put32(p + 4, (uint32_t)size);
	put_items(j, v, p, &j->w->defs[def]);
	return at;
}

static void
tnf_event_put_value(struct job *j, char *cell, uint32_t size, const struct tnf_value *v)
{
	struct tnf_value secret;
	uint32_t to;

	if (v->null)
		return;
	switch (v->kind) {
	case TNF_K_STRING:
		if (j->w->redacted != NULL) {
			secret = *v;
			secret.cut = false;
			secret.u.s.chars = redact_text(j->w->redacted, v->u.s.chars, v->u.s.len);
			secret.u.s.len = strlen(secret.u.s.chars);
			v = &secret;
		}
		if (v->type->text || v->type->blob)
			to = put_long(j, v, 0);
		else if (v->u.s.len <= TNFW_BLOCK)
			to = put_piece(j, v, 0, (uint32_t)v->u.s.len);
		else {
			j->full = true;
			return;
		}
		break;
	case TNF_K_STRUCT:
	case TNF_K_ARRAY:
		to = tnf_event_put_record(j, v);
		break;
	case TNF_K_TYPE:
		tnf_event_put32(cell, TNF_REF32_PERMANENT |
		    tnfw_place(j->w, tnfw_type(j->w, v->u.r.type)));
		return;
	default:
		tnf_event_put_scalar(cell, size, v);
		return;
	}
	if (to != 0)
		tnf_event_put_reference(j, cell, to);
}

static struct tnfw_schedule *
schedule_slot(struct tnf_writer *w, const struct tnf_event *ev)
{
	uint64_t h = (ev->tid ^ ((uint64_t)ev->lwpid << 20) ^
	    ((uint64_t)(uint32_t)ev->pid << 40) ^ (uint32_t)ev->cpu);

	h *= 0x9e3779b97f4a7c15u;
	return &w->schedules[h >> 56];
}

static bool
put_schedule(struct tnf_writer *w, const struct tnf_event *ev, uint32_t *pos)
{
	struct tnf_kernel_schedule k = { .tid = ev->tid, .lwpid = ev->lwpid,
		.pid = ev->pid, .time_base = ev->time, .cpuid = ev->cpu };
	struct tnf_sched_rec u = { .tid = (uint32_t)ev->tid,
		.lwpid = ev->lwpid, .pid = ev->pid, .time_base = ev->time, .cpuid = ev->cpu };
	uint32_t size = ev->kernel ? sizeof(k) : sizeof(u);

	k.tag = u.tag = tag_word(w, ev->kernel ? TNF_CORE_kernel_schedule :
	    TNF_CORE_sched_rec);
	char *p = tnfw_room(w->data, size);
	if (p == NULL)
		return false;
	memcpy(p, ev->kernel ? (const void *)&k : (const void *)&u, size);
	*pos = (uint32_t)(p - w->data->bytes);
	return true;
}

/* Finds or writes the thread's schedule record in this block; NULL: the block is full. */
static const struct tnfw_schedule *
find_schedule(struct tnf_writer *w, const struct tnf_event *ev)
{
	struct tnfw_schedule *s = schedule_slot(w, ev);
	uint32_t pos;

	if (s->block == w->data->offset && s->kernel == ev->kernel && s->pid == ev->pid &&
	    s->lwpid == ev->lwpid && s->tid == ev->tid && s->cpu == ev->cpu &&
	    ev->time >= s->base && (uint64_t)ev->time - (uint64_t)s->base <= UINT32_MAX)
		return s;
	if (!put_schedule(w, ev, &pos))
		return NULL;
	*s = (struct tnfw_schedule){ .block = w->data->offset, .pos = pos, .kernel = ev->kernel,
		.pid = ev->pid, .cpu = ev->cpu, .lwpid = ev->lwpid, .tid = ev->tid,
		.base = ev->time };
	return s;
}

/* Writes the event's record; the records that it refers to go into the job's blocks. */
static bool
put_event(struct job *j, const struct tnfw_probe *probe,
    const struct tnf_event *ev)
{
	struct tnf_writer *w = j->w;
	struct tnf_value v;
	const struct tnfw_schedule *s = find_schedule(w, ev);
	uint32_t at;

	if (s == NULL)
		return false;
	char *p = tnfw_room(w->data, probe->size);
	if (p == NULL)
		return false;
	at = (uint32_t)(p - w->data->bytes);
	tnf_event_put32(p, (probe->word | TNF_TAG16_ABS) << 16 |
	    ((s->pos - at) & 0xfffc) | TNF_REF32_T_PAIR);
	tnf_event_put32(p + 4, (uint32_t)(ev->time - s->base));
	for (unsigned i = 0; i < probe->n && !j->full; i++) {
		if (tnf_event_value(ev, i, &v))
			tnf_event_put_value(j, p + probe->slots[i].offset,
			    probe->slots[i].size, &v);
	}
	return !j->full && !w->too_large;
}

/* Makes the last of the event's blocks the current one. */
static void
keep_blocks(struct job *j)
{
	unsigned i;

	for (i = 0; i + 1 < j->n_blocks; i++) {
		tnfw_write_data(j->w, j->blocks[i]);
		free(j->blocks[i]);
	}
	j->w->data = j->blocks[i];
}

/* Clears the remains of a failed try, which are no records.  If definitions were placed
   after the event's blocks during that try, the blocks stay in the file, unused. */
static void
tnf_event_undo(struct job *j, uint32_t used)
{
	struct tnfw_block *b = j->w->data;

	while (j->n_blocks > 1)
		free(j->blocks[--j->n_blocks]);
	if (b->offset != 0) {
		memset(b->bytes + used, 0, b->used - used);
		b->used = used;
	}
	memset(j->w->schedules, 0, sizeof(j->w->schedules));
}

int
tnfw_event(struct tnf_writer *w, const struct tnf_event *ev)
{
	uint64_t unreachable = w->unreachable;

	w->too_large = false;
	struct tnfw_probe **known = perprobe(&w->probes, ev->probe, sizeof(*known));
	if (*known == NULL)
		*known = make_probe(w, ev->probe);
	const struct tnfw_probe *probe = *known;
	if (probe == NULL)
		return w->error != 0 ? w->error : ENOSPC;
	for (int tries = 0; tries < 2 && probe != &too_large; tries++) {
		struct job j = { .w = w, .file = ev->file, .fresh = tries == 1,
		    .n_blocks = 1, .blocks = { w->data } };

		uint32_t used = w->data->used;
		if (put_event(&j, probe, ev)) {
			keep_blocks(&j);
			return w->error;
		}
		tnf_event_undo(&j, used);
		w->unreachable = unreachable;
		if (tries == 0 && tnfw_new_data_block(w) != 0)
			return w->error;
	}
	return w->error != 0 ? w->error : E2BIG;
}

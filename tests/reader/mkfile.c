/*
 * mkfile.c - makes trace files of any byte order and word size: data.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reader/mkfile-impl.h"

#define SCHED_REACH	32000

static uint32_t
up(uint32_t v, uint32_t align)
{
	return (v + align - 1) & ~(align - 1);
}

void
mk_put(struct mk *m, uint32_t pos, uint64_t v, unsigned size)
{
	unsigned i;

	for (i = 0; i < size; i++)
		m->p[pos + (m->o.big ? size - 1 - i : i)] =
		    (unsigned char)(v >> 8 * i);
}

void
mk_put32(struct mk *m, uint32_t pos, uint32_t v)
{
	mk_put(m, pos, v, 4);
}

void
mk_put16(struct mk *m, uint32_t pos, uint16_t v)
{
	mk_put(m, pos, v, 2);
}

uint32_t
mk_get32(struct mk *m, uint32_t pos)
{
	uint32_t v;

	memcpy(&v, m->p + pos, sizeof v);
	if (m->o.big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		v = __builtin_bswap32(v);
	return v;
}

void
mk_block_header(struct mk *m, uint32_t off, uint32_t generation)
{
	memset(m->p + off, 0, m->o.block_size);
	mk_put32(m, off, 0x80000000 | (m->o.block_size + 4) | 2);
	mk_put32(m, off + 4, generation);
	mk_put16(m, off + 8, (uint16_t)m->header_size);
}

static uint32_t
used(struct mk *m, uint32_t block)
{
	return m->used[block / m->o.block_size];
}

static void
set_used(struct mk *m, uint32_t block, uint32_t v)
{
	m->used[block / m->o.block_size] = (uint16_t)v;
	mk_put16(m, block + 8, (uint16_t)v);
}

uint32_t
mk_take_block(struct mk *m)
{
	uint32_t off;

	do {
		if (m->next_block == m->o.data_blocks) {
			if (!m->o.wrap)
				return 0;
			m->next_block = 0;
			m->generation++;
		}
		off = m->data_start + m->next_block++ * m->o.block_size;
	} while (mk_get32(m, off + 4) == 0xffffffff ||
	    (m->o.hold && m->held[off / m->o.block_size]));
	mk_block_header(m, off, m->generation);
	set_used(m, off, m->header_size);
	return off;
}

/* n bytes in the thread's block; 0: full. */
static uint32_t
alloc(struct mk *m, struct mk_thread *t, uint32_t n)
{
	uint32_t at;

	n = up(n, 8);
	if (t->block == 0 || used(m, t->block) + n > m->o.block_size)
		return 0;
	at = t->block + used(m, t->block);
	set_used(m, t->block, used(m, t->block) + n);
	return at;
}

static uint32_t
relative(uint32_t from, uint32_t to)
{
	return (to - from) & 0x7ffffffc;
}

static void
put_string(struct mk *m, struct mk_thread *t, uint32_t cell, const char *s)
{
	uint32_t size = s == NULL ? 0 : up(8 + (uint32_t)strlen(s) + 1, 4), at;

	if (s == NULL || (at = alloc(m, t, size)) == 0)
		return;
	mk_put32(m, at, 0x80000002 | m->string_type);
	mk_put32(m, at + 4, size);
	memcpy(m->p + at + 8, s, strlen(s));
	mk_put32(m, cell, relative(cell, at));
}

static void
put_double(struct mk *m, uint32_t pos, double d, unsigned size)
{
	float f = (float)d;
	uint32_t v32;
	uint64_t v64;

	memcpy(&v32, &f, sizeof v32);
	memcpy(&v64, &d, sizeof v64);
	mk_put(m, pos, size == 4 ? v32 : v64, size);
}

static void
put_values(struct mk *m, struct mk_thread *t, const struct mk_type *type,
    unsigned first, uint32_t pos, va_list *ap)
{
	const struct mk_slot *s;
	unsigned i;
	int64_t v;

	for (i = first; i < type->n; i++) {
		s = &type->slots[i];
		if (s->how == 's') {
			put_string(m, t, pos + s->offset,
			    va_arg(*ap, const char *));
			continue;
		}
		if (s->how == 'f') {
			put_double(m, pos + s->offset, va_arg(*ap, double),
			    s->size);
			continue;
		}
		v = va_arg(*ap, int64_t);
		if (s->how == 'r' && v != 0)
			v = relative(pos + s->offset, (uint32_t)v);
		mk_put(m, pos + s->offset, (uint64_t)v, s->size);
	}
}

static uint32_t
strings_size(const struct mk_type *type, va_list *ap)
{
	uint32_t n = 0;
	const char *s;
	unsigned i;

	for (i = 2; i < type->n; i++)
		if (type->slots[i].how == 'f')
			(void)va_arg(*ap, double);
		else if (type->slots[i].how != 's')
			(void)va_arg(*ap, int64_t);
		else if ((s = va_arg(*ap, const char *)) != NULL)
			n += up(8 + (uint32_t)strlen(s) + 1, 8);
	return n;
}

static void
put_sched(struct mk *m, struct mk_thread *t, int64_t time)
{
	const struct mk_type *type = m->sched_type;
	uint32_t at = alloc(m, t, type->size);

	mk_put32(m, at, 0x80000002 | type->pos);
	mk_put(m, at + type->slots[1].offset, t->tid, type->slots[1].size);
	mk_put(m, at + type->slots[2].offset, t->lwpid, 4);
	mk_put(m, at + type->slots[3].offset, (uint32_t)t->pid, 4);
	mk_put(m, at + type->slots[4].offset, (uint64_t)time, 8);
	if (m->o.kernel)
		mk_put(m, at + type->slots[5].offset, (uint32_t)t->cpu, 4);
	t->sched = at;
	t->base = time;
}

bool
mk_event(struct mk *m, struct mk_thread *t, unsigned probe, int64_t time, ...)
{
	const struct mk_type *type = m->probes[probe].type;
	uint32_t need, strings, at, word;
	bool fresh;
	va_list ap;

	va_start(ap, time);
	strings = strings_size(type, &ap);
	va_end(ap);
	need = up(type->size + 4, 8) + 40 + strings;
	if (need + m->header_size > m->o.block_size)
		return false;
	if (t->block == 0 || used(m, t->block) + need > m->o.block_size) {
		if ((at = mk_take_block(m)) == 0)
			return false;
		m->held[t->block / m->o.block_size] = false;
		m->held[at / m->o.block_size] = true;
		t->block = at;
		t->sched = 0;
	}
	fresh = t->sched == 0 || time < t->base ||
	    time - t->base > UINT32_MAX ||
	    t->block + used(m, t->block) - t->sched > SCHED_REACH;
	at = alloc(m, t, type->size + (fresh ? 4 : 0));
	if (fresh) {
		put_sched(m, t, time);
		word = at + up(type->size, 4);
		mk_put32(m, word, relative(word, t->sched));
	} else
		word = t->sched;
	mk_put32(m, at, (m->probes[probe].word | 1) << 16 |
	    ((word - at) & 0xfffc) | 1);
	mk_put32(m, at + 4, (uint32_t)(time - t->base));
	va_start(ap, time);
	put_values(m, t, type, 2, at, &ap);
	va_end(ap);
	m->last_event = at;
	return true;
}

uint32_t
mk_record(struct mk *m, struct mk_thread *t, const char *name, ...)
{
	const struct mk_type *type = mk_find(m, name);
	uint32_t at = alloc(m, t, type->size);
	va_list ap;

	if (at == 0)
		return 0;
	mk_put32(m, at, 0x80000002 | type->pos);
	va_start(ap, name);
	put_values(m, t, type, 1, at, &ap);
	va_end(ap);
	return at;
}

unsigned char *
mk_bytes(struct mk *m, size_t *size)
{
	*size = m->size;
	return m->p;
}

bool
mk_save(struct mk *m, const char *path)
{
	FILE *f = fopen(path, "wb");
	bool ok;

	if (f == NULL)
		return false;
	ok = fwrite(m->p, 1, m->size, f) == m->size;
	return fclose(f) == 0 && ok;
}

uint32_t
mk_data_start(struct mk *m)
{
	return m->data_start;
}

uint32_t
mk_last_event(struct mk *m)
{
	return m->last_event;
}

void
mk_free(struct mk *m)
{
	unsigned i;

	for (i = 0; i < m->n_types; i++)
		free(m->types[i].slots);
	free(m->used);
	free(m->held);
	free(m->p);
	free(m);
}

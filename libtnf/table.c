/*
 * table.c - the types of a file by the offset of their records, and the memory that they take.
 */
#include <stdlib.h>
#include <string.h>

#include "libtnf/table.h"
#include "libtnf/type.h"

static uint32_t
slot_for(const struct type_table *t, uint32_t pos)
{
	uint32_t i = (pos >> 2) * 0x9e3779b1u;

	for (i &= t->hash_size - 1; t->hash[i] != NULL;
	    i = (i + 1) & (t->hash_size - 1))
		if (t->hash[i]->pos == pos)
			break;
	return i;
}

struct type *
tnf_table_find(const struct type_table *t, uint32_t pos)
{
	return t->hash_size == 0 ? NULL : t->hash[slot_for(t, pos)];
}

static int
table_grow(struct type_table *t)
{
	uint32_t room = t->room == 0 ? 128 : 2 * t->room, i;
	struct type **list, **hash;

	if ((hash = calloc(2 * (size_t)room, sizeof *hash)) == NULL)
		return -1;
	if ((list = realloc(t->list, room * sizeof *list)) == NULL) {
		free(hash);
		return -1;
	}
	free(t->hash);
	t->hash = hash;
	t->hash_size = 2 * room;
	t->list = list;
	t->room = room;
	for (i = 0; i < t->n; i++)
		t->hash[slot_for(t, list[i]->pos)] = list[i];
	return 0;
}

int
tnf_table_add(struct type_table *t, struct type *type)
{
	if (t->n == TABLE_TYPES_MAX || (t->n == t->room && table_grow(t) != 0))
		return -1;
	type->index = t->n;
	t->list[t->n++] = type;
	t->hash[slot_for(t, type->pos)] = type;
	return 0;
}

struct type_table *
tnf_type_table_new(void)
{
	return calloc(1, sizeof(struct type_table));
}

void
tnf_type_table_free(struct type_table *t)
{
	if (t == NULL)
		return;
	free(t->list);
	free(t->hash);
	free(t);
}

#define CHUNK	((size_t)16 << 10)
#define ALIGN	((size_t)16)

struct arena_chunk {
	struct arena_chunk *next;
	uint64_t	    pad;
};

static int
arena_grow(struct arena *a, size_t n)
{
	struct arena_chunk *c;
	size_t size = n > CHUNK ? n : CHUNK;

	if ((c = calloc(1, sizeof *c + size)) == NULL)
		return -1;
	c->next = a->chunks;
	a->chunks = c;
	a->next = (unsigned char *)(c + 1);
	a->left = size;
	return 0;
}

void *
tnf_arena_zalloc(struct arena *a, size_t n)
{
	n = (n + ALIGN - 1) & ~(ALIGN - 1);
	if (n == 0)
		n = ALIGN;
	if (a->limit != 0 && n > a->limit - a->used)
		return NULL;
	if (n > a->left && arena_grow(a, n) != 0)
		return NULL;
	void *p = a->next;
	a->next += n;
	a->left -= n;
	a->used += n;
	return p;
}

char *
tnf_arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p;

	if ((p = tnf_arena_zalloc(a, n + 1)) != NULL)
		memcpy(p, s, n);
	return p;
}

void
tnf_arena_free(struct arena *a)
{
	struct arena_chunk *c, *next;

	for (c = a->chunks; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	memset(a, 0, sizeof *a);
}

/*
 * table.h - the types of a file, by the offset of their records.
 */
#ifndef LIBTNF_TABLE_H
#define LIBTNF_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <tnf/com.h>

#define TABLE_TYPES_MAX	(1u << 20)	/* a data handle has 20 bits for it */
#define TABLE_TAGS	64u

struct type;

struct type_table {
	struct type	**list;		/* by index */
	uint32_t	 n;
	uint32_t	 room;
	struct type	**hash;		/* by offset; a power of two */
	uint32_t	 hash_size;
	struct type	*queue;		/* to be filled */

	/* Short cuts: permanent tag words, and directory words of events. */
	struct { uint32_t word; struct type *type; } tags[TABLE_TAGS];
	struct type	*directory[TNF_DIRECTORY_NAMED / 4];
};

/* By its tag word alone; NULL: not met before, or the word depends on where it
   stands. */
static inline struct type *
table_known(const struct type_table *t, uint32_t word)
{
	unsigned i = (word >> 3) % TABLE_TAGS;

	/* An event whose probe is named by a directory word. */
	if ((word & 0x30003) == 0x10001)
		return t->directory[word >> 18];
	/* A permanent tag; the type record it leads to does not move. */
	if ((word & 0x80000003) == 0x80000002 && t->tags[i].word == word)
		return t->tags[i].type;
	return NULL;
}

static inline void
table_learn(struct type_table *t, uint32_t word, struct type *type)
{
	unsigned i = (word >> 3) % TABLE_TAGS;

	if ((word & 0x30003) == 0x10001)
		t->directory[word >> 18] = type;
	else if ((word & 0x80000003) == 0x80000002) {
		t->tags[i].word = word;
		t->tags[i].type = type;
	}
}

static inline struct type *
table_at(const struct type_table *t, uint32_t index)
{
	return index < t->n ? t->list[index] : NULL;
}

struct type *tnf_table_find(const struct type_table *, uint32_t pos);
int	     tnf_table_add(struct type_table *, struct type *); /* sets index */

/*
 * A file's types may refer to each other in ways that would make them larger
 * in memory than any file; the limit, taken from the file's size, ends that.
 */
struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	unsigned char	*next;
	size_t		 left;
	uint64_t	 used;
	uint64_t	 limit;		/* 0: none */
};

void	*tnf_arena_zalloc(struct arena *, size_t);	/* NULL: no memory, or limit */
char	*tnf_arena_strndup(struct arena *, const char *, size_t);
void	 tnf_arena_free(struct arena *);

#endif /* LIBTNF_TABLE_H */

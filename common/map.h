/*
 * map.h - a growing hash map from keys to values, both bytes of the caller's; and arrays
 * that grow and are sorted.
 *
 * The hash is keyed with random bits, so that no trace can be made whose keys
 * all meet in one place.  A value stays where it is until it is removed or the
 * map is freed, however the map grows.  Not for several threads at once.
 *
 * Two others are left, where a hit must cost a few nanoseconds and a value is one
 * word: the types of a file by offset (libtnf/file.c, asked while events are decoded)
 * and the words of a buffer that may be addresses (tnfxtract/snapshot.c, on the way of
 * a copy).
 */
#ifndef COMMON_MAP_H
#define COMMON_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct map_entry;

struct map {
	struct map_entry **slot;	/* a power of two of them; NULL: empty */
	size_t	 n_slots;
	size_t	 n;			/* keys */
	size_t	 value_size;
	uint64_t secret[2];
};

/* Nothing is allocated before the first key.  Values have 'value_size' bytes,
   aligned for everything, zero at first.  With 0 the map is a set; a struct map
   of zeros is one. */
void tnf_map_init(struct map *, size_t value_size);
void tnf_map_free(struct map *);	/* empty again, and still usable */

/* The value, or NULL: no such key. */
void *tnf_map_get(const struct map *, const void *key, size_t key_size);

/* The key's value, which is made if it is not there; NULL: out of memory, and nothing has
   changed.  *fresh (may be NULL) tells whether it was made.  The key is copied. */
void *tnf_map_put(struct map *, const void *key, size_t key_size, bool *fresh);

/* The key of a value that tnf_map_get(), tnf_map_put() or tnf_map_next() returned; the map's. */
const void *tnf_map_key(const struct map *, const void *value);

/* false: no such key. */
bool tnf_map_remove(struct map *, const void *key, size_t key_size);

/* Every value once, in no order: size_t at = 0; while ((v = tnf_map_next(m, &at,
   &key, &key_size)) != NULL).  'key' and 'key_size' may be NULL.  No key may
   be added or removed between the calls. */
void *tnf_map_next(const struct map *, size_t *at, const void **key,
    size_t *key_size);

/* Makes room for one more than n in an array that grows by doubling; NULL: no memory, and
   the array is as it was. */
static inline void *
tnf_grow(void *array, size_t n, size_t size)
{
	return (n & (n - 1)) != 0 ? array : reallocarray(array, n == 0 ? 1 : 2 * n, size);
}

/* Each defines a function for qsort(3) and bsearch(3): elements ascend by one member, or are
   numbers that ascend. */
#define COMPARE_BY(name, type, member)					\
static int								\
name(const void *a, const void *b)					\
{									\
	const type *x = a, *y = b;					\
									\
	return (x->member > y->member) - (x->member < y->member);	\
}

#define COMPARE_NUMBERS(name, type)					\
static int								\
name(const void *a, const void *b)					\
{									\
	const type *x = a, *y = b;					\
									\
	return (*x > *y) - (*x < *y);					\
}

#endif /* COMMON_MAP_H */

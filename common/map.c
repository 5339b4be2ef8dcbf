/*
 * map.c - a growing hash map: open addressing, linear probing.
 */
#include <sys/random.h>

#include <stdalign.h>
#include <string.h>
#include <time.h>

#include "common/map.h"

#define MAP_SLOTS_MIN	16

struct map_entry {
	uint64_t hash;
	size_t	 key_size;
	alignas(max_align_t) unsigned char bytes[];	/* value, then key */
};

static size_t
map_key_at(const struct map *m)
{
	return (m->value_size + 7) & ~(size_t)7;
}

/* Both halves of a product depend on every bit of both factors. */
static uint64_t
map_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t
map_hash(const struct map *m, const void *key, size_t n)
{
	uint64_t h = m->secret[0] ^ n, part[2];
	const unsigned char *p = key;

	for (; n > 16; p += 16, n -= 16) {
		memcpy(part, p, 16);
		h = map_mix(part[0] ^ m->secret[1], part[1] ^ h);
	}
	part[0] = part[1] = 0;
	if (n > 0)
		memcpy(part, p, n);
	return map_mix(part[0] ^ m->secret[1], part[1] ^ h);
}

void
tnf_map_init(struct map *m, size_t value_size)
{
	*m = (struct map){ .value_size = value_size };
}

/* Called when the first key is put.  If the kernel has no random bits yet, the clock serves. */
static void
map_choose_secret(struct map *m)
{
	struct timespec now;

	if (getrandom(m->secret, sizeof(m->secret), GRND_NONBLOCK) !=
	    sizeof(m->secret)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		m->secret[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u;
		m->secret[1] = (uint64_t)(uintptr_t)m * 0xc2b2ae3d27d4eb4fu;
	}
	m->secret[0] |= 1;
	m->secret[1] |= 1;
}

void
tnf_map_free(struct map *m)
{
	for (size_t i = 0; i < m->n_slots; i++)
		free(m->slot[i]);
	free(m->slot);
	tnf_map_init(m, m->value_size);
}

/* The slot that has the key, or the empty one that it would get. */
static size_t
map_find(const struct map *m, const void *key, size_t n, uint64_t hash)
{
	size_t i = hash & (m->n_slots - 1);
	const struct map_entry *e;

	while ((e = m->slot[i]) != NULL) {
		if (e->hash == hash && e->key_size == n &&
		    memcmp(e->bytes + map_key_at(m), key, n) == 0)
			break;
		i = (i + 1) & (m->n_slots - 1);
	}
	return i;
}

void *
tnf_map_get(const struct map *m, const void *key, size_t n)
{
	struct map_entry *e;

	if (m->n == 0)
		return NULL;
	e = m->slot[map_find(m, key, n, map_hash(m, key, n))];
	return e != NULL ? e->bytes : NULL;
}

static bool
map_grow(struct map *m)
{
	size_t n = m->n_slots == 0 ? MAP_SLOTS_MIN : 2 * m->n_slots, k;
	struct map_entry **slot = calloc(n, sizeof(*slot)), *e;

	if (slot == NULL)
		return false;
	for (size_t i = 0; i < m->n_slots; i++) {
		if ((e = m->slot[i]) == NULL)
			continue;
		for (k = e->hash & (n - 1); slot[k] != NULL; )
			k = (k + 1) & (n - 1);
		slot[k] = e;
	}
	free(m->slot);
	m->slot = slot;
	m->n_slots = n;
	return true;
}

void *
tnf_map_put(struct map *m, const void *key, size_t n, bool *fresh)
{
	struct map_entry *e;
	uint64_t hash;
	size_t i;

	if (m->n_slots == 0)
		map_choose_secret(m);
	/* At most three quarters full, so that searches end soon. */
	if (m->n + 1 > m->n_slots / 4 * 3 && !map_grow(m))
		return NULL;
	hash = map_hash(m, key, n);
	i = map_find(m, key, n, hash);
	if (fresh != NULL)
		*fresh = m->slot[i] == NULL;
	if (m->slot[i] != NULL)
		return m->slot[i]->bytes;
	e = calloc(1, sizeof(*e) + map_key_at(m) + n);
	if (e == NULL)
		return NULL;
	e->hash = hash;
	e->key_size = n;
	if (n > 0)
		memcpy(e->bytes + map_key_at(m), key, n);
	m->slot[i] = e;
	m->n++;
	return e->bytes;
}

const void *
tnf_map_key(const struct map *m, const void *value)
{
	return (const unsigned char *)value + map_key_at(m);
}

bool
tnf_map_remove(struct map *m, const void *key, size_t n)
{
	size_t i, k, home, mask = m->n_slots - 1;

	if (m->n == 0)
		return false;
	i = map_find(m, key, n, map_hash(m, key, n));
	if (m->slot[i] == NULL)
		return false;
	free(m->slot[i]);
	m->slot[i] = NULL;
	m->n--;
	/* A key behind the hole that belongs at or before the hole moves there: a search ends at an
	   empty slot. */
	for (k = (i + 1) & mask; m->slot[k] != NULL; k = (k + 1) & mask) {
		home = m->slot[k]->hash & mask;
		if (((k - home) & mask) < ((k - i) & mask))
			continue;
		m->slot[i] = m->slot[k];
		m->slot[k] = NULL;
		i = k;
	}
	return true;
}

void *
tnf_map_next(const struct map *m, size_t *at, const void **key, size_t *key_size)
{
	struct map_entry *e;

	while (*at < m->n_slots) {
		if ((e = m->slot[(*at)++]) == NULL)
			continue;
		if (key != NULL)
			*key = e->bytes + map_key_at(m);
		if (key_size != NULL)
			*key_size = e->key_size;
		return e->bytes;
	}
	return NULL;
}

/*
 * hash.h - FNV-1a, for tables of texts.
 */
#ifndef TNFDUMP_HASH_H
#define TNFDUMP_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t
hash_bytes(const char *s, size_t n)
{
	uint64_t hash = 14695981039346656037u;

	while (n-- > 0)
		hash = (hash ^ (unsigned char)*s++) * 1099511628211u;
	return hash;
}

#endif

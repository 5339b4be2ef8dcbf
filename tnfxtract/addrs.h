/*
 * addrs.h - the words of a trace that may be addresses of kernel code.
 */
#ifndef TNFXTRACT_ADDRS_H
#define TNFXTRACT_ADDRS_H

#include <stddef.h>
#include <stdint.h>

struct addrs {
	uint64_t start;		/* where code begins: image_arch_code(); to be set */
	uint64_t *slot;		/* hash table; 0: free */
	size_t	  room;		/* a power of two; 0: none yet */
	size_t	  n;
};

/* Notes the candidates among the words of a block; 8-byte aligned. */
void addrs_scan(struct addrs *, const unsigned char *block, size_t valid);

/* Packs them into slot[0..n-1]; then only addrs_free() may follow. */
void addrs_pack(struct addrs *);
void addrs_free(struct addrs *);

#endif /* TNFXTRACT_ADDRS_H */

/*
 * image-memory.c - memory by the kernel's own addresses.
 *
 * The lines of VMCOREINFO say where the kernel's page tables are; the rest is in these,
 * whatever form the image has.  Of x86-64: what other machines need is not there.
 */
#include "tnfxtract/image.h"

#include <stdlib.h>
#include <string.h>

#include "tnfxtract/image-search.h"

#define KERNEL_MAP	0xffffffff80000000ull	/* where the kernel itself lies */
#define ENTRY_PRESENT	1ull
#define ENTRY_LARGE	0x80ull
#define ENTRY_ADDRESS	0x000ffffffffff000ull
#define LARGEST		30			/* 1 GiB, as a shift */

static const char *
value_of(const struct image *im, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = im->info; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == '=')
			return line + n + 1;
	}
	return NULL;
}

/* Addresses are hexadecimal; the other numbers say it if they are, and may be negative. */
bool
image_number(const struct image *im, const char *key, uint64_t *ret)
{
	const char *v = value_of(im, key);

	if (v == NULL)
		return false;
	*ret = strtoull(v, NULL, strncmp(key, "SYMBOL(", 7) == 0 ? 16 : 0);
	return true;
}

/* Compressed dumps are read by physical addresses anyway. */
static bool
read_physical(const struct image *im, uint64_t at, void *buf, size_t n)
{
	const struct image_part *p;
	size_t i;

	if (im->kdump != NULL)
		return at <= INT64_MAX && image_read(im, buf, n, at) == (ssize_t)n;
	for (i = 0; i < im->n_parts; i++) {
		p = &im->part[i];
		if (at >= p->address && at - p->address < p->size)
			return n <= p->size - (at - p->address) && image_read(im, buf, n,
			    p->offset + (at - p->address)) == (ssize_t)n;
	}
	return false;
}

/* The first table, and by how much addresses are shifted in its first level. */
static bool
first_table(const struct image *im, uint64_t *table, unsigned *shift, uint64_t *encrypted)
{
	uint64_t base, five = 0;

	if (!image_number(im, "SYMBOL(init_top_pgt)", table) || *table < KERNEL_MAP ||
	    !image_number(im, "NUMBER(phys_base)", &base))
		return false;
	*table = *table - KERNEL_MAP + base;
	image_number(im, "NUMBER(pgtable_l5_enabled)", &five);
	*shift = five != 0 ? 48 : 39;
	*encrypted = 0;
	image_number(im, "NUMBER(sme_mask)", encrypted);
	return true;
}

static bool
translate(const struct image *im, uint64_t address, uint64_t *ret)
{
	uint64_t at, entry, encrypted, within;
	unsigned shift;

	if (!first_table(im, &at, &shift, &encrypted))
		return false;
	for (;; shift -= 9) {
		if (!read_physical(im, at + (address >> shift & 511) * sizeof entry, &entry,
		    sizeof entry) || (entry & ENTRY_PRESENT) == 0)
			return false;
		at = entry & ENTRY_ADDRESS & ~encrypted;
		if (shift == 12 || (shift <= LARGEST && (entry & ENTRY_LARGE) != 0))
			break;
	}
	within = (1ull << shift) - 1;
	*ret = (at & ~within) | (address & within);
	return true;
}

bool
image_memory(const struct image *im, uint64_t address, void *buf, size_t n)
{
	unsigned char *to = buf;
	uint64_t at;
	size_t part;

	for (; n > 0; n -= part, to += part, address += part) {
		part = IMAGE_PAGE - address % IMAGE_PAGE;
		if (part > n)
			part = n;
		if (!translate(im, address, &at) || !read_physical(im, at, to, part))
			return false;
	}
	return true;
}

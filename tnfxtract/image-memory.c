/*
 * image-memory.c - memory by the kernel's own addresses.
 *
 * How these become physical ones is the machine's (arch/), and told by VMCOREINFO's lines;
 * where these are in the image is the same for all.
 */
#include <stdlib.h>
#include <string.h>

#include "tnfxtract/arch/arch.h"
#include "tnfxtract/image-search.h"
#include "tnfxtract/image.h"

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

/* Parts may lie within others: for each, in the order of addresses, the one of those up to
   it that reaches furthest.  Who has an address is in that, if he is anywhere. */
struct image_reach {
	uint64_t address;
	const struct image_part *furthest;
};

static uint64_t
part_end(const struct image_part *p)
{
	return p->size > UINT64_MAX - p->address ? UINT64_MAX : p->address + p->size;
}

static int
compare_reach(const void *a, const void *b)
{
	const struct image_reach *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static struct image_reach *
reach_of(const struct image *im)
{
	struct image_reach *r = calloc(im->n_parts + 1, sizeof *r);

	if (r == NULL)
		return NULL;
	for (size_t i = 0; i < im->n_parts; i++)
		r[i] = (struct image_reach){ im->part[i].address, &im->part[i] };
	if (im->n_parts > 1)
		qsort(r, im->n_parts, sizeof *r, compare_reach);
	for (size_t i = 1; i < im->n_parts; i++)
		if (part_end(r[i - 1].furthest) > part_end(r[i].furthest))
			r[i].furthest = r[i - 1].furthest;
	return r;
}

/* NULL: no part begins at the address or before it. */
static const struct image_part *
find_part(const struct image_map *m, uint64_t at)
{
	size_t lo = 0, hi = m->im->n_parts, middle;

	while (lo < hi) {
		middle = lo + (hi - lo) / 2;
		if (m->reach[middle].address <= at)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo == 0 ? NULL : m->reach[lo - 1].furthest;
}

/* Compressed dumps are read by physical addresses anyway. */
bool
image_physical(const struct image_map *m, uint64_t at, void *buf, size_t n)
{
	if (m->im->apart != NULL)
		return at <= INT64_MAX && image_read(m->im, buf, n, at) == (ssize_t)n;
	const struct image_part *p = find_part(m, at);
	return p != NULL && at - p->address < p->size && n <= p->size - (at - p->address) &&
	    image_read(m->im, buf, n, p->offset + (at - p->address)) == (ssize_t)n;
}

bool
image_map_open(struct image_map *m, const struct image *im)
{
	m->im = im;
	m->reach = NULL;
	return im->arch != NULL && im->arch->open(m, im) &&
	    (im->apart != NULL || (m->reach = reach_of(im)) != NULL);
}

void
image_map_close(struct image_map *m)
{
	free(m->reach);
	m->reach = NULL;
}

bool
image_memory(const struct image_map *m, uint64_t address, void *buf, size_t n)
{
	unsigned char *to = buf;
	uint64_t at;
	size_t part;

	for (; n > 0; n -= part, to += part, address += part) {
		part = IMAGE_PAGE - address % IMAGE_PAGE;
		if (part > n)
			part = n;
		if (!m->im->arch->translate(m, address, &at) || !image_physical(m, at, to, part))
			return false;
	}
	return true;
}

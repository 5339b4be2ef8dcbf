/*
 * image-memory.c - reads memory by the kernel's own addresses.
 *
 * Each machine translates the kernel's addresses to physical ones in its own way
 * (machines[]), with facts from VMCOREINFO's lines; finding physical addresses in the image
 * is the same for all.
 */
#include <sys/utsname.h>

#include <elf.h>

#include "common/map.h"
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

/* Reads a number of VMCOREINFO.  Addresses are hexadecimal without a prefix; other numbers
   are hexadecimal only with one, and may be negative. */
bool
image_number(const struct image *im, const char *key, uint64_t *ret)
{
	const char *v = value_of(im, key);

	if (v == NULL)
		return false;
	*ret = strtoull(v, NULL, strncmp(key, "SYMBOL(", 7) == 0 ? 16 : 0);
	return true;
}

/* Parts may be inside of others.  For each part, in order of addresses, this is the part up
   to it that reaches furthest; an address that is in any part is in that one. */
struct image_reach {
	uint64_t address;
	const struct image_part *furthest;
};

static uint64_t
part_end(const struct image_part *p)
{
	return p->size > UINT64_MAX - p->address ? UINT64_MAX : p->address + p->size;
}

COMPARE_BY(compare_reach, struct image_reach, address)

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

/* The part that may hold an address; NULL: no part begins at the address or before it. */
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

/* Reads physical memory; the offsets of compressed dumps are physical addresses already. */
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

/*
 * x86-64: VMCOREINFO's lines tell where the kernel's page tables are; these tables tell the
 * rest, in any form of image.  The kernel and its modules are in the topmost 2 GiB.
 */
#define KERNEL_MAP	0xffffffff80000000ull	/* address of the kernel itself */
#define ENTRY_PRESENT	1ull
#define ENTRY_LARGE	0x80ull
#define ENTRY_ADDRESS	0x000ffffffffff000ull
#define LARGEST		30			/* 1 GiB, as a shift */

/* Finds the first table, and by how much its level shifts addresses. */
static bool
x86_64_open(struct image_map *m, const struct image *im)
{
	uint64_t base, five = 0;

	if (!image_number(im, "SYMBOL(init_top_pgt)", &m->table) || m->table < KERNEL_MAP ||
	    !image_number(im, "NUMBER(phys_base)", &base))
		return false;
	m->table = m->table - KERNEL_MAP + base;
	image_number(im, "NUMBER(pgtable_l5_enabled)", &five);
	m->shift = five != 0 ? 48 : 39;
	m->encrypted = 0;
	image_number(im, "NUMBER(sme_mask)", &m->encrypted);
	return true;
}

static bool
x86_64_translate(const struct image_map *m, uint64_t address, uint64_t *ret)
{
	uint64_t at = m->table, entry, within;
	unsigned shift;

	for (shift = m->shift;; shift -= 9) {
		if (!image_physical(m, at + (address >> shift & 511) * sizeof entry, &entry,
		    sizeof entry) || (entry & ENTRY_PRESENT) == 0)
			return false;
		at = entry & ENTRY_ADDRESS & ~m->encrypted;
		if (shift == 12 || (shift <= LARGEST && (entry & ENTRY_LARGE) != 0))
			break;
	}
	within = (1ull << shift) - 1;
	*ret = (at & ~within) | (address & within);
	return true;
}

static const struct image_arch image_arch_x86_64 = {
	.name = "x86_64",
	.known_by = "NUMBER(phys_base)",
	.elf = EM_X86_64,
	.code = KERNEL_MAP,
	.open = x86_64_open,
	.translate = x86_64_translate,
};

/*
 * arm64: the kernel itself and all memory are each at one fixed distance from their
 * physical addresses.  Memory is mapped from the lowest kernel address up; the kernel and
 * its modules are in the upper half of the kernel's addresses, which have 48 bits or fewer.
 */
static bool
aarch64_open(struct image_map *m, const struct image *im)
{
	uint64_t bits, kernel, memory;

	if (!image_number(im, "NUMBER(kimage_voffset)", &kernel) ||
	    !image_number(im, "NUMBER(PHYS_OFFSET)", &memory) ||
	    !image_number(im, "NUMBER(VA_BITS)", &bits) || bits < 36 || bits > 52)
		return false;
	m->memory = -(1ull << bits);
	m->kernel = -(1ull << ((bits < 48 ? bits : 48) - 1));
	m->memory_distance = m->memory - memory;
	m->kernel_distance = kernel;
	return true;
}

static bool
aarch64_translate(const struct image_map *m, uint64_t address, uint64_t *ret)
{
	*ret = address - (address >= m->kernel ? m->kernel_distance : m->memory_distance);
	return address >= m->memory;
}

static const struct image_arch image_arch_aarch64 = {
	.name = "aarch64",
	.known_by = "NUMBER(kimage_voffset)",
	.elf = EM_AARCH64,
	.code = 0xffff800000000000ull,
	.open = aarch64_open,
	.translate = aarch64_translate,
};

static const struct image_arch *const machines[] = { &image_arch_x86_64, &image_arch_aarch64 };

#define N_MACHINES	(sizeof machines / sizeof machines[0])

const struct image_arch *
image_arch_by_name(const char *name)
{
	for (size_t i = 0; i < N_MACHINES; i++)
		if (strcmp(machines[i]->name, name) == 0)
			return machines[i];
	return NULL;
}

const struct image_arch *
image_arch_by_elf(uint16_t machine)
{
	for (size_t i = 0; i < N_MACHINES; i++)
		if (machines[i]->elf == machine)
			return machines[i];
	return NULL;
}

const struct image_arch *
image_arch_by_info(const struct image *im)
{
	uint64_t value;

	for (size_t i = 0; i < N_MACHINES; i++)
		if (image_number(im, machines[i]->known_by, &value))
			return machines[i];
	return NULL;
}

bool
image_arch_known(const struct image_arch *arch)
{
	for (size_t i = 0; i < N_MACHINES; i++)
		if (machines[i] == arch)
			return true;
	return false;
}

uint64_t
image_arch_code(const struct image_arch *arch)
{
	uint64_t lowest = UINT64_MAX;

	if (arch != NULL)
		return arch->code;
	for (size_t i = 0; i < N_MACHINES; i++)
		if (machines[i]->code < lowest)
			lowest = machines[i]->code;
	return lowest;
}

uint64_t
image_arch_code_here(void)
{
	struct utsname u;

	return image_arch_code(uname(&u) == 0 ? image_arch_by_name(u.machine) : NULL);
}

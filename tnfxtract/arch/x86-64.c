/*
 * x86-64.c - the lines of VMCOREINFO say where the kernel's page tables are; the rest is in
 * these, whatever form the image has.
 *
 * The kernel and its modules lie in the topmost 2 GiB.
 */
#include <elf.h>

#include "tnfxtract/arch/arch.h"
#include "tnfxtract/image.h"

#define KERNEL_MAP	0xffffffff80000000ull	/* where the kernel itself lies */
#define ENTRY_PRESENT	1ull
#define ENTRY_LARGE	0x80ull
#define ENTRY_ADDRESS	0x000ffffffffff000ull
#define LARGEST		30			/* 1 GiB, as a shift */

/* The first table, and by how much addresses are shifted in its first level. */
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

const struct image_arch image_arch_x86_64 = {
	.name = "x86_64",
	.known_by = "NUMBER(phys_base)",
	.elf = EM_X86_64,
	.code = KERNEL_MAP,
	.open = x86_64_open,
	.translate = x86_64_translate,
};

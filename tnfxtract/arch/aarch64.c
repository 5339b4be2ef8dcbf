/*
 * aarch64.c - arm64: the kernel itself, and all memory, lie each at one distance from their
 * physical addresses.
 *
 * Memory is mapped from the lowest of the kernel's addresses up; the kernel and its modules
 * are in the upper half of the addresses that 48 bits can tell apart, or of fewer.
 */
#include <elf.h>

#include "tnfxtract/arch/arch.h"
#include "tnfxtract/image.h"

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

const struct image_arch image_arch_aarch64 = {
	.name = "aarch64",
	.known_by = "NUMBER(kimage_voffset)",
	.elf = EM_AARCH64,
	.code = 0xffff800000000000ull,
	.open = aarch64_open,
	.translate = aarch64_translate,
};

/*
 * vectors.c - keeps the vector registers over a call.
 *
 * A fast hit is in code that was not compiled for a call, whose vector registers hold values.
 * The hit uses none of them; what is rare may, and is called through here.  Registers of tiles
 * (AMX) are left out: nothing that libtnfprobe calls uses them, and they take 8 KiB.
 */
#include <cpuid.h>

#include "libtnfprobe/internal.h"

#define LEGACY		512u	/* bytes that fxsave writes */
#define HEADER		64u	/* behind it, of xsave */
#define PARTS		0xe7u	/* x87, SSE, AVX, and the three of AVX-512 */

static uint32_t parts;		/* of PARTS, which the kernel has switched on; 0: no xsave */
static uint32_t area_size = LEGACY;

static uint64_t
enabled_parts(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

void
tnf_vectors_look(void)
{
	uint32_t a, b, c, d, size = LEGACY + HEADER, found;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0)
		return;
	found = (uint32_t)enabled_parts() & PARTS;
	for (unsigned i = 2; i < 8; i++)
		if ((found >> i & 1) != 0 && __get_cpuid_count(0xd, i, &a, &b, &c, &d) &&
		    b + a > size)
			size = b + a;
	area_size = size;
	parts = found;
}

/* The stack of a fast hit is perhaps not aligned: the site is anywhere in a function.  AddressSanitizer
   would release the area by a function of its own, which changes registers when they are restored. */
__attribute__((force_align_arg_pointer, no_sanitize_address)) uintptr_t
tnf_vectors_keep(uintptr_t (*fn)(void *), void *arg)
{
	char *area = __builtin_alloca_with_align(area_size, 64 * 8);
	uint64_t *header = (uint64_t *)(void *)(area + LEGACY);
	uint32_t mask = parts;
	uintptr_t ret;

	if (mask == 0) {
		__asm__ volatile("fxsave64 (%0)" : : "r"(area) : "memory");
		ret = fn(arg);
		__asm__ volatile("fxrstor64 (%0)" : : "r"(area) : "memory");
		return ret;
	}
	for (unsigned i = 0; i < HEADER / sizeof(*header); i++)
		header[i] = 0;
	__asm__ volatile("xsave64 (%0)" : : "r"(area), "a"(mask), "d"(0) : "memory");
	ret = fn(arg);
	__asm__ volatile("xrstor64 (%0)" : : "r"(area), "a"(mask), "d"(0) : "memory");
	return ret;
}

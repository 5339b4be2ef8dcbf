/*
 * arch.c - the machines whose images are read.
 */
#include "tnfxtract/arch/arch.h"

#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

#include "tnfxtract/image.h"

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

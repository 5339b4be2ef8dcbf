/*
 * arch.h - what depends on the machine that an image is of, whatever machine reads it.
 */
#ifndef TNFXTRACT_ARCH_H
#define TNFXTRACT_ARCH_H

#include <stdbool.h>
#include <stdint.h>

struct image;
struct image_map;

struct image_arch {
	const char *name;	/* as uname(2) has it */
	const char *known_by;	/* a line of VMCOREINFO that only its kernels write */
	uint16_t elf;		/* e_machine of its ELF files */
	uint64_t code;		/* the kernel's and its modules' code is from here up */
	/* What translate() needs, out of VMCOREINFO's lines.  false: not told. */
	bool (*open)(struct image_map *, const struct image *);
	/* The physical address.  false: there is none. */
	bool (*translate)(const struct image_map *, uint64_t address, uint64_t *ret);
};

extern const struct image_arch image_arch_x86_64, image_arch_aarch64;

/* NULL: none that we know. */
const struct image_arch *image_arch_by_name(const char *);
const struct image_arch *image_arch_by_elf(uint16_t machine);
const struct image_arch *image_arch_by_info(const struct image *);
/* Is that the address of one of these? */
bool image_arch_known(const struct image_arch *);

/* From where on words may be addresses of code; of a machine that is not known (NULL),
   on each that we know. */
uint64_t image_arch_code(const struct image_arch *);
/* The same for the kernel that runs here. */
uint64_t image_arch_code_here(void);

#endif /* TNFXTRACT_ARCH_H */

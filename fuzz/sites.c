/*
 * sites.c - fuzzes the analysis of where a jump may be put into a program: the input is an
 * ELF file, of which every byte is taken for a function and for a USDT probe.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "libtnfctl/sites/sites.h"

#define INPUT_MAX	(1u << 18)
#define SITES_MAX	4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes that would be written to a process. */
static void
judge(const struct site *s)
{
	uint8_t moved[SITE_MOVED_MAX];
	size_t n = 0;

	if (s->refused != NULL) {
		if (s->length != 0 || s->refused[0] == '\0')
			abort();
		return;
	}
	if (s->length < SITE_JUMP || s->length > SITE_BYTES_MAX)
		abort();
	if (tnfctl_site_relocate(s, s->address + 0x10000, 0x20000, moved, &n) == NULL &&
	    (n == 0 || n > sizeof moved))
		abort();
	for (unsigned i = 0; i < s->length; i++)
		tnfctl_site_to_pad(s, 0x10000, 0x20000, 0x10000 + i);
}

struct looking {
	const struct sites *sites;
	unsigned left;
};

static bool
each_function(void *arg, const char *name, uint64_t address)
{
	struct looking *l = arg;
	struct site site;

	tnfctl_sites_function(l->sites, address, &site);
	judge(&site);
	return --l->left > 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct looking looking = { .left = SITES_MAX };
	struct sites *sites;
	struct elffile *e;
	struct site site;
	int fd;

	if (size > INPUT_MAX)
		return 0;
	fd = memfd_create("object", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	looking.sites = sites = tnfctl_sites_open(fd);
	if (sites != NULL && (e = tnf_elffile_open(fd)) != NULL) {
		tnf_elffile_functions(e, each_function, &looking);
		for (uint64_t at = 0; at < SITES_MAX; at++) {
			tnfctl_sites_usdt(sites, tnf_elffile_lowest(e) + 0x1000 + at, &site);
			judge(&site);
		}
		tnf_elffile_close(e);
	}
	tnfctl_sites_close(sites);
	close(fd);
	return 0;
}

/*
 * everywhere.c - preloaded into a program: puts a jump into all of its functions and USDT
 * probes that can take one, before main() runs.  Each hit is counted.
 *
 * SITES_OBJECTS, names with blanks between: only objects whose file name has one of them.
 * SITES_REPORT: a line for each process is added to this file.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "libtnfctl/sites/code.h"
#include "libtnfctl/sites/sites.h"
#include "libtnfctl/usdt.h"

#define PAD_SIZE	128u		/* of one site, its counter included */
#define COUNTER_AT	120u		/* in the pad */
#define STEP		((uint64_t)16 << 20)
#define OBJECTS_MAX	512u

struct object {
	char	 path[512];
	uint64_t bias, start, end;
};

struct patching {
	struct sites *sites;
	struct site *v;
	size_t	 n, room, refused;
};

static struct object objects[OBJECTS_MAX];
static size_t nobjects;
static uint8_t *pads[OBJECTS_MAX];
static size_t npads[OBJECTS_MAX];
static size_t total, refused, far;

static int
note_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object *o = &objects[nobjects];
	const char *path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";

	if (nobjects == OBJECTS_MAX || path[0] != '/')
		return 0;
	*o = (struct object){ .bias = info->dlpi_addr, .start = UINT64_MAX };
	snprintf(o->path, sizeof o->path, "%s", path);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		o->start = at < o->start ? at : o->start;
		o->end = at + p->p_memsz > o->end ? at + p->p_memsz : o->end;
	}
	nobjects++;
	return 0;
}

static void
add_site(struct patching *p, const struct site *s)
{
	if (s->refused != NULL) {
		p->refused++;
		return;
	}
	if (p->n == p->room) {
		p->room = p->room == 0 ? 1024 : 2 * p->room;
		if ((p->v = reallocarray(p->v, p->room, sizeof *p->v)) == NULL)
			abort();
	}
	p->v[p->n++] = *s;
}

/* Each function, and each part of one that has a frame of its own: those without a symbol, too. */
static void
add_functions(struct patching *p, struct elffile *e)
{
	struct code code;
	struct site s;

	if (tnfctl_code_load(e, &code) && tnfctl_code_read_frames(&code, e))
		for (size_t i = 0; i < code.nframes; i++) {
			tnfctl_sites_function(p->sites, code.frames[i].start, &s);
			add_site(p, &s);
		}
	tnfctl_code_free(&code);
}

static void
add_probes(struct patching *p, struct elffile *e)
{
	struct usdt_object usdt;
	struct site s;

	if (!tnfctl_usdt_object_read(e, &usdt))
		return;
	for (size_t i = 0; i < usdt.n; i++)
		for (size_t n = 0; n < usdt.v[i].nsites; n++) {
			tnfctl_sites_usdt(p->sites, usdt.v[i].sites[n].address, &s);
			add_site(p, &s);
		}
	tnfctl_usdt_object_free(&usdt);
}

static int
by_address(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Memory within reach of an object: behind it or before it. */
static uint8_t *
map_pads(const struct object *o, size_t size)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	const int rights = PROT_READ | PROT_WRITE | PROT_EXEC;

	for (uint64_t away = STEP; away < (uint64_t)1 << 30; away += STEP)
		for (int before = 0; before < 2; before++) {
			uint64_t at = before ? o->start - away - size : o->end + away;
			void *p = mmap((void *)(uintptr_t)(at & ~(uint64_t)4095), size, rights,
			    flags, -1, 0);

			if (p != MAP_FAILED)
				return p;
		}
	return NULL;
}

/* Nothing of the C library is called while code is written. */
static void
copy(volatile uint8_t *to, const uint8_t *from, size_t n)
{
	while (n-- > 0)
		*to++ = *from++;
}

/* Between an object's parts may be pages that are not there. */
static void
protect(const struct object *o, int rights)
{
	for (uint64_t at = o->start & ~(uint64_t)4095; at < o->end; at += 4096)
		mprotect((void *)(uintptr_t)at, 4096, rights);
}

/* lea -128(%rsp), %rsp; pushfq; incq COUNTER(%rip); popfq; lea 128(%rsp), %rsp; the site's */
static bool
write_pad(const struct site *s, uint64_t from, uint8_t *pad)
{
	static const uint8_t count[] = { 0x48, 0x8d, 0x64, 0x24, 0x80, 0x9c,
	    0x48, 0xff, 0x05, COUNTER_AT - 13, 0, 0, 0, 0x9d,
	    0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0 };
	uint8_t moved[SITE_MOVED_MAX];
	size_t n;

	if (tnfctl_site_relocate(s, from, (uintptr_t)pad + sizeof count, moved, &n) != NULL)
		return false;
	copy(pad, count, sizeof count);
	copy(pad + sizeof count, moved, n);
	return true;
}

static void
patch_object(size_t number, struct patching *p)
{
	const struct object *o = &objects[number];
	uint64_t behind = 0;
	size_t size = (p->n * PAD_SIZE + 4095) & ~(size_t)4095, n = 0;
	uint8_t *area = p->n > 0 ? map_pads(o, size) : NULL;
	int32_t distance;

	if (area == NULL) {
		far += p->n;
		return;
	}
	protect(o, PROT_READ | PROT_WRITE | PROT_EXEC);
	qsort(p->v, p->n, sizeof *p->v, by_address);
	for (size_t i = 0; i < p->n; i++) {
		const struct site *s = &p->v[i];
		uint8_t *at = (uint8_t *)(uintptr_t)(s->address + o->bias);
		uint8_t jump[5] = { 0xe9 };

		if (s->address < behind)
			continue;	/* the same function, or one in the bytes of this */
		if (!write_pad(s, (uintptr_t)at, area + n * PAD_SIZE)) {
			far++;
			continue;
		}
		for (unsigned b = 0; b < s->length; b++)
			if (at[b] != s->bytes[b])
				abort();
		distance = (int32_t)(area + n * PAD_SIZE - (at + 5));
		memcpy(jump + 1, &distance, sizeof distance);
		copy(at, jump, sizeof jump);
		behind = s->address + s->length;
		n++;
	}
	protect(o, PROT_READ | PROT_EXEC);
	pads[number] = area;
	npads[number] = n;
	total += n;
}

static void
patch_file(size_t number)
{
	struct patching p = { .n = 0 };
	int fd = open(objects[number].path, O_RDONLY | O_CLOEXEC);
	struct elffile *e = tnf_elffile_open(fd);

	if (e != NULL && (p.sites = tnfctl_sites_open(fd)) != NULL) {
		add_functions(&p, e);
		add_probes(&p, e);
		patch_object(number, &p);
		refused += p.refused;
		tnfctl_sites_close(p.sites);
	}
	tnf_elffile_close(e);
	free(p.v);
	if (fd >= 0)
		close(fd);
}

static bool
is_wanted(const char *path)
{
	const char *names = getenv("SITES_OBJECTS");
	char real[4096] = "", name[256];
	ssize_t n;

	if (strstr(path, "sites-everywhere") != NULL)
		return false;
	if (names == NULL)
		return true;
	if ((n = readlink(path, real, sizeof real - 1)) < 0)
		snprintf(real, sizeof real, "%s", path);
	while (sscanf(names, " %255s", name) == 1) {
		if (strstr(real, name) != NULL)
			return true;
		names = strstr(names, name) + strlen(name);
	}
	return false;
}

__attribute__((constructor)) static void
patch_all(void)
{
	dl_iterate_phdr(note_object, NULL);
	for (size_t i = 0; i < nobjects; i++)
		if (is_wanted(objects[i].path))
			patch_file(i);
}

__attribute__((destructor)) static void
report(void)
{
	const char *path = getenv("SITES_REPORT");
	FILE *f = path != NULL ? fopen(path, "a") : NULL;
	uint64_t hits = 0, count;
	size_t hit = 0;

	if (f == NULL)
		return;
	for (size_t i = 0; i < nobjects; i++)
		for (size_t n = 0; n < npads[i]; n++) {
			memcpy(&count, pads[i] + n * PAD_SIZE + COUNTER_AT, sizeof count);
			hits += count;
			hit += count > 0;
		}
	fprintf(f, "%s: %zu patched, %zu of them hit, %ju hits, %zu refused, %zu too far\n",
	    program_invocation_short_name, total, hit, (uintmax_t)hits, refused, far);
	fclose(f);
}

/*
 * context-objects.c - the objects whose code a process has mapped, and the kernel's symbols.
 *
 * The files belong to the process and may be anything: sizes are bounded, and
 * only ordinary files are read.
 */
#include <sys/stat.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/proc.h"
#include "libtnf/context-write.h"
#include "libtnf/symtab.h"

#define PHDRS_MAX	64
#define NOTES_MAX	4096
#define BUILD_ID_MAX	32	/* bytes; usual are 16 and 20 */
#define OBJECTS_MAX	4096

#if UINTPTR_MAX > 0xffffffffu
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
#define ELF_CLASS	ELFCLASS64
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
#define ELF_CLASS	ELFCLASS32
#endif

/* Looks for the build id among notes; in hexadecimal to 'ret'. */
static bool
find_build_id(const unsigned char *notes, size_t n, char *ret)
{
	size_t at = 0, name, desc, i;
	Elf32_Nhdr h;

	while (n - at >= sizeof h) {
		memcpy(&h, notes + at, sizeof h);
		at += sizeof h;
		name = ((size_t)h.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		if (name > n - at || desc > n - at - name)
			return false;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    memcmp(notes + at, "GNU", 4) == 0 && h.n_descsz > 0 &&
		    h.n_descsz <= BUILD_ID_MAX) {
			for (i = 0; i < h.n_descsz; i++)
				sprintf(ret + 2 * i, "%02x",
				    notes[at + name + i]);
			return true;
		}
		at += name + desc;
	}
	return false;
}

static bool
build_id_of_fd(int fd, char *ret)
{
	unsigned char notes[NOTES_MAX];
	elf_segment ph;
	elf_header eh;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    pread(fd, &eh, sizeof eh, 0) != (ssize_t)sizeof eh ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELF_CLASS ||
	    eh.e_phentsize != sizeof ph || eh.e_phnum > PHDRS_MAX)
		return false;
	for (int i = 0; i < eh.e_phnum; i++) {
		if (pread(fd, &ph, sizeof ph, (off_t)(eh.e_phoff +
		    (uint64_t)i * sizeof ph)) != (ssize_t)sizeof ph)
			return false;
		if (ph.p_type != PT_NOTE)
			continue;
		ssize_t n = pread(fd, notes, ph.p_filesz < sizeof notes ?
		    (size_t)ph.p_filesz : sizeof notes, (off_t)ph.p_offset);
		if (n > 0 && find_build_id(notes, (size_t)n, ret))
			return true;
	}
	return false;
}

/* The mapped file itself where we may, else what its name leads to now. */
static void
build_id(pid_t pid, const struct mapping *m, char *ret)
{
	char name[4096 + 64];

	strcpy(ret, "-");
	int fd = open(tnf_mapping_file(m, pid, name), O_RDONLY | O_CLOEXEC | O_NOCTTY |
	    O_NONBLOCK);
	if (fd < 0 && strlen(m->path) < 4096) {
		snprintf(name, sizeof name, "/proc/%d/root%s", (int)pid, m->path);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	if (fd < 0)
		return;
	if (!build_id_of_fd(fd, ret))
		strcpy(ret, "-");
	close(fd);
}

void
context_objects(struct context_writer *w, pid_t pid)
{
	char id[2 * BUILD_ID_MAX + 1];
	const struct mapping *m;
	struct maps maps;

	if (w->f == NULL || tnf_maps_read(pid, &maps) != 0)
		return;
	for (m = maps.m; m < maps.m + maps.n && m < maps.m + OBJECTS_MAX; m++) {
		if (!m->exec || m->path[0] != '/')
			continue;
		build_id(pid, m, id);
		fprintf(w->f, "object %d %" PRIxPTR " %" PRIxPTR " %" PRIx64 " %s ",
		    (int)pid, m->start, m->end, m->offset, id);
		context_escaped(w, m->path);
		putc_unlocked('\n', w->f);
	}
	tnf_maps_free(&maps);
}

/* What is farther off is no hit: a kernel that lists no data has a few marks of
   the linker there, far from what they seem to name. */
#define SYMBOL_SPAN_MAX	(1u << 16)

static int
compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Each symbol once. */
static void
context_symbols_put(struct context_writer *w, const struct symtab *table,
    const uint64_t *addrs, size_t n)
{
	struct symtab_symbol s;
	uint64_t put = 0;

	for (size_t i = 0; i < n; i++) {
		if (symtab_find(table, addrs[i], &s) != 0 || s.start == put)
			continue;
		if (s.end - s.start > SYMBOL_SPAN_MAX)
			s.end = s.start + SYMBOL_SPAN_MAX;
		if (addrs[i] >= s.end)
			continue;
		put = s.start;
		fprintf(w->f, "symbol %" PRIx64 " %" PRIx64 " %s %s\n", s.start,
		    s.end, *s.module != '\0' ? s.module : "-", s.name);
	}
}

static int
context_symbols_look_up(struct context_writer *w, struct symtab *table,
    uint64_t *addrs, size_t n)
{
	qsort(addrs, n, sizeof *addrs, compare_u64);
	context_symbols_put(w, table, addrs, n);
	symtab_free(table);
	return 0;
}

int
context_symbols(struct context_writer *w, const char *list, uint64_t *addrs,
    size_t n, uint64_t shift)
{
	struct symtab *table;

	if (w->f == NULL || n == 0)
		return 0;
	int e = symtab_read(list, shift, &table);
	return e != 0 ? e : context_symbols_look_up(w, table, addrs, n);
}

int
context_kernel_symbols(struct context_writer *w, uint64_t *addrs, size_t n)
{
	struct symtab *table;

	if (w->f == NULL || n == 0)
		return 0;
	int e = symtab_kernel(SYMTAB_DIRECTORY, &table);
	return e != 0 ? e : context_symbols_look_up(w, table, addrs, n);
}

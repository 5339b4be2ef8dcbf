/*
 * usersym.c - functions of traced processes, by object and build id.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/usersym.h"
#include "common/xalloc.h"

struct symbol {
	uint64_t value, size;
	const char *name;
};

/* An object file, opened once; without symbols if it is another by now. */
static struct object {
	const struct tnf_context_object *from;
	const char	*base_name;
	Elf		*elf;		/* owns the names */
	struct symbol	*symbols;	/* by value */
	size_t		 n;
} *objects;
static size_t n_objects;

static int
by_value(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static bool
note_is(Elf_Data *data, const char *build_id)
{
	size_t at = 0, name, desc, i;
	GElf_Nhdr note;
	char hex[3];

	while ((at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    strlen(build_id) != 2 * note.n_descsz)
			continue;
		for (i = 0; i < note.n_descsz; i++) {
			snprintf(hex, sizeof(hex), "%02x",
			    ((unsigned char *)data->d_buf)[desc + i]);
			if (memcmp(hex, build_id + 2 * i, 2) != 0)
				return false;
		}
		return true;
	}
	return false;
}

/* Is this still the file that was mapped? */
static bool
same_build(Elf *elf, const char *build_id)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	Elf_Data *data;

	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_NOTE &&
		    (data = elf_getdata(scn, NULL)) != NULL &&
		    note_is(data, build_id))
			return true;
	}
	return false;
}

static void
add_table(struct object *o, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t i, n;
	GElf_Sym sym;
	const char *name;

	if (data == NULL)
		return;
	n = data->d_size / gelf_fsize(o->elf, ELF_T_SYM, 1, EV_CURRENT);
	o->symbols = xreallocarray(o->symbols, o->n + n, sizeof(*o->symbols));
	for (i = 0; i < n; i++) {
		if (gelf_getsym(data, (int)i, &sym) == NULL ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
		    sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_strptr(o->elf, sh->sh_link, sym.st_name);
		if (name == NULL || *name == '\0')
			continue;
		o->symbols[o->n++] = (struct symbol){ sym.st_value,
		    sym.st_size, name };
	}
}

static void
usersym_load(struct object *o)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	struct stat st;
	int fd;

	/* The trace chose the name: opening a device may do something. */
	if (stat(o->from->path, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (fd = open(o->from->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
	    O_NOCTTY)) < 0)
		return;
	elf_version(EV_CURRENT);
	o->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (o->elf != NULL && same_build(o->elf, o->from->build_id)) {
		while ((scn = elf_nextscn(o->elf, scn)) != NULL) {
			if (gelf_getshdr(scn, &sh) != NULL &&
			    (sh.sh_type == SHT_SYMTAB ||
			    sh.sh_type == SHT_DYNSYM))
				add_table(o, scn, &sh);
		}
		if (o->n > 0)
			qsort(o->symbols, o->n, sizeof(*o->symbols),
			    by_value);
	}
	if (o->elf != NULL)
		elf_cntl(o->elf, ELF_C_FDREAD);
	close(fd);
}

static struct object *
find_object(const struct tnf_context_object *from)
{
	struct object *o;
	const char *slash;
	size_t i;

	for (i = 0; i < n_objects; i++) {
		if (objects[i].from == from)
			return &objects[i];
	}
	objects = xreallocarray(objects, n_objects + 1, sizeof(*objects));
	o = &objects[n_objects++];
	memset(o, 0, sizeof(*o));
	o->from = from;
	slash = strrchr(from->path, '/');
	o->base_name = slash != NULL ? slash + 1 : from->path;
	if (strcmp(from->build_id, "-") != 0)
		usersym_load(o);
	return o;
}

/* File offset to the address that the symbols count in. */
static bool
to_virtual(Elf *elf, uint64_t offset, uint64_t *addr)
{
	GElf_Phdr ph;
	size_t i, n;

	if (elf == NULL || elf_getphdrnum(elf, &n) != 0)
		return false;
	for (i = 0; i < n; i++) {
		if (gelf_getphdr(elf, (int)i, &ph) == NULL ||
		    ph.p_type != PT_LOAD || offset < ph.p_offset ||
		    offset - ph.p_offset >= ph.p_filesz)
			continue;
		*addr = offset - ph.p_offset + ph.p_vaddr;
		return true;
	}
	return false;
}

static const struct symbol *
find_symbol(const struct object *o, uint64_t addr)
{
	size_t low = 0, high = o->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (o->symbols[mid].value <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		return NULL;
	if (o->symbols[low - 1].size != 0 &&
	    addr - o->symbols[low - 1].value >= o->symbols[low - 1].size)
		return NULL;
	return &o->symbols[low - 1];
}

const char *
usersym_find(const tnf_context_t *c, int32_t pid, uint64_t addr,
    uint64_t *offset)
{
	const struct tnf_context_object *from;
	const struct symbol *s;
	struct object *o;
	uint64_t virtual;

	if (c == NULL || (from = tnf_context_object(c, pid, addr)) == NULL)
		return NULL;
	o = find_object(from);
	*offset = addr - from->start + from->offset;
	if (to_virtual(o->elf, *offset, &virtual) &&
	    (s = find_symbol(o, virtual)) != NULL) {
		*offset = virtual - s->value;
		return s->name;
	}
	return o->base_name;
}

void
usersym_free(void)
{
	size_t i;

	for (i = 0; i < n_objects; i++) {
		elf_end(objects[i].elf);
		free(objects[i].symbols);
	}
	free(objects);
	objects = NULL;
	n_objects = 0;
}

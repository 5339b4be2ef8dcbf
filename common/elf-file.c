/*
 * elf-file.c - what an ELF file says: the only door to libelf, for files that targets
 * bring.
 *
 * libelf reads with pread(2), not through a mapping: the owner of the file may
 * cut it short while we look.
 */
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/elf-file.h"

#define SECTIONS_MAX	65536u
#define SEGMENTS_MAX	256u
#define CORE_SEGMENTS_MAX 65536u	/* of a core: each thread has some */
#define NAMES_MAX	(16u << 20)	/* section names */
#define TABLE_MAX	(512u << 20)	/* symbols, strings, relocations */
#define NOTES_MAX	(64u << 20)	/* bytes of one section of notes */
#define FRAMES_MIN	8u		/* bytes of a section about frames, ... */
#define FRAMES_MAX	(64u << 20)	/* ... and not more */
#define RELOCATIONS_MAX	(64u << 20)	/* looked at, all searches together */
/* The relocation whose addend is the address of a resolver. */
#if defined(__x86_64__)
#define IRELATIVE	R_X86_64_IRELATIVE
#elif defined(__aarch64__)
#define IRELATIVE	R_AARCH64_IRELATIVE
#else
#define IRELATIVE	UINT32_MAX
#endif
#define SYMBOL_MAX	256u		/* characters that we compare */

struct elffile {
	Elf	*elf;
	int	 fd;
	bool	 taken;		/* fd is closed with it */
	size_t	 names;		/* index of the section of section names */
	uint64_t file_size;
	uint64_t budget;	/* relocations that we are willing to look at */
};

static bool
is_native(const unsigned char *ident)
{
	return memcmp(ident, ELFMAG, SELFMAG) == 0 &&
	    ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
	    ident[EI_DATA] == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ?
	    ELFDATA2LSB : ELFDATA2MSB);
}

enum elffile_kind
tnf_elffile_kind_of(int fd, const char *symbol)
{
	enum elffile_kind kind = ELFFILE_STATIC;
	uint64_t value = 0;
	unsigned char ident[EI_NIDENT];
	struct elffile *e;
	GElf_Phdr ph;
	size_t i, n;

	if (pread(fd, ident, sizeof(ident), 0) != sizeof(ident) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0)
		return ELFFILE_NOT_ELF;
	if (!is_native(ident))
		return ELFFILE_OTHER_CLASS;
	if ((e = tnf_elffile_open(fd)) == NULL)
		return ELFFILE_NOT_ELF;
	if (elf_getphdrnum(e->elf, &n) == 0)
		for (i = 0; i < n && i < SEGMENTS_MAX; i++)
			if (gelf_getphdr(e->elf, (int)i, &ph) != NULL &&
			    ph.p_type == PT_INTERP)
				kind = ELFFILE_DYNAMIC;
	if (kind == ELFFILE_STATIC) {
		tnf_elffile_symbols(e, &symbol, &value, 1, true);
		kind = value != 0 ? ELFFILE_STATIC_WITH : ELFFILE_STATIC;
	}
	tnf_elffile_close(e);
	return kind;
}

/* Section names are the first thing libelf loads as a whole. */
static bool
check_names(struct elffile *e)
{
	GElf_Shdr sh;
	Elf_Scn *scn;
	size_t n;

	if (elf_getshdrnum(e->elf, &n) != 0 || n > SECTIONS_MAX)
		return false;
	if (n == 0)
		return true;
	return elf_getshdrstrndx(e->elf, &e->names) == 0 &&
	    (scn = elf_getscn(e->elf, e->names)) != NULL &&
	    gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_STRTAB &&
	    sh.sh_size <= NAMES_MAX;
}

struct elffile *
tnf_elffile_open(int fd)
{
	unsigned char ident[EI_NIDENT];
	struct elffile *e;
	off_t size;

	if (elf_version(EV_CURRENT) == EV_NONE ||
	    pread(fd, ident, sizeof(ident), 0) != sizeof(ident) ||
	    !is_native(ident) || (size = lseek(fd, 0, SEEK_END)) < 0 ||
	    (e = calloc(1, sizeof(*e))) == NULL)
		return NULL;
	e->fd = fd;
	e->file_size = (uint64_t)size;
	e->budget = RELOCATIONS_MAX;
	e->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (e->elf == NULL || elf_kind(e->elf) != ELF_K_ELF || !check_names(e)) {
		tnf_elffile_close(e);
		return NULL;
	}
	return e;
}

struct elffile *
tnf_elffile_take(int fd)
{
	struct elffile *e = fd < 0 ? NULL : tnf_elffile_open(fd);

	if (e != NULL)
		e->taken = true;
	else if (fd >= 0)
		close(fd);
	return e;
}

struct Elf *
tnf_elffile_handle(struct elffile *e)
{
	return e->elf;
}

void
tnf_elffile_close(struct elffile *e)
{
	if (e == NULL)
		return;
	elf_end(e->elf);
	if (e->taken)
		close(e->fd);
	free(e);
}

static bool
is_core(Elf *elf)
{
	GElf_Ehdr eh;

	return gelf_getehdr(elf, &eh) != NULL && eh.e_type == ET_CORE;
}

/* The next segment of this type, from number *i on. */
static bool
next_segment(Elf *elf, uint32_t type, size_t *i, GElf_Phdr *ph)
{
	size_t n, max = is_core(elf) ? CORE_SEGMENTS_MAX : SEGMENTS_MAX;

	if (elf_getphdrnum(elf, &n) != 0)
		return false;
	while (*i < n && *i < max)
		if (gelf_getphdr(elf, (int)(*i)++, ph) != NULL && ph->p_type == type)
			return true;
	return false;
}

static bool
next_loaded(Elf *elf, size_t *i, GElf_Phdr *ph)
{
	return next_segment(elf, PT_LOAD, i, ph);
}

uint64_t
tnf_elffile_lowest(struct elffile *e)
{
	uint64_t lowest = UINT64_MAX;
	GElf_Phdr ph;

	for (size_t i = 0; next_loaded(e->elf, &i, &ph); )
		if (ph.p_vaddr < lowest)
			lowest = ph.p_vaddr;
	return lowest == UINT64_MAX ? 0 : lowest & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

/* libdw has no limits of its own. */
bool
tnf_elffile_frames_are_plain(struct elffile *e)
{
	bool has_frames = false;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	const char *s;
	size_t n = 0;

	if (e->file_size > TABLE_MAX)
		return false;
	while ((scn = elf_nextscn(e->elf, scn)) != NULL && n++ < SECTIONS_MAX) {
		if (gelf_getshdr(scn, &sh) == NULL ||
		    (s = elf_strptr(e->elf, e->names, sh.sh_name)) == NULL ||
		    strncmp(s, ".eh_frame", 9) != 0)
			continue;
		if (sh.sh_type == SHT_NOBITS || sh.sh_size < FRAMES_MIN || sh.sh_size > FRAMES_MAX ||
		    sh.sh_offset > e->file_size || sh.sh_size > e->file_size - sh.sh_offset)
			return false;
		has_frames |= s[9] == '\0';
	}
	return has_frames;
}

static bool
name_fits(const char *s, const char *name)
{
	size_t n = strlen(name);

	return strncmp(s, name, n) == 0 && (s[n] == '\0' || s[n] == '.');
}

void
tnf_elffile_sections(struct elffile *e, const char *name,
    bool (*fn)(void *, uint64_t, uint64_t), void *arg)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	const char *s;
	size_t n = 0;

	while ((scn = elf_nextscn(e->elf, scn)) != NULL && n++ < SECTIONS_MAX) {
		if (gelf_getshdr(scn, &sh) == NULL || !(sh.sh_flags & SHF_ALLOC) ||
		    (sh.sh_type != SHT_PROGBITS && sh.sh_type != SHT_X86_64_UNWIND))
			continue;
		s = elf_strptr(e->elf, e->names, sh.sh_name);
		if (s != NULL && name_fits(s, name) &&
		    !fn(arg, sh.sh_addr, sh.sh_size))
			return;
	}
}

/* A section as it lies in the file. */
static Elf_Data *
raw_load(struct elffile *e, Elf_Scn *scn, const GElf_Shdr *sh)
{
	if (sh->sh_size > NOTES_MAX || sh->sh_size > e->file_size ||
	    sh->sh_flags & SHF_COMPRESSED)
		return NULL;
	return elf_rawdata(scn, NULL);
}

void
tnf_elffile_notes(struct elffile *e, const char *name,
    bool (*fn)(void *, const uint8_t *, size_t), void *arg)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	GElf_Shdr sh;
	const char *s;
	size_t n = 0;

	while ((scn = elf_nextscn(e->elf, scn)) != NULL && n++ < SECTIONS_MAX) {
		if (gelf_getshdr(scn, &sh) == NULL || sh.sh_type != SHT_NOTE)
			continue;
		s = elf_strptr(e->elf, e->names, sh.sh_name);
		if (s == NULL || strcmp(s, name) != 0 ||
		    (data = raw_load(e, scn, &sh)) == NULL || data->d_buf == NULL)
			continue;
		if (!fn(arg, data->d_buf, data->d_size))
			return;
	}
}

const uint8_t *
tnf_elffile_core_note(struct elffile *e, uint32_t type, size_t *ret_size)
{
	size_t at, name, desc;
	GElf_Phdr ph;
	GElf_Nhdr note;
	Elf_Data *data;

	for (size_t i = 0; next_segment(e->elf, PT_NOTE, &i, &ph); ) {
		if (ph.p_filesz > NOTES_MAX || (data = elf_getdata_rawchunk(e->elf,
		    (int64_t)ph.p_offset, ph.p_filesz, ELF_T_NHDR)) == NULL)
			continue;
		for (at = 0; (at = gelf_getnote(data, at, &note, &name, &desc)) > 0; )
			if (note.n_type == type) {
				*ret_size = note.n_descsz;
				return (const uint8_t *)data->d_buf + desc;
			}
	}
	return NULL;
}

bool
tnf_elffile_offset(struct elffile *e, uint64_t address, uint64_t *ret)
{
	GElf_Phdr ph;

	for (size_t i = 0; next_loaded(e->elf, &i, &ph); )
		if (address >= ph.p_vaddr && address - ph.p_vaddr < ph.p_filesz &&
		    ph.p_offset <= e->file_size &&
		    address - ph.p_vaddr < e->file_size - ph.p_offset) {
			*ret = ph.p_offset + (address - ph.p_vaddr);
			return true;
		}
	return false;
}

bool
tnf_elffile_address_of(Elf *elf, uint64_t offset, uint64_t *ret)
{
	GElf_Phdr ph;

	for (size_t i = 0; next_loaded(elf, &i, &ph); )
		if (offset >= ph.p_offset && offset - ph.p_offset < ph.p_filesz) {
			*ret = offset - ph.p_offset + ph.p_vaddr;
			return true;
		}
	return false;
}

bool
tnf_elffile_is_fixed(struct elffile *e)
{
	GElf_Ehdr eh;

	return gelf_getehdr(e->elf, &eh) != NULL && eh.e_type == ET_EXEC;
}

/* The contents of a section, if of a size that makes sense. */
static Elf_Data *
elffile_load(struct elffile *e, Elf_Scn *scn, const GElf_Shdr *sh)
{
	if (sh->sh_size > TABLE_MAX || sh->sh_size > e->file_size ||
	    sh->sh_entsize == 0 || sh->sh_type == SHT_NOBITS)
		return NULL;
	return elf_getdata(scn, NULL);
}

struct strings {
	const char *text;
	size_t	 size;		/* up to the last NUL: a string that begins below ends below */
};

/* elf_strptr() would look at the section, and for the end of the string, at each call. */
static bool
strings_load(struct elffile *e, size_t link, struct strings *ret)
{
	Elf_Scn *scn = elf_getscn(e->elf, link);
	Elf_Data *data;
	GElf_Shdr sh;

	if (scn == NULL || gelf_getshdr(scn, &sh) == NULL || sh.sh_type != SHT_STRTAB ||
	    sh.sh_size > TABLE_MAX || sh.sh_size > e->file_size ||
	    (data = elf_getdata(scn, NULL)) == NULL || data->d_buf == NULL)
		return false;
	*ret = (struct strings){ data->d_buf, data->d_size };
	while (ret->size > 0 && ret->text[ret->size - 1] != '\0')
		ret->size--;
	return true;
}

typedef bool symbol_f(void *, const char *name, const GElf_Sym *);

enum symbols { DYNAMIC, ALL, WANTED };	/* WANTED: those that others are to define */

/* Calls fn for each such symbol of a table until it returns false. */
static bool
each_symbol(struct elffile *e, Elf_Scn *scn, const GElf_Shdr *sh, enum symbols which,
    symbol_f *fn, void *arg)
{
	Elf_Data *data = elffile_load(e, scn, sh);
	struct strings names;
	GElf_Sym sym;
	size_t i, n;

	if (data == NULL || !strings_load(e, sh->sh_link, &names))
		return true;
	n = sh->sh_size / sh->sh_entsize;
	for (i = 1; i < n && i < INT32_MAX; i++) {
		if (gelf_getsym(data, (int)i, &sym) == NULL)
			break;
		if (which == WANTED ? sym.st_shndx != SHN_UNDEF :
		    sym.st_shndx == SHN_UNDEF || sym.st_value == 0)
			continue;
		if (sym.st_name < names.size && !fn(arg, names.text + sym.st_name, &sym))
			return false;
	}
	return true;
}

static void
elffile_search(struct elffile *e, enum symbols which, symbol_f *fn, void *arg)
{
	const uint32_t tables[] = { SHT_DYNSYM, SHT_SYMTAB };
	Elf_Scn *scn;
	GElf_Shdr sh;
	size_t t, n;

	for (t = 0; t < (which == ALL ? 2 : 1); t++) {
		scn = NULL;
		n = 0;
		while ((scn = elf_nextscn(e->elf, scn)) != NULL &&
		    n++ < SECTIONS_MAX)
			if (gelf_getshdr(scn, &sh) != NULL &&
			    sh.sh_type == tables[t] &&
			    !each_symbol(e, scn, &sh, which, fn, arg))
				return;
	}
}

struct wanted {
	const char *const *names;
	uint64_t *values;
	size_t	 n;
	size_t	 missing;
	bool	 functions;	/* nothing but these */
};

static bool
match_wanted(void *arg, const char *s, const GElf_Sym *sym)
{
	struct wanted *w = arg;

	if (w->functions && GELF_ST_TYPE(sym->st_info) != STT_FUNC)
		return true;
	for (size_t i = 0; i < w->n; i++) {
		if (w->values[i] != 0 || s[0] != w->names[i][0] ||
		    strncmp(s, w->names[i], SYMBOL_MAX) != 0)
			continue;
		w->values[i] = sym->st_value;
		if (--w->missing == 0)
			return false;
	}
	return true;
}

static void
search_wanted(struct elffile *e, enum symbols which, struct wanted *w)
{
	for (size_t i = 0; i < w->n; i++)
		w->missing += w->values[i] == 0;
	if (w->missing > 0)
		elffile_search(e, which, match_wanted, w);
}

void
tnf_elffile_symbols(struct elffile *e, const char *const *names, uint64_t *values,
    size_t n, bool deep)
{
	struct wanted w = { .names = names, .values = values, .n = n };

	search_wanted(e, deep ? ALL : DYNAMIC, &w);
}

bool
tnf_elffile_symbol(struct elffile *e, const char *name, uint64_t *ret)
{
	uint64_t value = 0;

	tnf_elffile_symbols(e, &name, &value, 1, true);
	if (value == 0)
		return false;
	*ret = value;
	return true;
}

void
tnf_elffile_functions_called(struct elffile *e, const char *const *names, uint64_t *values,
    size_t n)
{
	struct wanted w = { .names = names, .values = values, .n = n, .functions = true };

	search_wanted(e, ALL, &w);
}

bool
tnf_elffile_function(struct elffile *e, const char *name, uint64_t *ret)
{
	uint64_t value = 0;

	if (strlen(name) < SYMBOL_MAX)
		tnf_elffile_functions_called(e, &name, &value, 1);
	if (value == 0)
		return false;
	*ret = value;
	return true;
}

struct function {
	uint64_t value;
	char	*ret;
	size_t	 size;
	bool	 found;
};

struct each_function {
	bool	(*fn)(void *, const char *, uint64_t);
	void	*arg;
};

static bool
call_function(void *arg, const char *s, const GElf_Sym *sym)
{
	struct each_function *f = arg;

	return GELF_ST_TYPE(sym->st_info) != STT_FUNC || *s == '\0' ||
	    f->fn(f->arg, s, sym->st_value);
}

void
tnf_elffile_functions(struct elffile *e, bool (*fn)(void *, const char *, uint64_t), void *arg)
{
	struct each_function f = { fn, arg };

	elffile_search(e, ALL, call_function, &f);
}

struct each_label {
	bool	(*fn)(void *, const char *, uint64_t, bool);
	void	*arg;
};

static bool
call_label(void *arg, const char *s, const GElf_Sym *sym)
{
	struct each_label *l = arg;
	int type = GELF_ST_TYPE(sym->st_info);

	return type == STT_SECTION || type == STT_FILE || type == STT_TLS ||
	    sym->st_shndx == SHN_ABS || l->fn(l->arg, s, sym->st_value, type == STT_GNU_IFUNC);
}

void
tnf_elffile_labels(struct elffile *e, bool (*fn)(void *, const char *, uint64_t, bool), void *arg)
{
	struct each_label l = { fn, arg };

	elffile_search(e, ALL, call_label, &l);
}

static bool
match_address(void *arg, const char *s, const GElf_Sym *sym)
{
	struct function *f = arg;

	if (GELF_ST_TYPE(sym->st_info) != STT_FUNC ||
	    sym->st_value != f->value || *s == '\0' ||
	    strnlen(s, SYMBOL_MAX) >= f->size)
		return true;
	strcpy(f->ret, s);
	f->found = true;
	return false;
}

bool
tnf_elffile_function_at(struct elffile *e, uint64_t address, char *ret, size_t size)
{
	struct function f = { .value = address, .ret = ret, .size = size };

	elffile_search(e, ALL, match_address, &f);
	return f.found;
}

struct beginning {
	const char *text;
	bool	 found;
};

static bool
match_beginning(void *arg, const char *s, const GElf_Sym *sym)
{
	struct beginning *b = arg;

	b->found = strncmp(s, b->text, strlen(b->text)) == 0;
	return !b->found;
}

bool
tnf_elffile_imports(struct elffile *e, const char *prefix)
{
	struct beginning b = { .text = prefix };

	elffile_search(e, WANTED, match_beginning, &b);
	return b.found;
}

size_t
tnf_elffile_read(struct elffile *e, uint64_t address, void *buf, size_t n)
{
	uint64_t in;
	GElf_Phdr ph;
	ssize_t got;

	for (size_t i = 0; next_loaded(e->elf, &i, &ph); ) {
		if (address < ph.p_vaddr || (in = address - ph.p_vaddr) >= ph.p_filesz ||
		    ph.p_offset > e->file_size)
			continue;
		if (n > ph.p_filesz - in)
			n = ph.p_filesz - in;
		got = pread(e->fd, buf, n, (off_t)(ph.p_offset + in));
		return got < 0 ? 0 : (size_t)got;
	}
	return 0;
}

bool
tnf_elffile_string(struct elffile *e, uint64_t address, char *ret, size_t size)
{
	size_t n = tnf_elffile_read(e, address, ret, size);

	return n > 0 && memchr(ret, '\0', n) != NULL;
}

static bool
elffile_relocated(struct elffile *e, Elf_Scn *scn, const GElf_Shdr *sh, uint64_t address,
    uint64_t *ret)
{
	Elf_Data *data = elffile_load(e, scn, sh);
	GElf_Rela rela;
	size_t i, n;

	if (data == NULL)
		return false;
	n = sh->sh_size / sh->sh_entsize;
	for (i = 0; i < n && i < INT32_MAX && e->budget > 0; i++, e->budget--) {
		if (gelf_getrela(data, (int)i, &rela) == NULL)
			return false;
		/* Relative ones: no symbol, the addend is the address. */
		if (rela.r_offset == address && GELF_R_SYM(rela.r_info) == 0) {
			*ret = (uint64_t)rela.r_addend;
			return true;
		}
	}
	return false;
}

bool
tnf_elffile_pointer(struct elffile *e, uint64_t address, uint64_t *ret)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	uint64_t word;
	size_t n = 0;

	while ((scn = elf_nextscn(e->elf, scn)) != NULL && n++ < SECTIONS_MAX)
		if (gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_RELA &&
		    (sh.sh_flags & SHF_ALLOC) &&
		    elffile_relocated(e, scn, &sh, address, ret))
			return true;
	/* Without an entry, or with a packed one, the place has the value. */
	if (tnf_elffile_read(e, address, &word, sizeof(word)) != sizeof(word))
		return false;
	*ret = word;
	return word != 0;
}

bool
tnf_elffile_has_sections(struct elffile *e)
{
	size_t n;

	return elf_getshdrnum(e->elf, &n) == 0 && n > 0;
}

void
tnf_elffile_segments(struct elffile *e, bool (*fn)(void *, const struct elffile_segment *),
    void *arg)
{
	struct elffile_segment s;
	GElf_Phdr ph;
	size_t n;

	if (elf_getphdrnum(e->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		if (gelf_getphdr(e->elf, (int)i, &ph) == NULL)
			continue;
		s = (struct elffile_segment){ ph.p_type, ph.p_flags & PF_X, ph.p_vaddr,
		    ph.p_offset > e->file_size ? 0 : ph.p_filesz };
		if (s.size > e->file_size - ph.p_offset)
			s.size = e->file_size - ph.p_offset;
		if (!fn(arg, &s))
			return;
	}
}

/* The object's own address that an entry is about; false: there is none. */
static bool
relocation_address(Elf_Data *symbols, const GElf_Rela *rela, uint64_t *ret)
{
	uint64_t number = GELF_R_SYM(rela->r_info);
	GElf_Sym sym = { .st_value = 0 };

	if (number != 0 && (symbols == NULL || number > INT32_MAX ||
	    gelf_getsym(symbols, (int)number, &sym) == NULL || sym.st_shndx == SHN_UNDEF))
		return false;
	*ret = sym.st_value + (uint64_t)rela->r_addend;
	return true;
}

static Elf_Data *
elffile_linked(struct elffile *e, size_t link)
{
	Elf_Scn *scn = elf_getscn(e->elf, link);
	GElf_Shdr sh;

	return scn != NULL && gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_DYNSYM ?
	    elffile_load(e, scn, &sh) : NULL;
}

void
tnf_elffile_relocations(struct elffile *e, bool (*fn)(void *, uint64_t, uint64_t, bool), void *arg)
{
	Elf_Data *data, *symbols;
	Elf_Scn *scn = NULL;
	uint64_t address;
	GElf_Rela rela;
	GElf_Shdr sh;
	size_t n = 0;

	while ((scn = elf_nextscn(e->elf, scn)) != NULL && n++ < SECTIONS_MAX) {
		if (gelf_getshdr(scn, &sh) == NULL || sh.sh_type != SHT_RELA ||
		    !(sh.sh_flags & SHF_ALLOC) || (data = elffile_load(e, scn, &sh)) == NULL)
			continue;
		symbols = elffile_linked(e, sh.sh_link);
		for (size_t i = 0; i < sh.sh_size / sh.sh_entsize && i < INT32_MAX &&
		    gelf_getrela(data, (int)i, &rela) != NULL && e->budget > 0; i++, e->budget--)
			if (relocation_address(symbols, &rela, &address) &&
			    !fn(arg, rela.r_offset, address,
			    GELF_R_TYPE(rela.r_info) == IRELATIVE))
				return;
	}
}

/* The first string of the dynamic section with this tag that begins so. */
static bool
dynamic_string(struct elffile *e, int64_t tag, const char *prefix, char *ret, size_t size)
{
	Elf_Scn *scn = NULL;
	Elf_Data *data = NULL;
	struct strings names;
	const char *name;
	GElf_Shdr sh;
	GElf_Dyn dyn;
	size_t n = 0;

	while (data == NULL && (scn = elf_nextscn(e->elf, scn)) != NULL && n++ < SECTIONS_MAX)
		if (gelf_getshdr(scn, &sh) != NULL && sh.sh_type == SHT_DYNAMIC &&
		    ((data = elffile_load(e, scn, &sh)) == NULL ||
		    !strings_load(e, sh.sh_link, &names)))
			return false;
	for (size_t i = 0; data != NULL && i < sh.sh_size / sh.sh_entsize && i < INT32_MAX &&
	    gelf_getdyn(data, (int)i, &dyn) != NULL && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag != tag || dyn.d_un.d_val >= names.size)
			continue;
		name = names.text + dyn.d_un.d_val;
		if (strlen(name) < size &&
		    strncmp(name, prefix, strlen(prefix)) == 0) {
			strcpy(ret, name);
			return true;
		}
	}
	return false;
}

bool
tnf_elffile_needed(struct elffile *e, const char *prefix, char *ret, size_t size)
{
	return dynamic_string(e, DT_NEEDED, prefix, ret, size);
}

bool
tnf_elffile_soname(struct elffile *e, char *ret, size_t size)
{
	return dynamic_string(e, DT_SONAME, "", ret, size);
}

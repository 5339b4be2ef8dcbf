/*
 * elf.c - an ELF file that says it has more than it has; addresses at the ends of segments.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "tests/check-run.h"

#define SEGMENTS	3
#define SIZE		0x1000u		/* of the file */

/* Code at 0x1000 and 0x4000, and one that goes beyond the end of the file. */
static const Elf64_Phdr segments[SEGMENTS] = {
	{ .p_type = PT_LOAD, .p_offset = 0, .p_vaddr = 0x1000, .p_filesz = 0x400, .p_memsz = 0x900 },
	{ .p_type = PT_LOAD, .p_offset = 0x400, .p_vaddr = 0x4000, .p_filesz = 0x100, .p_memsz = 0x100 },
	{ .p_type = PT_LOAD, .p_offset = 0xe00, .p_vaddr = 0x8010, .p_filesz = 0x10000, .p_memsz = 0x10000 },
};
/* Sections behind all that, at 0x600; strings at 0x500, notes at 0x5c0. */
enum { NONE, SYMBOLS, STRINGS, NOTES, RELOCATIONS, SECTIONS };
static const char strings[] = "\0.symtab\0.strtab\0.note\0.rela\0zero\0one\0undef\0object\0ifunc\0two";
static const Elf64_Sym symbols_of[] = {
	{ .st_name = 0 },
	{ 29, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, 0 },
	{ 38, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, SHN_UNDEF, 5, 0 },
	{ 44, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 1, 7, 0 },
	{ 51, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), 0, 1, 8, 0 },
	{ 34, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 1, 0 },
	{ 57, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 2, 0 },
};
static const Elf64_Rela relocations[] = {
	{ 0x1018, ELF64_R_INFO(0, 8), 9 }, { 0x1008, ELF64_R_INFO(3, 1), 0x77 }, { 0x1008, ELF64_R_INFO(0, 8), 0x1234 }, { 0x1010, ELF64_R_INFO(0, 8), 0 },
};
static const Elf64_Shdr sections_of[SECTIONS] = {
	[SYMBOLS] = { 1, SHT_SYMTAB, 0, 0, 0x800, sizeof symbols_of, STRINGS, 1, 8, sizeof(Elf64_Sym) },
	[STRINGS] = { 9, SHT_STRTAB, 0, 0, 0x500, sizeof strings, 0, 0, 1, 1 },
	[NOTES] = { 17, SHT_NOTE, SHF_ALLOC, 0, 0x5c0, 16, 0, 0, 4, 0 },
	[RELOCATIONS] = { 23, SHT_RELA, SHF_ALLOC, 0, 0x900, sizeof relocations, 0, 0, 8, sizeof(Elf64_Rela) },
};
static Elf64_Shdr sections[SECTIONS];
static struct elffile *e;
static int fd;

static void
elf_make(const Elf64_Phdr *ph, size_t n, bool with_sections)
{
	Elf64_Ehdr eh = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
	    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT },
	    .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof eh,
	    .e_phoff = sizeof eh, .e_phentsize = sizeof *ph, .e_phnum = (Elf64_Half)n,
	    .e_shoff = with_sections ? 0x600 : 0, .e_shnum = with_sections ? SECTIONS : 0,
	    .e_shentsize = sizeof sections[0], .e_shstrndx = with_sections ? STRINGS : 0 };
	unsigned char bytes[SIZE];

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (unsigned char)(i % 250 + 1);
	memcpy(bytes, &eh, sizeof eh);
	memcpy(bytes + sizeof eh, ph, n * sizeof *ph);
	bytes[0x4ff] = '\0';
	fd = memfd_create("elf", MFD_CLOEXEC);
	if (with_sections) {
		memcpy(bytes + 0x500, strings, sizeof strings);
		memcpy(bytes + 0x600, sections, sizeof sections);
		memcpy(bytes + 0x800, symbols_of, sizeof symbols_of);
		memcpy(bytes + 0x900, relocations, sizeof relocations);
	}
	ck_assert_int_eq(write(fd, bytes, SIZE), SIZE);
	e = tnf_elffile_open(fd);
	ck_assert(e != NULL || with_sections);
}

static void
setup(void)
{
	elf_make(segments, SEGMENTS, false);
}

static void
teardown(void)
{
	tnf_elffile_close(e);
	close(fd);
}

#define NOT	UINT64_MAX
static const struct { uint64_t address, offset; } places[] = {
	{ 0, NOT }, { 0xfff, NOT }, { 0x1000, 0 }, { 0x13ff, 0x3ff }, { 0x1400, NOT }, { 0x18ff, NOT },
	{ 0x3fff, NOT }, { 0x4000, 0x400 }, { 0x40ff, 0x4ff }, { 0x4100, NOT }, { 0x800f, NOT },
	{ 0x8010, 0xe00 }, { 0x820f, 0xfff }, { 0x8210, NOT }, { 0x1800f, NOT }, { UINT64_MAX, NOT },
};

START_TEST(offsets)
{
	uint64_t at = NOT;

	ck_assert_int_eq(tnf_elffile_offset(e, places[_i].address, &at), places[_i].offset != NOT);
	ck_assert_uint_eq(at, places[_i].offset);
}
END_TEST

/* The other way around, libdwfl asks: it knows the segment's size alone. */
START_TEST(addresses)
{
	uint64_t at = NOT, offset = places[_i].offset;

	if (offset == NOT)
		return;
	ck_assert(tnf_elffile_address_of(tnf_elffile_handle(e), offset, &at));
	ck_assert_uint_eq(at, places[_i].address);
	ck_assert(!tnf_elffile_address_of(tnf_elffile_handle(e), 0x500, &at));
	ck_assert(!tnf_elffile_address_of(tnf_elffile_handle(e), 0x10e00, &at));
}
END_TEST

/* Segments that lie behind the file's end, or whose sum overflows. */
START_TEST(outside)
{
	static const Elf64_Phdr bad[] = {
		{ .p_type = PT_LOAD, .p_offset = SIZE, .p_vaddr = 0x1000, .p_filesz = 0x100 },
		{ .p_type = PT_LOAD, .p_offset = SIZE + 1, .p_vaddr = 0x1000, .p_filesz = 0x100 },
		{ .p_type = PT_LOAD, .p_offset = UINT64_MAX - 0xf, .p_vaddr = 0x1000, .p_filesz = 0x100 },
		{ .p_type = PT_NOTE, .p_offset = 0, .p_vaddr = 0x1000, .p_filesz = 0x100 },
	};
	uint64_t at = NOT;
	char text[8];

	teardown();
	elf_make(&bad[_i], 1, false);
	ck_assert(!tnf_elffile_offset(e, 0x1000, &at) && !tnf_elffile_offset(e, 0x1010, &at));
	ck_assert_uint_eq(at, NOT);
	ck_assert(!tnf_elffile_string(e, 0x1000, text, sizeof text));
	ck_assert(!tnf_elffile_pointer(e, 0x1000, &at));
	ck_assert_uint_eq(tnf_elffile_lowest(e), _i == 3 ? 0 : 0x1000);
}
END_TEST

START_TEST(strings_there)
{
	char text[0x80];
	uint64_t word, want;

	ck_assert_uint_eq(tnf_elffile_lowest(e), 0x1000);
	/* It ends with its segment, and there is room for exactly so much. */
	ck_assert(tnf_elffile_string(e, 0x40f0, text, 16));
	ck_assert_int_eq(text[0], 0x4f0 % 250 + 1);
	ck_assert_uint_eq(strlen(text), 15);
	ck_assert(!tnf_elffile_string(e, 0x40f0, text, 15));
	ck_assert(!tnf_elffile_string(e, 0x1300, text, sizeof text));
	ck_assert(!tnf_elffile_string(e, 0x4100, text, sizeof text));
	ck_assert(tnf_elffile_pointer(e, 0x4010, &word));
	for (size_t i = 0; i < sizeof want; i++)
		((unsigned char *)&want)[i] = (unsigned char)((0x410 + i) % 250 + 1);
	ck_assert_uint_eq(word, want);
	ck_assert(!tnf_elffile_pointer(e, 0x40f9, &word));
	ck_assert(tnf_elffile_pointer(e, 0x40f8, &word));
	ck_assert(!tnf_elffile_is_fixed(e));
}
END_TEST

/* In sections of their own. */
static int here[3] __attribute__((section("elf_here"), used)) = { 1, 2, 3 };
static int there[5] __attribute__((section("elf_here.too"), used)) = { 1 };
static int hereafter __attribute__((section("elf_hereafter"), used)) = 1;
static const char *const word __attribute__((section("elf_words"), used)) = "a word";
static const struct { Elf64_Nhdr h; char name[4]; uint32_t value; } note
    __attribute__((section(".note.elf"), aligned(4), used)) = { { 4, 4, 7 }, "tnf", 42 };

static uint64_t sizes, calls;

static bool
add_size(void *arg, uint64_t address, uint64_t size)
{
	sizes += size;
	calls++;
	return arg == NULL;
}

static bool
add_note(void *arg, const uint8_t *bytes, size_t size)
{
	calls++;
	sizes += size == sizeof note && memcmp(bytes, &note, size) == 0;
	return arg == NULL;
}

static bool
add_function(void *arg, const char *name, uint64_t address)
{
	calls++;
	sizes += strcmp(name, "main") == 0 && address == *(uint64_t *)arg;
	return sizes == 0;
}

/* The questions are about the file of this very test. */
START_TEST(symbols)
{
	static const char *const names[] = { "main", "elf_no_such_symbol" };
	uint64_t values[2] = { 0 }, at = 0, offset;
	char text[32];

	teardown();
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_ptr_nonnull(e = tnf_elffile_open(fd));
	tnf_elffile_symbols(e, names, values, 2, true);
	ck_assert_uint_ne(values[0], 0);
	ck_assert_uint_eq(values[1], 0);
	ck_assert(tnf_elffile_function(e, "main", &at) && at == values[0]);
	ck_assert(!tnf_elffile_function(e, names[1], &at));
	ck_assert(tnf_elffile_symbol(e, "main", &at) && at == values[0]);
	ck_assert(!tnf_elffile_symbol(e, names[1], &at) && at == values[0]);
	/* Room for the name with its end, and no more. */
	ck_assert(tnf_elffile_function_at(e, at, text, 5));
	ck_assert_str_eq(text, "main");
	ck_assert(!tnf_elffile_function_at(e, at, text, 4) && !tnf_elffile_function_at(e, at + 1, text, 5));
	ck_assert(tnf_elffile_offset(e, at, &offset));
	ck_assert(tnf_elffile_address_of(tnf_elffile_handle(e), offset, &offset) && offset == at);
	ck_assert(tnf_elffile_needed(e, "libc.so", text, sizeof text));
	ck_assert_str_eq(text, "libc.so.6");
	ck_assert(tnf_elffile_needed(e, "libc.so", text, 10) && !tnf_elffile_needed(e, "libc.so", text, 9));
	ck_assert(!tnf_elffile_needed(e, "libnone", text, sizeof text));
	ck_assert(tnf_elffile_frames_are_plain(e));
	ck_assert_int_eq(tnf_elffile_kind_of(fd, "main"), ELFFILE_DYNAMIC);
	tnf_elffile_functions(e, add_function, &at);
	ck_assert_uint_eq(sizes, 1);
	ck_assert(tnf_elffile_symbol(e, "word", &at) && tnf_elffile_pointer(e, at, &at));
	ck_assert(tnf_elffile_string(e, at, text, sizeof text));
	ck_assert_str_eq(text, "a word");
}
END_TEST

/* One member of one section differs: which functions are found, and is there a note; what
   the pointer at 0x1008 will be.  NULL: the file is not opened. */
#define MEMBER(m)	offsetof(Elf64_Shdr, m), sizeof(((Elf64_Shdr *)0)->m)
static const struct { int section; size_t at, size; uint64_t v; const char *found; uint64_t pointer; bool noted; } damages[] = {
	{ NONE, MEMBER(sh_info), 0, "one two ", 0x1234, true },
	{ SYMBOLS, MEMBER(sh_size), 6 * 24, "one ", 0x1234, true }, { SYMBOLS, MEMBER(sh_size), 5 * 24, "", 0x1234, true },
	{ SYMBOLS, MEMBER(sh_size), SIZE + 1, "", 0x1234, true }, { SYMBOLS, MEMBER(sh_entsize), 0, "", 0x1234, true },
	{ SYMBOLS, MEMBER(sh_link), SYMBOLS, "", 0x1234, true }, { SYMBOLS, MEMBER(sh_link), SECTIONS, "", 0x1234, true },
	{ SYMBOLS, MEMBER(sh_type), SHT_NOBITS, "", 0x1234, true }, { SYMBOLS, MEMBER(sh_type), SHT_DYNSYM, "one two ", 0x1234, true },
	{ STRINGS, MEMBER(sh_type), SHT_PROGBITS, NULL, 0, false }, { STRINGS, MEMBER(sh_size), (16 << 20) + 1, NULL, 0, false },
	{ STRINGS, MEMBER(sh_size), SIZE + 1, "", 0x1234, false },
	{ NOTES, MEMBER(sh_size), 0, "one two ", 0x1234, false }, { NOTES, MEMBER(sh_size), SIZE + 1, "one two ", 0x1234, false },
	{ NOTES, MEMBER(sh_flags), SHF_COMPRESSED, "one two ", 0x1234, false }, { NOTES, MEMBER(sh_type), SHT_PROGBITS, "one two ", 0x1234, false },
	{ NOTES, MEMBER(sh_name), 18, "one two ", 0x1234, false },
	{ RELOCATIONS, MEMBER(sh_size), 24, "one two ", 0x1122334455667788, true },
	{ RELOCATIONS, MEMBER(sh_flags), 0, "one two ", 0x1122334455667788, true },
	{ RELOCATIONS, MEMBER(sh_type), SHT_REL, "one two ", 0x1122334455667788, true },
	{ RELOCATIONS, MEMBER(sh_entsize), 0, "one two ", 0x1122334455667788, true },
	{ RELOCATIONS, MEMBER(sh_size), SIZE + 1, "one two ", 0x1122334455667788, true },
};
static char found[64];

static bool
find_function(void *arg, const char *name, uint64_t address)
{
	ck_assert_uint_eq(address, strcmp(name, "one") == 0 ? 1 : 2);
	strcat(strcat(found, name), " ");
	return true;
}

static bool
find_note(void *arg, const uint8_t *bytes, size_t size)
{
	ck_assert(size == 16 && bytes[0] == 0x5c0 % 250 + 1);
	*(bool *)arg = true;
	return true;
}

static size_t relocated, enough;

/* The second entry has a symbol, and its section none; the others are an address each. */
static bool
find_relocation(void *arg, uint64_t place, uint64_t address, bool resolver)
{
	const Elf64_Rela *r = &relocations[relocated + (relocated > 0)];

	ck_assert(place == r->r_offset && address == (uint64_t)r->r_addend && !resolver);
	return ++relocated < enough;
}

START_TEST(damaged)
{
	static const char *const names[] = { "zero", "two", "undef", "object" };
	uint64_t values[4] = { 0 }, pointer = 0, word_there = 0x1122334455667788;
	size_t all;
	bool noted = false;

	teardown();
	memcpy(sections, sections_of, sizeof sections);
	memcpy((char *)&sections[damages[_i].section] + damages[_i].at, &damages[_i].v, damages[_i].size);
	elf_make(segments, SEGMENTS, true);
	ck_assert((e != NULL) == (damages[_i].found != NULL));
	if (e == NULL)
		return;
	ck_assert_int_eq(pwrite(fd, &word_there, 8, 8), 8);
	tnf_elffile_functions(e, find_function, NULL);
	ck_assert_str_eq(found, damages[_i].found);
	tnf_elffile_symbols(e, names, values, 4, false);
	ck_assert(values[0] == 0 && values[2] == 0);
	ck_assert_uint_eq(values[1], damages[_i].section == SYMBOLS && damages[_i].v == SHT_DYNSYM ? 2 : 0);
	tnf_elffile_symbols(e, names, values, 4, true);
	ck_assert_uint_eq(values[1], strstr(found, "two") != NULL ? 2 : 0);
	ck_assert_uint_eq(values[3], *found != '\0' || damages[_i].v == 5 * 24 ? 7 : 0);
	tnf_elffile_notes(e, ".note", find_note, &noted);
	ck_assert(noted == damages[_i].noted);
	ck_assert(tnf_elffile_pointer(e, 0x1008, &pointer) && pointer == damages[_i].pointer);
	all = pointer == 0x1234 ? 3 : damages[_i].v == 24 ? 1 : 0;
	for (enough = 1; enough <= 4; enough++, relocated = 0) {
		tnf_elffile_relocations(e, find_relocation, NULL);
		ck_assert_uint_eq(relocated, enough < all ? enough : all);
	}
}
END_TEST

START_TEST(sections_named)
{
	teardown();
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_ptr_nonnull(e = tnf_elffile_open(fd));
	tnf_elffile_sections(e, "elf_here", add_size, NULL);
	ck_assert_uint_eq(calls, 2);
	ck_assert_uint_eq(sizes, sizeof here + sizeof there);
	tnf_elffile_sections(e, "elf_here", add_size, e);
	ck_assert_uint_eq(calls, 3);
	tnf_elffile_sections(e, "elf_h", add_size, NULL);
	ck_assert_uint_eq(calls, 3);
	sizes = 0;
	tnf_elffile_notes(e, ".note.elf", add_note, NULL);
	tnf_elffile_notes(e, ".note.el", add_note, NULL);
	ck_assert_uint_eq(calls, 4);
	ck_assert_uint_eq(sizes, 1);
}
END_TEST

/* The first bytes decide. */
START_TEST(kinds)
{
	static const struct { unsigned char at, byte; enum elffile_kind kind; bool opens; } rows[] = {
		{ 0, ELFMAG0, ELFFILE_STATIC, true }, { 3, 'G', ELFFILE_NOT_ELF, false },
		{ EI_CLASS, sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64, ELFFILE_OTHER_CLASS, false },
		{ EI_DATA, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB,
		    ELFFILE_OTHER_CLASS, false },
	};
	struct elffile *other;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		teardown();
		setup();
		ck_assert_int_eq(pwrite(fd, &rows[i].byte, 1, rows[i].at), 1);
		ck_assert_int_eq(tnf_elffile_kind_of(fd, "main"), rows[i].kind);
		other = tnf_elffile_open(fd);
		ck_assert((other != NULL) == rows[i].opens);
		tnf_elffile_close(other);
	}
	ck_assert_int_eq(ftruncate(fd, EI_NIDENT - 1), 0);
	ck_assert_int_eq(tnf_elffile_kind_of(fd, "main"), ELFFILE_NOT_ELF);
	ck_assert(!tnf_elffile_frames_are_plain(e));
	/* Taken files are closed with it, or at once. */
	ck_assert_ptr_null(tnf_elffile_take(-1));
	ck_assert_ptr_null(tnf_elffile_take(dup(fd)));
	ck_assert_int_eq(fcntl(fd + 1, F_GETFD), -1);
	tnf_elffile_close(NULL);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("elf");
	TCase *t = tcase_create("elf");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, offsets, 0, sizeof places / sizeof *places);
	tcase_add_loop_test(t, addresses, 0, sizeof places / sizeof *places);
	tcase_add_loop_test(t, outside, 0, 4);
	tcase_add_test(t, strings_there);
	tcase_add_test(t, symbols);
	tcase_add_loop_test(t, damaged, 0, sizeof damages / sizeof *damages);
	tcase_add_test(t, sections_named);
	tcase_add_test(t, kinds);
	suite_add_tcase(s, t);
	return check_run(s);
}

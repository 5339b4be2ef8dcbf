/*
 * image.c - a buffer whose pages lie scattered in a memory image.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check-run.h"
#include "tnfxtract/image.h"
#include "tests/xtract/model.h"

#define BLOCKS	64u
#define PAGES	400u		/* of the image */

static char name[] = "/tmp/tnf-image.XXXXXX";
static int fd = -1;
static unsigned char *memory;	/* of the machine, PAGES pages */

static void
setup(void)
{
	unsigned i;

	strcpy(name, "/tmp/tnf-image.XXXXXX");
	fd = mkstemp(name);
	ck_assert_int_ge(fd, 0);
	memory = malloc(PAGES * MODEL_BLOCK);
	for (i = 0; i < PAGES * MODEL_BLOCK; i++)
		memory[i] = (unsigned char)(i * 2654435761u >> 13);
}

static void
teardown(void)
{
	close(fd);
	unlink(name);
	free(memory);
}

/* Block i goes to page (i * step + first) % PAGES. */
static void
scatter(const struct model *m, unsigned step, unsigned first)
{
	unsigned i;

	for (i = 0; i < m->blocks; i++)
		memcpy(memory + (i * step + first) % PAGES * MODEL_BLOCK,
		    m->base + i * MODEL_BLOCK, MODEL_BLOCK);
}

static void
forget(unsigned page)
{
	memset(memory + page % PAGES * MODEL_BLOCK, 0, MODEL_BLOCK);
}

static void
write_raw(void)
{
	ck_assert_int_eq(pwrite(fd, memory, PAGES * MODEL_BLOCK, 0),
	    (ssize_t)(PAGES * MODEL_BLOCK));
}

static int
find(struct image_buffer *b)
{
	struct image im;
	int e;

	e = image_open(&im, name);
	ck_assert_int_eq(e, 0);
	e = image_find(&im, b);
	image_close(&im);
	return e;
}

static void
make(struct model *m, uint32_t blocks, uint64_t cookie)
{
	uint32_t i;

	model_init(m, blocks, cookie);
	model_define(m, 2);
	for (i = 3; i < blocks; i++)
		model_fill(m, i, 5);
}

START_TEST(scattered)
{
	struct image_buffer b;
	struct model m;

	make(&m, BLOCKS, 0xfeedface);
	scatter(&m, 7, 11);
	write_raw();
	ck_assert_int_eq(find(&b), 0);
	ck_assert_uint_eq(b.size, BLOCKS * MODEL_BLOCK);
	ck_assert_uint_eq(b.missing, 0);
	ck_assert(memcmp(b.base, m.base, b.size) == 0);
	image_buffer_free(&b);
	model_free(&m);
}
END_TEST

/* Pages of an older, smaller buffer are still about. */
START_TEST(older_buffer)
{
	struct image_buffer b;
	struct model m, old;

	make(&old, 40, 77);
	make(&m, BLOCKS, 0xfeedface);
	scatter(&old, 3, 200);
	scatter(&m, 7, 11);
	write_raw();
	ck_assert_int_eq(find(&b), 0);
	ck_assert_uint_eq(b.size, BLOCKS * MODEL_BLOCK);
	ck_assert(memcmp(b.base, m.base, b.size) == 0);
	image_buffer_free(&b);
	model_free(&m);
	model_free(&old);
}
END_TEST

START_TEST(blocks_missing)
{
	struct image_buffer b;
	struct model m;

	make(&m, BLOCKS, 1);
	scatter(&m, 7, 11);
	forget(20 * 7 + 11);
	forget(21 * 7 + 11);
	write_raw();
	ck_assert_int_eq(find(&b), 0);
	ck_assert_uint_eq(b.missing, 2);
	image_buffer_free(&b);
	model_free(&m);
}
END_TEST

START_TEST(directory_missing)
{
	struct image_buffer b;
	struct model m;

	make(&m, BLOCKS, 1);
	scatter(&m, 7, 11);
	forget(1 * 7 + 11);
	write_raw();
	ck_assert_int_eq(find(&b), ENODATA);
	model_free(&m);
}
END_TEST

/* The directory has room for more: a page of it without a word is not needed. */
START_TEST(directory_unused)
{
	struct tnf_file_header *h;
	struct image_buffer b;
	struct tnf_ext *ext;
	struct model m;

	make(&m, BLOCKS, 1);
	h = (void *)m.base;
	h->directory_size = 4 * MODEL_BLOCK;
	ext = (void *)(m.base + TNF_EXT_OFFSET);
	ext->dir_cursor = _i == 0 ? 2 * MODEL_BLOCK : 2 * MODEL_BLOCK + 4;
	scatter(&m, 7, 11);
	forget(2 * 7 + 11);
	write_raw();
	ck_assert_int_eq(find(&b), _i == 0 ? 0 : ENODATA);
	if (_i == 0) {
		ck_assert_uint_eq(b.missing, 1);
		image_buffer_free(&b);
	}
	model_free(&m);
}
END_TEST

START_TEST(no_buffer)
{
	struct image_buffer b;
	struct model m;

	make(&m, BLOCKS, 1);
	scatter(&m, 7, 11);
	forget(11);
	write_raw();
	ck_assert_int_eq(find(&b), ENOENT);
	model_free(&m);
}
END_TEST

/* A hostile header asks for more than the image has. */
START_TEST(huge_header)
{
	struct tnf_file_header *h;
	struct image_buffer b;
	struct model m;
	int e;

	make(&m, BLOCKS, 1);
	h = (void *)m.base;
	h->block_count = _i == 0 ? 0xffffffff : 0x000fffff;
	if (_i == 2)
		h->directory_size = 0xfffff000;
	scatter(&m, 7, 11);
	write_raw();
	e = find(&b);
	ck_assert(e != 0 || _i == 1);
	if (e == 0)
		image_buffer_free(&b);
	model_free(&m);
}
END_TEST

static void
write_core(size_t note_size)
{
	static const char note[] = "VMCOREINFO\0OSRELEASE=6.1.0-test\n"
	    "SYMBOL(_stext)=ffffffff81000000\nKERNELOFFSET=0\n";
	struct {
		Elf64_Ehdr e;
		Elf64_Phdr p[4];
	} h;
	off_t at = 4096 + 100;		/* memory is not aligned in the file */

	memset(&h, 0, sizeof h);
	memcpy(h.e.e_ident, ELFMAG, SELFMAG);
	h.e.e_ident[EI_CLASS] = ELFCLASS64;
	h.e.e_type = ET_CORE;
	h.e.e_phoff = sizeof h.e;
	h.e.e_phentsize = sizeof h.p[0];
	h.e.e_phnum = 4;
	h.p[0] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = 1024,
	    .p_filesz = note_size };
	h.p[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = (uint64_t)at,
	    .p_filesz = 100 * MODEL_BLOCK, .p_vaddr = 0x100000 };
	h.p[2] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = 0x900f00,
	    .p_offset = (uint64_t)at + 100 * MODEL_BLOCK - 0x100,
	    .p_filesz = 300 * MODEL_BLOCK + 0x100 };
	h.p[3] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = 1ull << 40,
	    .p_filesz = 1ull << 45, .p_paddr = UINT64_MAX };
	ck_assert_int_eq(pwrite(fd, &h, sizeof h, 0), (ssize_t)sizeof h);
	ck_assert_int_eq(pwrite(fd, note, sizeof note, 1024),
	    (ssize_t)sizeof note);
	ck_assert_int_eq(pwrite(fd, memory, PAGES * MODEL_BLOCK, at),
	    (ssize_t)(PAGES * MODEL_BLOCK));
}

START_TEST(elf_core)
{
	struct image_buffer b;
	struct image im;
	struct model m;

	make(&m, BLOCKS, 0xfeedface);
	scatter(&m, 7, 11);
	write_core(128);
	ck_assert_int_eq(image_open(&im, name), 0);
	ck_assert_str_eq(im.release, "6.1.0-test");
	ck_assert_uint_eq(im.stext, 0xffffffff81000000ull);
	ck_assert_uint_eq(im.n_parts, 2);
	ck_assert_int_eq(image_find(&im, &b), 0);
	ck_assert_uint_eq(b.missing, 0);
	ck_assert(memcmp(b.base, m.base, b.size) == 0);
	image_buffer_free(&b);
	image_close(&im);
	model_free(&m);
}
END_TEST

START_TEST(refused)
{
	static const char *const heads[] = {
		"KDUMP   ", "makedumpfile", "\177ELF\1", "\177ELF\2", "x"
	};
	static const int errors[] = { ENOEXEC, EBADMSG, EINVAL, EINVAL, EINVAL };
	struct image im;
	int e;

	ck_assert_int_gt(write(fd, heads[_i], strlen(heads[_i])), 0);
	if (_i < 4)
		ck_assert_int_eq(ftruncate(fd, 8192), 0);
	e = image_open(&im, name);
	/* Without the library nobody gets as far. */
	ck_assert(e == errors[_i] || (_i == 0 && e == ELIBACC));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("image");
	TCase *tc = tcase_create("image");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, scattered);
	tcase_add_test(tc, older_buffer);
	tcase_add_test(tc, blocks_missing);
	tcase_add_test(tc, directory_missing);
	tcase_add_loop_test(tc, directory_unused, 0, 2);
	tcase_add_test(tc, no_buffer);
	tcase_add_loop_test(tc, huge_header, 0, 3);
	tcase_add_test(tc, elf_core);
	tcase_add_loop_test(tc, refused, 0, 5);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}

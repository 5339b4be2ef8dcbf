/*
 * format.c - a block that is written while it is copied, in both byte orders; the header of a
 * file of each size.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/proc.h"
#include "format/core.h"
#include "format/live.h"
#include "tests/check-run.h"

#define BLOCK	512u
#define BLOCKS	8u
#define HEADER	((uint32_t)sizeof(struct tnf_block_header))

static unsigned char buffer[BLOCKS * BLOCK], to[BLOCK];
static struct live b;
static void (*writer)(uint64_t off, size_t n);	/* it comes after each read */

static void
read_and_write(const struct live *from, uint64_t off, void *where, size_t n)
{
	memcpy(where, buffer + off, n);
	if (writer != NULL)
		writer(off, n);
}

static void
put_header(uint32_t block, uint32_t generation, uint16_t used)
{
	struct tnf_block_header *h = (void *)(buffer + block * BLOCK);

	h->generation = b.swap ? __builtin_bswap32(generation) : generation;
	h->bytes_valid = b.swap ? __builtin_bswap16(used) : used;
}

static uint32_t
copied_used(void)
{
	struct tnf_block_header h;

	memcpy(&h, to, sizeof h);
	return b.swap ? __builtin_bswap16(h.bytes_valid) : h.bytes_valid;
}

/* In the file's byte order or the other, in memory or read. */
static void
begin(int how)
{
	writer = NULL;
	b = (struct live){ .base = how & 1 ? NULL : buffer, .read = how & 1 ? read_and_write : NULL,
	    .size = sizeof buffer, .first = 2 * BLOCK, .block_size = BLOCK, .swap = how & 2 };
	for (size_t i = 0; i < sizeof buffer; i++)
		buffer[i] = (unsigned char)(i % 251 + 1);
	memset(to, 0xee, sizeof to);
	for (uint32_t i = 2; i < BLOCKS; i++)
		put_header(i, 1, BLOCK);
}

/* The bytes before 'n' are the block's, those behind are zero. */
static void
copy_is(uint32_t block, uint32_t n)
{
	const unsigned char *from = buffer + block * BLOCK;

	for (uint32_t i = 0; i < BLOCK; i++)
		if ((i < 8 || i > 9) && to[i] != (i < n ? from[i] : 0))
			ck_abort_msg("byte %u of %u", i, n);
}

static const struct { uint32_t generation, used, want; enum live_copied how; uint32_t bytes; } rows[] = {
	{ 7, BLOCK, 7, LIVE_COPIED, BLOCK }, { 7, 100, 7, LIVE_COPIED, 100 }, { 7, HEADER + 1, 7, LIVE_COPIED, HEADER + 1 },
	{ 7, HEADER, 7, LIVE_EMPTY, HEADER }, { 7, 3, 7, LIVE_EMPTY, HEADER }, { 7, 0, 7, LIVE_EMPTY, HEADER },
	{ 7, BLOCK + 1, 7, LIVE_EMPTY, BLOCK }, { 7, 0xffff, 7, LIVE_EMPTY, BLOCK },
	{ 7, 100, 8, LIVE_TAKEN, 0 }, { 0, 0, 8, LIVE_TAKEN, 0 },
	/* A block of definitions may have names behind its valid bytes. */
	{ TNF_GENERATION_TAG, 100, TNF_GENERATION_TAG, LIVE_COPIED, BLOCK },
	{ TNF_GENERATION_TAG, HEADER, TNF_GENERATION_TAG, LIVE_COPIED, BLOCK },
	{ TNF_GENERATION_TAG, BLOCK + 1, TNF_GENERATION_TAG, LIVE_EMPTY, BLOCK },
};

START_TEST(copies)
{
	for (int how = 0; how < 4; how++) {
		struct live_use use = { rows[_i].want, 999 };
		begin(how);
		put_header(3, rows[_i].generation, (uint16_t)rows[_i].used);
		ck_assert_uint_eq(tnf_live_look(&b, 3 * BLOCK).generation, rows[_i].generation);
		ck_assert_uint_eq(tnf_live_look(&b, 3 * BLOCK).used, rows[_i].used);
		ck_assert_int_eq(tnf_live_copy(&b, 3 * BLOCK, to, &use), rows[_i].how);
		copy_is(3, rows[_i].bytes);
		ck_assert_uint_eq(copied_used(), rows[_i].how == LIVE_TAKEN ? 0 : rows[_i].used);
		ck_assert_uint_eq(use.used, rows[_i].how == LIVE_TAKEN ? 999 : rows[_i].used);
	}
}
END_TEST

static uint32_t later_generation, later_used;

static void
later(uint64_t off, size_t n)
{
	if (n > 4)
		put_header((uint32_t)(off / BLOCK), later_generation, (uint16_t)later_used);
}

/* The writer comes between the copy and the second look. */
START_TEST(overtaken)
{
	static const struct { uint32_t generation, used; enum live_copied how; } after[] = {
		{ 7, 100, LIVE_COPIED }, { 7, 101, LIVE_COPIED }, { 7, BLOCK, LIVE_COPIED }, { 7, 99, LIVE_TAKEN },
		{ 8, 100, LIVE_TAKEN }, { 0, 100, LIVE_TAKEN }, { 6, BLOCK, LIVE_TAKEN },
	};

	for (int how = 1; how < 4; how += 2) {
		struct live_use use = { 7, 0 };
		begin(how);
		put_header(3, 7, 100);
		writer = later;
		later_generation = after[_i].generation;
		later_used = after[_i].used;
		ck_assert_int_eq(tnf_live_copy(&b, 3 * BLOCK, to, &use), after[_i].how);
		/* The copy is the block as it was when the copying began. */
		ck_assert_uint_eq(copied_used(), after[_i].how == LIVE_TAKEN ? 0 : 100);
	}
}
END_TEST

START_TEST(words)
{
	for (int how = 0; how < 4; how++) {
		begin(how);
		tnf_live_copy_words(&b, 40, to, 16);
		ck_assert_mem_eq(to, buffer + 40, 16);
		ck_assert_uint_eq(to[16], 0xee);
	}
}
END_TEST

static uint32_t given[64], n_given;

static bool
give(void *arg, uint64_t off, const void *block, size_t n)
{
	ck_assert(n == BLOCK && memcmp((const char *)block + 10, buffer + off + 10, n - 10) == 0);
	if (n_given == sizeof given / sizeof *given)
		return false;
	given[n_given++] = (uint32_t)(off / BLOCK);
	return n_given != *(uint32_t *)arg;
}

/* The third definition comes as the first is copied, and the last grows for ever. */
static void
defines(uint64_t off, size_t n)
{
	static uint16_t used = HEADER + 1;

	if (n > 4 && off == 3 * BLOCK)
		put_header(2, TNF_GENERATION_TAG, 100);
	if (n > 4 && off == 7 * BLOCK && used < 100)
		put_header(7, TNF_GENERATION_TAG, ++used);
}

START_TEST(definitions)
{
	struct live_use seen[BLOCKS] = { { 0, 0 } };
	unsigned char block[BLOCK];
	uint32_t end = 0;

	begin(1);
	put_header(0, TNF_GENERATION_TAG, 100);		/* before the first: it is none */
	put_header(3, TNF_GENERATION_TAG, 200);
	put_header(5, TNF_GENERATION_TAG, HEADER);
	ck_assert(tnf_live_copy_definitions(&b, seen, block, give, &end));
	ck_assert(n_given == 2 && given[0] == 3 && given[1] == 5);
	/* Only those that have grown, or are new. */
	put_header(5, TNF_GENERATION_TAG, HEADER + 8);
	put_header(7, TNF_GENERATION_TAG, HEADER + 8);
	ck_assert(tnf_live_copy_definitions(&b, seen, block, give, &end));
	ck_assert(n_given == 4 && given[2] == 5 && given[3] == 7);
	ck_assert(tnf_live_copy_definitions(&b, seen, block, give, &end));
	ck_assert_uint_eq(n_given, 4);
	writer = defines;
	put_header(3, TNF_GENERATION_TAG, 300);
	ck_assert(tnf_live_copy_definitions(&b, seen, block, give, &end));
	ck_assert(n_given == 6 && given[4] == 3 && given[5] == 2);
	/* It ends although one grows each time; and where put() says so. */
	put_header(7, TNF_GENERATION_TAG, HEADER + 1);
	ck_assert(tnf_live_copy_definitions(&b, seen, block, give, &end));
	ck_assert_uint_eq(n_given, 6 + 16);
	end = n_given + 1;
	memset(seen, 0, sizeof seen);
	ck_assert(!tnf_live_copy_definitions(&b, seen, block, give, &end));
	ck_assert_uint_eq(n_given, end);
}
END_TEST

START_TEST(headers)
{
	struct tnf_file_header h = { .magic = 5 };
	struct tnf_ext x = { .magic = 5 };
	uint8_t id[TNF_BOOT_ID_SIZE];
	char text[TNF_BOOT_ID_TEXT], kernel[TNF_BOOT_ID_TEXT];
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	int64_t before[2] = { clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME) };

	for (unsigned log = 17; log < 31; log++)
		for (uint64_t size = (1u << log) - 1; size < (1u << log) + 2; size++) {
			tnf_header_set(&h, BLOCK, 2 * BLOCK, size);
			ck_assert_uint_eq(h.file_logical_size, log + (size > 1u << log));
			ck_assert_uint_eq(h.block_count, size / BLOCK);
		}
	tnf_header_set(&h, BLOCK, 2 * BLOCK, 1);
	ck_assert_uint_eq(h.file_logical_size, 0);
	ck_assert(h.magic == 5 && h.block_size == BLOCK && h.directory_size == 2 * BLOCK &&
	    h.block_header_size == HEADER);
	ck_assert(fgets(kernel, sizeof kernel, f) != NULL);
	fclose(f);
	ck_assert(tnf_boot_id(id));
	tnf_boot_id_text(id, text);
	ck_assert_str_eq(text, kernel);
	tnf_ext_begin(&x, TNF_EXT_KERNEL);
	ck_assert(x.magic == 5 && x.kind == TNF_EXT_KERNEL && x.size == sizeof x && memcmp(x.boot_id, id, sizeof id) == 0);
	ck_assert(x.start_mono >= before[0] && x.start_mono <= clock_ns(CLOCK_MONOTONIC));
	ck_assert(x.start_wall >= before[1] - 1000000000 && x.start_wall <= clock_ns(CLOCK_REALTIME) + 1000000000);
}
END_TEST

/* Without /proc there is no id.  In a process of its own, whose sanitizer needs one at exit. */
START_TEST(no_boot_id)
{
	static const uint8_t none[TNF_BOOT_ID_SIZE];
	uint8_t id[TNF_BOOT_ID_SIZE] = { 7 };
	char dir[] = "/tmp/tnf-format.XXXXXX";
	int status;

	if (geteuid() != 0)
		return;
	ck_assert_ptr_nonnull(mkdtemp(dir));
	if (fork() == 0)
		_exit(chdir(dir) != 0 || chroot(".") != 0 || tnf_boot_id(id) || memcmp(id, none, sizeof id) != 0);
	ck_assert_int_gt(wait(&status), 0);
	rmdir(dir);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* Each built-in type is found by its name, and has the size of what it is made of. */
START_TEST(types)
{
	for (unsigned i = TNF_CORE_type_none + 1; i < TNF_CORE_COUNT; i++)
		ck_assert_uint_eq(tnf_core_find(tnf_core_types[i].name), i);
	ck_assert_uint_eq(tnf_core_find("tnf_none"), TNF_CORE_type_none);
	ck_assert_uint_eq(tnf_define_tag_of(0), 0);
	ck_assert_uint_eq(tnf_define_tag_of(TNF_REF32_PERMANENT | 64), TNF_REF32_PERMANENT | TNF_REF32_T_TAG | 64);
	ck_assert_uint_eq(tnf_core_slot_size(TNF_CORE_uint64), 8);
	ck_assert_uint_eq(tnf_core_slot_size(TNF_CORE_uint8), 1);
	ck_assert_uint_eq(tnf_core_slot_size(TNF_CORE_time_base), 8);
	ck_assert_uint_eq(tnf_core_slot_size(TNF_CORE_string), 4);
	ck_assert_uint_eq(tnf_core_slot_size(TNF_CORE_tag), 4);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("format");
	TCase *t = tcase_create("format");

	tcase_add_loop_test(t, copies, 0, sizeof rows / sizeof *rows);
	tcase_add_loop_test(t, overtaken, 0, 7);
	tcase_add_test(t, words);
	tcase_add_test(t, definitions);
	tcase_add_test(t, headers);
	tcase_add_test(t, no_boot_id);
	tcase_add_test(t, types);
	suite_add_tcase(s, t);
	return check_run(s);
}

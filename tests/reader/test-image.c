/*
 * test-image.c - the bytes of files that are being written, and of others.
 */
#include <sys/mman.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tnf/stream.h>

#include "tests/check-run.h"
#include "tests/reader/samples.h"
#include "tests/reader/walk.h"

static char path[] = "/tmp/tnf-test-image.XXXXXX";
static int fd;
static struct mk *m;
static size_t size;

static void
put_ext(uint32_t attached, uint32_t ended)
{
	struct tnf_ext e = { .magic = TNF_EXT_MAGIC, .version = 1,
	    .size = sizeof e, .kind = TNF_EXT_PROCESS, .attached = attached,
	    .ended = ended, .lost = { 3, 4 } };

	ck_assert_int_eq(pwrite(fd, &e, sizeof e, TNF_EXT_OFFSET), sizeof e);
}

static void
setup(void)
{
	unsigned char *p;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	ck_assert_int_ge(fd = mkstemp(path), 0);
	m = sample(0);
	p = mk_bytes(m, &size);
	ck_assert_int_eq(pwrite(fd, p, size, 0), size);
}

static void
teardown(void)
{
	mk_free(m);
	close(fd);
	unlink(path);
}

/* Somebody has it open for writing: what he does next is not seen. */
START_TEST(live_is_copied)
{
	const void *base;
	size_t n;

	put_ext(2, 1);
	ck_assert_int_eq(tnf_image_open(fd, &base, &n), 0);
	ck_assert_uint_eq(n, size);
	ck_assert_int_eq(pwrite(fd, "\7", 1, mk_data_start(m) + 4), 1);
	ck_assert_int_eq(((const char *)base)[mk_data_start(m) + 4], 1);
	ck_assert_uint_eq(walk_stream(base, n).events, SAMPLE_EVENTS);
	tnf_image_close(base, n);
}
END_TEST

START_TEST(ended_is_mapped)
{
	const void *base;
	size_t n;

	put_ext(2, 2);
	ck_assert_int_eq(tnf_image_open(fd, &base, &n), 0);
	ck_assert_int_eq(pwrite(fd, "\7", 1, mk_data_start(m) + 4), 1);
	ck_assert_int_eq(((const char *)base)[mk_data_start(m) + 4], 7);
	tnf_image_close(base, n);
}
END_TEST

/* The words that our writers leave in block 0 are handed out in this host's order. */
START_TEST(extension)
{
	const struct tnf_ext *e;
	struct tnf_summary sum;
	struct tnf_file *f;
	tnf_stream_t *s;

	put_ext(1, 1);
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add(s, path, &f), 0);
	ck_assert_ptr_nonnull(e = tnf_file_ext(f));
	ck_assert_uint_eq(e->lost[0] + e->lost[1], 7);
	ck_assert_str_eq(tnf_file_name(f), path);
	tnf_file_summary(f, &sum);
	ck_assert_uint_eq(sum.events, SAMPLE_EVENTS);
	ck_assert_uint_eq(sum.word_bits, 64);
	ck_assert_uint_eq(sum.probes, 3);
	tnf_stream_close(s);
}
END_TEST

/* Processes and copies come and go; the reader says what the matter is. */
START_TEST(no_file)
{
	const void *base;
	size_t n;
	tnf_stream_t *s;

	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add(s, "/nonexistent", NULL), ENOENT);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(tnf_image_open(fd, &base, &n), ENODATA);
	ck_assert_int_eq(tnf_stream_add(s, path, NULL), ENODATA);
	ck_assert_int_eq(tnf_stream_add(s, "/", NULL), ENODEV);
	tnf_stream_close(s);
	tnf_image_close(NULL, 0);
	tnf_stream_close(NULL);
}
END_TEST

int
main(void)
{
	Suite *su = suite_create("image");
	TCase *tc = tcase_create("image");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, live_is_copied);
	tcase_add_test(tc, ended_is_mapped);
	tcase_add_test(tc, extension);
	tcase_add_test(tc, no_file);
	suite_add_tcase(su, tc);
	return check_run_nofork(su);
}

/*
 * test-classic.c - the classic interface, call by call.
 */
#include <stdlib.h>
#include <string.h>

#include <tnf/tnf.h>

#include "libtnf/datum.h"
#include "tests/check-run.h"
#include "tests/reader/samples.h"

static struct mk *m;
static unsigned char *tnf_bytes;
static TNF *tnf;

static void
setup(void)
{
	size_t n;

	m = sample(3);		/* the one least like this host */
	tnf_bytes = mk_bytes(m, &n);
	ck_assert_int_eq(tnf_reader_begin((char *)tnf_bytes, n, &tnf), 0);
	tnf_error_last(NULL, NULL);
}

static void
teardown(void)
{
	tnf_reader_end(tnf);
	mk_free(m);
	tnf_set_error_handler(NULL, NULL);
}

/* The n-th event of that name, in file order: one thread after the other. */
static tnf_datum_t
event(const char *name, unsigned n)
{
	tnf_datum_t d;

	for (d = tnf_get_file_header(tnf); d != TNF_DATUM_NULL;
	    d = tnf_get_next_record(d))
		if (strcmp(tnf_get_type_name(d), name) == 0 &&
		    tnf_get_tag_arg(d) != TNF_DATUM_NULL && n-- == 0)
			return d;
	ck_abort_msg("no event %s", name);
	return d;
}

START_TEST(slots)
{
	tnf_datum_t d = event("all", 2), s = tnf_get_slot_named(d, "s");

	ck_assert_uint_eq(tnf_get_slot_count(d), 7);
	ck_assert_str_eq(tnf_get_slot_name(d, 1), "time_delta");
	ck_assert_uint_eq(tnf_get_slot_index(d, "l"), 3);
	ck_assert_int_eq(tnf_get_int32(tnf_get_slot_named(d, "i")), -12);
	ck_assert_int_eq(tnf_get_int64(tnf_get_slot_indexed(d, 3)), 12LL << 33);
	ck_assert_int_eq(tnf_get_char(tnf_get_slot_named(d, "c")), 'c');
	ck_assert(tnf_get_float64(tnf_get_slot_named(d, "d")) == 6.0);
	ck_assert(tnf_is_string(s) && tnf_is_array(s) && tnf_is_record(s));
	ck_assert_str_eq(tnf_get_chars(s), "text");
	ck_assert_uint_eq(tnf_get_element_count(s), 8);
	ck_assert_int_eq(tnf_get_char(tnf_get_element(s, 3)), 't');
	ck_assert_int_eq(tnf_get_elements(s)[1], 'e');
	ck_assert_int_eq(tnf_get_kind(s), TNF_K_STRING);
	ck_assert_uint_eq(tnf_get_size(s), 16);
	ck_assert(tnf_is_struct(d) && !tnf_is_inline(d) && !tnf_is_type(d));
	ck_assert(tnf_has_slot(d, "i") && !tnf_has_slot(d, "j"));
	ck_assert(tnf_is_scalar(tnf_get_slot_named(d, "i")) && !tnf_is_scalar(s));
	ck_assert(memcmp(tnf_get_raw(tnf_get_slot_named(d, "i")),
	    "\377\377\377\364", 4) == 0);
	ck_assert(tnf_get_raw(d) == (char *)tnf_bytes + tnf_get_offset(d));
	ck_assert_str_eq(tnf_type_get_name(tnf_get_element_type(s)), "tnf_char");
	ck_assert_int_eq(tnf_error_last(NULL, NULL), TNF_ERR_NONE);
}
END_TEST

START_TEST(types)
{
	tnf_datum_t d = event("nested", 0), t, o;

	t = tnf_get_type(d);
	ck_assert(tnf_is_type(t));
	ck_assert_str_eq(tnf_type_get_name(t), "nested");
	ck_assert_int_eq(tnf_type_get_kind(t), TNF_K_STRUCT);
	ck_assert_int_eq(tnf_type_get_size(t), 16);
	ck_assert(tnf_type_get_property(t, "tnf_struct") != TNF_DATUM_NULL);
	ck_assert(tnf_type_get_property(t, "tnf_scalar") == TNF_DATUM_NULL);
	ck_assert(tnf_type_get_base(t) == TNF_DATUM_NULL);
	o = tnf_get_type(tnf_get_slot_named(d, "o"));
	ck_assert(tnf_type_get_property(o, "tnf_opaque") == o);
	ck_assert_str_eq(tnf_type_get_name(tnf_type_get_base(o)), "tnf_uint32");
	ck_assert_int_eq(tnf_type_get_kind(o), TNF_K_UINT32);
	ck_assert_int_eq(tnf_type_get_size(o), 4);
	o = tnf_type_get_property(o, "tnf_derived");
	ck_assert_int_eq(tnf_type_get_size(o), -1);
	t = tnf_get_slot_named(t, "tnf_string");
	ck_assert_str_eq(tnf_get_chars(t), "keys c;file f.c;line 3;");
	d = tnf_get_slot_named(d, "p");
	ck_assert_str_eq(tnf_get_type_name(d), "point");
	ck_assert_int_eq(tnf_get_int64(tnf_get_slot_named(d, "y")), 7);
}
END_TEST

START_TEST(blocks)
{
	tnf_datum_t d = event("all", 0), b = tnf_get_block_header(d), first;
	uint32_t size, start;

	tnf_get_geometry(tnf, &size, &start);
	ck_assert_uint_eq(size, 512);
	ck_assert_uint_eq(start, 0x10000);
	ck_assert(tnf_is_block_header(b) && !tnf_is_block_header(d));
	ck_assert_uint_eq(tnf_get_offset(b), tnf_get_offset(d) & ~511u);
	first = tnf_get_block_absolute(tnf, 0);
	ck_assert_uint_eq(tnf_get_offset(first), start);
	ck_assert(tnf_get_block_relative(first, 1) ==
	    tnf_get_block_absolute(tnf, 1));
	ck_assert(tnf_get_block_relative(first, -1) == TNF_DATUM_NULL);
	ck_assert(tnf_get_block_absolute(tnf, 1u << 30) == TNF_DATUM_NULL);
	ck_assert_int_eq(tnf_get_block_count(tnf), 64 + 8);
	/* One that was never used has no header; the others are all there. */
	for (unsigned n = 0; n < 64 + 8 + 2; n++) {
		uint32_t at = start + n * size;
		d = tnf_get_block_absolute(tnf, n);
		ck_assert((d == TNF_DATUM_NULL) == (n >= 64 + 8 || mk_get32(m, at) == 0));
		ck_assert(d == TNF_DATUM_NULL || tnf_get_offset(d) == at);
	}
	ck_assert_int_eq(tnf_get_int32(tnf_get_slot_named(
	    tnf_get_file_header(tnf), "block_count")), 128 + 64 + 8);
	ck_assert_int_eq(tnf_error_last(NULL, NULL), TNF_ERR_NONE);
}
END_TEST

static struct {
	TNF *tnf;
	tnf_errcode_t code;
} told;

static void
on_error(void *arg, TNF *t, tnf_errcode_t code)
{
	ck_assert_ptr_eq(arg, &told);
	told.tnf = t;
	told.code = code;
}

/* Wrong handles and wrong calls tell the handler and give nothing. */
START_TEST(errors)
{
	tnf_datum_t d = event("all", 0), i = tnf_get_slot_named(d, "i");
	uint64_t at;

	tnf_set_error_handler(on_error, &told);
	ck_assert_ptr_null(tnf_get_chars(d));
	ck_assert_int_eq(told.code, TNF_ERR_TYPEMISMATCH);
	ck_assert_ptr_eq(told.tnf, tnf);
	ck_assert_int_eq(tnf_error_last(&at, NULL), TNF_ERR_TYPEMISMATCH);
	ck_assert_uint_eq(at, tnf_get_offset(d));
	ck_assert(tnf_get_slot_indexed(d, 7) == TNF_DATUM_NULL);
	ck_assert_int_eq(told.code, TNF_ERR_BADINDEX);
	ck_assert(tnf_get_slot_named(d, "none") == TNF_DATUM_NULL);
	ck_assert_int_eq(told.code, TNF_ERR_BADSLOT);
	ck_assert_int_eq(tnf_get_int64(i), 0);
	ck_assert_int_eq(told.code, TNF_ERR_TYPEMISMATCH);
	ck_assert(tnf_get_next_record(i) == TNF_DATUM_NULL);
	ck_assert_uint_eq(tnf_get_element_count(d), (unsigned)-1);
	ck_assert(tnf_get_element_type(d) == TNF_DATUM_NULL);
	ck_assert_ptr_null(tnf_get_raw(TNF_DATUM_NULL));
	ck_assert_int_eq(tnf_get_kind(TNF_DATUM_NULL), TNF_K_UNKNOWN);
	ck_assert_int_eq(told.code, TNF_ERR_BADDATUM);
	/* No scalar: its size does not matter. */
	ck_assert_int_eq(tnf_get_int32(TNF_DATUM_NULL), 0);
	ck_assert_int_eq(told.code, TNF_ERR_BADDATUM);
	for (unsigned n = 0; n < 8; n++) {
		told.code = TNF_ERR_NONE;
		ck_assert_int_eq(tnf_get_int64(tnf_get_block_absolute(tnf, n)), 0);
		ck_assert_int_ne(told.code, TNF_ERR_NONE);
	}
	ck_assert_int_eq(tnf_get_kind(~(tnf_datum_t)0), TNF_K_UNKNOWN);
	ck_assert_int_eq(tnf_get_kind(d | (tnf_datum_t)0xfffff << 32),
	    TNF_K_UNKNOWN);
}
END_TEST

/* A handle that has outlived its session is known as such. */
START_TEST(outlived)
{
	tnf_datum_t d = event("all", 0);
	size_t n;
	unsigned char *p = mk_bytes(m, &n);
	TNF *other;

	ck_assert_int_eq(tnf_reader_begin((char *)p, n, &other), 0);
	tnf_reader_end(tnf);
	tnf = other;
	ck_assert_ptr_null(tnf_get_type_name(d));
	ck_assert_int_eq(tnf_error_last(NULL, NULL), TNF_ERR_BADDATUM);
}
END_TEST

/* As many sessions as there are numbers, and one more when any of them has ended. */
START_TEST(sessions)
{
	static TNF *open[SESSIONS_MAX];		/* the first is the fixture's */
	const unsigned again[] = { SESSIONS_MAX - 1, 1, SESSIONS_MAX / 2, SESSIONS_MAX - 1 };
	unsigned n = 1;
	TNF *other;
	size_t size;
	char *p = (char *)mk_bytes(m, &size);

	while (n < SESSIONS_MAX && tnf_reader_begin(p, size, &open[n]) == 0)
		n++;
	ck_assert_uint_eq(n, SESSIONS_MAX);
	for (unsigned i = 0; i < sizeof(again) / sizeof(again[0]); i++) {
		tnf_reader_end(open[again[i]]);
		ck_assert_int_eq(tnf_reader_begin(p, size, &open[again[i]]), 0);
		ck_assert(tnf_get_file_header(open[again[i]]) != TNF_DATUM_NULL);
	}
	ck_assert_int_eq(tnf_reader_begin(p, size, &other), TNF_ERR_ALLOCFAIL);
	while (n-- > 1)
		tnf_reader_end(open[n]);
}
END_TEST

START_TEST(messages)
{
	ck_assert_str_eq(tnf_error_message(0), "no error");
	ck_assert_str_eq(tnf_error_message(2), strerror(2));
	ck_assert_str_eq(tnf_error_message(1024), "not a TNF file");
	ck_assert_str_eq(tnf_error_message(1025),
	    "operation on bad or NULL data handle");
	ck_assert_str_eq(tnf_error_message(1026), "type mismatch");
	ck_assert_str_eq(tnf_error_message(1027), "index out of bounds");
	ck_assert_str_eq(tnf_error_message(1028), "no such slot");
	ck_assert_str_eq(tnf_error_message(1029), "bad reference type");
	ck_assert_str_eq(tnf_error_message(1030), "memory allocation failure");
	ck_assert_str_eq(tnf_error_message(1031), "bad TNF file");
	ck_assert_str_eq(tnf_error_message(1032), "internal error");
	ck_assert_str_eq(tnf_error_message(TNF_ERR_NEWER), "written by a newer "
	    "release: a reader of that release is needed");
	ck_assert_str_eq(tnf_error_message(1034), "unknown error code");
	ck_assert_str_eq(tnf_error_message(-1), "unknown error code");
}
END_TEST

int
main(void)
{
	Suite *su = suite_create("classic");
	TCase *tc = tcase_create("classic");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, slots);
	tcase_add_test(tc, types);
	tcase_add_test(tc, blocks);
	tcase_add_test(tc, errors);
	tcase_add_test(tc, outlived);
	tcase_add_test(tc, sessions);
	tcase_add_test(tc, messages);
	suite_add_tcase(su, tc);
	return check_run_nofork(su);
}

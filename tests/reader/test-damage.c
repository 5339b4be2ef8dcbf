/*
 * test-damage.c - what is wrong in a file is told, and only that is left out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/stream.h>

#include "format/bytes.h"
#include "tests/check-run.h"
#include "tests/reader/mkfile.h"
#include "tests/reader/walk.h"

#define EVENTS	40u

static struct mk *m;
static unsigned char *bytes;
static size_t size;
static uint32_t events[EVENTS];		/* offsets */
static uint32_t first_block;

/* One thread, one probe with a string, a few blocks. */
static void
setup(void)
{
	struct mk_thread t = { .pid = 1, .lwpid = 1, .tid = 1 };
	unsigned p, i;

	m = mk_new(&(struct mk_opts){ .data_blocks = 8 });
	p = mk_probe(m, "p", "keys k;", "i:tnf_int32 s:tnf_string");
	for (i = 0; i < EVENTS; i++) {
		ck_assert(mk_event(m, &t, p, 100 + i, (int64_t)i, "hello"));
		events[i] = mk_last_event(m);
	}
	bytes = mk_bytes(m, &size);
	first_block = mk_data_start(m);
}

static void
teardown(void)
{
	mk_free(m);
}

/* Before how much is left out, or where the cause is. */
static bool
is_reason(const char *text, const char *reason)
{
	size_t n = strlen(reason);

	return strncmp(text, reason, n) == 0 &&
	    (text[n] == ';' || strncmp(text + n, " (at 0x", 7) == 0);
}

static void
expect(uint64_t n_events, uint64_t block, const char *reason)
{
	struct walk_result r = walk_stream(bytes, size);

	ck_assert_int_eq(r.error, 0);
	ck_assert_uint_eq(r.damaged, 1);
	ck_assert_uint_eq(r.offset, block);
	ck_assert_msg(is_reason(r.reason, reason), "%s", r.reason);
	ck_assert_uint_eq(r.events, n_events);
	walk_classic(bytes, size);
}

static unsigned
in_first_block(void)
{
	unsigned i = 0;

	while (events[i] < first_block + 512)
		i++;
	return i;
}

/* A block that claims more than it has made readers run off the map. */
START_TEST(used_beyond_block)
{
	mk_put16(m, first_block + 8, 513);
	expect(EVENTS - in_first_block(), first_block,
	    "more bytes are used than a block has");
}
END_TEST

START_TEST(used_below_header)
{
	mk_put16(m, first_block + 8, 20);
	expect(EVENTS - in_first_block(), first_block,
	    "fewer bytes are used than its header has");
}
END_TEST

START_TEST(no_block_header)
{
	mk_put32(m, first_block, 0x80000002 | mk_type_pos(m, "tnf_int32"));
	expect(EVENTS - in_first_block(), first_block,
	    "it has no block header");
}
END_TEST

/* Reference kind 11; what stands before it is sound. */
START_TEST(reserved_word)
{
	mk_put32(m, events[3], mk_get32(m, events[3]) | 3);
	expect(EVENTS - in_first_block() + 3, first_block,
	    "no record where one should be");
}
END_TEST

START_TEST(tag_into_nothing)
{
	mk_put32(m, events[3], 0xfffdu << 16 | 1);
	expect(EVENTS - in_first_block() + 3, first_block,
	    "a record's tag leads nowhere");
}
END_TEST

/* A string's size is what the walk goes on by. */
START_TEST(array_without_size)
{
	mk_put32(m, events[0] + 48 + 4, 0);
	expect(EVENTS - in_first_block() + 1, first_block,
	    "a record has an impossible size");
}
END_TEST

/* All events are there, and what cannot be read of one is told. */
START_TEST(member_reference)
{
	uint32_t ref = events[3] + 12;

	mk_put32(m, ref, 3);
	expect(EVENTS, first_block, "a reference is bad");
	mk_put32(m, ref, 0xfffffffc);
	expect(EVENTS, first_block, "a reference is bad");
	/* The event itself, whose time is no type. */
	mk_put32(m, ref, 0x7ffffff8);
	expect(EVENTS, first_block, "a record's tag leads nowhere");
}
END_TEST

/* A string has been overwritten by a definition.  Other writers may refer so. */
START_TEST(became_definition)
{
	struct tnf_ext *e = (struct tnf_ext *)(void *)(bytes + TNF_EXT_OFFSET);
	uint32_t ref = events[3] + 12, next = in_first_block();
	struct walk_result r;

	mk_put32(m, first_block + 512 + 4, TNF_GENERATION_TAG);
	mk_put32(m, ref, events[next] + 4 - ref);
	expect(EVENTS, first_block, "a record's tag leads nowhere");
	e->magic = TNF_EXT_MAGIC;
	e->version = TNF_EXT_VERSION;
	e->size = sizeof *e;
	e->kind = TNF_EXT_PROCESS;
	r = walk_stream(bytes, size);
	ck_assert_uint_eq(r.damaged, 0);
	ck_assert_uint_eq(r.events, EVENTS);
}
END_TEST

START_TEST(record_beyond_used)
{
	mk_put16(m, first_block + 8, (uint16_t)(events[3] - first_block + 8));
	expect(EVENTS - in_first_block() + 3, first_block,
	    "a record reaches beyond what is used");
}
END_TEST

/* Directory words that forward to each other: no end. */
START_TEST(forwarding_circle)
{
	struct walk_result r;

	mk_put32(m, 512 + 12, 0x80000000 | (512 + 16));
	mk_put32(m, 512 + 16, 0x80000000 | (512 + 12));
	r = walk_stream(bytes, size);
	ck_assert_uint_eq(r.events, 0);
	ck_assert_uint_gt(r.damaged, 0);
	ck_assert_msg(is_reason(r.reason, "a record's tag leads nowhere"),
	    "%s", r.reason);
}
END_TEST

/* tnf_pid derived from itself. */
START_TEST(derived_circle)
{
	uint32_t pid = mk_type_pos(m, "tnf_pid");
	struct walk_result r;

	mk_put32(m, pid + 12, 0x80000000 | pid);
	r = walk_stream(bytes, size);
	ck_assert_uint_eq(r.events, 0);
	ck_assert_uint_gt(r.damaged, 0);
	walk_classic(bytes, size);
}
END_TEST

/* One bit of a name, and nothing is an event any more: told once, with the
   number of what is left out. */
START_TEST(type_of_events)
{
	struct walk_result r;
	uint32_t p = mk_get32(m, 512 + 12) & 0x7ffffffc;
	char text[100];

	mk_put32(m, p + 8, 0x80000000 | p);	/* its properties: no array */
	r = walk_stream(bytes, size);
	ck_assert_uint_eq(r.events, 0);
	ck_assert_uint_eq(r.damaged, 1);
	snprintf(text, sizeof text, "the properties of a type cannot be read "
	    "(at 0x%x); %u records are left out", p, EVENTS + 1);
	ck_assert_str_eq(r.reason, text);
}
END_TEST

/* One bit more in a type's size would take in the events that follow. */
START_TEST(size_of_events)
{
	struct walk_result r;
	uint32_t p = mk_get32(m, 512 + 12) & 0x7ffffffc;

	mk_put32(m, p + 16, mk_get32(m, p + 16) + 40);
	r = walk_stream(bytes, size);
	ck_assert_uint_eq(r.events, 0);
	ck_assert_uint_eq(r.damaged, 1);
	ck_assert_msg(is_reason(r.reason,
	    "a record type is larger than its members"), "%s", r.reason);
}
END_TEST

/* A block of lap 0 is unused only if there is nothing in it. */
START_TEST(generation_zero)
{
	struct walk_result r;

	mk_put32(m, first_block + 4, TNF_GENERATION_FREE);
	r = walk_stream(bytes, size);
	ck_assert_uint_eq(r.damaged, 0);
	ck_assert_uint_eq(r.events, EVENTS);
	ck_assert_uint_eq(walk_classic(bytes, size).events, EVENTS);
}
END_TEST

/* Half as many blocks as there are. */
START_TEST(blocks_not_declared)
{
	struct walk_result r;

	mk_put32(m, 32, first_block / 512 + 1);
	r = walk_stream(bytes, size);
	ck_assert_uint_eq(r.events, in_first_block());
	ck_assert_uint_eq(r.damaged, 1);
	ck_assert_uint_eq(walk_classic(bytes, size).damaged, 1);
}
END_TEST

/* An event that another one refers to is shown with its time_delta. */
START_TEST(reference_to_event)
{
	struct tnf_event ev;
	struct tnf_value v, item;
	tnf_stream_t *s;
	uint32_t ref = events[1] + 12;

	mk_put32(m, ref, (events[0] - ref) & 0x7ffffffc);
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, size, "f", NULL), 0);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 1);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 1);
	ck_assert(tnf_event_value(&ev, 1, &v));
	ck_assert_int_eq(v.kind, TNF_K_STRUCT);
	ck_assert_uint_eq(v.u.r.count, 3);
	ck_assert_str_eq(v.u.r.type->members[0].name, "time_delta");
	ck_assert(tnf_value_item(ev.file, &v, 1, &item));
	ck_assert_str_eq(v.u.r.type->members[1].name, "i");
	ck_assert_int_eq(item.u.i, 0);
	tnf_stream_close(s);
}
END_TEST

/* A schedule of another lap: the event has no time; that is no damage. */
START_TEST(schedule_overwritten)
{
	struct walk_result r;
	uint32_t word = events[0] + 16;	/* forwarding word behind the event */

	mk_put32(m, word, (mk_get32(m, word) + 512 * 2) & 0x7ffffffc);
	mk_put32(m, first_block + 1024 + 4, 7);
	r = walk_stream(bytes, size);
	ck_assert_uint_eq(r.damaged, 0);
	ck_assert_uint_eq(r.events, EVENTS - 1);
}
END_TEST

/* No NUL up to the end of the string's record. */
START_TEST(string_without_end)
{
	struct tnf_event ev;
	struct tnf_value v;
	tnf_stream_t *s;

	memset(bytes + events[0] + 48 + 8, 'x', 8);
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, size, "f", NULL), 0);
	ck_assert_int_eq(tnf_stream_next(s, &ev), 1);
	ck_assert(tnf_event_value(&ev, 1, &v));
	ck_assert_int_eq(v.kind, TNF_K_STRING);
	ck_assert_uint_eq(v.u.s.len, 8);
	tnf_stream_close(s);
}
END_TEST

static int
begin(void)
{
	TNF *tnf;
	int r = tnf_reader_begin((char *)bytes, size, &tnf);

	if (r == 0)
		tnf_reader_end(tnf);
	return r;
}

/* A header that makes no sense is refused as a whole. */
START_TEST(bad_header)
{
	static const struct { uint32_t pos, value; } bad[] = {
		{ 24, 0 }, { 24, 500 }, { 24, 65536 }, { 24, 32 },
		{ 20, 0 }, { 20, 1024 }, { 20, 17 }, { 28, 0 }, { 28, 513 },
		{ 28, 0xfffffe00 }, { 32, 0 }, { 32, 0xffffffff }, { 16, 200 },
	};
	unsigned i;
	uint32_t good;

	ck_assert_int_eq(begin(), 0);
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		good = mk_get32(m, bad[i].pos);
		mk_put32(m, bad[i].pos, bad[i].value);
		ck_assert_int_eq(begin(), TNF_ERR_BADTNF);
		mk_put32(m, bad[i].pos, good);
	}
	mk_put32(m, 0, 0x12345678);
	ck_assert_int_eq(begin(), TNF_ERR_NOTTNF);
	size = 2;
	ck_assert_int_eq(begin(), TNF_ERR_NOTTNF);
}
END_TEST

/* Shorter than it says: refused, unless asked for; longer: fine. */
START_TEST(cut_and_long)
{
	unsigned char *longer = calloc(1, size + 1000);
	tnf_stream_t *s;
	struct tnf_event ev;
	unsigned n = 0;

	memcpy(longer, bytes, size);
	ck_assert_uint_eq(walk_stream(longer, size + 1000).events, EVENTS);
	free(longer);
	ck_assert_int_eq(walk_stream(bytes, first_block + 600).error,
	    TNF_ERR_BADTNF);
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	tnf_stream_accept_cut(s, true);
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, first_block + 512,
	    "cut", NULL), 0);
	while (tnf_stream_next(s, &ev) == 1)
		n++;
	ck_assert_uint_eq(n, in_first_block());
	tnf_stream_close(s);
}
END_TEST

/* What is known of the extension, and what refuses a file: tnf(5). */
START_TEST(extension)
{
	struct tnf_ext *e = (struct tnf_ext *)(void *)(bytes + TNF_EXT_OFFSET);
	struct tnf_file *f;
	tnf_stream_t *s;

	*e = (struct tnf_ext){ .magic = TNF_EXT_MAGIC, .version = TNF_EXT_VERSION,
	    .size = offsetof(struct tnf_ext, extra_offset), .pid = 5,
	    .extra_offset = 77, .compatible = 1, .incompatible = 1 };
	ck_assert_int_eq(tnf_stream_new(&s), 0);
	/* Behind 'size' nothing counts. */
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, size, "f", &f), 0);
	ck_assert_int_eq(tnf_file_ext(f)->pid, 5);
	ck_assert_uint_eq(tnf_file_ext(f)->extra_offset, 0);
	ck_assert_uint_eq(tnf_file_ext(f)->compatible, 0);
	tnf_stream_close(s);
	e->size = sizeof *e + 100;
	ck_assert_int_eq(walk_stream(bytes, size).error, TNF_ERR_NEWER);
	ck_assert_int_eq(begin(), TNF_ERR_NEWER);
	e->incompatible = 0;
	ck_assert_uint_eq(walk_stream(bytes, size).events, EVENTS);
	e->version++;
	ck_assert_int_eq(walk_stream(bytes, size).error, TNF_ERR_NEWER);
}
END_TEST

/* All zeros, or so young that the magic is not yet there. */
START_TEST(empty)
{
	struct tnf_ext e = { .magic = TNF_EXT_MAGIC };

	memset(bytes, 0, size);
	ck_assert_int_eq(walk_stream(bytes, size).error, ENODATA);
	memcpy(bytes + TNF_EXT_OFFSET, &e, sizeof e);
	ck_assert_int_eq(walk_stream(bytes, size).error, ENODATA);
	bytes[TNF_EXT_OFFSET] ^= 1;
	ck_assert_int_eq(walk_stream(bytes, size).error, TNF_ERR_NOTTNF);
}
END_TEST

/* Writing goes on: the block belongs to another lap when its turn comes. */
START_TEST(taken_over_meanwhile)
{
	struct tnf_event ev;
	struct tnf_file *f;
	tnf_stream_t *s;
	unsigned n = 0;

	ck_assert_int_eq(tnf_stream_new(&s), 0);
	ck_assert_int_eq(tnf_stream_add_mem(s, bytes, size, "f", &f), 0);
	ck_assert_uint_eq(tnf_file_missed(f), 0);
	while (tnf_stream_next(s, &ev) == 1) {
		if (n++ == 0)
			mk_put32(m, first_block + 512 + 4, 2);
		ck_assert(ev.pos < first_block + 512 ||
		    ev.pos >= first_block + 1024);
	}
	ck_assert_uint_gt(n, in_first_block());
	ck_assert_uint_eq(tnf_file_missed(f), 1);
	tnf_stream_close(s);
}
END_TEST

/* The door through which bytes come in: to the last one, in either byte order, and not
   beyond. */
START_TEST(door)
{
	static const unsigned char some[] = { 1, 2, 3, 4, 5, 6, 7, 8, 'a', 'b', '\0', 'c' };
	const uint64_t n = sizeof some;
	unsigned char *copy = malloc(sizeof some);
	struct bytes b = { memcpy(copy, some, sizeof some), sizeof some, false };

	for (uint64_t off = 0; off < n + 3; off++)
		for (uint64_t k = 0; k <= n + 1; k++)
			ck_assert((bytes_at(&b, off, k) != NULL) == (off + k <= n));
	ck_assert(!bytes_has(&b, UINT64_MAX, 2) && !bytes_has(&b, 2, UINT64_MAX));
	for (int big = 0; big < 2; big++) {
		b.swap = big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
		ck_assert_uint_eq(bytes_u8(&b, 0), 1);
		ck_assert_uint_eq(bytes_u16(&b, 1), big ? 0x0203 : 0x0302);
		ck_assert_uint_eq(bytes_u32(&b, 1), big ? 0x02030405 : 0x05040302);
		ck_assert_uint_eq(bytes_u64(&b, 0), big ? 0x0102030405060708 : 0x0807060504030201);
		ck_assert_uint_eq(bytes_u8(&b, n - 1), 'c');
		ck_assert_uint_ne(bytes_u16(&b, n - 2), 0);
		ck_assert_uint_ne(bytes_u32(&b, n - 4), 0);
		ck_assert_uint_ne(bytes_u64(&b, n - 8), 0);
		ck_assert_uint_eq(bytes_u8(&b, n), 0);
		ck_assert_uint_eq(bytes_u16(&b, n - 1), 0);
		ck_assert_uint_eq(bytes_u32(&b, n - 3), 0);
		ck_assert_uint_eq(bytes_u64(&b, n - 7), 0);
	}
	ck_assert_uint_eq(bytes_strlen(&b, 8, 100), 2);
	ck_assert_uint_eq(bytes_strlen(&b, 8, 1), 1);
	ck_assert_uint_eq(bytes_strlen(&b, n - 1, 100), 1);
	ck_assert_uint_eq(bytes_strlen(&b, n, 100), 0);
	ck_assert_uint_eq(bytes_strlen(&b, UINT64_MAX, 100), 0);
	free(copy);
}
END_TEST

static Suite *
suite(void)
{
	Suite *su = suite_create("damage");
	TCase *tc = tcase_create("damage");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, door);
	tcase_add_test(tc, used_beyond_block);
	tcase_add_test(tc, used_below_header);
	tcase_add_test(tc, no_block_header);
	tcase_add_test(tc, reserved_word);
	tcase_add_test(tc, tag_into_nothing);
	tcase_add_test(tc, array_without_size);
	tcase_add_test(tc, member_reference);
	tcase_add_test(tc, became_definition);
	tcase_add_test(tc, record_beyond_used);
	tcase_add_test(tc, forwarding_circle);
	tcase_add_test(tc, derived_circle);
	tcase_add_test(tc, type_of_events);
	tcase_add_test(tc, size_of_events);
	tcase_add_test(tc, generation_zero);
	tcase_add_test(tc, blocks_not_declared);
	tcase_add_test(tc, reference_to_event);
	tcase_add_test(tc, schedule_overwritten);
	tcase_add_test(tc, string_without_end);
	tcase_add_test(tc, bad_header);
	tcase_add_test(tc, cut_and_long);
	tcase_add_test(tc, extension);
	tcase_add_test(tc, empty);
	tcase_add_test(tc, taken_over_meanwhile);
	suite_add_tcase(su, tc);
	return su;
}

int
main(void)
{
	return check_run_nofork(suite());
}

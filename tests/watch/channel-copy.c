/*
 * channel-copy.c - the channel has what was read, of the block that it was read in, or it says
 * that it has not: it reaches back to where nothing is missing.
 */
#include <string.h>

#include "tests/check-run.h"
#include "tnfwatch/config.h"
#include "tnfwatch/history.h"
#include "tnfwatch/segment.h"
#include "tnfwatch/watch.h"

#define BLOCK		4096u
#define BLOCKS		3u	/* the header, the directory, one of events */
#define EVENT		(2 * BLOCK + 24 + (uint32_t)sizeof(struct tnf_kernel_schedule))
#define S		INT64_C(1000000000)

static unsigned char ring[BLOCKS * BLOCK];
static struct blocks b;
static struct channel *c;
static struct tnf_type number = { .name = "tnf_int32", .size = 4 };
static struct tnf_member member = { .name = "n", .type = &number, .offset = 8 };
static struct tnf_probe probe = { .name = "rare", .keys = "", .id = 7, .n_members = 1,
    .members = &member };
static const char rare[] = "rare", other[] = "other";

/* As long as one text is asked for, which is its own description. */
bool
enable_has(const struct enable *e, const struct tnf_probe *p, bool *used)
{
	return strcmp((const char *)e, p->name) == 0;
}

const char *
enable_text(const struct enable *e)
{
	return (const char *)e;
}

/* The block has one event of this time, and is in this lap. */
static void
put_event(uint32_t generation, int64_t time)
{
	struct tnf_block_header h = { .tag = 4, .generation = generation,
	    .bytes_valid = (tnf_uint16_t)(EVENT - 2 * BLOCK + 12) };
	struct tnf_kernel_schedule s = { .tag = 8, .lwpid = 1, .pid = 1, .time_base = time - 5,
	    .number = generation };
	uint32_t sched = (uint32_t)-(int)sizeof s;
	uint32_t record[3] = { TNF_REF32_T_PAIR | (sched & 0xfffcu), 5, 42 };

	memcpy(ring + 2 * BLOCK, &h, sizeof h);
	memcpy(ring + 2 * BLOCK + sizeof h, &s, sizeof s);
	memcpy(ring + EVENT, record, sizeof record);
}

static void
setup(void)
{
	struct tnf_file_header h = { .magic = TNF_MAGIC, .block_header_size = 24,
	    .block_size = BLOCK, .directory_size = BLOCK, .block_count = BLOCKS };
	struct tnf_ext x = { .magic = TNF_EXT_MAGIC, .kind = TNF_EXT_KERNEL,
	    .data_start = 2 * BLOCK };

	memset(ring, 0, sizeof ring);
	memcpy(ring, &h, sizeof h);
	memcpy(ring + TNF_EXT_OFFSET, &x, sizeof x);
	ck_assert(blocks_open(&b, ring, sizeof ring));
	c = channel_new();
	channel_set(c, (const struct enable *)(const void *)rare, 60 * S);
}

static void
teardown(void)
{
	channel_free(c);
	c = NULL;
}

/* An event that a reader has handed out. */
static void
event(int64_t time)
{
	struct tnf_event ev = { .time = time, .kernel = true, .probe = &probe, .pos = EVENT };

	channel_event(c, &b, &ev);
}

static struct channel_status
status(void)
{
	struct channel_status st;

	channel_status(c, &st);
	return st;
}

static bool
nowhere(void *arg, uint32_t block, uint32_t generation)
{
	return false;
}

/* How many blocks are made of what it has; the first is in 'to'. */
static size_t
blocks_made(unsigned char *to)
{
	struct channel_place place = { .chunk = NULL };

	return channel_blocks(c, &b, &place, to, 1, nowhere, NULL);
}

START_TEST(remembered)
{
	static unsigned char to[BLOCK];
	int64_t since = status().since, now = since + S;

	put_event(1, now);
	event(now);
	ck_assert_uint_eq(status().events, 1);
	ck_assert_int_eq(status().since, since);
	/* The ring goes on, and the channel has it still. */
	put_event(2, now + S);
	ck_assert_uint_eq(blocks_made(to), 1);
	ck_assert_int_eq(memcmp(to + EVENT - 2 * BLOCK + 8, &(uint32_t){ 42 }, 4), 0);
}
END_TEST

/* The writer has taken the block after the event was read and before it is copied.  What
   is there by then is an event of another time, though of the same shape. */
START_TEST(overtaken)
{
	static unsigned char to[BLOCK];
	int64_t now = status().since + S;

	put_event(2, now + 3 * S);
	event(now);
	ck_assert_uint_eq(status().events, 0);
	ck_assert_int_eq(status().since, now + 1);
	ck_assert_uint_eq(blocks_made(to), 0);
	/* That one itself is remembered when it is read. */
	event(now + 3 * S);
	ck_assert_uint_eq(status().events, 1);
	ck_assert_int_eq(status().since, now + 1);
}
END_TEST

/* It was given back, or has less in it than it had. */
START_TEST(gone)
{
	int64_t now = status().since + S;
	struct tnf_block_header h;

	put_event(TNF_GENERATION_FREE, now);
	event(now);
	ck_assert_uint_eq(status().events, 0);
	ck_assert_int_eq(status().since, now + 1);
	put_event(1, now + S);
	memcpy(&h, ring + 2 * BLOCK, sizeof h);
	h.bytes_valid = (tnf_uint16_t)(EVENT - 2 * BLOCK);
	memcpy(ring + 2 * BLOCK, &h, sizeof h);
	event(now + S);
	ck_assert_uint_eq(status().events, 0);
	ck_assert_int_eq(status().since, now + S + 1);
}
END_TEST

/* "since" is where nothing is missing. */
START_TEST(since)
{
	int64_t begun = status().since, now = begun + S;

	put_event(1, now);
	event(now);
	/* An event that is not wanted is not missing. */
	probe.name = "busy";
	probe.id = 8;
	event(now + 1);
	probe.name = "rare";
	probe.id = 7;
	ck_assert_uint_eq(status().events, 1);
	ck_assert_int_eq(status().since, begun);
	/* The same again. */
	channel_set(c, (const struct enable *)(const void *)"rare", 60 * S);
	ck_assert_int_eq(status().since, begun);
	channel_tick(c, now + 60 * S, false);
	ck_assert_uint_eq(status().events, 1);
	/* It is too old, but an incident needs it. */
	channel_tick(c, now + 60 * S + 1, true);
	ck_assert_uint_eq(status().events, 1);
	channel_tick(c, now + 60 * S + 1, false);
	ck_assert_uint_eq(status().events, 0);
	ck_assert_int_eq(status().since, now + 1);
	channel_missed(c, now + 90 * S);
	ck_assert_int_eq(status().since, now + 90 * S);
}
END_TEST

/* A probe that is not rare: the oldest events go, though an incident holds them, and the channel
   tells from when on it has all of them. */
START_TEST(full)
{
	int64_t begun = status().since, now = begun;
	struct channel_status st = status();

	while (st.since == begun && now < begun + 1000000) {
		now++;
		put_event((uint32_t)(now - begun), now);
		event(now);
		channel_tick(c, now + 90 * S, true);
		st = status();
	}
	ck_assert_uint_eq(st.bytes, 32u << 20);
	ck_assert_int_gt(st.since, begun);
	ck_assert_uint_eq(st.events, (uint64_t)(now - st.since + 1));
}
END_TEST

/* Other probes: these are not there from before. */
START_TEST(changed)
{
	int64_t before = status().since;

	channel_missed(c, 1);
	channel_set(c, (const struct enable *)(const void *)other, 60 * S);
	ck_assert_int_ge(status().since, before);
	put_event(1, before + S);
	event(before + S);
	ck_assert_uint_eq(status().events, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("channel");
	TCase *t = tcase_create("channel");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, remembered);
	tcase_add_test(t, overtaken);
	tcase_add_test(t, gone);
	tcase_add_test(t, since);
	tcase_add_test(t, full);
	tcase_add_test(t, changed);
	suite_add_tcase(s, t);
	return check_run(s);
}

/*
 * history-kept.c - segments are kept as long as the configuration says and as memory and
 * disk have room, and are put into an incident's directory.
 */
#include "tests/watch/history.h"

static char names[400];	/* of files that were put */

/* Segments older than the promise go, unless an incident needs them. */
START_TEST(kept)
{
	int64_t keep = 20 * STEP, now;

	begin(false, keep, 1 << 20);
	for (unsigned n = 0; n < 60; n++) {
		write_blocks(4);
		now = time_of(written);
		history_tick(h, &src, now, false);
		for (const struct segment *s = h->first; s != NULL; s = s->next)
			ck_assert_int_le(now - s->cut, keep);
		for (uint64_t k = written > 20 ? written - 20 : 0; k + RING < written; k++)
			ck_assert_uint_eq(count_of(k), 1);
	}
	ck_assert_int_le(status()->since, now - keep);
	ck_assert_int_ge(status()->since, now - keep - 8 * STEP - RING * STEP);
	ck_assert(!history_has_all(h));
	ck_assert_uint_eq(status()->refused, 0);
	ck_assert_uint_eq(status()->raw, (uint64_t)BLOCK * 4 * status()->segments);
	size_t had = status()->segments;
	history_tick(h, &src, h->first->cut + keep, false);
	ck_assert_uint_eq(status()->segments, had);
	history_tick(h, &src, h->first->cut + keep + 1, true);
	ck_assert_uint_eq(status()->segments, had);
	history_tick(h, &src, h->first->cut + keep + 1, false);
	ck_assert_uint_eq(status()->segments, had - 1);
	history_tick(h, &src, now + 2 * keep, false);
	ck_assert_uint_eq(status()->segments, 0);
	ck_assert_uint_eq(status()->bytes + status()->raw, 0);
	ck_assert_int_eq(status()->since, 0);
	end();
}
END_TEST

/* More than there is room for: the oldest goes, held or not, and it is said. */
START_TEST(limit)
{
	begin(false, 3600 * SECOND, 300);
	for (unsigned n = 0; n < 6; n++) {
		write_blocks(4);
		history_tick(h, &src, time_of(written), true);
	}
	/* Blocks 0 to 15 in segments of four, but for the first cut, which comes too early. */
	ck_assert_uint_le(status()->bytes, 300);
	ck_assert_uint_eq(status()->segments, 3);
	ck_assert_uint_eq(status()->refused, 4);
	ck_assert_int_eq(status()->broken, time_of(written) + 3600 * SECOND);
	ck_assert_int_eq(status()->since, time_of(4));
	ck_assert_uint_eq(count_of(0) + count_of(3), 0);
	ck_assert_uint_eq(count_of(4), 1);
	ck_assert(!history_has(h, place_of(0), 1));
	/* Another limit. */
	history_promise(h, &(struct history_place){ .keep = SECOND, .limit = 299 });
	history_tick(h, &src, time_of(written), true);
	ck_assert_uint_eq(status()->segments, 2);
	ck_assert_int_eq(status()->broken, time_of(written) + SECOND);
	end();
	history_promise(NULL, &(struct history_place){ .keep = SECOND });
}
END_TEST

/* The worker is behind, or the others have taken all: nothing is copied, and it is said. */
START_TEST(refused)
{
	begin(false, 3600 * SECOND, 300);
	write_old(4);
	if (_i == 0)
		load = LOAD_MAX + 1;
	else {
		history_bytes = 301;
		histories = 302;	/* so that no bytes are its share */
	}
	tick();
	ck_assert_uint_eq(status()->segments, 0);
	ck_assert_uint_eq(status()->refused, 4);
	ck_assert_int_eq(status()->broken, time_of(written) + 3600 * SECOND);
	ck_assert_int_eq(h->whole_from, time_of(written));
	ck_assert(!history_has_all(h));
	load = LOAD_MAX;
	history_bytes = _i == 0 ? 0 : 200;
	write_blocks(4);
	tick();
	ck_assert_uint_eq(status()->segments, 1);
	ck_assert_uint_eq(status()->refused, 4);
	history_bytes -= _i == 0 ? 0 : 200;
	histories = 1;
	end();
}
END_TEST

/* It is said of one block, too, and not of none. */
START_TEST(refused_few)
{
	begin(false, 3600 * SECOND, 1 << 20);
	write_old(RING / 2);
	for (uint32_t i = DATA + (uint32_t)_i; i < DATA + RING; i++)
		header(i)->generation = TNF_GENERATION_TAG;
	load = LOAD_MAX + 1;
	tick();
	ck_assert_uint_eq(status()->segments, 0);
	ck_assert_uint_eq(status()->refused, _i);
	ck_assert_int_eq(status()->broken != 0, _i != 0);
	ck_assert_int_eq(history_has_all(h), _i == 0);
	end();
}
END_TEST

/* If all together have too much, one that has less than its share keeps what it has. */
START_TEST(share)
{
	static const struct { uint64_t others; size_t left; } rows[] = {
		{ 0, 2 }, { 299, 2 }, { 300, 2 }, { 302, 3 }, { 500, 3 },
	};

	begin(false, 3600 * SECOND, 1 << 20);
	for (unsigned n = 0; n < 5; n++) {
		write_blocks(4);
		tick();
	}
	ck_assert_uint_eq(status()->bytes, 300);
	ck_assert_uint_eq(histories, 1);
	histories = rows[_i].others == 0 ? 1 : 2;
	history_bytes += rows[_i].others;
	history_promise(h, &(struct history_place){ .keep = 3600 * SECOND, .limit = 200 });
	tick();
	ck_assert_uint_eq(status()->segments, rows[_i].left);
	histories = 1;
	history_bytes -= rows[_i].others;
	end();
	ck_assert_uint_eq(histories, 0);
}
END_TEST

/* One that could not be written: its blocks are nowhere. */
START_TEST(failed)
{
	begin(false, 3600 * SECOND, 1 << 20);
	write_old(4);
	tick();
	write_blocks(4);
	result = SEGMENT_FAILED;
	tick();
	ck_assert_uint_eq(status()->segments, 1);
	ck_assert_uint_eq(status()->refused, 4);
	ck_assert_int_eq(status()->error, ENOSPC);
	ck_assert_int_eq(status()->since, time_of(written));
	ck_assert(!history_has_all(h));
	ck_assert(history_has(h, place_of(3), 1) && !history_has(h, place_of(4), 1));
	ck_assert_uint_eq(history_bytes, 100);
	result = SEGMENT_DONE;
	write_blocks(4);
	tick();
	ck_assert_uint_eq(status()->segments, 2);
	ck_assert_ptr_eq(h->first->next, h->last);
	/* The blocks that failed are still in the ring and are copied now. */
	ck_assert_uint_eq(count_of(4), 1);
	end();
}
END_TEST

/* One that the worker still has is waited for. */
START_TEST(waits)
{
	begin(false, 3600 * SECOND, 1 << 20);
	result = SEGMENT_WAITS;
	write_old(4);
	tick();
	ck_assert_uint_eq(status()->segments, 1);
	ck_assert_uint_eq(status()->bytes, 0);
	history_tick(h, &src, time_of(written) + 7200 * SECOND, false);
	ck_assert_uint_eq(status()->segments, 1);
	end();
}
END_TEST

/* When to look again: eight times in a lap, as fast as it went last. */
START_TEST(due)
{
	int64_t now;

	begin(false, 3600 * SECOND, 1 << 20);
	ck_assert_int_eq(history_due(h, START), INT64_MAX);
	ck_assert_int_eq(history_due(NULL, START), INT64_MAX);
	write_blocks(8);
	tick();
	now = time_of(8);
	ck_assert_int_eq(history_due(h, now), now + 4 * STEP / 2);
	write_blocks(4);
	now += 10 * SECOND;
	history_tick(h, &src, now, false);
	ck_assert_int_eq(history_due(h, now), now + 5 * SECOND);
	write_blocks(4);
	now += 10 * SECOND + 1;
	history_tick(h, &src, now, false);
	ck_assert_int_eq(history_due(h, now), INT64_MAX);
	end();
}
END_TEST

static void
told(void *arg, const char *name)
{
	strcat(strcat(names, name), " ");
}

/* The channel's events are put into as many segments as they need, half a ring in each. */
START_TEST(channels)
{
	char path[] = "/tmp/tnf-ring.XXXXXX";
	int fd = mkstemp(path);

	begin(false, 3600 * SECOND, 1 << 20);
	write_old(4);
	tick();
	header(DATA + 2)->generation = TNF_GENERATION_TAG;
	header(DATA + 1)->generation = 9;
	ck_assert_int_eq(write(fd, ring, sizeof ring), sizeof ring);
	*names = '\0';
	ck_assert_int_eq(history_put_channel(h, &src, AT_FDCWD, path, told, NULL), 0);
	ck_assert_str_eq(names, "");
	src.channel = (void *)ring;
	channel_events = RING / 2 + 1;
	ck_assert_int_eq(history_put_channel(h, &src, AT_FDCWD, path, told, NULL), 0);
	ck_assert_str_eq(names, "shop-1.channel.tnf.zst shop-1.channel.2.tnf.zst ");
	ck_assert_int_eq(channel_elsewhere, 1 + 2);
	unlink(path);
	ck_assert_int_eq(history_put_channel(h, &src, AT_FDCWD, path, told, NULL), 0);
	ck_assert_int_eq(channel_elsewhere, 1);
	/* Definitions are where they were, and events are elsewhere. */
	struct segment *s;
	struct channel_place place = { .chunk = NULL };
	channel_events = RING;
	ck_assert_ptr_nonnull(s = channel_segment(h, &src, &place, &(struct incident_ring){ .h = h, .fd = -1 }));
	ck_assert_uint_eq(channel_events, RING / 2);
	ck_assert_uint_eq(s->n_raw, RING / 2 + 4);
	for (uint32_t i = 1; i < s->n_raw; i++)
		ck_assert_uint_gt(s->at[i], s->at[i - 1]);
	ck_assert_int_eq(segment_block_at(s, 3)[100], RING);
	segment_free(s);
	/* One that cannot be written ends it. */
	*names = '\0';
	channel_refuses = true;
	ck_assert_int_eq(history_put_channel(h, &src, AT_FDCWD, path, told, NULL), EIO);
	ck_assert_str_eq(names, "");
	ck_assert_int_eq(history_put_channel(NULL, &src, AT_FDCWD, path, told, NULL), 0);
	src.channel = NULL;
	close(fd);
	end();
}
END_TEST

/* Into a directory: one that fails takes no other with it, a full disk does. */
START_TEST(put)
{
	begin(false, 3600 * SECOND, 1 << 20);
	for (unsigned n = 0; n < 7; n++) {
		write_blocks(4);
		tick();
	}
	ck_assert_uint_ge(status()->segments, 4);
	*names = '\0';
	h->first->next->block_size = 0;
	ck_assert_int_eq(history_put(h, -1, "a", told, NULL), EBADMSG);
	ck_assert_int_eq(strncmp(names, "a.0001.tnf.zst a.0003.tnf.zst a.0004.tnf.zst ", 45), 0);
	*names = '\0';
	h->first->next->next->n_raw = 0;
	ck_assert_int_eq(history_put(h, -1, "a", told, NULL), ENOSPC);
	ck_assert_str_eq(names, "a.0001.tnf.zst ");
	ck_assert_int_eq(history_put(NULL, -1, "a", told, NULL), 0);
	end();
}
END_TEST

/* On a disk each has a file of its own. */
START_TEST(paths)
{
	begin(false, 3600 * SECOND, 1 << 20);
	h->directory = tnf_xstrdup("/none");
	write_old(4);
	tick();
	write_blocks(4);
	tick();
	ck_assert_str_eq(h->first->path, "/none/shop-1.000001.tnf.zst");
	ck_assert_str_eq(h->last->path, "/none/shop-1.000002.tnf.zst");
	end();
}
END_TEST

START_TEST(none)
{
	begin(false, 3600 * SECOND, 1 << 20);
	end();
	history_tick(NULL, &src, START, false);
	ck_assert(!history_has(NULL, 0, 1) && !history_has_all(NULL));
	ck_assert_uint_eq(status()->segments, 0);
	src.size = BLOCK;
	ck_assert_ptr_null(history_new(&src, &(struct history_place){ .keep = 1 }));
	src.size = sizeof ring;
	src.base = NULL;
	ck_assert_ptr_null(history_new(&src, &(struct history_place){ .keep = 1 }));
	src.base = ring;
	history_free(NULL);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("history-kept");
	TCase *t = tcase_create("history-kept");

	tcase_add_test(t, kept);
	tcase_add_test(t, limit);
	tcase_add_loop_test(t, refused, 0, 2);
	tcase_add_loop_test(t, refused_few, 0, 2);
	tcase_add_loop_test(t, share, 0, 5);
	tcase_add_test(t, failed);
	tcase_add_test(t, waits);
	tcase_add_test(t, due);
	tcase_add_test(t, channels);
	tcase_add_test(t, put);
	tcase_add_test(t, paths);
	tcase_add_test(t, none);
	suite_add_tcase(s, t);
	return check_run(s);
}

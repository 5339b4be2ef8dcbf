/*
 * stream.c - fuzzes the stream of libtnf: whole, while it grows, and the copy.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/stream.h>

#include "libtnf/file.h"
#include "tests/reader/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Blocks are taken over, and others were in between, while what was found in them waits. */
static void
overwrite(uint8_t *file, size_t size, const struct tnf_file *f)
{
	size_t cursor = TNF_EXT_OFFSET + offsetof(struct tnf_ext, data_cursor);

	if (size < TNF_EXT_OFFSET + sizeof(struct tnf_ext))
		return;
	/* 2^24 of them: more than the file has, and less than half of all numbers. */
	file[cursor + (f->bytes.swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? 4 : 3)]++;
	memset(file + size - size / 3, 0, size / 3);
}

static bool
is_odd(void *arg, const struct tnf_probe *p)
{
	return p->id % 2 != 0;
}

static void
take(void *arg, const struct tnf_event *ev)
{
	struct tnf_value v;

	for (unsigned i = 0; i < ev->probe->n_members; i++)
		tnf_event_value(ev, i, &v);
	tnf_event_there(ev);
}

/* A file that changes between looks: half of it is not there yet at first. */
static void
follow(const uint8_t *data, size_t size)
{
	uint8_t *file = calloc(1, size);
	struct tnf_progress progress;
	struct tnf_summary sum;
	struct tnf_event ev;
	struct tnf_file *f;
	tnf_stream_t *s;

	if (file == NULL || tnf_stream_new(&s) != 0)
		abort();
	memcpy(file, data, size / 2);
	tnf_stream_follow(s);
	tnf_stream_accept_cut(s, true);
	if (tnf_stream_add_mem(s, file, size, "growing", &f) == 0) {
		while (tnf_stream_next(s, &ev) == 1)
			;
		memcpy(file, data, size);
		tnf_stream_refresh(s, INT64_MIN, &progress);
		overwrite(file, size, f);
		tnf_stream_want(s, is_odd, NULL);
		tnf_stream_refresh(s, INT64_MAX, &progress);
		tnf_stream_each(s, take, NULL);
		tnf_file_summary(f, &sum);
	}
	tnf_stream_close(s);
	free(file);
}

/* Follows a file that says it is being written, although nobody writes it. */
static void
copy(const uint8_t *data, size_t size)
{
	struct tnf_file f;
	uint8_t *to;

	if (tnf_file_init(&f, data, size, FILE_STRICT) != 0)
		return;
	if ((to = calloc(1, size)) == NULL)
		abort();
	/* For other files it is not known where their blocks begin. */
	if (!f.has_ext)
		f.ext.data_start = f.data_start;
	if (tnf_copy_live(&f, to) == 0)
		walk_stream(to, size);
	free(to);
	tnf_file_done(&f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct walk_result r = walk_stream(data, size);

	if (r.disorder != 0)
		abort();
	if (size > 0)
		follow(data, size);
	copy(data, size);
	return 0;
}

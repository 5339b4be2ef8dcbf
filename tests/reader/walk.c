/*
 * walk.c - reads all of a file in all ways, whatever it holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tnf/stream.h>

#include "tests/reader/walk.h"

#define ITEMS_MAX	64	/* of an array or record; enough to see them */
#define DEPTH_MAX	4

static void
on_damage(void *arg, struct tnf_file *f, uint64_t offset, const char *text)
{
	struct walk_result *r = arg;

	(void)f;
	if (r->damaged++ > 0)
		return;
	r->offset = offset;
	snprintf(r->reason, sizeof r->reason, "%s", text);
}

static void
take(struct walk_result *r, const struct tnf_file *f,
    const struct tnf_value *v, unsigned depth)
{
	struct tnf_value item;
	unsigned i;

	if (v->null)
		return;
	switch (v->kind) {
	case TNF_K_STRING:
		for (i = 0; i < v->u.s.len; i++)
			r->sum += (unsigned char)v->u.s.chars[i];
		break;
	case TNF_K_STRUCT:
	case TNF_K_ARRAY:
		r->sum += strlen(v->u.r.type->name);
		for (i = 0; depth < DEPTH_MAX && i < ITEMS_MAX &&
		    tnf_value_item(f, v, i, &item); i++)
			take(r, f, &item, depth + 1);
		break;
	case TNF_K_TYPE:
		r->sum += strlen(v->u.r.type->name);
		break;
	default:
		r->sum += v->u.u;
		break;
	}
}

static struct walk_result
walk_once(const void *base, size_t size, uint64_t lazily)
{
	struct walk_result r = { .last = INT64_MIN };
	struct tnf_event ev;
	struct tnf_value v;
	tnf_stream_t *s;
	unsigned i;

	if ((r.error = tnf_stream_new(&s)) != 0)
		return r;
	tnf_stream_on_damage(s, on_damage, &r);
	tnf_stream_lazily(s, lazily);
	r.error = tnf_stream_add_mem(s, base, size, "memory", NULL);
	while (r.error == 0 && tnf_stream_next(s, &ev) == 1) {
		r.events++;
		r.disorder += ev.time < r.last;
		r.last = ev.time;
		r.sum += strlen(ev.probe->name) + strlen(ev.probe->keys);
		for (i = 0; tnf_event_value(&ev, i, &v); i++)
			take(&r, ev.file, &v, 0);
	}
	tnf_stream_close(s);
	return r;
}

/* A file read block by block as it is asked for is the same as one read at once.  Only the
   order may be another if a block does not begin with its earliest event. */
static void
same_lazily(const void *base, size_t size, const struct walk_result *r)
{
	struct walk_result l = walk_once(base, size, 1);

	if (l.error == r->error && l.events == r->events && l.sum == r->sum &&
	    l.damaged == r->damaged && l.offset == r->offset &&
	    strcmp(l.reason, r->reason) == 0)
		return;
	fprintf(stderr, "read lazily: error %d, %llu events, sum %llx, %llu damaged: %s\n"
	    "at once: error %d, %llu events, sum %llx, %llu damaged: %s\n",
	    l.error, (unsigned long long)l.events, (unsigned long long)l.sum,
	    (unsigned long long)l.damaged, l.reason, r->error,
	    (unsigned long long)r->events, (unsigned long long)r->sum,
	    (unsigned long long)r->damaged, r->reason);
	abort();
}

struct walk_result
walk_stream(const void *base, size_t size)
{
	struct walk_result r = walk_once(base, size, 0);

	same_lazily(base, size, &r);
	return r;
}

void
walk_one_way(const void *base, size_t size, bool lazily)
{
	walk_once(base, size, lazily ? 1 : 0);
}

static void
take_datum(struct walk_result *r, tnf_datum_t d, unsigned depth)
{
	const char *s;
	unsigned i, n;

	if (d == TNF_DATUM_NULL || depth > 1)
		return;
	r->sum += (uint64_t)tnf_get_kind(d) + tnf_get_size(d);
	if ((s = tnf_get_type_name(d)) != NULL)
		r->sum += strlen(s);
	if (tnf_is_inline(d))
		return;
	n = tnf_get_slot_count(d);
	for (i = 0; n != (unsigned)-1 && i < n && i < ITEMS_MAX; i++) {
		r->sum += strlen(tnf_get_slot_name(d, i));
		take_datum(r, tnf_get_slot_indexed(d, i), depth + 1);
	}
	if (tnf_is_string(d) && (s = tnf_get_chars(d)) != NULL)
		r->sum += strlen(s);
	else if (tnf_is_array(d)) {
		n = tnf_get_element_count(d);
		for (i = 0; n != (unsigned)-1 && i < n && i < ITEMS_MAX; i++)
			take_datum(r, tnf_get_element(d, i), depth + 1);
	}
}

struct walk_result
walk_classic(const void *base, size_t size)
{
	struct walk_result r = { 0 };
	tnf_datum_t d;
	TNF *tnf;

	r.error = tnf_reader_begin((char *)(uintptr_t)base, size, &tnf);
	if (r.error != 0)
		return r;
	for (d = tnf_get_file_header(tnf); d != TNF_DATUM_NULL;
	    d = tnf_get_next_record(d)) {
		r.records++;
		take_datum(&r, d, 0);
		r.events += tnf_get_tag_arg(d) != TNF_DATUM_NULL;
	}
	r.damaged = tnf_error_last(NULL, NULL) != TNF_ERR_NONE;
	tnf_reader_end(tnf);
	return r;
}

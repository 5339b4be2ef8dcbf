/*
 * html.c - one HTML file that shows the trace.  The page from html/ is built into the
 * program; the data are in it as base64 of a zlib stream (html/1-data.js).
 */
#include <inttypes.h>
#include <zlib.h>

#include "analysis/json.h"
#include "analysis/losses.h"
#include "common/xalloc.h"
#include "tnfdump/hosts.h"
#include "tnfdump/html-page.h"
#include "tnfdump/input.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/text/pretty.h"
#include "tnfdump/to/formats.h"
#include "tnfdump/to/html.h"

/* The columns of the page, beside those of members. */
enum { C_DELTA, C_LATE, C_THREAD, C_PROBE, C_CPU, C_SLICE_START,
    C_SLICE_DURATION, C_SLICE_THREAD, C_SLICE_NAME, C_SLICE_ASYNC,
    C_STATE_START, C_STATE_DURATION, C_STATE_THREAD, C_STATE_STATE, C_UNORDERED,
    C_COUNT };

static const struct { const char *name, *kind; size_t width; } columns[] = {
	[C_DELTA] = { "delta", "u32", 4 },
	[C_LATE] = { "late", "f64", 8 },
	[C_THREAD] = { "thread", "u32", 4 },
	[C_PROBE] = { "probe", "u32", 4 },
	[C_CPU] = { "cpu", "i16", 2 },
	[C_SLICE_START] = { "slice_start", "f64", 8 },
	[C_SLICE_DURATION] = { "slice_duration", "f64", 8 },
	[C_SLICE_THREAD] = { "slice_thread", "u32", 4 },
	[C_SLICE_NAME] = { "slice_name", "u32", 4 },
	[C_SLICE_ASYNC] = { "slice_async", "u8", 1 },
	[C_STATE_START] = { "state_start", "f64", 8 },
	[C_STATE_DURATION] = { "state_duration", "f64", 8 },
	[C_STATE_THREAD] = { "state_thread", "u32", 4 },
	[C_STATE_STATE] = { "state_state", "u8", 1 },
	[C_UNORDERED] = { "unordered", "u32", 4 },	/* numbers of events */
};

#define DELTA_LATE	UINT32_MAX	/* the time itself is in column "late" */

struct html {
	struct dump	*d;
	struct html_column column[C_COUNT];
	struct html_strings strings;	/* of members */
	struct html_strings spans;	/* names of slices */
	struct html_members *members;
	struct map	 threads;	/* struct html_thread_key -> uint32_t */
	struct out	 threads_json;
	struct map	 tasks;		/* current thread of each task address */
	struct out	 tasks_json;	/* changes of 'tasks': [tid, thread, event] */
	struct states	*states;
	int64_t		 first, last;
	int64_t		 end;		/* of all events and slices */
	bool		 begun;		/* 'first' is known */
	uint64_t	 n;

	/* Used while the file is written. */
	struct out	 sections;
	z_stream	 z;
	struct out	 packed;	/* compressed */
};

struct html_thread_key {
	int32_t	 pid;
	uint32_t lwpid;
	uint64_t tid;		/* of a thread that never wrote itself; else 0 */
	uint64_t host;
};

/* Writes "host":"web1", with --hosts. */
static void
html_host(const struct html *h, struct out *o, unsigned host)
{
	unsigned n;

	const struct host *list = hosts_list(h->d, &n);
	if (list == NULL || host >= n)
		return;
	out_lit(o, "\"host\":");
	json_name(o, list[host].name);
	tnf_out_format(o, ",\"nth\":%u,", host);
}

/* The thread's number; its name comes from 'ev', which may be NULL. */
static uint32_t
html_thread(struct html *h, struct html_thread_key key, const struct tnf_event *ev)
{
	struct out *o = &h->threads_json;
	bool fresh;

	uint32_t *number = tnf_xmap_put(&h->threads, &key, sizeof(key), &fresh);
	if (!fresh)
		return *number;
	*number = (uint32_t)h->threads.n - 1;
	out_str(o, *number > 0 ? ",{" : "{");
	html_host(h, o, (unsigned)key.host);
	tnf_out_format(o, "\"pid\":%" PRId32 ",\"lwpid\":%" PRIu32 ",\"tid\":\"0x%" PRIx64 "\"",
	    key.pid, key.lwpid, key.tid);
	json_member(o, "comm", ev != NULL ? origin_comm_last(h->d, ev) : NULL);
	json_member(o, "process", ev != NULL ? origin_process_last(h->d, ev) : NULL);
	out_char(o, '}');
	return *number;
}

static uint32_t
html_writer(struct html *h, const struct tnf_event *ev)
{
	return html_thread(h, (struct html_thread_key){ ev->pid, ev->lwpid, 0,
	    tnf_file_host(ev->file) }, ev);
}

/* Notes which thread has a task address from this event on: another thread may get the
   address later. */
static void
html_task(struct html *h, const struct tnf_event *ev, uint32_t thread)
{
	struct out *o = &h->tasks_json;
	uint64_t key[2] = { ev->tid, tnf_file_host(ev->file) };
	bool fresh;

	if (!ev->kernel || ev->tid == 0)
		return;
	uint32_t *known = tnf_xmap_put(&h->tasks, key, sizeof(key), &fresh);
	if (!fresh && *known == thread)
		return;
	*known = thread;
	tnf_out_format(o, "%s[\"0x%" PRIx64, o->p > o->base ? "," : "", ev->tid);
	if (key[1] > 0)		/* another machine has the same addresses */
		tnf_out_format(o, "@%" PRIu64, key[1]);
	tnf_out_format(o, "\",%" PRIu32 ",%" PRIu64 "]", thread, h->n - 1);
}

static void
html_span(void *arg, const struct state_span *s)
{
	struct html *h = arg;
	bool known = s->pid != 0 || s->lwpid != 0;
	uint32_t thread = html_thread(h, (struct html_thread_key){ s->pid, s->lwpid,
	    known ? 0 : s->tid, s->host }, NULL);
	double start = (double)(s->start - h->first), duration = (double)s->duration;
	uint8_t state = (uint8_t)s->state;

	html_column_add(&h->column[C_STATE_START], &start);
	html_column_add(&h->column[C_STATE_DURATION], &duration);
	html_column_add(&h->column[C_STATE_THREAD], &thread);
	html_column_add(&h->column[C_STATE_STATE], &state);
}

int
html_begin(struct dump *d)
{
	struct html *h = tnf_xcalloc(1, sizeof(*h));

	d->state = h;
	h->d = d;
	for (unsigned i = 0; i < C_COUNT; i++)
		html_column_init(&h->column[i], columns[i].kind, columns[i].width);
	html_strings_init(&h->strings);
	html_strings_init(&h->spans);
	h->members = html_members_new(d, &h->strings);
	tnf_map_init(&h->threads, sizeof(uint32_t));
	tnf_map_init(&h->tasks, sizeof(uint32_t));
	tnf_out_memory(&h->tasks_json);
	tnf_out_memory(&h->threads_json);
	tnf_out_memory(&h->sections);
	h->states = formats_states(d, html_span, h);
	return 0;
}

static void
html_time(struct html *h, int64_t time)
{
	int64_t delta = time - h->last;
	uint32_t small = delta >= 0 && delta < DELTA_LATE ? (uint32_t)delta : DELTA_LATE;
	double late = (double)(time - h->first);

	html_column_add(&h->column[C_DELTA], &small);
	if (small == DELTA_LATE)
		html_column_add(&h->column[C_LATE], &late);
	h->last = time;
	if (time > h->end)
		h->end = time;
}

static void
html_slice(struct html *h, const struct pair_slice *s)
{
	const char *span = pretty_slice_name(s);
	double start = (double)(s->start->time - h->first), duration = (double)s->duration;
	uint32_t thread = html_writer(h, s->start);
	uint32_t name = html_strings_number(&h->spans, span, strlen(span)) - 1;
	uint8_t async = s->rule->async;

	if (s->start->time + s->duration > h->end)
		h->end = s->start->time + s->duration;
	html_column_add(&h->column[C_SLICE_START], &start);
	html_column_add(&h->column[C_SLICE_DURATION], &duration);
	html_column_add(&h->column[C_SLICE_THREAD], &thread);
	html_column_add(&h->column[C_SLICE_NAME], &name);
	html_column_add(&h->column[C_SLICE_ASYNC], &async);
}

/* Notes the event that was just counted if its order among hosts is not certain. */
static void
html_unordered(struct html *h)
{
	uint32_t i = (uint32_t)(h->n - 1);

	if (h->d->unordered)
		html_column_add(&h->column[C_UNORDERED], &i);
}

static void
html_put_event(struct html *h, const struct tnf_event *ev)
{
	int16_t cpu = (int16_t)(ev->cpu > INT16_MAX ? -1 : ev->cpu);

	h->n++;
	uint32_t thread = html_writer(h, ev);
	html_task(h, ev, thread);
	uint32_t probe = html_members_probe(h->members, ev->probe);
	html_time(h, ev->time);
	html_column_add(&h->column[C_THREAD], &thread);
	html_column_add(&h->column[C_PROBE], &probe);
	html_column_add(&h->column[C_CPU], &cpu);
	html_members_add(h->members, ev);
	html_unordered(h);
}

int
html_event(struct dump *d, const struct tnf_event *ev)
{
	struct html *h = d->state;
	bool kept = d->keep == KEEP_ALL;
	struct pair_slice s;

	if (!h->begun && pipeline_zero(d)) {
		h->begun = true;
		h->first = h->last = h->end = ev->time;
		states_window(h->states, h->first, d->high);
	}
	if (kept)
		html_put_event(h, ev);
	if (formats_feed(d, h->states, ev, &s) == PAIR_END && s.kept)
		html_slice(h, &s);
	return 0;
}

/* Adds the column, aligned for every kind, and writes ["kind",offset,count]. */
static void
html_put(void *arg, struct out *o, const struct html_column *c)
{
	static const char zeros[8];
	struct html *h = arg;
	size_t size = out_size(&c->bytes);
	size_t at = out_size(&h->sections);

	tnf_out_format(o, "[\"%s\",%zu,%zu]", c->kind, at, size / c->width);
	tnf_out_bytes(&h->sections, c->bytes.base, size);
	tnf_out_bytes(&h->sections, zeros, -size & 7);
}

static void
html_file(struct html *h, struct out *o, const struct input *in)
{
	out_lit(o, "{\"path\":");
	json_name(o, in->path);
	json_member(o, "host", origin_fact(h->d, in->file, "host"));
	json_member(o, "release", origin_fact(h->d, in->file, "release"));
	json_member(o, "machine", origin_fact(h->d, in->file, "machine"));
	out_char(o, '}');
}

/* Writes the machines of --hosts; without --hosts the list is empty. */
static void
html_hosts(const struct html *h, struct out *o)
{
	unsigned n = 0;

	const struct host *list = hosts_list(h->d, &n);
	out_lit(o, ",\"hosts\":[");
	for (unsigned i = 0; list != NULL && i < n; i++) {
		out_str(o, i > 0 ? ",{\"host\":" : "{\"host\":");
		json_name(o, list[i].name);
		tnf_out_format(o, ",\"offset\":%" PRId64 ",\"error\":%" PRId64 "}", list[i].offset,
		    list[i].error);
	}
	out_char(o, ']');
}

/* Writes the losses of one file; *between is the separator before the next entry. */
static void
html_losses_of(struct out *o, const struct input *in, struct losses *losses, const char **between)
{
	struct loss l = losses_count(losses, tnf_file_ext(in->file));

	for (unsigned k = 0; k < TNF_LOST_REASONS; k++) {
		if (l.lost[k] == 0)
			continue;
		const char *name = loss_name(k);
		tnf_out_format(o, "%s{\"file\":", *between);
		json_name(o, in->path);
		json_member(o, "reason", name != NULL ? name : "other");
		tnf_out_format(o, ",\"events\":%" PRIu64 "}", l.lost[k]);
		*between = ",";
	}
	if (l.shortened > 0) {
		tnf_out_format(o, "%s{\"file\":", *between);
		json_name(o, in->path);
		tnf_out_format(o, ",\"values\":%" PRIu64 "}", l.shortened);
		*between = ",";
	}
}

static void
html_losses(struct html *h, struct out *o)
{
	struct losses losses = { NULL, 0 };
	const char *between = "";

	out_lit(o, ",\"losses\":[");
	for (unsigned i = 0; i < h->d->n_inputs; i++)
		html_losses_of(o, &h->d->inputs[i], &losses, &between);
	losses_free(&losses);
	out_char(o, ']');
}

static void
html_list(struct out *o, const char *name, const struct out *items)
{
	tnf_out_format(o, ",\"%s\":[", name);
	tnf_out_bytes(o, items->base, out_size(items));
	out_char(o, ']');
}

/* Writes the JSON text that lists the columns and their places; fills h->sections. */
static void
html_meta(struct html *h, struct out *o)
{
	int64_t clock;

	tnf_out_format(o, "{\"duration\":%" PRId64 ",\"wall\":", h->end - h->first);
	if (h->d->n_inputs > 0 && origin_clock(h->d, h->d->inputs[0].file, &clock))
		tnf_out_i64(o, (clock + h->first) / 1000000);
	else
		out_lit(o, "null");
	out_lit(o, ",\"files\":[");
	for (unsigned i = 0; i < h->d->n_inputs; i++) {
		if (i > 0)
			out_char(o, ',');
		html_file(h, o, &h->d->inputs[i]);
	}
	out_char(o, ']');
	html_hosts(h, o);
	html_losses(h, o);
	out_lit(o, ",\"states\":[");
	for (unsigned i = 0; i < STATES_COUNT; i++) {
		if (i > 0)
			out_char(o, ',');
		json_name(o, state_name(i));
	}
	out_char(o, ']');
	html_list(o, "threads", &h->threads_json);
	html_list(o, "tasks", &h->tasks_json);
	html_list(o, "spans", &h->spans.json);
	html_list(o, "strings", &h->strings.json);
	out_char(o, ',');
	html_members_json(h->members, o, html_put, h);
	out_lit(o, ",\"columns\":{");
	for (unsigned i = 0; i < C_COUNT; i++) {
		tnf_out_format(o, "%s\"%s\":", i > 0 ? "," : "", columns[i].name);
		html_put(h, o, &h->column[i]);
	}
	out_lit(o, "}}");
}

static void
html_base64(struct out *o, const unsigned char *p, size_t n)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; n > 0; p += 3, n -= n < 3 ? n : 3) {
		uint32_t bits = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) |
		    (n > 2 ? p[2] : 0);

		out_char(o, digit[bits >> 18]);
		out_char(o, digit[bits >> 12 & 63]);
		out_char(o, n > 1 ? digit[bits >> 6 & 63] : '=');
		out_char(o, n > 2 ? digit[bits & 63] : '=');
	}
}

static void
html_compress(struct html *h, const void *bytes, size_t n, bool end)
{
	unsigned char buf[65536];

	do {
		size_t part = n < (1u << 30) ? n : 1u << 30;
		h->z.next_in = (Bytef *)(uintptr_t)bytes;
		h->z.avail_in = (uInt)part;
		bytes = (const char *)bytes + part;
		n -= part;
		do {
			h->z.next_out = buf;
			h->z.avail_out = sizeof(buf);
			deflate(&h->z, end && n == 0 ? Z_FINISH : Z_NO_FLUSH);
			tnf_out_bytes(&h->packed, (const char *)buf, sizeof(buf) - h->z.avail_out);
		} while (h->z.avail_out == 0);
	} while (n > 0);
}

static int
html_write(struct html *h)
{
	static const char zeros[8];
	unsigned char head[8] = { 0 };
	struct out meta;

	if (deflateInit(&h->z, Z_BEST_SPEED) != Z_OK) {
		dump_error(h->d, "--to html: out of memory");
		return -1;
	}
	tnf_out_memory(&meta);
	tnf_out_memory(&h->packed);
	html_meta(h, &meta);
	size_t n = out_size(&meta);
	for (unsigned i = 0; i < 4; i++)
		head[i] = (unsigned char)(n >> 8 * i);
	html_compress(h, head, sizeof(head), false);
	html_compress(h, meta.base, n, false);
	html_compress(h, zeros, -n & 7, false);
	html_compress(h, h->sections.base,
	    out_size(&h->sections), true);
	deflateEnd(&h->z);
	out_str(&h->d->out, html_page_before);
	html_base64(&h->d->out, (const unsigned char *)h->packed.base,
	    out_size(&h->packed));
	out_str(&h->d->out, html_page_after);
	tnf_out_close(&meta);
	tnf_out_close(&h->packed);
	return 0;
}

int
html_end(struct dump *d)
{
	struct html *h = d->state;

	states_end(h->states);
	int rc = html_write(h);
	for (unsigned i = 0; i < C_COUNT; i++)
		html_column_free(&h->column[i]);
	html_members_free(h->members);
	html_strings_free(&h->strings);
	html_strings_free(&h->spans);
	tnf_map_free(&h->threads);
	tnf_out_close(&h->threads_json);
	tnf_out_close(&h->tasks_json);
	tnf_map_free(&h->tasks);
	tnf_out_close(&h->sections);
	free(h);
	d->state = NULL;
	return rc;
}

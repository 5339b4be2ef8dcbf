/*
 * html.c - one HTML file that shows the trace: events, gathered as columns.
 *
 * The page from html/ is built into the program; the data are in it as base64 of a zlib stream
 * (html/data.js).
 */
#include <zlib.h>

#include "tnfdump/html-page.h"
#include "tnfdump/to/formats.h"
#include "tnfdump/to/html.h"

void
html_column_init(struct html_column *c, const char *kind, size_t width)
{
	c->kind = kind;
	c->width = width;
	tnf_out_memory(&c->bytes);
}

void
html_column_free(struct html_column *c)
{
	tnf_out_close(&c->bytes);
}

void
html_columns_init(struct html_column *c, const struct html_kind *kinds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		html_column_init(&c[i], kinds[i].kind, kinds[i].width);
}

void
html_columns_free(struct html_column *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		html_column_free(&c[i]);
}

void
html_columns_json(struct html_column *c, const struct html_kind *kinds, unsigned n, struct out *o,
    html_put_fn *put, void *arg)
{
	for (unsigned i = 0; i < n; i++) {
		tnf_out_format(o, "%s\"%s\":", i > 0 ? "," : "", kinds[i].name);
		put(arg, o, &c[i]);
	}
}

/* The first kind in which numbers from 'least' to 'most' have room; NULL: none of them. */
static const struct html_kind *
kind_for(int64_t least, int64_t most)
{
	static const struct { struct html_kind kind; int64_t least, most; } rows[] = {
		{ { NULL, "u8", 1 }, 0, UINT8_MAX }, { { NULL, "i8", 1 }, INT8_MIN, INT8_MAX },
		{ { NULL, "u16", 2 }, 0, UINT16_MAX }, { { NULL, "i16", 2 }, INT16_MIN, INT16_MAX },
		{ { NULL, "u32", 4 }, 0, UINT32_MAX }, { { NULL, "i32", 4 }, INT32_MIN, INT32_MAX },
		{ { NULL, "f64", 8 }, -(INT64_C(1) << 53), INT64_C(1) << 53 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (least >= rows[i].least && most <= rows[i].most)
			return &rows[i].kind;
	return NULL;
}

/* A number of a column.  Little-endian: its low bytes come first. */
static inline int64_t
column_number(const char *p, size_t width, bool sign)
{
	unsigned shift = 64 - 8 * (unsigned)width;
	uint64_t bits = 0;

	memcpy(&bits, p, width);
	return sign ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
}

/* The compiler makes loops of its own for each width that html_column_narrow() passes. */
static inline __attribute__((always_inline)) void
column_narrow(struct html_column *c, size_t width, bool sign)
{
	char *put = c->bytes.base;
	int64_t v, least = 0, most = 0;

	for (const char *p = put; p < c->bytes.p; p += width) {
		v = column_number(p, width, sign);
		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	/* Without a sign, a number of 64 bits may be too large for one with a sign. */
	const struct html_kind *to = !sign && least < 0 ? NULL : kind_for(least, most);
	if (to == NULL || (to->width >= width && to->kind[0] != 'f'))
		return;
	/* The new numbers are no wider, so they do not reach those that are not read yet. */
	for (const char *p = put; p < c->bytes.p; p += width, put += to->width) {
		v = column_number(p, width, sign);
		double real = (double)v;
		memcpy(put, to->kind[0] == 'f' ? (const void *)&real : &v, to->width);
	}
	c->bytes.p = put;
	c->kind = to->kind;
	c->width = to->width;
}

/* Gives whole numbers the smallest kind that has room for all of them. */
static void
html_column_narrow(struct html_column *c)
{
	bool sign = c->kind[0] == 'i';

	if (c->kind[0] == 'f')
		return;
	switch (c->width) {
	case 2: column_narrow(c, 2, sign); break;
	case 4: column_narrow(c, 4, sign); break;
	case 8: column_narrow(c, 8, sign); break;
	}
}

void
html_strings_init(struct html_strings *s)
{
	tnf_map_init(&s->numbers, sizeof(uint32_t));
	tnf_out_memory(&s->json);
}

void
html_strings_free(struct html_strings *s)
{
	tnf_map_free(&s->numbers);
	tnf_out_close(&s->json);
}

uint32_t
html_strings_number(struct html_strings *s, const char *chars, size_t n)
{
	bool fresh;
	uint32_t *number = tnf_xmap_put(&s->numbers, chars, n, &fresh);

	if (fresh) {
		*number = (uint32_t)s->numbers.n;
		if (*number > 1)
			out_char(&s->json, ',');
		json_text(&s->json, chars, n);
	}
	return *number;
}

static void
html_file(struct dump *d, struct out *o, const struct input *in)
{
	out_lit(o, "{\"path\":");
	json_name(o, in->path);
	json_member(o, "host", origin_fact(d, in->file, "host"));
	json_member(o, "release", origin_fact(d, in->file, "release"));
	json_member(o, "machine", origin_fact(d, in->file, "machine"));
	out_char(o, '}');
}

/* Writes the machines of --hosts; without --hosts the list is empty. */
static void
html_hosts(const struct dump *d, struct out *o)
{
	unsigned n = 0;

	const struct host *list = hosts_list(d, &n);
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
html_losses(struct dump *d, struct out *o)
{
	struct losses losses = { NULL, 0 };
	const char *between = "";

	out_lit(o, ",\"losses\":[");
	for (unsigned i = 0; i < d->n_inputs; i++)
		html_losses_of(o, &d->inputs[i], &losses, &between);
	losses_free(&losses);
	out_char(o, ']');
}

/* Writes "files":[...],"hosts":[...],"losses":[...]: what is known of the files. */
static void
html_page_files(struct dump *d, struct out *o)
{
	out_lit(o, "\"files\":[");
	for (unsigned i = 0; i < d->n_inputs; i++) {
		if (i > 0)
			out_char(o, ',');
		html_file(d, o, &d->inputs[i]);
	}
	out_char(o, ']');
	html_hosts(d, o);
	html_losses(d, o);
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
html_compress(z_stream *z, struct out *packed, const void *bytes, size_t n, bool end)
{
	unsigned char buf[65536];

	do {
		size_t part = n < (1u << 30) ? n : 1u << 30;
		z->next_in = (Bytef *)(uintptr_t)bytes;
		z->avail_in = (uInt)part;
		bytes = (const char *)bytes + part;
		n -= part;
		do {
			z->next_out = buf;
			z->avail_out = sizeof(buf);
			deflate(z, end && n == 0 ? Z_FINISH : Z_NO_FLUSH);
			tnf_out_bytes(packed, (const char *)buf, sizeof(buf) - z->avail_out);
		} while (z->avail_out == 0);
	} while (n > 0);
}

/* Writes the page: 'json' is the text that tells the places, 'sections' has the columns.  0, or
   -1 after a message. */
static int
html_page_write(struct dump *d, const struct out *json, const struct out *sections)
{
	static const char zeros[8];
	unsigned char head[8] = { 0 };
	size_t n = out_size(json);
	struct out packed;
	z_stream z = { 0 };

	if (deflateInit(&z, Z_BEST_SPEED) != Z_OK) {
		dump_error(d, "--to html: out of memory");
		return -1;
	}
	tnf_out_memory(&packed);
	for (unsigned i = 0; i < 4; i++)
		head[i] = (unsigned char)(n >> 8 * i);
	html_compress(&z, &packed, head, sizeof(head), false);
	html_compress(&z, &packed, json->base, n, false);
	html_compress(&z, &packed, zeros, -n & 7, false);
	html_compress(&z, &packed, sections->base, out_size(sections), true);
	deflateEnd(&z);
	out_str(&d->out, html_page_before);
	html_base64(&d->out, (const unsigned char *)packed.base, out_size(&packed));
	out_str(&d->out, html_page_after);
	tnf_out_close(&packed);
	return 0;
}

enum { C_TIME, C_TIME_LATE, C_THREAD, C_PROBE, C_CPU, C_UNORDERED, C_COUNT };

static const struct html_kind kinds[] = {
	[C_TIME] = { "time", "u32", 4 },
	[C_TIME_LATE] = { "time_late", "f64", 8 },
	[C_THREAD] = { "thread", "u32", 4 },
	[C_PROBE] = { "probe", "u32", 4 },
	[C_CPU] = { "cpu", "i16", 2 },
	[C_UNORDERED] = { "unordered", "u32", 4 },	/* numbers of events */
};

struct html {
	struct dump	*d;
	struct html_column column[C_COUNT];
	struct html_strings strings;	/* of members */
	struct html_members *members;
	struct html_threads *threads;
	struct html_spans *spans;
	struct html_why	*why;
	struct states	*states;
	int64_t		 first, last;
	int64_t		 end;		/* of all events and slices */
	bool		 begun;		/* 'first' is known */
	uint64_t	 n;
	uint64_t	 fed;		/* with those that filters dropped */
	uint64_t	*fed_at;	/* 'fed' of each event, if there are filters */
	struct out	 sections;	/* used while the file is written */
};

static void
html_state(void *arg, const struct state_span *s)
{
	struct html *h = arg;

	html_spans_state(h->spans, s);
}

int
html_begin(struct dump *d)
{
	struct html *h = tnf_xcalloc(1, sizeof(*h));

	d->state = h;
	h->d = d;
	html_columns_init(h->column, kinds, C_COUNT);
	html_strings_init(&h->strings);
	h->members = html_members_new(d, &h->strings);
	h->threads = html_threads_new(d);
	h->spans = html_spans_new(h->threads);
	h->states = formats_states(d, html_state, h);
	h->why = html_why_new(d);
	return 0;
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
	uint32_t thread = html_thread_writer(h->threads, ev);
	uint32_t probe = html_members_probe(h->members, ev);

	if (h->d->filters != NULL) {
		h->fed_at = tnf_xgrow(h->fed_at, h->n, sizeof(*h->fed_at));
		h->fed_at[h->n] = h->fed;
	}
	h->n++;
	html_time_add(&h->column[C_TIME], &h->column[C_TIME_LATE], ev->time - h->first,
	    h->last - h->first);
	h->last = ev->time;
	if (ev->time > h->end)
		h->end = ev->time;
	html_column_add(&h->column[C_THREAD], &thread);
	html_column_add(&h->column[C_PROBE], &probe);
	html_column_add(&h->column[C_CPU], &cpu);
	html_members_add(h->members, ev);
	html_unordered(h);
}

/* The number of the event that was fed as the at-th, from 1; HTML_NONE: filters have dropped
   it. */
static uint32_t
html_number(const struct html *h, uint64_t at)
{
	uint64_t low = 0, high = h->n;

	if (h->fed_at == NULL)
		return h->d->filters == NULL ? (uint32_t)(at - 1) : HTML_NONE;
	while (low < high) {
		uint64_t mid = low + (high - low) / 2;
		if (h->fed_at[mid] < at)
			low = mid + 1;
		else
			high = mid;
	}
	return low < h->n && h->fed_at[low] == at ? (uint32_t)low : HTML_NONE;
}

static void
html_slice(struct html *h, const struct pair_slice *s, bool end_kept)
{
	if (s->start->time + s->duration > h->end)
		h->end = s->start->time + s->duration;
	html_spans_slice(h->spans, s, html_thread_writer(h->threads, s->start),
	    html_number(h, s->start_at), end_kept ? (uint32_t)(h->n - 1) : HTML_NONE);
}

int
html_event(struct dump *d, const struct tnf_event *ev)
{
	struct html *h = d->state;
	bool kept = d->keep == KEEP_ALL;
	struct pair_slice s;
	enum pair_role role;

	if (!h->begun && pipeline_zero(d)) {
		h->begun = true;
		h->first = h->last = h->end = ev->time;
		states_window(h->states, h->first, d->high);
	}
	h->fed++;
	if (kept)
		html_put_event(h, ev);
	role = formats_feed(d, h->states, ev, &s);
	if (role == PAIR_END && s.rule != NULL && s.kept)
		html_slice(h, &s, kept);
	html_why_event(h->why, ev, role, &s);
	return 0;
}

/* Adds the column, aligned for every kind, and writes ["kind",offset,count]. */
static void
html_put(void *arg, struct out *o, struct html_column *c)
{
	static const char zeros[8];
	struct html *h = arg;

	html_column_narrow(c);
	size_t size = out_size(&c->bytes);
	tnf_out_format(o, "[\"%s\",%zu,%zu]", c->kind, out_size(&h->sections), size / c->width);
	tnf_out_bytes(&h->sections, c->bytes.base, size);
	tnf_out_bytes(&h->sections, zeros, -size & 7);
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
	out_char(o, ',');
	html_page_files(h->d, o);
	out_lit(o, ",\"states\":[");
	for (unsigned i = 0; i < STATES_COUNT; i++) {
		if (i > 0)
			out_char(o, ',');
		json_name(o, state_name(i));
	}
	out_char(o, ']');
	html_list(o, "threads", html_threads_json(h->threads));
	html_list(o, "strings", &h->strings.json);
	out_char(o, ',');
	html_members_json(h->members, o, html_put, h);
	out_lit(o, ",\"columns\":{");
	html_columns_json(h->column, kinds, C_COUNT, o, html_put, h);
	out_lit(o, "},");
	html_spans_json(h->spans, o, html_put, h);
	out_char(o, ',');
	html_why_json(h->why, o, html_put, h);
	out_char(o, '}');
}

int
html_end(struct dump *d)
{
	struct html *h = d->state;
	struct out meta;

	states_end(h->states);
	html_spans_sort(h->spans, h->first);
	html_why_end(h->why, h->threads, h->spans, h->first);
	tnf_out_memory(&meta);
	tnf_out_memory(&h->sections);
	html_meta(h, &meta);
	int rc = html_page_write(d, &meta, &h->sections);
	tnf_out_close(&meta);
	tnf_out_close(&h->sections);
	html_columns_free(h->column, C_COUNT);
	html_why_free(h->why);
	html_spans_free(h->spans);
	html_members_free(h->members);
	html_threads_free(h->threads);
	html_strings_free(&h->strings);
	free(h->fed_at);
	free(h);
	d->state = NULL;
	return rc;
}

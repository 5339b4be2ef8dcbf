/*
 * stats.c - counts and durations in groups, whose texts may be without literals.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "analysis/pretty-names.h"
#include "analysis/stats.h"
#include "common/map.h"
#include "common/xalloc.h"

#define SPLIT_BITS	5u

_Static_assert(HISTOGRAM_SPLIT == 1u << SPLIT_BITS, "bucket_of");

static unsigned
bucket_of(int64_t ns)
{
	uint64_t v = ns < 0 ? 0 : (uint64_t)ns;

	if (v < HISTOGRAM_SPLIT)
		return (unsigned)v;
	unsigned shift = 63u - (unsigned)__builtin_clzll(v) - SPLIT_BITS;
	return (shift + 1) * HISTOGRAM_SPLIT + (unsigned)(v >> shift) - HISTOGRAM_SPLIT;
}

int64_t
histogram_value(unsigned b)
{
	if (b < HISTOGRAM_SPLIT)
		return b;
	unsigned shift = b / HISTOGRAM_SPLIT - 1;
	uint64_t v = ((uint64_t)(HISTOGRAM_SPLIT + b % HISTOGRAM_SPLIT) << shift) +
	    ((uint64_t)1 << shift) / 2;
	return v < INT64_MAX ? (int64_t)v : INT64_MAX;
}

const uint32_t *
histogram_buckets(struct histogram *h)
{
	const int64_t *value = h->value;

	if (h->counted)
		return h->bucket;
	h->counted = true;
	h->bucket = tnf_xcalloc(HISTOGRAM_BUCKETS, sizeof(*h->bucket));
	for (uint64_t i = 0; i < h->count; i++)
		h->bucket[bucket_of(value[i])]++;
	free((void *)(uintptr_t)value);
	return h->bucket;
}

static void
histogram_add(struct histogram *h, int64_t ns)
{
	if (h->count == 0)
		h->value = tnf_xcalloc(HISTOGRAM_EXACT, sizeof(*h->value));
	if (h->count == HISTOGRAM_EXACT)
		histogram_buckets(h);
	if (h->count == 0 || ns < h->min)
		h->min = ns;
	if (h->count == 0 || ns > h->max)
		h->max = ns;
	/* By Welford: sums of squares would lose what small distances of large values add. */
	double from = h->count == 0 ? 0 : (double)ns - h->total / (double)h->count;
	h->total += (double)ns;
	h->spread += from * ((double)ns - h->total / (double)(h->count + 1));
	if (h->counted)
		h->bucket[bucket_of(ns)]++;
	else
		h->value[h->count] = ns;
	h->count++;
}

int64_t
histogram_mean(const struct histogram *h)
{
	double mean = h->count == 0 ? 0 : h->total / (double)h->count;

	return (int64_t)(mean < 0 ? mean - 0.5 : mean + 0.5);
}

double
histogram_deviation(const struct histogram *h)
{
	return h->count < 2 ? 0 : sqrt(h->spread / (double)(h->count - 1));
}

static int64_t
histogram_clamp(const struct histogram *h, int64_t v)
{
	return v < h->min ? h->min : v > h->max ? h->max : v;
}

COMPARE_NUMBERS(histogram_compare, int64_t)

int64_t
histogram_percentile(const struct histogram *h, double p)
{
	double wanted = (double)h->count * p / 100;
	uint64_t seen = 0;

	if (h->count == 0)
		return 0;
	if (!h->counted) {
		qsort(h->value, h->count, sizeof(*h->value), histogram_compare);
		while (seen + 1 < h->count && (double)(seen + 1) < wanted)
			seen++;
		return h->value[seen];
	}
	for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++) {
		seen += h->bucket[b];
		if (seen > 0 && (double)seen >= wanted)
			return histogram_clamp(h, histogram_value(b));
	}
	return h->max;
}

#define BY_MAX		8
#define RECENT		64	/* rows of probes; a power of two */

struct stats {
	struct stats_of	 of;
	struct expr	*by[BY_MAX];
	char		*by_text[BY_MAX];
	unsigned	 n_by;
	struct out	 key;
	struct map	 rows[2];	/* by text: of events, of pairs */
	struct stats_row *recent[RECENT];	/* of events, if groups are probes alone */
	struct stats_row **sorted;
	int64_t		 first, last;
	uint64_t	 events, ungrouped;
};

static int
add_by(struct stats *s, const char *text, char *why, size_t size)
{
	struct expr_error error;

	if (s->n_by == BY_MAX) {
		snprintf(why, size, "more than %d expressions", BY_MAX);
		return -1;
	}
	s->by[s->n_by] = expr_new(text, s->of.source, &error);
	if (s->by[s->n_by] == NULL) {
		expr_error_format(&error, text, why, size);
		return -1;
	}
	s->by_text[s->n_by++] = tnf_xstrdup(text);
	return 0;
}

/* Splits the list at commas outside parentheses and quotes. */
static int
parse_by(struct stats *s, const char *list, char *why, size_t size)
{
	int depth = 0, rc = 0;
	char quote = 0, *text = tnf_xstrdup(list), *from = text;

	for (char *p = text; rc == 0; p++) {
		if (quote != 0 && *p != '\0') {
			quote = *p == quote ? 0 : quote;
			continue;
		}
		if (*p == '"' || *p == '\'')
			quote = *p;
		depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		if (*p == '\0') {
			rc = add_by(s, from, why, size);
			break;
		}
		if (*p == ',' && depth == 0) {
			*p = '\0';
			rc = add_by(s, from, why, size);
			from = p + 1;
		}
	}
	free(text);
	return rc;
}

struct stats *
stats_new(const struct stats_of *of, char *why, size_t size)
{
	struct stats *s = tnf_xcalloc(1, sizeof(*s));

	tnf_out_memory(&s->key);
	tnf_map_init(&s->rows[false], sizeof(struct stats_row));
	tnf_map_init(&s->rows[true], sizeof(struct stats_row));
	s->of = *of;
	if (of->by != NULL && *of->by != '\0' && parse_by(s, of->by, why, size) != 0) {
		stats_free(s);
		return NULL;
	}
	return s;
}

static void
stats_put_value(struct stats *s, const struct val *v, const struct tnf_event *ev)
{
	struct out *o = &s->key;
	char buf[VAL_TEXT_SIZE];
	const char *text, *name = NULL;
	int64_t n;

	if (v->kind == VAL_NULL) {
		out_char(o, '-');
		return;
	}
	if (s->of.show != NULL && s->of.show(s->of.arg, o, v, ev))
		return;
	/* The numbers in files of original writers have other names. */
	if (v->type != NULL && tnf_file_ext(ev->file) != NULL && val_to_int(v, &n))
		name = pretty_event_name(ev, v->type, v->name, n);
	size_t len = val_text(v, buf, &text);
	if (s->of.normalize && v->kind == VAL_STRING)
		text_normalize(o, text, len);
	else
		tnf_out_bytes(o, text, len);
	if (name != NULL) {
		out_char(o, '(');
		out_str(o, name);
		out_char(o, ')');
	}
}

static void
make_key(struct stats *s, const char *name, const struct tnf_event *ev)
{
	struct out *o = &s->key;
	struct val v;

	o->p = o->base;
	out_str(o, name);
	for (unsigned i = 0; i < s->n_by; i++) {
		v = expr_eval(s->by[i], ev);
		out_char(o, ' ');
		out_str(o, s->by_text[i]);
		out_char(o, '=');
		stats_put_value(s, &v, ev);
	}
}

struct stats_row *
stats_find(struct stats *s, const struct stats_row *like)
{
	return tnf_map_get(&s->rows[like->pair], like->text, like->len);
}

static size_t
stats_count_rows(const struct stats *s)
{
	return s->rows[false].n + s->rows[true].n;
}

static struct stats_row *
stats_row_of(struct stats *s, bool pair)
{
	struct map *rows = &s->rows[pair];
	size_t len = out_size(&s->key), n = stats_count_rows(s);
	bool fresh;

	if (n >= STATS_ROWS_MAX)
		return tnf_map_get(rows, s->key.base, len);
	struct stats_row *r = tnf_xmap_put(rows, s->key.base, len, &fresh);
	if (fresh) {
		r->pair = pair;
		r->nth = n;
		r->len = len;
		r->text = tnf_map_key(rows, r);
	}
	return r;
}

/*
 * The row of an event, mostly that of an earlier event of its probe.  The name is compared,
 * since a probe of another file may get the same address.
 */
static struct stats_row *
stats_event_row(struct stats *s, const struct tnf_event *ev)
{
	const char *name = ev->probe->name;
	struct stats_row **recent = &s->recent[(uintptr_t)ev->probe / sizeof(*ev->probe) % RECENT];

	if (s->n_by == 0 && *recent != NULL && strncmp(name, (*recent)->text, (*recent)->len) == 0 &&
	    name[(*recent)->len] == '\0')
		return *recent;
	make_key(s, name, ev);
	return *recent = stats_row_of(s, false);
}

static void
stats_count(struct stats *s, const struct tnf_event *ev)
{
	struct stats_row *r = stats_event_row(s, ev);

	if (s->events++ == 0)
		s->first = ev->time;
	s->last = ev->time;
	if (r != NULL)
		r->count++;
	else
		s->ungrouped++;
}

void
stats_event(struct stats *s, const struct tnf_event *ev, unsigned keep)
{
	struct pair_slice slice;
	struct stats_row *r;

	if (keep == KEEP_ALL)
		stats_count(s, ev);
	enum pair_role role = pairs_feed(s->of.pairs, ev, keep, &slice);
	if (role == PAIR_START && s->of.around != NULL)
		*slice.user = (void *)(uintptr_t)s->of.around(s->of.arg);
	if (role != PAIR_END || !slice.kept)
		return;
	if (s->of.recall != NULL)
		s->of.recall(s->of.arg, *slice.user);
	make_key(s, slice.name, slice.start);
	if ((r = stats_row_of(s, true)) == NULL)
		return;
	r->count++;
	histogram_add(&r->took, slice.duration);
}

/* Orders pairs by total time, then events by count; equal rows in order of first sight. */
static int
stats_compare(const void *x, const void *y)
{
	const struct stats_row *a = *(struct stats_row *const *)x;
	const struct stats_row *b = *(struct stats_row *const *)y;

	if (a->pair != b->pair)
		return a->pair ? -1 : 1;
	if (a->pair && a->took.total != b->took.total)
		return a->took.total > b->took.total ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->nth < b->nth ? -1 : 1;
}

struct stats_row **
stats_rows(struct stats *s, size_t *ret_n)
{
	struct stats_row *r;
	size_t n = 0;

	free(s->sorted);
	s->sorted = tnf_xcalloc(stats_count_rows(s) + 1, sizeof(struct stats_row *));
	for (int pair = 0; pair < 2; pair++)
		for (size_t at = 0; (r = tnf_map_next(&s->rows[pair], &at, NULL, NULL)) != NULL; )
			s->sorted[n++] = r;
	qsort(s->sorted, n, sizeof(struct stats_row *), stats_compare);
	*ret_n = n;
	return s->sorted;
}

double
stats_seconds(const struct stats *s)
{
	return (double)(s->last - s->first) / 1e9;
}

uint64_t
stats_ungrouped(const struct stats *s)
{
	return s->ungrouped;
}

void
stats_free(struct stats *s)
{
	struct stats_row *r;

	if (s == NULL)
		return;
	for (size_t at = 0; (r = tnf_map_next(&s->rows[true], &at, NULL, NULL)) != NULL; )
		free(r->took.value);
	tnf_map_free(&s->rows[false]);
	tnf_map_free(&s->rows[true]);
	for (unsigned i = 0; i < s->n_by; i++) {
		expr_free(s->by[i]);
		free(s->by_text[i]);
	}
	free(s->sorted);
	tnf_out_close(&s->key);
	free(s);
}

const struct expr *
stats_by(const struct stats *s, unsigned i)
{
	return i < s->n_by ? s->by[i] : NULL;
}

uint64_t
stats_events(const struct stats *s)
{
	return s->events;
}

/*
 * Queries and paths without their literals.
 */

#define HASH_MIN	12u	/* hexadecimal digits that are no word of a language */
#define DIGITS_MIN	3u	/* within a word */

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The length of a text in single quotes at p: '' is a quote in it, and so is \'. */
static size_t
quoted(const char *p, const char *end)
{
	const char *s = p + 1;

	for (; s < end; s++)
		if (*s == '\\' && s + 1 < end)
			s++;
		else if (*s == '\'') {
			if (s + 1 == end || s[1] != '\'')
				return (size_t)(s + 1 - p);
			s++;
		}
	return (size_t)(end - p);
}

/* The length of a hash or a UUID at p, which begins a word; 0: there is none. */
static size_t
hash(const char *p, const char *end)
{
	size_t digits = 0, n = 0;

	while (p + n < end && (isxdigit((unsigned char)p[n]) ||
	    (p[n] == '-' && n > 0 && p + n + 1 < end && isxdigit((unsigned char)p[n + 1])))) {
		digits += isdigit((unsigned char)p[n]) != 0;
		n++;
	}
	return n >= HASH_MIN && digits > 0 && (p + n == end || !is_word(p[n])) ? n : 0;
}

/* The length of a number at p: 12, 0x1f, 1.5e-3. */
static size_t
number(const char *p, const char *end)
{
	const char *s = p;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		for (s = p + 2; s < end && isxdigit((unsigned char)*s); s++)
			;
		return (size_t)(s - p);
	}
	while (s < end && isdigit((unsigned char)*s))
		s++;
	if (s + 1 < end && *s == '.' && isdigit((unsigned char)s[1]))
		for (s++; s < end && isdigit((unsigned char)*s); s++)
			;
	if (s < end && (*s == 'e' || *s == 'E')) {
		const char *x = s + 1;
		if (x < end && (*x == '-' || *x == '+'))
			x++;
		if (x < end && isdigit((unsigned char)*x))
			for (s = x; s < end && isdigit((unsigned char)*s); s++)
				;
	}
	return (size_t)(s - p);
}

/* The length of the literal at p, or 0; 'inside': a word has begun before. */
static size_t
literal(const char *p, const char *end, bool inside)
{
	size_t n = 0;

	if (*p == '\'')
		return inside ? 0 : quoted(p, end);
	if (!inside && isxdigit((unsigned char)*p) && (n = hash(p, end)) > 0)
		return n;
	if (!isdigit((unsigned char)*p))
		return 0;
	if (!inside)
		return number(p, end);
	while (p + n < end && isdigit((unsigned char)p[n]))
		n++;
	return n >= DIGITS_MIN ? n : 0;
}

/* True if the output ends in a literal and ", ": another literal there adds nothing. */
static bool
continues_list(const struct out *o, size_t from)
{
	const char *p = o->p, *base = o->base + from;

	while (p > base && (p[-1] == ' ' || p[-1] == ','))
		p--;
	return p < o->p && p > base && memchr(p, ',', (size_t)(o->p - p)) != NULL &&
	    (p[-1] == '?' || (p - base >= 3 && memcmp(p - 3, "...", 3) == 0));
}

static void
put_literal(struct out *o, size_t from)
{
	if (!continues_list(o, from)) {
		out_char(o, '?');
		return;
	}
	while (o->p[-1] == ' ' || o->p[-1] == ',')
		o->p--;
	if (o->p[-1] == '?')
		out_lit(o, ", ...");
}

void
text_normalize(struct out *o, const char *p, size_t len)
{
	size_t from = (size_t)(o->p - o->base), n;
	const char *end = p + len;
	bool inside = false;		/* a word, or what follows a '$' */

	while (p < end) {
		if (isspace((unsigned char)*p)) {
			while (p < end && isspace((unsigned char)*p))
				p++;
			out_char(o, ' ');
			inside = false;
		} else if ((n = literal(p, end, inside)) > 0) {
			put_literal(o, from);
			p += n;
			inside = true;
		} else {
			inside = is_word(*p) || *p == '$';
			out_char(o, *p++);
		}
	}
}

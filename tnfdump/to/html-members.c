/*
 * html-members.c - the members of events in an HTML report: one column for each member of each
 * probe.
 *
 * The texts of numbers that --pretty names (a system call, a symbol, a device) lie beside
 * the column, once for each value, so that the page needs no knowledge of any kernel.
 */
#include "tnfdump/to/formats.h"
#include "tnfdump/to/html.h"

#define NAMES_MAX	50000	/* names for each member; further values stay numbers */

enum html_type { HTML_SIGNED, HTML_UNSIGNED, HTML_REAL, HTML_STRING };

struct html_member {
	const char	*name;
	enum html_type	 type;
	bool		 opaque;
	bool		 named;		/* some of its numbers may have a text */
	struct html_column column;
	struct map	 names;		/* value, 64 bits -> uint32_t of a string */
};

struct html_probe {
	const struct tnf_probe *probe;	/* NULL: not seen */
	uint32_t	 number;
	bool		 kernel;
	struct html_member *members;
};

struct html_members {
	struct dump	*d;
	struct html_strings *strings;
	struct html_strings names;	/* texts of numbers */
	struct perprobe	 probes;	/* struct html_probe */
	uint32_t	*order;		/* probe ids, by number */
	uint32_t	 n;
	struct out	 text;		/* of one value */
};

struct html_members *
html_members_new(struct dump *d, struct html_strings *strings)
{
	struct html_members *h = tnf_xcalloc(1, sizeof(*h));

	h->d = d;
	h->strings = strings;
	html_strings_init(&h->names);
	tnf_out_memory(&h->text);
	return h;
}

static void
html_probe_free(struct html_probe *p)
{
	if (p->probe == NULL)
		return;
	for (unsigned i = 0; i < p->probe->n_members; i++) {
		html_column_free(&p->members[i].column);
		tnf_map_free(&p->members[i].names);
	}
	free(p->members);
}

void
html_members_free(struct html_members *h)
{
	struct html_probe *p = (struct html_probe *)(void *)h->probes.base;

	for (size_t i = 0; i < h->probes.n; i++)
		html_probe_free(&p[i]);
	free(p);
	free(h->order);
	html_strings_free(&h->names);
	tnf_out_close(&h->text);
	free(h);
}

static void
html_member_init(struct html_member *m, const struct tnf_probe *p, const struct tnf_member *from)
{
	static const struct { enum html_type type; const char *kind; size_t width; } kinds[] = {
		[TNF_K_INT8] = { HTML_SIGNED, "i32", 4 }, [TNF_K_INT16] = { HTML_SIGNED, "i32", 4 },
		[TNF_K_INT32] = { HTML_SIGNED, "i32", 4 }, [TNF_K_INT64] = { HTML_SIGNED, "i64", 8 },
		[TNF_K_UINT8] = { HTML_UNSIGNED, "u32", 4 }, [TNF_K_UINT16] = { HTML_UNSIGNED, "u32", 4 },
		[TNF_K_UINT32] = { HTML_UNSIGNED, "u32", 4 }, [TNF_K_UINT64] = { HTML_UNSIGNED, "u64", 8 },
		[TNF_K_FLOAT32] = { HTML_REAL, "f64", 8 }, [TNF_K_FLOAT64] = { HTML_REAL, "f64", 8 },
	};
	unsigned k = from->type->kind;
	bool number = k < sizeof(kinds) / sizeof(*kinds) && kinds[k].kind != NULL;

	m->name = from->name;
	m->opaque = from->type->opaque;
	m->named = pretty_can_differ(p, from);
	m->type = number ? kinds[k].type : HTML_STRING;
	tnf_map_init(&m->names, sizeof(uint32_t));
	html_column_init(&m->column, number ? kinds[k].kind : "u32", number ? kinds[k].width : 4);
}

static struct html_probe *
html_probe_of(struct html_members *h, const struct tnf_probe *from)
{
	struct html_probe *p = perprobe(&h->probes, from, sizeof(*p));

	if (__builtin_expect(p->probe != NULL, 1))
		return p;
	p->probe = from;
	p->number = h->n++;
	p->members = tnf_xcalloc(from->n_members, sizeof(*p->members));
	for (unsigned i = 0; i < from->n_members; i++)
		html_member_init(&p->members[i], from, &from->members[i]);
	h->order = tnf_xreallocarray(h->order, h->n, sizeof(*h->order));
	h->order[p->number] = from->id;
	return p;
}

uint32_t
html_members_probe(struct html_members *h, const struct tnf_event *ev)
{
	struct html_probe *p = html_probe_of(h, ev->probe);

	p->kernel = ev->kernel;
	return p->number;
}

/* Prints a value into h->text as --pretty does. */
static void
html_pretty(struct html_members *h, const struct tnf_event *ev,
    const struct tnf_value *v, const char *name)
{
	h->text.p = h->text.base;
	pretty_value(h->d, &h->text, ev, v, name);
}

static void
html_name(struct html_members *h, struct html_member *m,
    const struct tnf_event *ev, const struct tnf_value *v)
{
	uint64_t bits = m->type == HTML_SIGNED ? (uint64_t)v->u.i : v->u.u;
	bool fresh;

	if (!pretty_differs(h->d, ev, v, m->name) || (m->names.n >= NAMES_MAX &&
	    tnf_map_get(&m->names, &bits, sizeof(bits)) == NULL))
		return;
	uint32_t *name = tnf_xmap_put(&m->names, &bits, sizeof(bits), &fresh);
	if (!fresh)
		return;
	html_pretty(h, ev, v, m->name);
	*name = html_strings_number(&h->names, h->text.base,
	    out_size(&h->text));
}

static uint32_t
html_string(struct html_members *h, const struct html_member *m,
    const struct tnf_event *ev, const struct tnf_value *v)
{
	if (v->null)
		return 0;
	if (v->kind == TNF_K_STRING && !v->cut && !v->type->blob)
		return html_strings_number(h->strings, v->u.s.chars, v->u.s.len);
	html_pretty(h, ev, v, m->name);
	return html_strings_number(h->strings, h->text.base,
	    out_size(&h->text));
}

static void
html_member_add(struct html_members *h, struct html_member *m,
    const struct tnf_event *ev, const struct tnf_value *v)
{
	uint32_t number;

	switch (m->type) {
	case HTML_SIGNED:
	case HTML_UNSIGNED:
		/* Little-endian: the low half of 64 bits comes first. */
		html_column_add(&m->column, &v->u.u);
		if (m->named)
			html_name(h, m, ev, v);
		break;
	case HTML_REAL:
		html_column_add(&m->column, &v->u.d);
		break;
	case HTML_STRING:
		number = html_string(h, m, ev, v);
		html_column_add(&m->column, &number);
	}
}

void
html_members_add(struct html_members *h, const struct tnf_event *ev)
{
	struct html_probe *p = html_probe_of(h, ev->probe);
	struct tnf_value v;

	for (unsigned i = 0; i < ev->probe->n_members; i++) {
		if (!tnf_event_value(ev, i, &v) ||
		    (v.null && p->members[i].type != HTML_STRING))
			v = (struct tnf_value){ .type = ev->probe->members[i].type,
			    .kind = ev->probe->members[i].type->kind };
		html_member_add(h, &p->members[i], ev, &v);
	}
}

struct html_name {
	uint64_t bits;
	uint32_t text;
};

COMPARE_BY(html_by_bits, struct html_name, bits)

/* Writes {"value":"text",...} sorted by value: a map's order differs in each run, and the
   same trace should give the same page. */
static void
html_names_json(const struct html_member *m, struct out *o)
{
	const void *key;
	const uint32_t *text;
	size_t at = 0, n = 0;

	if (m->names.n == 0)
		return;
	struct html_name *names = tnf_xcalloc(m->names.n, sizeof(*names));
	while ((text = tnf_map_next(&m->names, &at, &key, NULL)) != NULL) {
		memcpy(&names[n].bits, key, sizeof(names[n].bits));
		names[n++].text = *text;
	}
	qsort(names, n, sizeof(*names), html_by_bits);
	for (size_t i = 0; i < n; i++) {
		out_str(o, i == 0 ? ",\"names\":{\"" : ",\"");
		if (m->type == HTML_SIGNED)
			tnf_out_i64(o, (int64_t)names[i].bits);
		else
			tnf_out_u64(o, names[i].bits);
		tnf_out_format(o, "\":%" PRIu32, names[i].text);
	}
	out_char(o, '}');
	free(names);
}

static void
html_member_json(struct html_member *m, struct out *o, html_put_fn *put, void *arg)
{
	out_lit(o, "{\"name\":");
	json_name(o, m->name);
	if (m->type == HTML_STRING)
		out_lit(o, ",\"type\":\"string\"");
	if (m->opaque)
		out_lit(o, ",\"opaque\":true");
	html_names_json(m, o);
	out_lit(o, ",\"column\":");
	put(arg, o, &m->column);
	out_char(o, '}');
}

void
html_members_json(struct html_members *h, struct out *o, html_put_fn *put, void *arg)
{
	const struct html_probe *p = (struct html_probe *)(void *)h->probes.base;

	out_lit(o, "\"names\":[");
	tnf_out_bytes(o, h->names.json.base,
	    out_size(&h->names.json));
	out_lit(o, "],\"probes\":[");
	for (unsigned k = 0; k < h->n; k++) {
		const struct html_probe *one = &p[h->order[k]];

		out_str(o, k > 0 ? ",{\"name\":" : "{\"name\":");
		json_name(o, one->probe->name);
		json_member(o, "keys", one->probe->keys);
		if (one->kernel)
			out_lit(o, ",\"kernel\":true");
		out_lit(o, ",\"members\":[");
		for (unsigned i = 0; i < one->probe->n_members; i++) {
			if (i > 0)
				out_char(o, ',');
			html_member_json(&one->members[i], o, put, arg);
		}
		out_lit(o, "]}");
	}
	out_char(o, ']');
}

/*
 * The threads of an HTML report, by the numbers that the machine gave them.
 */
struct html_threads {
	struct dump	*d;
	struct map	 numbers;	/* struct html_thread_key -> uint32_t */
	struct tnf_event last;		/* the last one that was asked about, */
	uint32_t	 of_last;	/* and the number of its thread */
	struct out	 json;
};

struct html_threads *
html_threads_new(struct dump *d)
{
	struct html_threads *t = tnf_xcalloc(1, sizeof(*t));

	t->d = d;
	tnf_map_init(&t->numbers, sizeof(uint32_t));
	tnf_out_memory(&t->json);
	return t;
}

void
html_threads_free(struct html_threads *t)
{
	tnf_map_free(&t->numbers);
	tnf_out_close(&t->json);
	free(t);
}

/* Writes "host":"web1", with --hosts. */
static void
put_host(const struct html_threads *t, struct out *o, unsigned host)
{
	unsigned n;

	const struct host *list = hosts_list(t->d, &n);
	if (list == NULL || host >= n)
		return;
	out_lit(o, "\"host\":");
	json_name(o, list[host].name);
	tnf_out_format(o, ",\"nth\":%u,", host);
}

uint32_t
html_thread(struct html_threads *t, struct html_thread_key key, const struct tnf_event *ev)
{
	struct out *o = &t->json;
	bool fresh;

	uint32_t *number = tnf_xmap_put(&t->numbers, &key, sizeof(key), &fresh);
	if (!fresh)
		return *number;
	*number = (uint32_t)t->numbers.n - 1;
	out_str(o, *number > 0 ? ",{" : "{");
	put_host(t, o, (unsigned)key.host);
	tnf_out_format(o, "\"pid\":%" PRId32 ",\"lwpid\":%" PRIu32 ",\"tid\":\"0x%" PRIx64 "\"",
	    key.pid, key.lwpid, key.tid);
	json_member(o, "comm", ev != NULL ? origin_comm_last(t->d, ev) : NULL);
	json_member(o, "process", ev != NULL ? origin_process_last(t->d, ev) : NULL);
	out_char(o, '}');
	return *number;
}

uint32_t
html_thread_writer(struct html_threads *t, const struct tnf_event *ev)
{
	struct html_thread_key key = { ev->pid, ev->lwpid, 0, tnf_file_host(ev->file) };

	if (formats_same_thread(ev, &t->last))
		return t->of_last;
	if (!ev->kernel)	/* a process in a container has other numbers */
		origin_host(t->d, ev, &key.pid, &key.lwpid);
	t->last = *ev;
	return t->of_last = html_thread(t, key, ev);
}

const struct out *
html_threads_json(const struct html_threads *t)
{
	return &t->json;
}

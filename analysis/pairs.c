/*
 * pairs.c - matches starts with ends.
 *
 * Open starts are in a map by rule, common name and instance (the thread, or the values of
 * the key members).  The key holds all of these as bytes and not a hash, since a trace can
 * be crafted so that hashes are equal.  Starts of one instance form a list, the newest
 * first, which gives nesting within a thread.
 */
#include "analysis/attrs.h"
#include "analysis/gaps.h"
#include "analysis/names.h"
#include "analysis/pairs.h"
#include "analysis/value.h"

/* So many instances stay in the map with nothing open: most begin again soon. */
#define PAIRS_IDLE_MAX	4096u
#define RECENT		16u
/* A key with more items in its records and arrays identifies no instance: comparing takes
   too long. */
#define KEY_ITEMS_MAX	1024u

static const struct pair_rule builtin[] = {
	{ "syscall", "syscall_start", "syscall_end", { NULL }, false, NULL },
	{ "io", "strategy", "biodone", { "device", "buf", NULL }, true, NULL },
	{ "physio", "physio_start", "physio_end", { NULL }, false, NULL },
	{ "pageout_scan", "pageout_scan_start", "pageout_scan_end", { NULL }, false, NULL },
	{ "span", "span_start", "span_end", { "span", NULL }, true, NULL },
};

/* Endings of names that make pairs; the common part names the slice. */
static const struct {
	const char *start, *end;
} endings[] = {
	{ "_start", "_end" }, { "_begin", "_end" }, { "_enter", "_exit" },
	{ "_start", "_done" }, { "_entry", "_return" }, { "_entry", "_exit" },
};

static const struct pair_rule by_ending = { .name = NULL };

/* The role of a probe for the matcher, found once for each probe. */
struct role {
	enum pair_role	 role;
	bool		 known;
	const struct pair_rule *rule;
	const char	*name;		/* of the slice; equal names share one address */
	uint64_t	 name_mixed;	/* start value of the instance's id */
	int		 member[PAIR_KEYS_MAX];	/* index, -1: none */
	unsigned	 n_members;
};

/* An entry of the map of instances. */
struct instance {
	struct open	*innermost;	/* NULL: nothing is open */
	uint64_t	 id;		/* a hash; with members it is the same in each run */
	size_t		 len;		/* of the key */
};

/* The head of an instance's key; the values of members follow. */
struct instance_head {
	const struct pair_rule *rule;
	const char	*name;
	uintptr_t	 of;		/* the thread's file; with members, the machine */
	int32_t		 pid;
	uint32_t	 lwpid;
};

/* An instance that was used lately: the next event often has the same. */
struct recent {
	struct instance_head head;
	struct instance	*in;
};

struct open {
	struct open	*outer, *inner;	/* of the same instance: begun before, after */
	struct open	*before, *after;	/* of all instances: begun before, after */
	struct instance	*in;
	const struct pair_rule *rule;
	const char	*name;
	struct tnf_event start;
	uint64_t	 start_at;
	unsigned	 keep;		/* enum keep of the start */
	void		*user;
};

struct pairs {
	struct perprobe	 roles;		/* struct role */
	struct pair_rule *own;		/* by pairs_add() */
	size_t		 n_own;
	struct map	 names;		/* of slices; a set */
	struct map	 instances;	/* struct instance */
	struct recent	 recent[RECENT];	/* by the id's last bits */
	/* The key of the event's instance: 'values', which include the head, or if that is
	   empty, 'head'. */
	struct instance_head head;
	struct out	 values;
	struct open	*oldest, *newest;
	size_t		 n_open;
	struct pairs_counts counts;
	struct gaps	 gaps;
	uint64_t	 fed;		/* events */
	struct open	*spare;		/* chained by 'after' */
	size_t		 max;		/* open at once */
	bool		 endless;	/* the oldest gives way at 'max' */
	void		 (*dropped)(void *, void **);
	void		*dropped_arg;
	tnf_stream_t	*stream;	/* NULL: any stream */
	bool		 complete;	/* all probes of the stream are known */
};

struct pairs *
pairs_new(void)
{
	struct pairs *p = tnf_xcalloc(1, sizeof(*p));

	tnf_map_init(&p->instances, sizeof(struct instance));
	tnf_out_memory(&p->values);
	p->max = PAIR_OPEN_MAX;
	return p;
}

static void
pairs_free_list(struct open *o)
{
	struct open *after;

	for (; o != NULL; o = after) {
		after = o->after;
		free(o);
	}
}

void
pairs_free(struct pairs *p)
{
	if (p == NULL)
		return;
	tnf_map_free(&p->instances);
	tnf_map_free(&p->names);
	tnf_out_close(&p->values);
	pairs_free_list(p->oldest);
	pairs_free_list(p->spare);
	gaps_free(&p->gaps);
	for (size_t i = 0; i < p->n_own; i++) {
		free((char *)p->own[i].start);	/* memory of all its words */
		free((char *)p->own[i].text);
	}
	free(p->own);
	free(p->roles.base);
	free(p);
}

int
pairs_add(struct pairs *p, const char *text, const char **reterr)
{
	struct pair_rule rule = { 0 };
	char *copy, *word, *rest;
	unsigned n = 0;

	rest = copy = tnf_xstrdup(text);
	rule.start = strsep(&rest, ",");
	rule.end = strsep(&rest, ",");
	if (rule.end == NULL || *rule.start == '\0' || *rule.end == '\0') {
		*reterr = "wanted: start,end[,member...]";
		goto fail;
	}
	while ((word = strsep(&rest, ",")) != NULL) {
		if (n == PAIR_KEYS_MAX) {
			*reterr = "more than 4 members";
			goto fail;
		}
		rule.keys[n++] = word;
	}
	rule.name = rule.start;
	rule.async = n > 0;
	rule.text = tnf_xstrdup(text);
	p->own = tnf_xreallocarray(p->own, p->n_own + 1, sizeof(*p->own));
	p->own[p->n_own++] = rule;
	return 0;
fail:
	free(copy);
	return -1;
}

struct pairs *
pairs_copy_rules(const struct pairs *from)
{
	struct pairs *p = pairs_new();
	const char *error;

	for (size_t i = 0; from != NULL && i < from->n_own; i++)
		pairs_add(p, from->own[i].text, &error);
	return p;
}

const struct pair_rule *
pairs_rule(const struct pairs *p, unsigned i)
{
	return p != NULL && i < p->n_own ? &p->own[i] : NULL;
}

/* The length of the name without the suffix, or 0 if it does not end in the suffix. */
static size_t
pairs_stem(const char *name, const char *suffix)
{
	size_t n = strlen(name), s = strlen(suffix);

	return n > s && strcmp(name + n - s, suffix) == 0 ? n - s : 0;
}

static const char *
pairs_name(struct pairs *p, const char *chars, size_t n)
{
	char *name = tnf_xstrndup(chars, n);
	const char *known = tnf_map_key(&p->names, tnf_xmap_put(&p->names, name, n + 1, NULL));

	free(name);
	return known;
}

static bool
try_rule(struct pairs *p, struct role *r, const struct pair_rule *rule, const char *probe)
{
	if (strcmp(probe, rule->start) == 0)
		r->role = PAIR_START;
	else if (strcmp(probe, rule->end) == 0)
		r->role = PAIR_END;
	else
		return false;
	r->rule = rule;
	r->name = pairs_name(p, rule->name, strlen(rule->name));
	return true;
}

void
pairs_of(struct pairs *p, tnf_stream_t *stream)
{
	p->stream = stream;
}

void
pairs_complete(struct pairs *p)
{
	p->complete = true;
}

/* True if there is a probe that starts what this probe would end, or ends what it would start;
   thread_exit has none. */
static bool
has_other(const struct pairs *p, const char *probe, size_t stem, const char *ending)
{
	char *name;
	bool has;

	if (p->stream == NULL)
		return true;
	name = tnf_xasprintf("%.*s%s", (int)stem, probe, ending);
	has = stream_has_probe(p->stream, name);
	free(name);
	return has;
}

static void
try_endings(struct pairs *p, struct role *r, const char *probe)
{
	size_t n = 0, stem;

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings) && n == 0; i++) {
		if ((stem = pairs_stem(probe, endings[i].start)) > 0 &&
		    (!p->complete || has_other(p, probe, stem, endings[i].end))) {
			r->role = PAIR_START;
			n = stem;
		} else if ((stem = pairs_stem(probe, endings[i].end)) > 0 &&
		    has_other(p, probe, stem, endings[i].start)) {
			r->role = PAIR_END;
			n = stem;
		}
	}
	if (n == 0)
		return;
	r->rule = &by_ending;
	r->name = pairs_name(p, probe, n);
}

static void
bind_members(struct role *r, const struct tnf_probe *probe)
{
	for (unsigned k = 0; k < PAIR_KEYS_MAX && r->rule->keys[k] != NULL; k++) {
		r->member[k] = perprobe_member(probe, r->rule->keys[k]);
		r->n_members = k + 1;
		/* Without the member, the event's instance is not known. */
		if (r->member[k] < 0)
			r->role = PAIR_NONE;
	}
}

static void
pairs_classify(struct pairs *p, struct role *r, const struct tnf_probe *probe)
{
	r->known = true;
	for (size_t i = p->n_own; i-- > 0; )	/* the user's rules win */
		if (try_rule(p, r, &p->own[i], probe->name))
			goto found;
	for (size_t i = 0; i < sizeof(builtin) / sizeof(*builtin); i++)
		if (try_rule(p, r, &builtin[i], probe->name))
			goto found;
	try_endings(p, r, probe->name);
	if (r->role == PAIR_NONE)
		return;
found:
	bind_members(r, probe);
}

static uint64_t
pairs_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t
mix_text(uint64_t h, const char *s, size_t n)
{
	while (n-- > 0)
		h = pairs_mix(h, (unsigned char)*s++);
	return h;
}

static void
put_number(struct pairs *p, uint64_t n)
{
	tnf_out_bytes(&p->values, (const char *)&n, sizeof(n));
}

/* Appends a value to p->values, different values as different bytes, and mixes it into the
   id.  Records and arrays are represented by their items. */
static uint64_t
pairs_value(struct pairs *p, uint64_t h, const struct tnf_file *f, const struct tnf_value *v,
    struct nest *nest)
{
	struct tnf_value item;

	out_char(&p->values, v->null ? '0' : v->kind == TNF_K_STRING ? 's' :
	    v->kind == TNF_K_STRUCT || v->kind == TNF_K_ARRAY ? '(' : 'n');
	if (v->null)
		return pairs_mix(h, 0);
	if (v->kind == TNF_K_STRING) {
		put_number(p, v->u.s.len);
		tnf_out_bytes(&p->values, v->u.s.chars, v->u.s.len);
		return mix_text(h, v->u.s.chars, v->u.s.len);
	}
	if (v->kind != TNF_K_STRUCT && v->kind != TNF_K_ARRAY) {
		put_number(p, v->u.u);
		return pairs_mix(h, v->u.u);
	}
	h = pairs_mix(h, v->u.r.count);
	if (nest_enter(nest, v)) {
		for (unsigned i = 0; nest_item(nest, f, v, i, &item); i++)
			h = pairs_value(p, h, f, &item, nest);
		nest_leave(nest);
	}
	out_char(&p->values, ')');
	return h;
}

static const struct role *
role_learn(struct pairs *p, struct role *r, const struct tnf_probe *probe)
{
	pairs_classify(p, r, probe);
	if (r->name != NULL)
		r->name_mixed = mix_text(0, r->name, strlen(r->name));
	return r;
}

static inline const struct role *
role_of(struct pairs *p, const struct tnf_probe *probe)
{
	struct role *r = perprobe(&p->roles, probe, sizeof(*r));

	return __builtin_expect(r->known, 1) ? r : role_learn(p, r, probe);
}

/* The key of an instance for a rule with members. */
static bool
pairs_members(struct pairs *p, const struct role *r, const struct tnf_event *ev, uint64_t *id)
{
	struct nest nest = { .items = NEST_ITEMS_MAX - KEY_ITEMS_MAX };
	uint64_t h = r->name_mixed;
	struct tnf_value v;

	p->head = (struct instance_head){ .rule = r->rule, .name = r->name };
	/* A pair of a user's rule may begin on one machine and end on another.  The
	   built-in rules use numbers of the kernel, which are valid on one machine only. */
	if (r->rule->text == NULL) {
		p->head.of = tnf_file_host(ev->file);
		h = pairs_mix(h, p->head.of);
	}
	tnf_out_bytes(&p->values, (const char *)&p->head, sizeof(p->head));
	for (unsigned i = 0; i < r->n_members; i++)
		if (tnf_event_value(ev, (unsigned)r->member[i], &v))
			h = pairs_value(p, h, ev->file, &v, &nest);
	*id = h;
	return !nest.partial;
}

/* Computes the key (p->head and p->values) and the id of the event's instance; false: the
   members have too many values. */
static inline bool
pairs_instance(struct pairs *p, const struct role *r, const struct tnf_event *ev, uint64_t *id)
{
	p->values.p = p->values.base;
	if (r->n_members > 0)
		return pairs_members(p, r, ev, id);
	/* The file is in the key, since processes of two containers may have the same number. */
	p->head = (struct instance_head){ r->rule, r->name, (uintptr_t)ev->file, ev->pid,
	    ev->lwpid };
	*id = pairs_mix(pairs_mix(pairs_mix(r->name_mixed, p->head.of), (uint32_t)ev->pid),
	    ev->lwpid);
	return true;
}

static bool
recent_is(const struct pairs *p, const struct recent *r, size_t len)
{
	if (r->in == NULL || r->in->len != len ||
	    memcmp(&r->head, &p->head, sizeof(p->head)) != 0)
		return false;
	return len == sizeof(p->head) ||
	    memcmp(tnf_map_key(&p->instances, r->in), p->values.base, len) == 0;
}

/* Finds the event's instance; NULL: there is none, and 'make' is false. */
static struct instance *
pairs_find(struct pairs *p, uint64_t id, bool make)
{
	struct recent *r = &p->recent[id % RECENT];
	size_t len = out_size(&p->values);
	const void *key = len > 0 ? (const void *)p->values.base : &p->head;

	if (len == 0)
		len = sizeof(p->head);
	if (recent_is(p, r, len))
		return r->in;
	struct instance *in = make ? tnf_xmap_put(&p->instances, key, len, NULL) :
	    tnf_map_get(&p->instances, key, len);
	if (in == NULL)
		return NULL;
	in->id = id;
	in->len = len;
	*r = (struct recent){ p->head, in };
	return in;
}

/* Called when an instance has nothing open any more. */
static void
pairs_idle(struct pairs *p, struct instance *in)
{
	struct recent *r = &p->recent[in->id % RECENT];

	if (p->instances.n <= PAIRS_IDLE_MAX)
		return;
	if (r->in == in)
		r->in = NULL;
	tnf_map_remove(&p->instances, tnf_map_key(&p->instances, in), in->len);
}

static bool
keep_awaited(unsigned keep)
{
	return (keep & (KEEP_WHO | KEEP_WHEN)) == (KEEP_WHO | KEEP_WHEN);
}

static void
pairs_unlink(struct pairs *p, struct open *o)
{
	*(o->before != NULL ? &o->before->after : &p->oldest) = o->after;
	*(o->after != NULL ? &o->after->before : &p->newest) = o->before;
	o->after = p->spare;
	p->spare = o;
	p->n_open--;
	p->counts.open -= o->keep == KEEP_ALL;
	p->counts.awaited -= keep_awaited(o->keep);
}

/* Removes an open start from its instance, at any depth, and from the list of all. */
static void
pairs_take_out(struct pairs *p, struct open *o)
{
	if (o->outer != NULL)
		o->outer->inner = o->inner;
	if (o->inner != NULL)
		o->inner->outer = o->outer;
	else
		o->in->innermost = o->outer;
	if (o->outer == NULL && o->inner == NULL)
		pairs_idle(p, o->in);
	pairs_unlink(p, o);
}

static void
pairs_drop(struct pairs *p, struct open *o)
{
	if (p->dropped != NULL)
		p->dropped(p->dropped_arg, &o->user);
	pairs_take_out(p, o);
}

/* Adds an open start to the end of the list; NULL: there are too many. */
static struct open *
pairs_append(struct pairs *p, unsigned keep)
{
	struct open *o;

	if (p->n_open >= p->max) {
		if (!p->endless)
			return NULL;
		pairs_drop(p, p->oldest);
	}
	if ((o = p->spare) != NULL)
		p->spare = o->after;
	else
		o = tnf_xcalloc(1, sizeof(*o));
	o->before = p->newest;
	o->after = NULL;
	o->user = NULL;
	o->keep = keep;
	*(p->newest != NULL ? &p->newest->after : &p->oldest) = o;
	p->newest = o;
	p->n_open++;
	p->counts.open += keep == KEEP_ALL;
	p->counts.awaited += keep_awaited(keep);
	return o;
}

static enum pair_role
pairs_opened(struct pairs *p, const struct role *r, uint64_t id,
    const struct tnf_event *ev, unsigned keep, struct pair_slice *ret)
{
	struct open *o = pairs_append(p, keep);

	if (o == NULL)
		return PAIR_NONE;
	o->in = pairs_find(p, id, true);
	o->outer = o->in->innermost;
	o->inner = NULL;
	if (o->outer != NULL)
		o->outer->inner = o;
	o->rule = r->rule;
	o->name = r->name;
	o->start = *ev;
	o->start_at = p->fed;
	o->in->innermost = o;
	*ret = (struct pair_slice){ r->rule, r->name, &o->start, p->fed, 0, id,
	    keep == KEEP_ALL, keep == KEEP_ALL, &o->user };
	return PAIR_START;
}

static enum pair_role
pairs_closed(struct pairs *p, const struct role *r, uint64_t id,
    const struct tnf_event *ev, unsigned keep, struct pair_slice *ret)
{
	struct instance *in = pairs_find(p, id, false);
	struct open *o;

	if (in == NULL || (o = in->innermost) == NULL) {
		p->counts.orphans += keep == KEEP_ALL;
		*ret = (struct pair_slice){ NULL, r->name, ev, p->fed, 0, id, false, false, NULL };
		return PAIR_END;
	}
	*ret = (struct pair_slice){ o->rule, o->name, &o->start, o->start_at,
	    ev->time - o->start.time, id, o->keep == KEEP_ALL,
	    keep_awaited(o->keep) && ((o->keep | keep) & KEEP_WHAT) != 0, &o->user };
	in->innermost = o->outer;
	if (o->outer != NULL)
		o->outer->inner = NULL;
	else
		pairs_idle(p, in);
	pairs_unlink(p, o);
	return PAIR_END;
}

void
pairs_endless(struct pairs *p, size_t max, void (*dropped)(void *, void **),
    void *arg)
{
	p->max = max;
	p->endless = true;
	p->dropped = dropped;
	p->dropped_arg = arg;
}

void
pairs_forget(struct pairs *p)
{
	while (p->oldest != NULL)
		pairs_drop(p, p->oldest);
}

void
pairs_forget_thread(struct pairs *p, const struct tnf_event *ev)
{
	const struct role *r = (const struct role *)(void *)p->roles.base;
	struct instance *in;
	uint64_t id;

	for (size_t i = 0; i < p->roles.n; i++) {
		if (r[i].role != PAIR_START || r[i].n_members > 0)
			continue;
		pairs_instance(p, &r[i], ev, &id);
		while ((in = pairs_find(p, id, false)) != NULL && in->innermost != NULL)
			pairs_drop(p, in->innermost);
	}
}

const char *
pairs_span(struct pairs *p, const struct tnf_probe *probe)
{
	const struct role *r = role_of(p, probe);

	return r->role != PAIR_NONE ? r->name : NULL;
}

enum pair_role
pairs_role(struct pairs *p, const struct tnf_probe *probe)
{
	return role_of(p, probe)->role;
}

bool
pairs_match(struct pairs *p, const struct tnf_probe *start, const struct tnf_probe *end)
{
	const struct role a = *role_of(p, start), b = *role_of(p, end);

	return a.role == PAIR_START && b.role == PAIR_END && a.rule == b.rule && a.name == b.name &&
	    a.n_members == 0 && b.n_members == 0;
}

/* Events of the kernel of this machine are missing: ends may be among them, and later ends may be
   those of starts that are among them. */
static void
pairs_gap(struct pairs *p, unsigned host)
{
	struct open *o, *after;

	for (o = p->oldest; o != NULL; o = after) {
		after = o->after;
		if (!o->start.kernel || tnf_file_host(o->start.file) != host)
			continue;
		p->counts.cut += o->keep == KEEP_ALL;
		pairs_drop(p, o);
	}
}

enum pair_role
pairs_feed(struct pairs *p, const struct tnf_event *ev, unsigned keep, struct pair_slice *ret)
{
	const struct role *r = role_of(p, ev->probe);

	uint64_t id;

	p->fed++;
	if (ev->kernel && gaps_feed(&p->gaps, ev) != GAP_NONE)
		pairs_gap(p, tnf_file_host(ev->file));
	if (r->role == PAIR_NONE || !pairs_instance(p, r, ev, &id))
		return PAIR_NONE;
	return r->role == PAIR_START ? pairs_opened(p, r, id, ev, keep, ret) :
	    pairs_closed(p, r, id, ev, keep, ret);
}

const struct pairs_counts *
pairs_counts(const struct pairs *p)
{
	return &p->counts;
}

/* Shows the kept starts from this one on. */
static void
each_from(struct open *o, void (*fn)(void *, const struct pair_slice *), void *arg)
{
	for (; o != NULL; o = o->after) {
		struct pair_slice s = { o->rule, o->name, &o->start, o->start_at,
		    0, o->in->id, true, true, &o->user };

		if (o->keep == KEEP_ALL)
			fn(arg, &s);
	}
}

void
pairs_each_open(const struct pairs *p,
    void (*fn)(void *, const struct pair_slice *), void *arg)
{
	each_from(p->oldest, fn, arg);
}

void
pairs_each_new(const struct pairs *p,
    void (*fn)(void *, const struct pair_slice *), void *arg)
{
	struct open *first = NULL;

	for (struct open *o = p->newest; o != NULL && o->user == NULL; o = o->before)
		first = o;
	each_from(first, fn, arg);
}

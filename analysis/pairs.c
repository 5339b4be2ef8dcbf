/*
 * pairs.c - match starts with ends.
 *
 * Open starts sit in a map keyed by rule, common name and instance (the thread,
 * or the values of the key members).  Equal keys chain newest first, which
 * gives nesting within a thread.
 */
#include <string.h>

#include "analysis/pairs.h"
#include "analysis/perprobe.h"
#include "common/map.h"
#include "common/xalloc.h"

/* Up to so many instances stay in the map when they have nothing open: most
   begin again soon. */
#define PAIRS_IDLE_MAX	4096u
#define RECENT		16u

static const struct pair_rule builtin[] = {
	{ "syscall", "syscall_start", "syscall_end", { NULL }, false, NULL },
	{ "io", "strategy", "biodone", { "device", "buf", NULL }, true, NULL },
	{ "physio", "physio_start", "physio_end", { NULL }, false, NULL },
	{ "pageout_scan", "pageout_scan_start", "pageout_scan_end", { NULL }, false, NULL },
};

/* Names that pair by their ending; the common part names the slice. */
static const struct {
	const char *start, *end;
} endings[] = {
	{ "_start", "_end" }, { "_begin", "_end" }, { "_enter", "_exit" },
	{ "_start", "_done" }, { "_entry", "_return" },
};

static const struct pair_rule by_ending = { .name = NULL };

/* What a probe is to the matcher; found once for each probe. */
struct role {
	enum pair_role	 role;
	bool		 known;
	const struct pair_rule *rule;
	char		*name;		/* of the slice */
	uint64_t	 name_mixed;	/* begins what tells instances apart */
	int		 member[PAIR_KEYS_MAX];	/* index, -1: none */
	unsigned	 n_members;
};

struct open {
	struct open	*outer, *inner;	/* of the same instance, begun before, after */
	struct open	*before, *after;	/* of all: begun before, after */
	uint64_t	 key;
	const struct pair_rule *rule;
	const char	*name;
	struct tnf_event start;
	uint64_t	 start_at;
	unsigned	 keep;		/* enum keep, of the start */
	void		*user;
};

/* An instance that was asked for lately: mostly it is the next event's, too. */
struct recent {
	const struct pair_rule *rule;
	uint64_t	 key;
	struct open	**innermost;	/* in the map; NULL: none */
};

struct pairs {
	struct perprobe	 roles;		/* struct role */
	struct pair_rule *own;		/* by pairs_add() */
	size_t		 n_own;
	struct map	 innermost;	/* by rule and key: struct open * */
	struct recent	 recent[RECENT];	/* by the last bits of the key */
	struct open	*oldest, *newest;
	size_t		 n_open, n_kept, n_awaited;
	uint64_t	 orphans;
	uint64_t	 fed;		/* events */
	struct open	*spare;		/* chained by 'after' */
	size_t		 max;		/* open at once */
	bool		 endless;	/* then the oldest gives way */
	void		 (*dropped)(void *, void **);
	void		*dropped_arg;
};

struct pairs *
pairs_new(void)
{
	struct pairs *p = tnf_xcalloc(1, sizeof(*p));

	tnf_map_init(&p->innermost, sizeof(struct open *));
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
	struct role *role = (struct role *)(void *)p->roles.base;
	tnf_map_free(&p->innermost);
	pairs_free_list(p->oldest);
	pairs_free_list(p->spare);
	for (size_t i = 0; i < p->roles.n; i++)
		free(role[i].name);
	for (size_t i = 0; i < p->n_own; i++) {
		free((char *)p->own[i].start);	/* all its words lie there */
		free((char *)p->own[i].text);
	}
	free(p->own);
	free(role);
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

/* Length of the common part if name ends in suffix, else 0. */
static size_t
pairs_stem(const char *name, const char *suffix)
{
	size_t n = strlen(name), s = strlen(suffix);

	return n > s && strcmp(name + n - s, suffix) == 0 ? n - s : 0;
}

static bool
try_rule(struct role *r, const struct pair_rule *rule, const char *probe)
{
	if (strcmp(probe, rule->start) == 0)
		r->role = PAIR_START;
	else if (strcmp(probe, rule->end) == 0)
		r->role = PAIR_END;
	else
		return false;
	r->rule = rule;
	r->name = tnf_xstrdup(rule->name);
	return true;
}

static void
try_endings(struct role *r, const char *probe)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings) && n == 0; i++) {
		if ((n = pairs_stem(probe, endings[i].start)) > 0)
			r->role = PAIR_START;
		else if ((n = pairs_stem(probe, endings[i].end)) > 0)
			r->role = PAIR_END;
	}
	if (n == 0)
		return;
	r->rule = &by_ending;
	r->name = tnf_xstrndup(probe, n);
}

static void
bind_members(struct role *r, const struct tnf_probe *probe)
{
	for (unsigned k = 0; k < PAIR_KEYS_MAX && r->rule->keys[k] != NULL; k++) {
		r->member[k] = perprobe_member(probe, r->rule->keys[k]);
		r->n_members = k + 1;
		/* Nobody knows which instance it speaks of. */
		if (r->member[k] < 0)
			r->role = PAIR_NONE;
	}
}

static void
pairs_classify(struct pairs *p, struct role *r, const struct tnf_probe *probe)
{
	r->known = true;
	for (size_t i = p->n_own; i-- > 0; )	/* the user's own win */
		if (try_rule(r, &p->own[i], probe->name))
			goto found;
	for (size_t i = 0; i < sizeof(builtin) / sizeof(*builtin); i++)
		if (try_rule(r, &builtin[i], probe->name))
			goto found;
	try_endings(r, probe->name);
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

static uint64_t
mix_value(uint64_t h, const struct tnf_value *v)
{
	if (v->null)
		return pairs_mix(h, 0);
	if (v->kind == TNF_K_STRING)
		return mix_text(h, v->u.s.chars, v->u.s.len);
	if (v->kind == TNF_K_STRUCT || v->kind == TNF_K_ARRAY)
		return pairs_mix(h, v->u.r.pos);
	return pairs_mix(h, v->u.u);
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

/* The instance that an event speaks of. */
static uint64_t
pairs_instance(const struct role *r, const struct tnf_event *ev)
{
	uint64_t h = r->name_mixed;
	bool asked = r->rule != NULL && r->rule->text != NULL;
	struct tnf_value v;

	/* Processes of two containers may have one number. */
	if (r->n_members == 0)
		return pairs_mix(pairs_mix(pairs_mix(h, (uintptr_t)ev->file), (uint32_t)ev->pid),
		    ev->lwpid);
	/* What a user's rule tells apart may begin on one machine and end on another;
	   numbers of the kernel mean something on their own machine alone. */
	if (!asked)
		h = pairs_mix(h, tnf_file_host(ev->file));
	for (unsigned i = 0; i < r->n_members; i++)
		if (tnf_event_value(ev, (unsigned)r->member[i], &v))
			h = mix_value(h, &v);
	return h;
}

/* Where the innermost start of this instance is, which may be NULL; NULL: the instance is
   not known, and 'make' does not ask for it. */
static struct open **
pairs_find(struct pairs *p, const struct pair_rule *rule, uint64_t key, bool make)
{
	struct recent *r = &p->recent[key % RECENT];
	uint64_t of[2] = { (uintptr_t)rule, key };

	if (r->innermost != NULL && r->key == key && r->rule == rule)
		return r->innermost;
	*r = (struct recent){ rule, key, make ? tnf_xmap_put(&p->innermost, of, sizeof(of), NULL) :
	    tnf_map_get(&p->innermost, of, sizeof(of)) };
	return r->innermost;
}

static void
pairs_remove(struct pairs *p, const struct pair_rule *rule, uint64_t key)
{
	uint64_t of[2] = { (uintptr_t)rule, key };

	p->recent[key % RECENT].innermost = NULL;
	tnf_map_remove(&p->innermost, of, sizeof(of));
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
	p->n_kept -= o->keep == KEEP_ALL;
	p->n_awaited -= keep_awaited(o->keep);
}

/* Out of its instance, wherever it stands there, and of the list. */
static void
pairs_take_out(struct pairs *p, struct open *o)
{
	struct open **innermost;

	if (o->outer != NULL)
		o->outer->inner = o->inner;
	if (o->inner != NULL) {
		o->inner->outer = o->outer;
	} else if ((innermost = pairs_find(p, o->rule, o->key, false)) != NULL) {
		*innermost = o->outer;
		if (o->outer == NULL && p->innermost.n > PAIRS_IDLE_MAX)
			pairs_remove(p, o->rule, o->key);
	}
	pairs_unlink(p, o);
}

static void
pairs_drop(struct pairs *p, struct open *o)
{
	if (p->dropped != NULL)
		p->dropped(p->dropped_arg, &o->user);
	pairs_take_out(p, o);
}

/* An open start at the end of the list; NULL: there are too many. */
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
	p->n_kept += keep == KEEP_ALL;
	p->n_awaited += keep_awaited(keep);
	return o;
}

static enum pair_role
pairs_opened(struct pairs *p, const struct role *r, uint64_t key,
    const struct tnf_event *ev, unsigned keep, struct pair_slice *ret)
{
	struct open *o = pairs_append(p, keep), **innermost;

	if (o == NULL)
		return PAIR_NONE;
	innermost = pairs_find(p, r->rule, key, true);
	o->outer = *innermost;
	o->inner = NULL;
	if (o->outer != NULL)
		o->outer->inner = o;
	o->key = key;
	o->rule = r->rule;
	o->name = r->name;
	o->start = *ev;
	o->start_at = p->fed;
	*innermost = o;
	*ret = (struct pair_slice){ r->rule, r->name, &o->start, p->fed, 0, key,
	    keep == KEEP_ALL, keep == KEEP_ALL, &o->user };
	return PAIR_START;
}

static enum pair_role
pairs_closed(struct pairs *p, const struct role *r, uint64_t key,
    const struct tnf_event *ev, unsigned keep, struct pair_slice *ret)
{
	struct open **innermost = pairs_find(p, r->rule, key, false), *o;

	if (innermost == NULL || (o = *innermost) == NULL) {
		p->orphans += keep == KEEP_ALL;
		*ret = (struct pair_slice){ NULL, r->name, ev, p->fed, 0, key, false, false, NULL };
		return PAIR_END;
	}
	*ret = (struct pair_slice){ o->rule, o->name, &o->start, o->start_at,
	    ev->time - o->start.time, key, o->keep == KEEP_ALL,
	    keep_awaited(o->keep) && ((o->keep | keep) & KEEP_WHAT) != 0, &o->user };
	*innermost = o->outer;
	if (o->outer != NULL)
		o->outer->inner = NULL;
	else if (p->innermost.n > PAIRS_IDLE_MAX)
		pairs_remove(p, r->rule, key);
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
	struct open **innermost;
	uint64_t key;

	for (size_t i = 0; i < p->roles.n; i++) {
		if (r[i].role != PAIR_START || r[i].n_members > 0)
			continue;
		key = pairs_instance(&r[i], ev);
		while ((innermost = pairs_find(p, r[i].rule, key, false)) != NULL &&
		    *innermost != NULL)
			pairs_drop(p, *innermost);
	}
}

const char *
pairs_span(struct pairs *p, const struct tnf_probe *probe)
{
	const struct role *r = role_of(p, probe);

	return r->role != PAIR_NONE ? r->name : NULL;
}

enum pair_role
pairs_feed(struct pairs *p, const struct tnf_event *ev, unsigned keep, struct pair_slice *ret)
{
	const struct role *r = role_of(p, ev->probe);

	p->fed++;
	if (r->role == PAIR_NONE)
		return PAIR_NONE;
	uint64_t key = pairs_instance(r, ev);
	return r->role == PAIR_START ? pairs_opened(p, r, key, ev, keep, ret) :
	    pairs_closed(p, r, key, ev, keep, ret);
}

size_t
pairs_open(const struct pairs *p)
{
	return p->n_kept;
}

size_t
pairs_awaited(const struct pairs *p)
{
	return p->n_awaited;
}

void
pairs_each_open(const struct pairs *p,
    void (*fn)(void *, const struct pair_slice *), void *arg)
{
	for (const struct open *o = p->oldest; o != NULL; o = o->after) {
		struct pair_slice s = { o->rule, o->name, &o->start, o->start_at,
		    0, o->key, true, true, NULL };

		if (o->keep == KEEP_ALL)
			fn(arg, &s);
	}
}

uint64_t
pairs_orphans(const struct pairs *p)
{
	return p->orphans;
}

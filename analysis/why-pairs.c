/*
 * why-pairs.c - gathers the instances of pairs, and explains them.
 */
#include "analysis/value.h"
#include "analysis/why-impl.h"

#define TYPICAL_MAX	200u

/* The steps of a request: the events whose members, those that a rule names, have the same
   values. */
struct steps {
	struct why_step *step;
	uint32_t n;
};

/* For a probe: the first rule all of whose members it has, and their indexes. */
struct binding {
	bool	 known;			/* the rules have been looked through */
	bool	 any;			/* there is such a rule */
	int	 member[PAIR_KEYS_MAX];
	const struct pair_rule *rule;
};

struct pair {
	int64_t	 total;
	bool	 kernel;
};

struct why_pairs {
	struct why *w;
	struct why_instance *all;
	size_t	 n;
	struct why_instance **chosen;
	size_t	 n_chosen;
	uint64_t left_out;
	struct map pairs;		/* struct pair, by the address of the name */
	const struct pair_rule **rules;	/* with members */
	unsigned n_rules;
	struct perprobe bindings;	/* struct binding */
	struct map keys;		/* uint32_t by rule and values: index of steps[] */
	struct steps *steps;		/* [0] is none */
	uint32_t n_steps;
	struct out key;
	struct why_sums typical;
	bool	 has_typical;
};

struct why_pairs *
why_pairs_new(struct why *w)
{
	struct why_pairs *p = tnf_xcalloc(1, sizeof(*p));

	p->w = w;
	tnf_map_init(&p->pairs, sizeof(struct pair));
	tnf_map_init(&p->keys, sizeof(uint32_t));
	tnf_out_memory(&p->key);
	p->n_steps = 1;
	p->steps = tnf_xcalloc(1, sizeof(*p->steps));
	return p;
}

void
why_pairs_free(struct why_pairs *p)
{
	if (p == NULL)
		return;
	for (uint32_t i = 0; i < p->n_steps; i++)
		free(p->steps[i].step);
	free(p->steps);
	free(p->all);
	free(p->chosen);
	free(p->rules);
	free(p->bindings.base);
	tnf_map_free(&p->pairs);
	tnf_map_free(&p->keys);
	tnf_out_close(&p->key);
	why_sums_free(&p->typical);
	free(p);
}

struct why *
why_pairs_index(const struct why_pairs *p)
{
	return p->w;
}

/* Remembers a rule of --pair that names members, by which requests are told apart. */
static void
learn_rule(struct why_pairs *p, const struct pair_rule *r)
{
	if (r == NULL || r->text == NULL || r->keys[0] == NULL)
		return;
	for (unsigned i = 0; i < p->n_rules; i++)
		if (p->rules[i] == r)
			return;
	p->rules = tnf_xreallocarray(p->rules, p->n_rules + 1, sizeof(*p->rules));
	p->rules[p->n_rules++] = r;
	if (p->bindings.n > 0)
		memset(p->bindings.base, 0, p->bindings.n * sizeof(struct binding));
}

static const struct binding *
binding_of(struct why_pairs *p, const struct tnf_probe *probe)
{
	struct binding *b = perprobe(&p->bindings, probe, sizeof(*b));

	if (b->known)
		return b;
	b->known = true;
	for (unsigned i = 0; i < p->n_rules && !b->any; i++) {
		b->any = true;
		b->rule = p->rules[i];
		for (unsigned k = 0; k < PAIR_KEYS_MAX && b->rule->keys[k] != NULL; k++)
			b->any &= (b->member[k] = perprobe_member(probe, b->rule->keys[k])) >= 0;
	}
	return b;
}

/* Returns the index in steps[] for the event's values; 0: no rule names members of its probe. */
static uint32_t
steps_of(struct why_pairs *p, const struct tnf_event *ev)
{
	const struct binding *b = binding_of(p, ev->probe);
	char buf[VAL_TEXT_SIZE];
	const char *text;
	struct tnf_value v;
	bool fresh;

	if (!b->any)
		return 0;
	p->key.p = p->key.base;
	tnf_out_bytes(&p->key, (const char *)&b->rule, sizeof(b->rule));
	for (unsigned k = 0; k < PAIR_KEYS_MAX && b->rule->keys[k] != NULL; k++) {
		if (!tnf_event_value(ev, (unsigned)b->member[k], &v))
			return 0;
		struct val value = val_of_member(&v, NULL);
		size_t len = val_text(&value, buf, &text);
		tnf_out_bytes(&p->key, (const char *)&len, sizeof(len));
		tnf_out_bytes(&p->key, text, len);
	}
	uint32_t *at = tnf_xmap_put(&p->keys, p->key.base, (size_t)(p->key.p - p->key.base),
	    &fresh);
	if (fresh) {
		p->steps = tnf_xreallocarray(p->steps, p->n_steps + 1, sizeof(*p->steps));
		p->steps[p->n_steps] = (struct steps){ 0 };
		*at = p->n_steps++;
	}
	return *at;
}

static void
note_instance(struct why_pairs *p, const struct pair_slice *s, uint32_t key)
{
	p->all = tnf_xgrow(p->all, p->n, sizeof(*p->all));
	p->all[p->n++] = (struct why_instance){ s->name, *s->start, s->duration,
	    (uint32_t)(uintptr_t)*s->user, key };
	struct pair *pair = tnf_xmap_put(&p->pairs, &s->name, sizeof(s->name), NULL);
	pair->total += s->duration;
	pair->kernel = s->start->kernel && s->rule->text == NULL &&
	    strchr(s->start->probe->name, '.') == NULL;
}

void
why_pairs_feed(struct why_pairs *p, const struct tnf_event *ev, enum pair_role role,
    const struct pair_slice *s)
{
	uint32_t key;

	if (role == PAIR_START) {
		learn_rule(p, s->rule);
		*s->user = (void *)(uintptr_t)why_writer(p->w, ev);
	}
	key = p->n_rules > 0 ? steps_of(p, ev) : 0;
	if (key != 0) {
		struct steps *steps = &p->steps[key];
		steps->step = tnf_xgrow(steps->step, steps->n, sizeof(*steps->step));
		steps->step[steps->n++] = (struct why_step){ ev->time, why_writer(p->w, ev) };
	}
	if (role == PAIR_END && s->rule != NULL && s->kept)
		note_instance(p, s, s->rule->text != NULL ? key : 0);
}

size_t
why_bare_name(const char *name)
{
	static const char *const ends[] = { "_start", "_begin", "_enter", "_entry" };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t e = strlen(ends[i]);
		if (n > e && memcmp(name + n - e, ends[i], e) == 0) {
			n -= e;
			break;
		}
	}
	while (n > 1 && name[n - 1] == '_')
		n--;
	return n;
}

static bool
is_called(const char *name, const char *wanted)
{
	return strcmp(name, wanted) == 0 ||
	    (why_bare_name(name) == why_bare_name(wanted) && strncmp(name, wanted, why_bare_name(name)) == 0);
}

const char *
why_pairs_name(struct why_pairs *p, unsigned i)
{
	const void *key;
	size_t at = 0;

	while (tnf_map_next(&p->pairs, &at, &key, NULL) != NULL)
		if (i-- == 0)
			return *(const char *const *)key;
	return NULL;
}

static const char *
find_pair(struct why_pairs *p, const char *wanted)
{
	const char *best = NULL;
	int64_t most = -1;

	for (unsigned i = 0; ; i++) {
		const char *name = why_pairs_name(p, i);
		if (name == NULL)
			return best;
		const struct pair *pair = tnf_map_get(&p->pairs, &name, sizeof(name));
		/* Pairs of processes come before pairs of the kernel. */
		int64_t weight = wanted != NULL ? is_called(name, wanted) - 1 :
		    pair->kernel ? pair->total / 2 : INT64_MAX / 2 + pair->total / 2;
		if (weight > most) {
			best = name;
			most = weight;
		}
	}
}

static int
by_duration(const void *x, const void *y)
{
	const struct why_instance *a = *(struct why_instance *const *)x;
	const struct why_instance *b = *(struct why_instance *const *)y;

	return a->took != b->took ? (a->took < b->took ? -1 : 1) :
	    a->start.time < b->start.time ? -1 : a->start.time > b->start.time;
}

const char *
why_pairs_choose(struct why_pairs *p, const char *wanted)
{
	const char *name = find_pair(p, wanted);

	p->chosen = tnf_xreallocarray(p->chosen, p->n + 1, sizeof(*p->chosen));
	p->n_chosen = 0;
	p->left_out = 0;
	why_sums_free(&p->typical);
	p->typical = (struct why_sums){ 0 };
	p->has_typical = false;
	for (size_t i = 0; name != NULL && i < p->n; i++) {
		struct why_instance *in = &p->all[i];
		if (in->name != name && strcmp(in->name, name) != 0)
			continue;
		if (in->start.time < p->w->complete)
			p->left_out++;
		else
			p->chosen[p->n_chosen++] = in;
	}
	qsort(p->chosen, p->n_chosen, sizeof(*p->chosen), by_duration);
	return name;
}

struct why_instance *const *
why_pairs_all(const struct why_pairs *p, size_t *n)
{
	*n = p->n_chosen;
	return p->chosen;
}

size_t
why_instance_nth(const struct why_pairs *p, const struct why_instance *in)
{
	return (size_t)(in - p->all);
}

uint64_t
why_pairs_left_out(const struct why_pairs *p)
{
	return p->left_out;
}

bool
why_instance_has(const struct why_instance *in, const char *value)
{
	char buf[VAL_TEXT_SIZE];
	const char *text;
	struct tnf_value v;

	for (unsigned i = 0; tnf_event_value(&in->start, i, &v); i++) {
		struct val val = val_of_member(&v, NULL);
		size_t len = val.kind == VAL_RECORD ? 0 : val_text(&val, buf, &text);
		if (len > 0 && len == strlen(value) && memcmp(text, value, len) == 0)
			return true;
	}
	return false;
}

struct why_tree
why_pairs_explain(struct why_pairs *p, const struct why_instance *in)
{
	const struct steps *s = &p->steps[in->key];
	int64_t from = in->start.time, to = from + in->took;
	size_t n = 0;

	if (in->key == 0)
		return why_explain(p->w, in->thread, from, to);
	struct why_step *step = tnf_xcalloc(s->n + 1, sizeof(*step));
	step[n++] = (struct why_step){ from, in->thread };
	for (uint32_t i = 0; i < s->n; i++)
		if (s->step[i].at > from && s->step[i].at <= to)
			step[n++] = s->step[i];
	struct why_tree tree = why_explain_steps(p->w, step, n, to);
	free(step);
	return tree;
}

/* Typical are the instances in the middle fifth of all durations.  Returns the index of the first,
   and sets their number. */
static size_t
middle(const struct why_pairs *p, size_t *n)
{
	size_t from = p->n_chosen * 2 / 5, to = (p->n_chosen * 3 + 4) / 5;

	*n = to > from ? to - from : 0;
	return from;
}

struct why_sums *
why_pairs_typical(struct why_pairs *p)
{
	size_t n, from = middle(p, &n);

	if (p->has_typical)
		return &p->typical;
	p->has_typical = true;
	for (size_t i = 0, take = n < TYPICAL_MAX ? n : TYPICAL_MAX; i < take; i++) {
		struct why_tree t = why_pairs_explain(p, p->chosen[from + i * n / take]);
		why_sums_add(&p->typical, p->w, &t);
		why_tree_free(&t);
	}
	return &p->typical;
}

int64_t
why_pairs_typical_took(struct why_pairs *p)
{
	struct why_sums *s = why_pairs_typical(p);
	int64_t sum = 0;

	for (struct why_sum *c = s->first; c != NULL; c = c->next)
		sum += c->ns;
	return s->n > 0 ? sum / (int64_t)s->n : 0;
}

size_t
why_pairs_slow(const struct why_pairs *p)
{
	size_t n = p->n_chosen / 100;

	if (n < 3)
		n = 3;
	return p->n_chosen > n ? p->n_chosen - n : 0;
}

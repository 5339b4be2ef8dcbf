/*
 * expr-eval.c - evaluates a compiled expression for an event.
 *
 * Truth has three values as in SQL, and a fourth while only the probe is known: VAL_UNKNOWN
 * stands for a value that depends on the event.
 */
#include "analysis/attrs.h"
#include "analysis/expr/expr-impl.h"
#include "analysis/pretty-names.h"

struct state {
	struct expr		*e;
	const struct tnf_probe	*probe;
	const struct tnf_event	*ev;	/* NULL: only the probe is known */
	const struct expr_row	*row;
};

static struct val expr_eval_node(const struct state *, int);

static const struct val null_value = { .kind = VAL_NULL };
static const struct val unknown_value = { .kind = VAL_UNKNOWN };

static struct val
eval_member(const struct state *s, const struct expr_node *n)
{
	int slot = s->row->slots[n->name];
	struct tnf_value v;

	if (slot < 0)
		return null_value;
	if (s->ev == NULL)
		return unknown_value;
	if (!s->e->source->member(s->ev, (unsigned)slot, &v))
		return null_value;
	struct val r = val_of_member(&v, s->e->names[n->name]);
	if (n->is_call && r.kind == VAL_INT && pretty_kind(v.type, NULL) == PRETTY_NONE)
		r.word = pretty_event_name(s->ev, v.type, r.name, r.u.i);
	else if (n->is_thread && s->e->source->thread != NULL && val_is_number(&r) &&
	    pretty_kind(v.type, NULL) == PRETTY_THREAD)
		r.word = s->e->source->thread(s->e->source->arg, s->ev, v.u.u);
	return r;
}

static struct val
expr_eval_item(const struct state *s, const struct val *of, unsigned i, const char *name)
{
	struct tnf_value record = val_to_member(of), v;

	if (!s->e->source->item(s->ev->file, &record, i, &v))
		return null_value;
	return val_of_member(&v, name);
}

static struct val
eval_field(const struct state *s, struct expr_node *n)
{
	struct val of = expr_eval_node(s, n->left);
	const char *name = s->e->names[n->name];
	unsigned i;

	if (of.kind == VAL_UNKNOWN)
		return of;
	if (of.kind != VAL_RECORD || of.u.r.type->kind != TNF_K_STRUCT)
		return null_value;
	const struct tnf_type *type = of.u.r.type;
	if (n->seen_type != type) {
		for (i = 0; i < type->n_members; i++)
			if (strcmp(type->members[i].name, name) == 0)
				break;
		n->seen_type = type;
		n->seen_index = i;
	}
	if (n->seen_index >= type->n_members)
		return null_value;
	return expr_eval_item(s, &of, n->seen_index, name);
}

static struct val
eval_index(const struct state *s, const struct expr_node *n)
{
	struct val of = expr_eval_node(s, n->left), index = expr_eval_node(s, n->right);

	if (of.kind == VAL_NULL || index.kind == VAL_NULL)
		return null_value;
	if (of.kind == VAL_UNKNOWN || index.kind == VAL_UNKNOWN)
		return unknown_value;
	if (of.kind != VAL_RECORD || index.kind != VAL_INT ||
	    index.u.i < 0 || index.u.i >= of.u.r.count)
		return null_value;
	return expr_eval_item(s, &of, (unsigned)index.u.i, NULL);
}

/* Evaluates "and", where false wins, or "or", where true wins; then unknown wins, then null. */
static struct val
eval_logic(const struct state *s, const struct expr_node *n)
{
	bool is_and = n->op == EXPR_AND;
	struct val a = expr_eval_node(s, n->left), b;
	int x = val_truth(&a), y;

	if (x >= 0 && (x != 0) != is_and)
		return val_int(!is_and);
	b = expr_eval_node(s, n->right);
	y = val_truth(&b);
	if (y >= 0 && (y != 0) != is_and)
		return val_int(!is_and);
	if (a.kind == VAL_UNKNOWN || b.kind == VAL_UNKNOWN)
		return unknown_value;
	if (x < 0 || y < 0)
		return null_value;
	return val_int(is_and);
}

static struct val
eval_not(const struct state *s, const struct expr_node *n)
{
	struct val v = expr_eval_node(s, n->left);
	int truth = val_truth(&v);

	return truth < 0 ? v : val_int(!truth);
}

static bool
match_words(const struct match *m, const struct val *v)
{
	const char *p = v->u.s.chars, *end = p + v->u.s.len, *q;

	for (; p < end; p = q + 1) {
		q = memchr(p, ' ', (size_t)(end - p));
		if (q == NULL)
			q = end;
		if (q > p && match_test(m, p, (size_t)(q - p)))
			return true;
	}
	return false;
}

static bool
match_value(const struct match *m, const struct val *v)
{
	char buf[VAL_TEXT_SIZE];

	if (v->kind == VAL_WORDS)
		return match_words(m, v);
	const char *text = val_name(v);
	if (text != NULL)
		return match_test(m, text, strlen(text));
	size_t len = val_text(v, buf, &text);
	return match_test(m, text, len);
}

static struct val
eval_match(const struct state *s, const struct expr_node *n)
{
	struct val v = expr_eval_node(s, n->left);

	if (v.kind == VAL_NULL || v.kind == VAL_UNKNOWN)
		return v;
	return val_int(match_value(n->match, &v) == (n->op == EXPR_MATCH));
}

/* Evaluates "in" as the "or" of equalities. */
static struct val
eval_in(const struct state *s, const struct expr_node *n)
{
	struct val v = expr_eval_node(s, n->left), item_value, equal;
	struct val result = val_int(0);

	for (int i = n->right; i != EXPR_NONE; i = s->e->nodes[i].right) {
		item_value = expr_eval_node(s, s->e->nodes[i].left);
		equal = expr_binary(EXPR_EQ, &v, &item_value);
		if (val_truth(&equal) > 0)
			return equal;
		if (equal.kind == VAL_UNKNOWN || (equal.kind == VAL_NULL &&
		    result.kind != VAL_UNKNOWN))
			result = equal;
	}
	return result;
}

/* The path of the program of the process with this number; null: it is not known. */
static struct val
eval_program(const struct state *s, const struct expr_node *n)
{
	struct val pid = expr_eval_node(s, n->left);
	const struct expr_source *from = s->e->source;

	if (s->ev == NULL || pid.kind == VAL_UNKNOWN)
		return unknown_value;
	return val_cstring(pid.kind == VAL_INT && pid.u.i > 0 && pid.u.i <= INT32_MAX &&
	    from->program_of != NULL ? from->program_of(from->arg, s->ev, (int32_t)pid.u.i) : NULL);
}

static struct val
eval_binary(const struct state *s, const struct expr_node *n)
{
	struct val a = expr_eval_node(s, n->left), b = expr_eval_node(s, n->right);

	return expr_binary(n->op, &a, &b);
}

static struct val
expr_eval_node(const struct state *s, int index)
{
	struct expr_node *n = &s->e->nodes[index];
	struct val v;

	if (n->cache != EXPR_NONE && s->ev != NULL)
		return s->row->fixed[n->cache];
	switch (n->op) {
	case EXPR_LITERAL:
		return n->value;
	case EXPR_NAME:
		return expr_name_value(s->e, (enum expr_name)n->name,
		    s->probe, s->ev);
	case EXPR_MEMBER:
		return eval_member(s, n);
	case EXPR_VARIABLE:
		return s->ev == NULL ? unknown_value :
		    s->e->source->variable(s->e->source->variable_arg,
		    s->e->names[n->name] + 1);
	case EXPR_FIELD:
		return eval_field(s, n);
	case EXPR_INDEX:
		return eval_index(s, n);
	case EXPR_HAS:
		v = expr_eval_node(s, n->left);
		return v.kind == VAL_UNKNOWN ? v :
		    val_int(v.kind != VAL_NULL);
	case EXPR_WITHIN:
		return s->ev == NULL ? unknown_value :
		    val_int(s->e->source->within(s->e->source->arg, s->e, n->seen_index, s->ev));
	case EXPR_PROGRAM:
		return eval_program(s, n);
	case EXPR_NOT:
		return eval_not(s, n);
	case EXPR_NEGATE:
		v = expr_eval_node(s, n->left);
		return expr_negate(&v);
	case EXPR_COMPLEMENT:
		v = expr_eval_node(s, n->left);
		return expr_complement(&v);
	case EXPR_OR:
	case EXPR_AND:
		return eval_logic(s, n);
	case EXPR_MATCH:
	case EXPR_NOMATCH:
		return eval_match(s, n);
	case EXPR_IN:
		return eval_in(s, n);
	default:
		return eval_binary(s, n);
	}
}

/* True if the node depends on the probe alone.  Children come before their parents in the
   array, except in lists. */
static bool
is_fixed(const struct expr *e, int index)
{
	const struct expr_node *n;

	for (; index != EXPR_NONE; index = n->right) {
		n = &e->nodes[index];
		if (n->op == EXPR_LITERAL)
			return true;
		if (n->op == EXPR_NAME || n->op == EXPR_MEMBER ||
		    n->op == EXPR_VARIABLE || n->op == EXPR_WITHIN || n->op == EXPR_PROGRAM)
			return n->op == EXPR_NAME && n->fixed;
		if (n->left != EXPR_NONE && !is_fixed(e, n->left))
			return false;
	}
	return true;
}

/* Gives each of the largest parts that depend on the probe alone a place in the cache. */
static void
place_fixed(struct expr *e, int index)
{
	struct expr_node *n;

	for (; index != EXPR_NONE; index = n->right) {
		n = &e->nodes[index];
		if (n->op == EXPR_LITERAL)
			return;
		if (n->op != EXPR_LIST && is_fixed(e, index)) {
			n->cache = (int)e->n_cached++;
			return;
		}
		place_fixed(e, n->left);
	}
}

void
expr_prepare(struct expr *e)
{
	place_fixed(e, e->root);
}

/* The truth of a node that depends on the probe alone; -1: it depends on the event. */
static int
truth_before(const struct expr *e, const struct expr_row *row, int index)
{
	int cache = e->nodes[index].cache;

	return cache == EXPR_NONE ? -1 : val_truth(&row->fixed[cache]);
}

/* The node left to evaluate for each event: if one side of "and" is true, or one side of
   "or" is false, for the probe, only the other side is left. */
static int
rest_of(const struct expr *e, const struct expr_row *row, int index)
{
	const struct expr_node *n = &e->nodes[index];
	int idle = n->op == EXPR_AND;

	if (n->cache != EXPR_NONE || (n->op != EXPR_AND && n->op != EXPR_OR))
		return index;
	if (truth_before(e, row, n->left) == idle)
		return rest_of(e, row, n->right);
	return truth_before(e, row, n->right) == idle ? rest_of(e, row, n->left) : index;
}

static void
find_number(const struct expr *e, struct expr_row *row)
{
	static const unsigned char holds[] = { 2, 5, 1, 3, 4, 6 };	/* by operator from EXPR_EQ on */
	const struct expr_node *n = &e->nodes[row->root], *left, *right;

	if (n->op < EXPR_EQ || n->op > EXPR_GE || n->cache != EXPR_NONE)
		return;
	left = &e->nodes[n->left];
	right = &e->nodes[n->right];
	if (left->op != EXPR_MEMBER || row->slots[left->name] < 0 || right->op != EXPR_LITERAL ||
	    right->value.kind != VAL_INT)
		return;
	row->holds = holds[n->op - EXPR_EQ];
	row->member = (unsigned)row->slots[left->name];
	row->number = right->value.u.i;
}

static struct expr_row *
make_row(struct expr *e, const struct tnf_probe *probe)
{
	struct state s = { .e = e, .probe = probe };
	struct val v;

	struct expr_row *row = tnf_xcalloc(1, sizeof(*row) + e->n_names * sizeof(row->slots[0]));
	row->fixed = tnf_xcalloc(e->n_cached, sizeof(*row->fixed));
	for (unsigned i = 0; i < e->n_names; i++)
		row->slots[i] = perprobe_member(probe, e->names[i]);
	s.row = row;
	for (unsigned i = 0; i < e->n_nodes; i++)
		if (e->nodes[i].cache != EXPR_NONE)
			row->fixed[e->nodes[i].cache] = expr_eval_node(&s, (int)i);
	v = expr_eval_node(&s, e->root);
	row->verdict = v.kind == VAL_UNKNOWN ? -1 : val_truth(&v) > 0;
	row->root = rest_of(e, row, e->root);
	find_number(e, row);
	return row;
}

static struct expr_row *
row_learn(struct expr *e, const struct tnf_probe *probe)
{
	unsigned id = probe->id, n;

	if (id >= e->n_rows) {
		n = id < 32 ? 64 : id * 2;
		e->rows = tnf_xreallocarray(e->rows, n, sizeof(*e->rows));
		memset(e->rows + e->n_rows, 0,
		    (n - e->n_rows) * sizeof(*e->rows));
		e->n_rows = n;
	}
	if (e->rows[id] == NULL)
		e->rows[id] = make_row(e, probe);
	return e->rows[id];
}

static inline struct expr_row *
find_row(struct expr *e, const struct tnf_probe *probe)
{
	struct expr_row *row = probe->id < e->n_rows ? e->rows[probe->id] : NULL;

	return __builtin_expect(row != NULL, 1) ? row : row_learn(e, probe);
}

struct val
expr_eval(struct expr *e, const struct tnf_event *ev)
{
	struct state s = { .e = e, .probe = ev->probe, .ev = ev };

	s.row = find_row(e, ev->probe);
	return expr_eval_node(&s, e->root);
}

/* Compares a member with a whole number as expr_binary() does; -1: the member is no whole
   number. */
static int
number_holds(const struct expr *e, const struct expr_row *row, const struct tnf_event *ev)
{
	int64_t with = row->number;
	struct tnf_value v;
	int order;

	if (!e->source->member(ev, row->member, &v) || v.null)
		return 0;
	switch (v.kind) {
	case TNF_K_CHAR:
	case TNF_K_INT8:
	case TNF_K_INT16:
	case TNF_K_INT32:
	case TNF_K_INT64:
		order = (v.u.i > with) - (v.u.i < with);
		break;
	case TNF_K_UINT8:
	case TNF_K_UINT16:
	case TNF_K_UINT32:
	case TNF_K_UINT64:
		order = with < 0 || v.u.u > (uint64_t)with ? 1 : -(v.u.u < (uint64_t)with);
		break;
	default:
		return -1;
	}
	return row->holds >> (order + 1) & 1;
}

/* Apart from expr_true(), which would save registers for it each time. */
__attribute__((noinline)) static bool
row_true(struct expr *e, const struct expr_row *row, const struct tnf_event *ev)
{
	struct state s = { .e = e, .probe = ev->probe, .ev = ev, .row = row };
	struct val v = expr_eval_node(&s, row->root);

	return val_truth(&v) > 0;
}

bool
expr_true(struct expr *e, const struct tnf_event *ev)
{
	const struct expr_row *row = find_row(e, ev->probe);
	int truth;

	if (row->verdict >= 0)
		return row->verdict;
	if (row->holds != 0 && (truth = number_holds(e, row, ev)) >= 0)
		return truth;
	return row_true(e, row, ev);
}

static const struct expr_node *
within_node(const struct expr *e, unsigned i)
{
	for (const struct expr_node *n = e->nodes; n < e->nodes + e->n_nodes; n++)
		if (n->op == EXPR_WITHIN && n->seen_index == i)
			return n;
	return NULL;
}

const char *
expr_within(const struct expr *e, unsigned i)
{
	const struct expr_node *n = within_node(e, i);

	return n != NULL ? e->names[n->name] : NULL;
}

bool
expr_within_holds(struct expr *e, unsigned i, const struct tnf_event *ev)
{
	struct state s = { .e = e, .probe = ev->probe, .ev = ev, .row = find_row(e, ev->probe) };
	int condition = within_node(e, i)->left;

	if (condition == EXPR_NONE)
		return true;
	struct val v = expr_eval_node(&s, condition);
	return val_truth(&v) > 0;
}

bool
expr_asks_duration(const struct expr *e)
{
	for (const struct expr_node *n = e->nodes; n < e->nodes + e->n_nodes; n++)
		if (n->op == EXPR_NAME && n->name == EXPR_N_DURATION)
			return true;
	return false;
}

bool
expr_possible(struct expr *e, const struct tnf_probe *probe)
{
	return find_row(e, probe)->verdict != 0;
}

void
expr_forget(struct expr *e)
{
	for (unsigned i = 0; i < e->n_rows; i++) {
		if (e->rows[i] != NULL)
			free(e->rows[i]->fixed);
		free(e->rows[i]);
	}
	free(e->rows);
	e->rows = NULL;
	e->n_rows = 0;
}

void
expr_free(struct expr *e)
{
	if (e == NULL)
		return;
	expr_forget(e);
	for (unsigned i = 0; i < e->n_nodes; i++)
		match_free(e->nodes[i].match);
	for (unsigned i = 0; i < e->n_names; i++)
		free(e->names[i]);
	for (unsigned i = 0; i < e->n_strings; i++)
		free(e->strings[i]);
	free(e->nodes);
	free(e->names);
	free(e->strings);
	free(e);
}

/*
 * expr-property.c - random expressions against an evaluator without ideas.
 *
 * A random tree is written as text with no more parentheses than the manual's
 * table of precedence asks for, and compiled; tree and program must agree on
 * random events of every probe, asked in random order.  The seed is printed;
 * EXPR_SEED and EXPR_ROUNDS repeat a run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/dump/fake.h"

/* As in tnfexpr(5), loosest first; text and level are all we know of it. */
static const struct op {
	const char *text;
	int	    level;
} ops[] = {
	{ " or ", 1 }, { " and ", 2 }, { "not ", 3 },
	{ " == ", 4 }, { " != ", 4 }, { " < ", 4 }, { " <= ", 4 },
	{ " > ", 4 }, { " >= ", 4 }, { " =~ ", 4 }, { " !~ ", 4 },
	{ " in ", 4 },
	{ " | ", 5 }, { " ^ ", 6 }, { " & ", 7 }, { " << ", 8 }, { " >> ", 8 },
	{ " + ", 9 }, { " - ", 9 }, { " * ", 10 }, { " / ", 10 }, { " % ", 10 },
	{ "-", 11 }, { "~", 11 },
};
enum { OR, AND, NOT, EQ, NE, LT, LE, GT, GE, MATCH, NOMATCH, IN, BITOR, BITXOR,
	BITAND, SHL, SHR, ADD, SUB, MUL, DIV, MOD, NEG, COMPL, LEAF };

struct nv {			/* a naive value */
	enum { NUL, INT, REAL, STR } kind;
	__int128    i;
	double	    d;
	const char *s;
};

struct tree {
	int	    op;
	struct tree *left, *right, *third;
	char	    text[40];	/* LEAF */
	int	    member;	/* LEAF: index of current[], or -1 */
	struct nv   value;	/* LEAF: literal */
};

static struct nv current[6];	/* num big real text pid probe */
static const char *const leaf_names[] = { "num", "big", "real", "text", "pid",
	"probe" };
static const bool has[3][6] = {
	{ true, true, true, true, true, true },
	{ true, false, false, true, true, true },
	{ false, false, false, false, true, true },
};
static unsigned current_probe;

static struct tree pool[400];
static unsigned used;

static unsigned
roll(unsigned n)
{
	return (unsigned)random() % n;
}

static struct tree *
new_tree(int op)
{
	struct tree *t = &pool[used++];

	memset(t, 0, sizeof(*t));
	t->op = op;
	t->member = -1;
	return t;
}

static struct tree *
random_number_leaf(void)
{
	static const uint64_t interesting[] = { 0, 1, 2, 3, 7, 64, 255, 4096,
		INT32_MAX, UINT32_MAX, INT64_MAX, 1ULL << 63, UINT64_MAX };
	struct tree *t = new_tree(LEAF);

	if (roll(2)) {
		t->member = (int)roll(5);
		if (t->member == 3)
			t->member = 0;
		snprintf(t->text, sizeof(t->text), "%s%s",
		    t->member < 3 && roll(4) == 0 ? "arg." : "",
		    leaf_names[t->member]);
	} else if (roll(6) == 0) {
		t->value = (struct nv){ REAL, .d = roll(100) + 0.5 };
		snprintf(t->text, sizeof(t->text), "%.1f", t->value.d);
	} else {
		t->value.kind = INT;
		t->value.i = interesting[roll(13)];
		snprintf(t->text, sizeof(t->text), roll(2) ? "%llu" : "0x%llx",
		    (unsigned long long)t->value.i);
	}
	return t;
}

static struct tree *
random_text_leaf(void)
{
	static const char *const words[] = { "", "a", "alpha", "beta", "zz" };
	struct tree *t = new_tree(LEAF);

	if (roll(2)) {
		t->member = roll(2) ? 3 : 5;
		snprintf(t->text, sizeof(t->text), "%s",
		    leaf_names[t->member]);
	} else {
		t->value = (struct nv){ STR, .s = words[roll(5)] };
		snprintf(t->text, sizeof(t->text), roll(2) ? "'%s'" : "\"%s\"",
		    t->value.s);
	}
	return t;
}

static struct tree *
random_number(unsigned depth)
{
	struct tree *t;

	if (depth == 0 || roll(3) == 0 || used > 300)
		return random_number_leaf();
	if (roll(6) == 0) {
		t = new_tree(roll(2) ? NEG : COMPL);
		t->left = random_number(depth - 1);
		return t;
	}
	t = new_tree(BITOR + (int)roll(MOD - BITOR + 1));
	t->left = random_number(depth - 1);
	t->right = random_number(depth - 1);
	return t;
}

static struct tree *
random_comparison(unsigned depth)
{
	struct tree *t = new_tree(EQ + (int)roll(IN - EQ + 1));

	if (t->op == MATCH || t->op == NOMATCH) {
		t->left = random_text_leaf();
		t->right = new_tree(LEAF);
		snprintf(t->right->text, sizeof(t->right->text), "/%s/",
		    (const char *[]){ "a", "^a", "a$", "^alpha$", "" }[roll(5)]);
	} else if (t->op == IN) {
		t->left = random_number(depth - 1);
		t->right = random_number(depth - 1);
		t->third = random_number(depth - 1);
	} else if (roll(4) == 0) {
		t->left = random_text_leaf();
		t->right = random_text_leaf();
	} else {
		t->left = random_number(depth - 1);
		t->right = random_number(depth - 1);
	}
	return t;
}

static struct tree *
random_truth(unsigned depth)
{
	struct tree *t;

	if (depth <= 1 || roll(4) == 0 || used > 250)
		return random_comparison(depth > 0 ? depth : 1);
	t = new_tree((int)roll(3));
	t->left = random_truth(depth - 1);
	if (t->op != NOT)
		t->right = random_truth(depth - 1);
	return t;
}

/* Text, with parentheses where the level asks for them or the dice does. */
static char *
write_tree(char *p, const struct tree *t, int outer)
{
	int level = t->op == LEAF ? 12 : ops[t->op].level;
	bool parens = level < outer || roll(8) == 0;

	if (parens)
		*p++ = '(';
	if (t->op == LEAF) {
		p += sprintf(p, "%s", t->text);
	} else if (t->op == NOT || t->op == NEG || t->op == COMPL) {
		p += sprintf(p, "%s", ops[t->op].text);
		p = write_tree(p, t->left, level);
	} else if (t->op == IN) {
		p = write_tree(p, t->left, level + 1);
		p += sprintf(p, " in (");
		p = write_tree(p, t->right, 5);
		p += sprintf(p, ", ");
		p = write_tree(p, t->third, 5);
		*p++ = ')';
	} else if (t->op == MATCH || t->op == NOMATCH) {
		p = write_tree(p, t->left, level + 1);
		p += sprintf(p, "%s%s", ops[t->op].text, t->right->text);
	} else {
		p = write_tree(p, t->left, level == 4 ? 5 : level);
		p += sprintf(p, "%s", ops[t->op].text);
		p = write_tree(p, t->right, level + 1);
	}
	if (parens)
		*p++ = ')';
	*p = '\0';
	return p;
}

static struct nv
integer(__int128 i)
{
	if (i < INT64_MIN || i > UINT64_MAX)
		return (struct nv){ REAL, .d = (double)i };
	return (struct nv){ INT, .i = i };
}

static double
as_double(struct nv v)
{
	return v.kind == INT ? (double)v.i : v.d;
}

static struct nv
naive_bits(int op, struct nv a, struct nv b)
{
	uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i, r;
	bool negative = a.i < 0 || b.i < 0;

	if (a.kind != INT || b.kind != INT)
		return (struct nv){ .kind = NUL };
	if (op == SHL || op == SHR) {
		if (b.i < 0 || b.i > 63)
			return (struct nv){ .kind = NUL };
		if (op == SHL)
			return integer((unsigned __int128)(uint64_t)(x << y));
		return integer(a.i >> y);
	}
	r = op == BITAND ? x & y : op == BITOR ? x | y : x ^ y;
	if (op == BITAND)
		negative = a.i < 0 && b.i < 0;
	return integer(negative ? (__int128)(int64_t)r : (__int128)r);
}

static struct nv
naive_arithmetic(int op, struct nv a, struct nv b)
{
	double x, y;

	if (a.kind == NUL || b.kind == NUL)
		return (struct nv){ .kind = NUL };
	if (op <= SHR)
		return naive_bits(op, a, b);
	x = as_double(a);
	y = as_double(b);
	if (op >= DIV && y == 0)
		return (struct nv){ .kind = NUL };
	if (a.kind == INT && b.kind == INT) {
		if (op == MUL && fabs(x * y) > 0x1p100)
			return (struct nv){ REAL, .d = x * y };
		return integer(op == ADD ? a.i + b.i : op == SUB ? a.i - b.i :
		    op == MUL ? a.i * b.i : op == DIV ? a.i / b.i : a.i % b.i);
	}
	return (struct nv){ REAL, .d = op == ADD ? x + y : op == SUB ? x - y :
	    op == MUL ? x * y : op == DIV ? x / y : fmod(x, y) };
}

/* -1, 0, 1; 2: null */
static int
naive_order(struct nv a, struct nv b)
{
	double x, y;
	int c;

	if (a.kind == NUL || b.kind == NUL || (a.kind == STR) != (b.kind == STR))
		return 2;
	if (a.kind == STR) {
		c = strcmp(a.s, b.s);
		return c < 0 ? -1 : c > 0;
	}
	if (a.kind == INT && b.kind == INT)
		return a.i < b.i ? -1 : a.i > b.i;
	x = as_double(a);
	y = as_double(b);
	return isnan(x) || isnan(y) ? 2 : x < y ? -1 : x > y;
}

static bool
naive_match(const char *re, const char *s)
{
	size_t n = strlen(s);

	if (strcmp(re, "/a/") == 0)
		return strchr(s, 'a') != NULL;
	if (strcmp(re, "/^a/") == 0)
		return s[0] == 'a';
	if (strcmp(re, "/a$/") == 0)
		return n > 0 && s[n - 1] == 'a';
	if (strcmp(re, "/^alpha$/") == 0)
		return strcmp(s, "alpha") == 0;
	return true;
}

static struct nv
truth(int t)
{
	return t < 0 ? (struct nv){ .kind = NUL } : (struct nv){ INT, .i = t };
}

static struct nv naive(const struct tree *);

static int
naive_truth(const struct tree *t)
{
	struct nv v = naive(t);

	return v.kind == NUL ? -1 : v.kind == STR ? v.s[0] != '\0' :
	    v.kind == INT ? v.i != 0 : v.d != 0;
}

static struct nv
naive_comparison(const struct tree *t)
{
	struct nv a = naive(t->left), b;
	int c, d;

	if (t->op == MATCH || t->op == NOMATCH) {
		if (a.kind != STR)
			return truth(-1);
		return truth(naive_match(t->right->text, a.s) ==
		    (t->op == MATCH));
	}
	b = naive(t->right);
	c = naive_order(a, b);
	if (t->op == IN) {
		d = naive_order(a, naive(t->third));
		return truth(c == 0 || d == 0 ? 1 : c == 2 || d == 2 ? -1 : 0);
	}
	if (c == 2)
		return truth(-1);
	return truth(t->op == EQ ? c == 0 : t->op == NE ? c != 0 :
	    t->op == LT ? c < 0 : t->op == LE ? c <= 0 : t->op == GT ? c > 0 :
	    c >= 0);
}

static struct nv
naive(const struct tree *t)
{
	struct nv v;
	int x, y;

	switch (t->op) {
	case LEAF:
		if (t->member < 0)
			return t->value;
		return has[current_probe][t->member] ? current[t->member] :
		    (struct nv){ .kind = NUL };
	case OR:
		x = naive_truth(t->left);
		y = naive_truth(t->right);
		return truth(x > 0 || y > 0 ? 1 : x < 0 || y < 0 ? -1 : 0);
	case AND:
		x = naive_truth(t->left);
		y = naive_truth(t->right);
		return truth(x == 0 || y == 0 ? 0 : x < 0 || y < 0 ? -1 : 1);
	case NOT:
		x = naive_truth(t->left);
		return truth(x < 0 ? -1 : !x);
	case NEG:
		v = naive(t->left);
		if (v.kind == REAL)
			v.d = -v.d;
		return v.kind == INT ? integer(-v.i) : v;
	case COMPL:
		v = naive(t->left);
		if (v.kind != INT)
			return (struct nv){ .kind = NUL };
		return integer(v.i <= INT64_MAX ? ~v.i :
		    (__int128)(uint64_t)~(uint64_t)v.i);
	default:
		break;
	}
	if (t->op >= EQ && t->op <= IN)
		return naive_comparison(t);
	return naive_arithmetic(t->op, naive(t->left), naive(t->right));
}

static void
random_event(struct tnf_event *ev)
{
	static const char *const texts[] = { "", "a", "ba", "alpha", "q" };
	static const uint64_t bigs[] = { 0, 1, INT64_MAX, 1ULL << 63,
		UINT64_MAX, 300 };

	current_probe = roll(3);
	fake_event(ev, current_probe);
	current[0] = integer((int)roll(20) - 10);
	current[1] = integer((unsigned __int128)bigs[roll(6)]);
	current[2] = (struct nv){ REAL, .d = (roll(10) - 5.0) / 2 };
	current[3] = roll(4) == 0 ? (struct nv){ .kind = NUL } :
	    (struct nv){ STR, .s = texts[roll(5)] };
	current[4] = integer(roll(8));
	current[5] = (struct nv){ STR, .s = ev->probe->name };
	fake_set(0, fake_int((int64_t)current[0].i));
	fake_set(1, fake_uint((uint64_t)current[1].i));
	fake_set(2, fake_real(current[2].d));
	fake_set(3, current[3].kind == NUL ? fake_null() :
	    fake_text(current[3].s));
	ev->pid = (int32_t)current[4].i;
}

static void
check_tree(const struct tree *t)
{
	static char text[65536];
	struct expr_error error;
	struct tnf_event ev;
	struct expr *e;
	unsigned i;

	write_tree(text, t, 0);
	e = expr_new(text, &fake_source, &error);
	if (e == NULL) {
		printf("not ok 1 - refused at %zu: %s: %s\n", error.column,
		    error.text, text);
		exit(1);
	}
	for (i = 0; i < 12; i++) {
		random_event(&ev);
		if (expr_true(e, &ev) == (naive_truth(t) > 0))
			continue;
		printf("not ok 1 - naive says %d of a %s: %s\n",
		    naive_truth(t), ev.probe->name, text);
		exit(1);
	}
	expr_free(e);
}

int
main(void)
{
	const char *s = getenv("EXPR_SEED"), *r = getenv("EXPR_ROUNDS");
	unsigned seed = s != NULL ? (unsigned)atol(s) : (unsigned)time(NULL);
	long rounds = r != NULL ? atol(r) : 20000;

	printf("1..1\n# EXPR_SEED=%u EXPR_ROUNDS=%ld\n", seed, rounds);
	srandom(seed);
	while (rounds-- > 0) {
		used = 0;
		check_tree(random_truth(roll(6)));
	}
	printf("ok 1 - expressions mean what the naive evaluator says\n");
	return 0;
}

/*
 * expr-tree.c - words, nodes and mistakes of the parser of expressions.
 */
#include <stdio.h>

#include "analysis/attrs.h"
#include "analysis/expr/expr-impl.h"

int
parse_fail(struct parser *p, size_t column, const char *fmt, ...)
{
	va_list ap;

	if (!p->failed) {
		va_start(ap, fmt);
		vsnprintf(p->error->text, sizeof(p->error->text), fmt, ap);
		va_end(ap);
		p->error->column = column;
	}
	p->failed = true;
	return EXPR_NONE;
}

size_t
parse_column(const struct parser *p)
{
	return (size_t)(p->lex.start - p->lex.text);
}

void
parse_next(struct parser *p, bool regex)
{
	expr_lex_next(&p->lex, regex);
	if (p->lex.token == EXPR_T_ERROR)
		parse_fail(p, parse_column(p), "%s", p->lex.wrong);
}

bool
parse_accept(struct parser *p, enum expr_token token)
{
	if (p->failed || p->lex.token != token)
		return false;
	parse_next(p, false);
	return true;
}

int
parse_expected(struct parser *p, const char *what)
{
	if (p->lex.token == EXPR_T_END)
		return parse_fail(p, parse_column(p), "%s expected at the end", what);
	return parse_fail(p, parse_column(p), "%s expected at '%.*s'", what,
	    p->lex.len > 40 ? 40 : (int)p->lex.len, p->lex.start);
}

int
parse_node(struct parser *p, enum expr_op op, int left, int right, size_t col)
{
	struct expr *e = p->e;

	if (p->failed)
		return EXPR_NONE;
	if (e->n_nodes == EXPR_NODES_MAX)
		return parse_fail(p, col, "expression too large: at most %u terms",
		    EXPR_NODES_MAX);
	if (e->n_nodes == e->max_nodes) {
		e->max_nodes = e->max_nodes == 0 ? 16 : e->max_nodes * 2;
		e->nodes = tnf_xreallocarray(e->nodes, e->max_nodes,
		    sizeof(*e->nodes));
	}
	struct expr_node *n = &e->nodes[e->n_nodes];
	memset(n, 0, sizeof(*n));
	n->op = op;
	n->left = left;
	n->right = right;
	n->cache = EXPR_NONE;
	n->column = col;
	n->class = op >= EXPR_HAS ? EXPR_NUMBER : EXPR_ANY;
	return (int)e->n_nodes++;
}

int
parse_literal(struct parser *p, struct val v, size_t col)
{
	int n = parse_node(p, EXPR_LITERAL, EXPR_NONE, EXPR_NONE, col);

	if (n == EXPR_NONE)
		return n;
	p->e->nodes[n].value = v;
	p->e->nodes[n].class = v.kind == VAL_NULL ? EXPR_ANY :
	    v.kind == VAL_STRING ? EXPR_TEXT : EXPR_NUMBER;
	return n;
}

/* Makes a node of the current token's string, and takes over the string's memory. */
int
parse_string(struct parser *p)
{
	struct expr *e = p->e;
	struct val v = val_string(p->lex.string, p->lex.string_len);
	int n = parse_literal(p, v, parse_column(p));

	e->strings = tnf_xreallocarray(e->strings, e->n_strings + 1,
	    sizeof(*e->strings));
	e->strings[e->n_strings++] = p->lex.string;
	p->lex.string = NULL;
	parse_next(p, false);
	return n;
}

unsigned
parse_intern(struct expr *e, const char *text, size_t len)
{
	for (unsigned i = 0; i < e->n_names; i++) {
		if (strlen(e->names[i]) == len &&
		    memcmp(e->names[i], text, len) == 0)
			return i;
	}
	e->names = tnf_xreallocarray(e->names, e->n_names + 1, sizeof(*e->names));
	e->names[e->n_names] = tnf_xstrndup(text, len);
	return e->n_names++;
}

void
expr_error_format(const struct expr_error *error, const char *text, char *buf,
    size_t size)
{
	size_t col = error->column, from = col > 60 ? col - 60 : 0, i;
	char line[80], caret[80];

	for (i = 0; i < sizeof(line) - 1 && text[from + i] != '\0'; i++)
		line[i] = (unsigned char)text[from + i] < ' ' ? ' ' :
		    text[from + i];
	line[i] = '\0';
	memset(caret, ' ', sizeof(caret));
	caret[col - from] = '^';
	caret[col - from + 1] = '\0';
	snprintf(buf, size, "%s\n\t%s\n\t%s", error->text, line, caret);
}

static const struct expr_name_row table[] = {
	{ "probe",	EXPR_N_PROBE,	EXPR_TEXT,	true },
	{ "name",	EXPR_N_PROBE,	EXPR_TEXT,	true },
	{ "key",	EXPR_N_KEY,	EXPR_TEXT,	true },
	{ "keys",	EXPR_N_KEYS,	EXPR_TEXT,	true },
	{ "file",	EXPR_N_FILE,	EXPR_TEXT,	true },
	{ "line",	EXPR_N_LINE,	EXPR_NUMBER,	true },
	{ "pid",	EXPR_N_PID,	EXPR_NUMBER,	false },
	{ "lwpid",	EXPR_N_LWPID,	EXPR_NUMBER,	false },
	{ "tid",	EXPR_N_TID,	EXPR_NUMBER,	false },
	{ "cpu",	EXPR_N_CPU,	EXPR_NUMBER,	false },
	{ "host",	EXPR_N_HOST,	EXPR_TEXT,	false },
	{ "comm",	EXPR_N_COMM,	EXPR_TEXT,	false },
	{ "program",	EXPR_N_PROGRAM,	EXPR_TEXT,	false },
	{ "cgroup",	EXPR_N_CGROUP,	EXPR_TEXT,	false },
	{ "time",	EXPR_N_TIME,	EXPR_NUMBER,	false },
	{ "elapsed",	EXPR_N_ELAPSED,	EXPR_NUMBER,	false },
	{ "duration",	EXPR_N_DURATION, EXPR_ANY,	false },
	{ "trace",	EXPR_N_TRACE,	EXPR_ANY,	false },
	{ "span",	EXPR_N_SPAN,	EXPR_ANY,	false },
	{ "operation",	EXPR_N_OPERATION, EXPR_ANY,	false },
	{ "syscall",	EXPR_N_SYSCALL,	EXPR_ANY,	false },
	{ "kernel",	EXPR_N_KERNEL,	EXPR_NUMBER,	false },
};

static bool
takes_for_granted(const struct expr *e, unsigned name)
{
	bool found = false;

	for (const struct expr_node *n = e->nodes; n < e->nodes + e->n_nodes; n++) {
		const struct expr_node *of = n->op == EXPR_HAS ? &e->nodes[n->left] : NULL;
		if (of != NULL && of->op == EXPR_MEMBER && of->name == name)
			return false;
		found |= n->op == EXPR_MEMBER && n->name == name;
	}
	return found;
}

const char *
expr_member(const struct expr *e, unsigned i)
{
	for (unsigned k = 0; k < e->n_names; k++)
		if (takes_for_granted(e, k) && i-- == 0)
			return e->names[k];
	return NULL;
}

const struct expr_name_row *
expr_name_find(const char *text, size_t len)
{
	const struct expr_name_row *r;

	for (r = table; r < table + sizeof(table) / sizeof(table[0]); r++)
		if (strlen(r->text) == len && memcmp(r->text, text, len) == 0)
			return r;
	return NULL;
}

static struct val
expr_names_attribute(const char *attrs, const char *name)
{
	size_t len;
	const char *value = attrs_find(attrs, name, &len);

	return value != NULL ? val_string(value, len) : val_cstring(NULL);
}

static struct val
of_probe(enum expr_name name, const struct tnf_probe *probe)
{
	struct val v;

	switch (name) {
	case EXPR_N_PROBE:
		return val_cstring(probe->name);
	case EXPR_N_KEY:
		v = val_cstring(probe->keys);
		v.kind = VAL_WORDS;
		return v;
	case EXPR_N_KEYS:
		return val_cstring(probe->keys);
	case EXPR_N_FILE:
		return expr_names_attribute(probe->attrs, "file");
	default:
		v = expr_names_attribute(probe->attrs, "line");
		if (v.kind == VAL_STRING)
			v = val_int(strtoll(v.u.s.chars, NULL, 10));
		return v;
	}
}

static struct val
expr_names_told(const struct expr *e, const char *(*ask)(void *arg, const struct tnf_event *),
    const struct tnf_event *ev)
{
	return val_cstring(ask == NULL ? NULL : ask(e->source->arg, ev));
}

/* A member that is no text is the word's value in an event of no span. */
static struct val
span_value(const struct expr *e, const struct tnf_event *ev, const char *name,
    const char *(*ask)(void *arg, const struct tnf_event *))
{
	const char *text = ask(e->source->arg, ev);
	int member = text == NULL ? perprobe_member(ev->probe, name) : -1;
	struct tnf_value v;

	return member >= 0 && e->source->member(ev, (unsigned)member, &v) ?
	    val_of_member(&v, name) : val_cstring(text);
}

/* The event's own member of the name comes first. */
static struct val
around_value(const struct expr *e, const struct tnf_event *ev, const char *name,
    const char *(*ask)(void *arg, const struct tnf_event *))
{
	int member = perprobe_member(ev->probe, name);
	struct tnf_value v;

	return member >= 0 && e->source->member(ev, (unsigned)member, &v) ?
	    val_of_member(&v, name) : expr_names_told(e, ask, ev);
}

static struct val
duration_value(const struct expr *e, const struct tnf_event *ev)
{
	int member = perprobe_member(ev->probe, "duration");
	struct tnf_value v;
	int64_t ns;

	if (e->source->duration(e->source->arg, ev, &ns))
		return val_int(ns);
	return member >= 0 && e->source->member(ev, (unsigned)member, &v) ?
	    val_of_member(&v, "duration") : val_cstring(NULL);
}

struct val
expr_name_value(const struct expr *e, enum expr_name name,
    const struct tnf_probe *probe, const struct tnf_event *ev)
{
	if (name <= EXPR_N_LINE)
		return of_probe(name, probe);
	if (ev == NULL)
		return (struct val){ .kind = VAL_UNKNOWN };
	switch (name) {
	case EXPR_N_PID:
		return val_int(ev->pid);
	case EXPR_N_LWPID:
		return val_int(ev->lwpid);
	case EXPR_N_TID:
		return val_uint(ev->tid);
	case EXPR_N_CPU:
		if (ev->cpu < 0)
			break;
		return val_int(ev->cpu);
	case EXPR_N_COMM:
		return expr_names_told(e, e->source->comm, ev);
	case EXPR_N_HOST:
		return val_cstring(e->source->host(e->source->arg, ev));
	case EXPR_N_PROGRAM:
		return expr_names_told(e, e->source->program, ev);
	case EXPR_N_CGROUP:
		return expr_names_told(e, e->source->cgroup, ev);
	case EXPR_N_TIME:
		return val_int(ev->time);
	case EXPR_N_ELAPSED:
		return val_int((int64_t)((uint64_t)ev->time -
		    (uint64_t)e->source->first));
	case EXPR_N_KERNEL:
		return val_int(ev->kernel);
	case EXPR_N_DURATION:
		return duration_value(e, ev);
	case EXPR_N_TRACE:
		return span_value(e, ev, "trace", e->source->trace);
	case EXPR_N_SPAN:
		return span_value(e, ev, "span", e->source->span);
	case EXPR_N_OPERATION:
		return around_value(e, ev, "operation", e->source->operation);
	case EXPR_N_SYSCALL:
		return around_value(e, ev, "syscall", e->source->syscall);
	default:
		break;
	}
	return (struct val){ .kind = VAL_NULL };
}

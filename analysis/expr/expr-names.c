/*
 * expr-names.c - what an event has besides its members.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/attrs.h"
#include "analysis/expr/expr-impl.h"

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
	default:
		break;
	}
	return (struct val){ .kind = VAL_NULL };
}

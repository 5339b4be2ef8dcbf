/*
 * columns.c - events as columns, without a Python object for each.
 *
 * The definitions of the probes give the kinds of all columns before the first event.  A
 * column grows in a bytearray, and every item is "missing" until it is set.
 */
#include "analysis/pretty-names.h"
#include "common/map.h"
#include "python/tnfpy.h"

#define ROWS_FIRST	4096
#define ROWS_A_CHECK	65536	/* rows between checks for Ctrl-C */

enum column_kind {
	COLUMN_INT, COLUMN_UINT, COLUMN_REAL, COLUMN_BOOL,
	COLUMN_CODE,		/* index of 'categories' */
	COLUMN_OBJECT
};

struct column {
	PyObject	*name;
	enum column_kind kind;
	unsigned	 size;		/* of an item; OBJECT: 0 */
	PyObject	*data;		/* bytearray; OBJECT: list */
	char		*p;		/* its bytes */
	PyObject	*missing;	/* bytearray; NULL: never */
	char		*m;
	size_t		 n_set;
	PyObject	*categories;	/* list */
	struct map	 codes;		/* string: int32_t */
};

/* Columns that every event has; columns of members follow. */
enum { C_TIME, C_PID, C_LWPID, C_TID, C_CPU, C_KERNEL, C_PROBE, C_N };

static const struct {
	const char	*name;
	enum column_kind kind;
	unsigned	 size;
} every[C_N] = {
	[C_TIME] = { "time", COLUMN_INT, 8 },
	[C_PID] = { "pid", COLUMN_INT, 4 },
	[C_LWPID] = { "lwpid", COLUMN_UINT, 4 },
	[C_TID] = { "tid", COLUMN_UINT, 8 },
	[C_CPU] = { "cpu", COLUMN_INT, 4 },
	[C_KERNEL] = { "kernel", COLUMN_BOOL, 1 },
	[C_PROBE] = { "probe", COLUMN_CODE, 4 },
};

struct plan {			/* of a probe */
	bool	 wanted;
	int32_t	 code;		/* of its name */
	unsigned n;
	int	*column;	/* by member; -1: an earlier one has the same name */
	const char **fact;	/* by member, if names are asked for: fact_of() */
};

struct columns {
	struct reading	*r;
	struct column	*col;
	size_t		 n;
	size_t		 rows, room;
	struct plan	*plans;		/* by probe id */
	unsigned	 n_plans;
	struct out	 name;		/* of a value */
};

static void
columns_free(struct columns *c)
{
	for (size_t i = 0; i < c->n; i++) {
		Py_XDECREF(c->col[i].name);
		Py_XDECREF(c->col[i].data);
		Py_XDECREF(c->col[i].missing);
		Py_XDECREF(c->col[i].categories);
		tnf_map_free(&c->col[i].codes);
	}
	for (unsigned i = 0; i < c->n_plans; i++) {
		PyMem_Free(c->plans[i].column);
		PyMem_Free(c->plans[i].fact);
	}
	PyMem_Free(c->plans);
	PyMem_Free(c->col);
	tnf_out_close(&c->name);
}

/* Adds a column and takes over 'name'.  NULL: an exception is set. */
static struct column *
column_new(struct columns *c, PyObject *name, enum column_kind kind, unsigned size)
{
	struct column *p = PyMem_Realloc(c->col, (c->n + 1) * sizeof *p);

	if (p == NULL) {
		Py_XDECREF(name);
		PyErr_NoMemory();
		return NULL;
	}
	c->col = p;
	p += c->n++;
	*p = (struct column){ .name = name, .kind = kind, .size = size };
	tnf_map_init(&p->codes, sizeof(int32_t));
	return name != NULL ? p : NULL;
}

static void
kind_of(const struct tnf_type *t, enum column_kind *kind, unsigned *size)
{
	static const struct {
		enum column_kind kind;
		unsigned	 size;
	} table[] = {
		[TNF_K_CHAR] = { COLUMN_CODE, 4 },
		[TNF_K_INT8] = { COLUMN_INT, 1 },
		[TNF_K_INT16] = { COLUMN_INT, 2 },
		[TNF_K_INT32] = { COLUMN_INT, 4 },
		[TNF_K_INT64] = { COLUMN_INT, 8 },
		[TNF_K_UINT8] = { COLUMN_UINT, 1 },
		[TNF_K_UINT16] = { COLUMN_UINT, 2 },
		[TNF_K_UINT32] = { COLUMN_UINT, 4 },
		[TNF_K_UINT64] = { COLUMN_UINT, 8 },
		[TNF_K_FLOAT32] = { COLUMN_REAL, 8 },
		[TNF_K_FLOAT64] = { COLUMN_REAL, 8 },
		[TNF_K_STRING] = { COLUMN_CODE, 4 },
	};

	*kind = COLUMN_OBJECT;
	*size = 0;
	if (t->text) {
		*kind = COLUMN_CODE;
		*size = 4;
	}
	if ((size_t)t->kind < sizeof table / sizeof table[0] &&
	    table[t->kind].size != 0) {
		*kind = table[t->kind].kind;
		*size = table[t->kind].size;
	}
}

/* Finds the names that the trace's own context has for the member's values; NULL: none, or
   names are not asked for. */
static const char *
fact_of(const struct columns *c, const struct tnf_probe *p, const char *member)
{
	const tnf_context_t *context = c->r->names ? reading_context(c->r, p->file) : NULL;
	char key[300];

	snprintf(key, sizeof(key), "values:%s:%s", p->name, member);
	return context != NULL ? tnf_context_fact(context, key) : NULL;
}

static bool
is_integer(tnf_kind_t kind)
{
	return kind >= TNF_K_INT8 && kind <= TNF_K_UINT64;
}

/* True if numbers of the member may have names, as --pretty prints them. */
static bool
has_names(const struct columns *c, const struct tnf_member *m, const char *fact)
{
	enum pretty_kind kind = pretty_kind(m->type, m->name);

	return c->r->names && is_integer(m->type->kind) && (fact != NULL ||
	    (kind >= PRETTY_ERRNO && kind <= PRETTY_SEG_ACCESS) || strcmp(m->name, "sysnum") == 0);
}

/* Widens a column so that it can also hold another kind of value; with 'names' numbers
   beside strings are strings, too. */
static void
column_widen(struct column *p, enum column_kind kind, unsigned size, bool names)
{
	unsigned larger = p->size > size ? p->size : size;

	if (p->kind == kind)
		p->size = larger;
	else if (names && (p->kind == COLUMN_CODE ? kind : p->kind) <= COLUMN_UINT &&
	    (p->kind == COLUMN_CODE || kind == COLUMN_CODE)) {
		p->kind = COLUMN_CODE;
		p->size = 4;
	} else if (p->kind <= COLUMN_UINT && kind <= COLUMN_UINT &&
	    (p->kind == COLUMN_UINT ? p->size : size) < 8) {
		p->kind = COLUMN_INT;
		p->size = 8;
	} else {
		p->kind = COLUMN_OBJECT;
		p->size = 0;
	}
}

static bool
columns_taken(const char *name)
{
	for (size_t i = 0; i < C_N; i++)
		if (strcmp(every[i].name, name) == 0)
			return true;
	return false;
}

/* The number of the column with the member's name; -1: exception. */
static int
column_of(struct columns *c, PyObject *by_name, const struct tnf_member *m, const char *fact)
{
	PyObject *name = tnfpy_cstr(m->name), *number;
	enum column_kind kind;
	unsigned size;
	int at = -1;

	if (name != NULL && columns_taken(m->name))
		Py_SETREF(name, PyUnicode_FromFormat("args.%U", name));
	if (name == NULL)
		return -1;
	kind_of(m->type, &kind, &size);
	if (has_names(c, m, fact)) {
		kind = COLUMN_CODE;
		size = 4;
	}
	number = PyDict_GetItemWithError(by_name, name);
	if (number != NULL) {
		at = (int)PyLong_AsLong(number);
		column_widen(&c->col[at], kind, size, c->r->names);
	} else if (!PyErr_Occurred() &&
	    column_new(c, Py_NewRef(name), kind, size) != NULL &&
	    (number = PyLong_FromSize_t(c->n - 1)) != NULL) {
		at = PyDict_SetItem(by_name, name, number) < 0 ? -1 : (int)c->n - 1;
		Py_DECREF(number);
	}
	Py_DECREF(name);
	return at;
}

static int
plan_members(struct columns *c, struct plan *plan, PyObject *by_name,
    const struct tnf_probe *p)
{
	plan->column = PyMem_Calloc(p->n_members + 1, sizeof *plan->column);
	plan->fact = PyMem_Calloc(p->n_members + 1, sizeof *plan->fact);
	if (plan->column == NULL || plan->fact == NULL) {
		PyErr_NoMemory();
		return -1;
	}
	plan->n = p->n_members;
	for (unsigned i = 0; i < plan->n; i++) {
		plan->fact[i] = fact_of(c, p, p->members[i].name);
		if ((plan->column[i] = column_of(c, by_name, &p->members[i], plan->fact[i])) < 0)
			return -1;
		for (unsigned k = 0; k < i; k++)
			if (plan->column[k] == plan->column[i])
				plan->column[i] = -1;
	}
	return 0;
}

/* Returns 1 if the probe is wanted, 0 if not, -1: exception. */
static int
probe_wanted(const struct tnf_probe *p, PyObject *wanted)
{
	PyObject *name;

	if (wanted == Py_None)
		return 1;
	if ((name = tnfpy_cstr(p->name)) == NULL)
		return -1;
	int yes = PyUnicode_Check(wanted) ?
	    PyObject_RichCompareBool(name, wanted, Py_EQ) :
	    PySequence_Contains(wanted, name);
	Py_DECREF(name);
	return yes;
}

/* The code of a string; -1: exception. */
static int32_t
column_code(struct column *p, const char *chars, size_t len)
{
	bool fresh;
	int32_t *code = tnf_map_put(&p->codes, chars, len, &fresh);

	if (code == NULL) {
		PyErr_NoMemory();
		return -1;
	}
	if (!fresh)
		return *code;
	*code = (int32_t)PyList_GET_SIZE(p->categories);
	PyObject *str = tnfpy_str(chars, len);
	if (str == NULL || PyList_Append(p->categories, str) < 0)
		*code = -1;
	Py_XDECREF(str);
	return *code;
}

static int
plan_probes(struct columns *c, PyObject *wanted)
{
	PyObject *by_name = PyDict_New();
	int yes = by_name != NULL ? 0 : -1;

	c->n_plans = tnf_stream_probes(c->r->stream);
	c->plans = PyMem_Calloc(c->n_plans + 1, sizeof *c->plans);
	if (c->plans == NULL) {
		c->n_plans = 0;
		PyErr_NoMemory();
		yes = -1;
	}
	for (unsigned i = 0; yes >= 0 && i < c->n_plans; i++) {
		struct tnf_probe *p = tnf_stream_probe(c->r->stream, i);
		if ((yes = probe_wanted(p, wanted)) <= 0)
			continue;
		c->plans[i].wanted = true;
		yes = plan_members(c, &c->plans[i], by_name, p);
	}
	Py_XDECREF(by_name);
	return yes < 0 ? -1 : 0;
}

/* Makes the empty objects that hold the columns. */
static int
make_objects(struct columns *c)
{
	for (struct column *p = c->col; p < c->col + c->n; p++) {
		if (p->kind == COLUMN_OBJECT)
			p->data = PyList_New(0);
		else
			p->data = PyByteArray_FromStringAndSize(NULL, 0);
		if (p->kind != COLUMN_OBJECT && p - c->col >= C_N)
			p->missing = PyByteArray_FromStringAndSize(NULL, 0);
		if (p->kind == COLUMN_CODE)
			p->categories = PyList_New(0);
		if (PyErr_Occurred())
			return -1;
	}
	return 0;
}

static int
columns_begin(struct columns *c, PyObject *wanted)
{
	for (size_t i = 0; i < C_N; i++)
		if (column_new(c, PyUnicode_FromString(every[i].name),
		    every[i].kind, every[i].size) == NULL)
			return -1;
	if (plan_probes(c, wanted) < 0 || make_objects(c) < 0)
		return -1;
	for (unsigned i = 0; i < c->n_plans; i++) {
		struct tnf_probe *p = tnf_stream_probe(c->r->stream, i);
		if (c->plans[i].wanted && (c->plans[i].code = column_code(
		    &c->col[C_PROBE], p->name, strlen(p->name))) < 0)
			return -1;
	}
	return 0;
}

static int
column_resize(struct column *p, size_t from, size_t to)
{
	if (p->kind == COLUMN_OBJECT)
		return 0;
	if (to > PY_SSIZE_T_MAX / 8) {
		PyErr_NoMemory();
		return -1;
	}
	if (PyByteArray_Resize(p->data, (Py_ssize_t)(to * p->size)) < 0 ||
	    (p->missing != NULL &&
	    PyByteArray_Resize(p->missing, (Py_ssize_t)to) < 0))
		return -1;
	p->p = PyByteArray_AS_STRING(p->data);
	p->m = p->missing != NULL ? PyByteArray_AS_STRING(p->missing) : NULL;
	if (to <= from)
		return 0;
	memset(p->p + from * p->size, p->kind == COLUMN_CODE ? 0xff : 0,
	    (to - from) * p->size);
	if (p->m != NULL)
		memset(p->m + from, 1, to - from);
	return 0;
}

static int
columns_resize(struct columns *c, size_t room)
{
	for (size_t i = 0; i < c->n; i++)
		if (column_resize(&c->col[i], c->room, room) < 0)
			return -1;
	c->room = room;
	return 0;
}

static void
columns_store(struct column *p, size_t row, uint64_t u)
{
	char *at = p->p + row * p->size;

	switch (p->size) {
	case 1:
		*at = (char)u;
		break;
	case 2:
		*(uint16_t *)(void *)at = (uint16_t)u;
		break;
	case 4:
		*(uint32_t *)(void *)at = (uint32_t)u;
		break;
	default:
		memcpy(at, &u, sizeof u);
		break;
	}
}

/* The category of a number: its name, or its digits. */
static int32_t
category_of_number(struct columns *c, struct column *p, const struct tnf_event *ev,
    const struct tnf_value *v, unsigned i)
{
	const char *member = ev->probe->members[i].name;
	const char *text = pretty_event_name(ev, v->type, member, v->u.i);

	tnf_out_again(&c->name);
	if (text != NULL)
		out_str(&c->name, text);
	else if (!value_names_put(&c->name, c->plans[ev->probe->id].fact[i], v->u.u, tnf_out_bytes)) {
		if (v->kind == TNF_K_UINT64)
			tnf_out_u64(&c->name, v->u.u);
		else
			tnf_out_i64(&c->name, v->u.i);
	}
	return column_code(p, c->name.base, out_size(&c->name));
}

/* Gives a value that is no string, in a column of strings, a category of its own. */
static int32_t
category_of(struct columns *c, struct column *p, const struct tnf_event *ev,
    const struct tnf_value *v, unsigned i)
{
	int32_t code = (int32_t)PyList_GET_SIZE(p->categories);
	char ch;

	if (v->kind == TNF_K_STRING && !v->cut)
		return column_code(p, v->u.s.chars, v->u.s.len);
	if (v->kind == TNF_K_CHAR) {
		ch = (char)v->u.i;
		return column_code(p, &ch, 1);
	}
	if (c->r->names && is_integer(v->kind))
		return category_of_number(c, p, ev, v, i);
	PyObject *o = value_object(c->r, ev->file, v);
	if (o == NULL || PyList_Append(p->categories, o) < 0)
		code = -1;
	Py_XDECREF(o);
	return code;
}

/* Stores an object; earlier rows without a value become None. */
static int
store_object(struct columns *c, struct column *p, const struct tnf_event *ev,
    const struct tnf_value *v)
{
	PyObject *o = Py_NewRef(Py_None);
	int err = 0;

	while (err == 0 && (size_t)PyList_GET_SIZE(p->data) < c->rows)
		err = PyList_Append(p->data, o);
	if (err == 0 && v != NULL) {
		Py_SETREF(o, value_object(c->r, ev->file, v));
		err = o == NULL ? -1 : PyList_Append(p->data, o);
	}
	Py_XDECREF(o);
	return err;
}

static int
store_value(struct columns *c, struct column *p, const struct tnf_event *ev,
    const struct tnf_value *v, unsigned i)
{
	int32_t code;

	if (v->null)
		return 0;
	switch (p->kind) {
	case COLUMN_OBJECT:
		return store_object(c, p, ev, v);
	case COLUMN_CODE:
		if ((code = category_of(c, p, ev, v, i)) < 0)
			return -1;
		columns_store(p, c->rows, (uint32_t)code);
		break;
	default:
		/* Integers and doubles are stored unchanged. */
		columns_store(p, c->rows, v->u.u);
		break;
	}
	p->m[c->rows] = 0;
	p->n_set++;
	return 0;
}

static int
add_row(struct columns *c, const struct tnf_event *ev)
{
	const struct plan *plan = &c->plans[ev->probe->id];
	struct column *col = c->col;
	size_t row = c->rows;
	struct tnf_value v;

	columns_store(&col[C_TIME], row, (uint64_t)ev->time);
	columns_store(&col[C_PID], row, (uint32_t)ev->pid);
	columns_store(&col[C_LWPID], row, ev->lwpid);
	columns_store(&col[C_TID], row, ev->tid);
	columns_store(&col[C_CPU], row, (uint32_t)ev->cpu);
	columns_store(&col[C_KERNEL], row, ev->kernel);
	columns_store(&col[C_PROBE], row, (uint32_t)plan->code);
	for (unsigned i = 0; i < plan->n; i++)
		if (plan->column[i] >= 0 && tnf_event_value(ev, i, &v) &&
		    store_value(c, &col[plan->column[i]], ev, &v, i) < 0)
			return -1;
	c->rows++;
	return 0;
}

static int
columns_fill(struct columns *c)
{
	struct tnf_event ev;
	PyObject *o;
	int n;

	while ((n = reading_next(c->r, &ev, &o)) > 0) {
		Py_XDECREF(o);
		if (ev.probe->id >= c->n_plans || !c->plans[ev.probe->id].wanted)
			continue;
		if (c->rows == c->room && columns_resize(c, c->room == 0 ?
		    ROWS_FIRST : c->room * 2) < 0)
			return -1;
		if (add_row(c, &ev) < 0 || (c->rows % ROWS_A_CHECK == 0 &&
		    PyErr_CheckSignals() < 0))
			return -1;
	}
	return n < 0 ? -1 : columns_resize(c, c->rows);
}

/* Returns (name, format, data, missing, categories). */
static PyObject *
column_tuple(struct columns *c, struct column *p)
{
	static const char formats[][9] = {
		[COLUMN_INT] = " bh i   q", [COLUMN_UINT] = " BH I   Q",
		[COLUMN_REAL] = "        d", [COLUMN_BOOL] = " ?       ",
		[COLUMN_CODE] = "    i    ", [COLUMN_OBJECT] = "O        " };
	bool all = p->missing == NULL || p->n_set == c->rows;

	if (p->kind == COLUMN_OBJECT && store_object(c, p, NULL, NULL) < 0)
		return NULL;
	return Py_BuildValue("(OCOOO)", p->name, formats[p->kind][p->size],
	    p->data, all ? Py_None : p->missing,
	    p->categories != NULL ? p->categories : Py_None);
}

PyObject *
columns_read(struct reading *r, PyObject *wanted)
{
	struct columns c = { .r = r };
	PyObject *list = NULL, *tuple;

	if (columns_begin(&c, wanted) == 0 && columns_fill(&c) == 0)
		list = PyList_New(0);
	for (size_t i = 0; list != NULL && i < c.n; i++) {
		tuple = column_tuple(&c, &c.col[i]);
		if (tuple == NULL || PyList_Append(list, tuple) < 0)
			Py_CLEAR(list);
		Py_XDECREF(tuple);
	}
	columns_free(&c);
	return list;
}

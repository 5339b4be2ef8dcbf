/*
 * reading.c - one pass through the events of a trace.
 */
#include <stdlib.h>

#include "analysis/pretty-names.h"
#include "python/tnfpy.h"

#define EVENTS_A_CHECK	65536	/* events between checks for Ctrl-C */

static Py_ssize_t
file_number(const struct reading *r, const struct tnf_file *f)
{
	Py_ssize_t i = 0;

	while (i < r->source->n - 1 && r->files[i] != f)
		i++;
	return i;
}

const tnf_context_t *
reading_context(const struct reading *r, const struct tnf_file *f)
{
	return r->source->file[file_number(r, f)].context;
}

/* The function expr_source.comm. */
static const char *
event_comm(void *arg, const struct tnf_event *ev)
{
	struct reading *r = arg;
	const tnf_context_t *c = reading_context(r, ev->file);
	const struct tnf_context_task *t;

	t = c != NULL ? tnf_context_writer(c, (int32_t)ev->lwpid) : NULL;
	return t != NULL ? tnf_context_name(c, t->tid, ev->time) : NULL;
}

static struct expr *
reading_compile(const char *text, const struct expr_source *source)
{
	struct expr_error error;
	struct expr *e = expr_new(text, source, &error);

	if (e != NULL)
		return e;
	PyObject *why = PyUnicode_DecodeUTF8(error.text, (Py_ssize_t)strnlen(error.text,
	    sizeof error.text), "backslashreplace");
	if (why != NULL)
		PyErr_Format(PyExc_ValueError, "where: column %zu: %U",
		    error.column + 1, why);
	Py_XDECREF(why);
	return NULL;
}

static const char *
where_text(PyObject *where)
{
	Py_ssize_t n;
	const char *text = PyUnicode_AsUTF8AndSize(where, &n);

	if (text != NULL && strlen(text) != (size_t)n) {
		PyErr_SetString(PyExc_ValueError, "where: embedded null character");
		return NULL;
	}
	return text;
}

int
reading_check_where(PyObject *where)
{
	static const struct expr_source none = {
		.member = tnf_event_value, .item = tnf_value_item };
	const char *text;
	struct expr *e;

	if (where == Py_None || PyCallable_Check(where))
		return 0;
	if (!PyUnicode_Check(where)) {
		PyErr_SetString(PyExc_TypeError,
		    "where: neither an expression nor a function");
		return -1;
	}
	if ((text = where_text(where)) == NULL || (e = reading_compile(text, &none)) == NULL)
		return -1;
	expr_free(e);
	return 0;
}

static int
set_where(struct reading *r, PyObject *where)
{
	r->expr_source = (struct expr_source){ .member = tnf_event_value,
	    .item = tnf_value_item, .comm = event_comm, .arg = r,
	    .first = r->source->first };
	if (where == Py_None)
		return 0;
	if (!PyUnicode_Check(where)) {
		r->callable = Py_NewRef(where);
		return 0;
	}
	const char *text = where_text(where);
	r->expr = text != NULL ? reading_compile(text, &r->expr_source) : NULL;
	return r->expr != NULL ? 0 : -1;
}

struct reading *
reading_new(struct source *s, tnf_stream_t *stream, struct tnf_file **files,
    PyObject *where)
{
	struct reading *r = PyMem_Calloc(1, sizeof *r);

	if (r == NULL || (r->files = PyMem_Calloc((size_t)s->n,
	    sizeof *r->files)) == NULL) {
		PyMem_Free(r);
		tnf_stream_close(stream);
		PyErr_NoMemory();
		return NULL;
	}
	s->refs++;
	r->source = s;
	r->stream = stream;
	if (stream != NULL)
		memcpy(r->files, files, (size_t)s->n * sizeof *files);
	else
		r->stream = source_stream(s, NULL, r->files);
	for (Py_ssize_t i = 0; i < s->n; i++)
		r->budget += s->file[i].size;
	if (r->stream == NULL || set_where(r, where) < 0) {
		reading_free(r);
		return NULL;
	}
	return r;
}

void
reading_free(struct reading *r)
{
	if (r == NULL)
		return;
	for (unsigned i = 0; i < r->n_probes; i++)
		Py_XDECREF(r->probes[i]);
	PyMem_Free(r->probes);
	PyMem_Free(r->files);
	Py_XDECREF(r->callable);
	expr_free(r->expr);
	if (r->stream != NULL)
		tnf_stream_close(r->stream);
	source_release(r->source);
	PyMem_Free(r);
}

static int
probes_grow(struct reading *r, unsigned id)
{
	unsigned n = id + 64;
	PyObject **p = PyMem_Realloc(r->probes, n * sizeof *p);

	if (p == NULL) {
		PyErr_NoMemory();
		return -1;
	}
	memset(p + r->n_probes, 0, (n - r->n_probes) * sizeof *p);
	r->probes = p;
	r->n_probes = n;
	return 0;
}

PyObject *
reading_probe(struct reading *r, struct tnf_probe *p)
{
	if (p->id >= r->n_probes && probes_grow(r, p->id) < 0)
		return NULL;
	if (r->probes[p->id] == NULL)
		r->probes[p->id] = probe_object(p,
		    r->source->file[file_number(r, p->file)].name);
	return r->probes[p->id];
}

/* Calls the function 'where' with the event.  If it says yes, the caller owns *object, the tnf.Event
   made for it. */
static int
reading_ask(struct reading *r, const struct tnf_event *ev, PyObject **object)
{
	PyObject *o = event_object(r, ev), *answer;
	int yes = -1;

	answer = o != NULL ? PyObject_CallOneArg(r->callable, o) : NULL;
	if (answer != NULL)
		yes = PyObject_IsTrue(answer);
	Py_XDECREF(answer);
	if (yes > 0 && object != NULL)
		*object = o;
	else
		Py_XDECREF(o);
	return yes;
}

static int
reading_wants(struct reading *r, const struct tnf_event *ev, PyObject **object)
{
	if (r->callable != NULL)
		return reading_ask(r, ev, object);
	return r->expr == NULL || expr_true(r->expr, ev);
}

static int
warn_missed(const struct source_file *f, uint64_t blocks)
{
	PyObject *lost = Py_BuildValue("{sK}", "blocks overwritten before they were read",
	    (unsigned long long)blocks);
	PyObject *text = PyUnicode_FromFormat("%llu blocks were overwritten "
	    "before they were read", (unsigned long long)blocks);
	int err = -1;

	if (lost != NULL && text != NULL)
		err = tnfpy_warn_loss(f->name, lost, text);
	Py_XDECREF(lost);
	Py_XDECREF(text);
	return err;
}

static int
warn_partial(struct source *s)
{
	PyObject *text = PyUnicode_FromString("records lead into each other so often "
	    "that only a part of them is shown");
	int err = text == NULL ? -1 :
	    tnfpy_warn_damage(s->file[0].name, Py_None, text);

	Py_XDECREF(text);
	return err;
}

/* Warns, when there is no further event, of facts that are known only then. */
static int
warn_at_end(struct reading *r)
{
	struct source *s = r->source;

	if (r->partial && !s->partial_told) {
		s->partial_told = true;
		if (warn_partial(s) < 0)
			return -1;
	}
	for (Py_ssize_t i = 0; i < s->n; i++) {
		uint64_t blocks = r->files[i] != NULL ? tnf_file_missed(r->files[i]) : 0;
		if (blocks != 0 && warn_missed(&s->file[i], blocks) < 0)
			return -1;
	}
	return 0;
}

/* The name of a system call's number depends on the machine on which the event was written: tells the
   machine to pretty_*(), before an expression is evaluated or a name is asked for. */
static void
name_calls_for(struct reading *r, const struct tnf_file *f)
{
	const tnf_context_t *c = reading_context(r, f);

	pretty_machine_set(c != NULL ? tnf_context_fact(c, "machine") : NULL);
}

/* Finds the next event that is wanted: returns 1, 0 at the end, -1 with an exception set. */
static int
reading_find(struct reading *r, struct tnf_event *ev, PyObject **object)
{
	unsigned n = 0;
	int err, yes;

	while ((err = tnf_stream_next(r->stream, ev)) == 1) {
		if (r->expr != NULL || r->names)
			name_calls_for(r, ev->file);
		if ((yes = reading_wants(r, ev, object)) != 0)
			return yes;
		if (++n % EVENTS_A_CHECK == 0 && PyErr_CheckSignals() < 0)
			return -1;
	}
	if (err < 0) {
		tnfpy_raise(r->source->file[0].name, -err);
		return -1;
	}
	return warn_at_end(r);
}

int
reading_next(struct reading *r, struct tnf_event *ev, PyObject **object)
{
	if (object != NULL)
		*object = NULL;
	if (r->running) {
		PyErr_SetString(PyExc_ValueError, "the events are already being read");
		return -1;
	}
	if (r->ended)
		return 0;
	r->running = true;
	int n = reading_find(r, ev, object);
	r->running = false;
	r->ended = n == 0;
	return n;
}

/*
 * trace.c - tnf.Trace, an open set of files, and tnf.Events, a pass through it.
 *
 * A source has the files of a trace, opened and mapped; passes share it.
 */
#include "common/files.h"
#include "python/tnfpy.h"

static void
close_file(struct source_file *f)
{
	tnf_context_close(f->context);
	tnf_image_close(f->base, f->size);
	Py_CLEAR(f->name);
}

void
source_release(struct source *s)
{
	if (s == NULL || --s->refs > 0)
		return;
	for (Py_ssize_t i = 0; i < s->n; i++)
		close_file(&s->file[i]);
	PyMem_Free(s);
}

static int
map_file(struct source_file *f, int fd)
{
	int err = tnf_image_open(fd, &f->base, &f->size);

	if (err == ENODATA)
		tnfpy_raise_text(f->name, "is empty");
	else if (err != 0)
		tnfpy_raise(f->name, err);
	if (err != 0)
		return -1;
	f->blank = tnf_image_is_empty(f->base, f->size);
	if (!f->blank)
		(void)tnf_context_open_mem(f->base, f->size, &f->context);
	return 0;
}

/* Opens a file; 'path' may be anything that os.fspath() accepts. */
static int
open_path(struct source_file *f, PyObject *path)
{
	PyObject *bytes;
	struct stat st;
	int fd, err;

	if (!PyUnicode_FSConverter(path, &bytes))
		return -1;
	f->name = PyUnicode_DecodeFSDefaultAndSize(PyBytes_AS_STRING(bytes),
	    PyBytes_GET_SIZE(bytes));
	fd = f->name == NULL ? -1 :
	    tnf_open_regular(PyBytes_AS_STRING(bytes), O_RDONLY, &st);
	err = errno;
	Py_DECREF(bytes);
	if (f->name == NULL)
		return -1;
	if (fd < 0 && err == EINVAL)
		tnfpy_raise_text(f->name, "is not a regular file");
	else if (fd < 0)
		tnfpy_raise(f->name, err);
	if (fd < 0)
		return -1;
	err = map_file(f, fd);
	close(fd);
	return err;
}

struct source *
source_open(PyObject *files, bool salvage)
{
	PyObject *list = PySequence_Tuple(files);
	Py_ssize_t n = list != NULL ? PyTuple_GET_SIZE(list) : 0;
	struct source *s = NULL;

	if (list != NULL && n == 0)
		PyErr_SetString(PyExc_ValueError, "no files");
	else if (list != NULL && (s = PyMem_Calloc(1, sizeof *s +
	    (size_t)n * sizeof s->file[0])) == NULL)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; s != NULL && i < n; i++) {
		s->refs = 1;
		s->salvage = salvage;
		s->n = i + 1;
		if (open_path(&s->file[i], PyTuple_GET_ITEM(list, i)) < 0) {
			source_release(s);
			s = NULL;
		}
	}
	Py_XDECREF(list);
	return s;
}

/* The argument of the damage callback. */
struct told {
	PyObject	*list;
	Py_ssize_t	 file;
	bool		 failed;
};

static void
on_damage(void *arg, struct tnf_file *f, uint64_t offset, const char *text)
{
	struct told *t = arg;
	PyObject *row, *str;

	if (t->list == NULL || t->failed)
		return;
	str = tnfpy_cstr(text);
	row = str == NULL ? NULL : Py_BuildValue("(nKN)", t->file,
	    (unsigned long long)offset, str);
	t->failed = row == NULL || PyList_Append(t->list, row) < 0;
	Py_XDECREF(row);
}

static int
add_file(tnf_stream_t *stream, struct source_file *f, struct tnf_file **ret)
{
	int err;

	*ret = NULL;
	if (f->blank)
		return 0;
	err = tnf_stream_add_mem(stream, f->base, f->size, "", ret);
	if (err == ENODATA)
		f->blank = true;
	else if (err != 0) {
		tnfpy_raise(f->name, err);
		return -1;
	}
	return 0;
}

tnf_stream_t *
source_stream(struct source *s, PyObject *damage, struct tnf_file **files)
{
	struct told told = { damage, 0, false };
	tnf_stream_t *stream;
	int err;

	if ((err = tnf_stream_new(&stream)) != 0) {
		tnfpy_raise(s->file[0].name, err);
		return NULL;
	}
	tnf_stream_on_damage(stream, on_damage, &told);
	tnf_stream_accept_cut(stream, s->salvage);
	for (; told.file < s->n; told.file++)
		if (add_file(stream, &s->file[told.file],
		    &files[told.file]) < 0 || told.failed) {
			tnf_stream_close(stream);
			return NULL;
		}
	tnf_stream_on_damage(stream, NULL, NULL);
	return stream;
}

struct trace {
	PyObject_HEAD
	struct source	*source;	/* NULL: not opened, or closed */
	tnf_stream_t	*stream;	/* for the first reading, or NULL */
	struct tnf_file	**stream_files;
	PyObject	*where;
	PyObject	*files;		/* tuple of tnf.File */
	PyObject	*probes;	/* tuple of tnf.Probe */
};

struct events {
	PyObject_HEAD
	struct reading	*reading;
};

static void
drop_stream(struct trace *t)
{
	tnf_stream_t *stream = t->stream;

	t->stream = NULL;
	if (stream != NULL)
		tnf_stream_close(stream);
	PyMem_Free(t->stream_files);
	t->stream_files = NULL;
}

/* Releases the files; readings that have begun go on, unless close() ended them. */
static void
trace_release(struct trace *t)
{
	struct source *s = t->source;

	drop_stream(t);
	t->source = NULL;
	source_release(s);
}

static void
trace_end(struct trace *t)
{
	if (t->source != NULL)
		t->source->closed = true;
	trace_release(t);
}

static PyObject *
probes_tuple(struct trace *t, struct source *s)
{
	unsigned n = tnf_stream_probes(t->stream);
	PyObject *tuple = PyTuple_New(n), *o;
	Py_ssize_t f;

	for (unsigned i = 0; tuple != NULL && i < n; i++) {
		struct tnf_probe *p = tnf_stream_probe(t->stream, i);
		for (f = 0; f < s->n - 1 && t->stream_files[f] != p->file; f++)
			;
		if ((o = probe_object(p, s->file[f].name)) == NULL)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, o);
	}
	return tuple;
}

static int
trace_describe(struct trace *t, struct source *s, PyObject *damage)
{
	struct tnf_file **files = t->stream_files;
	struct tnf_summary sum;
	bool any = false;

	for (Py_ssize_t i = 0; i < s->n; i++) {
		if (files[i] == NULL)
			continue;
		tnf_file_summary(files[i], &sum);
		if (sum.events > 0 && (!any || sum.first < s->first))
			s->first = sum.first;
		any |= sum.events > 0;
	}
	if ((t->probes = probes_tuple(t, s)) == NULL)
		return -1;
	t->files = info_files(s, files, damage);
	return t->files != NULL ? 0 : -1;
}

static int
trace_start(struct trace *t, struct source *s)
{
	PyObject *damage = PyList_New(0);
	int err = -1;

	t->stream_files = PyMem_Calloc((size_t)s->n, sizeof *t->stream_files);
	if (t->stream_files == NULL)
		PyErr_NoMemory();
	else if (damage != NULL)
		t->stream = source_stream(s, damage, t->stream_files);
	if (t->stream != NULL)
		err = trace_describe(t, s, damage);
	Py_XDECREF(damage);
	return err;
}

/* Makes a sequence of a single path. */
static PyObject *
path_list(PyObject *files)
{
	if (PyUnicode_Check(files) || PyBytes_Check(files) ||
	    PyObject_HasAttrString(files, "__fspath__"))
		return PyTuple_Pack(1, files);
	return Py_NewRef(files);
}

static PyObject *
trace_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	static char *names[] = { (char *)"files", (char *)"where",
	    (char *)"salvage", NULL };
	PyObject *files, *where = Py_None, *list, *losses = NULL;
	int salvage = 0, err;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "O|O$p:Trace", names, &files,
	    &where, &salvage) || reading_check_where(where) < 0 ||
	    (list = path_list(files)) == NULL)
		return NULL;
	struct source *s = source_open(list, salvage);
	Py_DECREF(list);
	struct trace *t = s != NULL ? (struct trace *)type->tp_alloc(type, 0) : NULL;
	if (t == NULL) {
		source_release(s);
		return NULL;
	}
	/* Hidden from the garbage collector until it is complete: warnings run Python code,
	   which may close it. */
	PyObject_GC_UnTrack(t);
	t->where = Py_NewRef(where);
	err = trace_start(t, s);
	t->source = s;
	PyObject_GC_Track(t);
	if (err == 0)
		losses = info_losses(t->stream_files, s->n);
	if (losses == NULL || info_warn(t->files, losses) < 0)
		Py_CLEAR(t);
	Py_XDECREF(losses);
	return (PyObject *)t;
}

static int
trace_traverse(struct trace *t, visitproc visit, void *arg)
{
	Py_VISIT(t->where);
	Py_VISIT(t->files);
	Py_VISIT(t->probes);
	return 0;
}

static int
trace_clear(struct trace *t)
{
	trace_release(t);
	Py_CLEAR(t->where);
	Py_CLEAR(t->files);
	Py_CLEAR(t->probes);
	return 0;
}

static void
trace_dealloc(struct trace *t)
{
	PyObject_GC_UnTrack(t);
	trace_clear(t);
	Py_TYPE(t)->tp_free((PyObject *)t);
}

/* Begins a new reading of all events. */
static struct reading *
trace_read(struct trace *t)
{
	tnf_stream_t *stream = t->stream;

	if (t->source == NULL) {
		PyErr_SetString(PyExc_ValueError, "the trace is closed");
		return NULL;
	}
	t->stream = NULL;
	struct reading *r = reading_new(t->source, stream, t->stream_files,
	    t->where != NULL ? t->where : Py_None);
	drop_stream(t);
	return r;
}

static PyObject *
trace_iter(struct trace *t)
{
	struct reading *r = trace_read(t);

	if (r == NULL)
		return NULL;
	struct events *e = PyObject_GC_New(struct events, &events_type);
	if (e == NULL) {
		reading_free(r);
		return NULL;
	}
	e->reading = r;
	PyObject_GC_Track(e);
	return (PyObject *)e;
}

static PyObject *
trace_columns(struct trace *t, PyObject *args, PyObject *kw)
{
	static char *words[] = { (char *)"probe", (char *)"names", NULL };
	PyObject *wanted = Py_None, *list;
	struct reading *r;
	int names = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "|Op:columns", words, &wanted, &names) ||
	    (r = trace_read(t)) == NULL)
		return NULL;
	r->names = names != 0;
	list = columns_read(r, wanted);
	reading_free(r);
	return list;
}

static PyObject *
trace_close(struct trace *t, PyObject *unused)
{
	trace_end(t);
	Py_RETURN_NONE;
}

static PyObject *
trace_enter(struct trace *t, PyObject *unused)
{
	if (t->source == NULL) {
		PyErr_SetString(PyExc_ValueError, "the trace is closed");
		return NULL;
	}
	return Py_NewRef(t);
}

static PyObject *
trace_exit(struct trace *t, PyObject *unused)
{
	trace_end(t);
	Py_RETURN_NONE;
}

static PyObject *
trace_closed(struct trace *t, void *closure)
{
	return PyBool_FromLong(t->source == NULL);
}

static PyObject *
trace_files(struct trace *t, void *closure)
{
	return Py_NewRef(t->files != NULL ? t->files : Py_None);
}

static PyObject *
trace_probes(struct trace *t, void *closure)
{
	return Py_NewRef(t->probes != NULL ? t->probes : Py_None);
}

static PyGetSetDef trace_getset[] = {
	{ "closed", (getter)trace_closed, NULL, "close() has been called", NULL },
	{ "files", (getter)trace_files, NULL, "tuple of tnf.File", NULL },
	{ "probes", (getter)trace_probes, NULL,
	    "tuple of tnf.Probe; a name may be there more than once", NULL },
	{ .name = NULL }
};

static PyMethodDef trace_methods[] = {
	{ "close", (PyCFunction)trace_close, METH_NOARGS,
	    "Ends all reading.  Events stay valid.  A second time is fine." },
	{ "columns", (PyCFunction)(void (*)(void))trace_columns,
	    METH_VARARGS | METH_KEYWORDS,
	    "columns(probe=None, names=False): list of (name, format, data, missing, categories).\n\n"
	    "For programs without numpy; to_numpy() says which columns there are.\n"
	    "'format' is that of the module struct and 'data' a bytearray of such\n"
	    "items; 'missing' a bytearray, 1 where an event has no value, or None if\n"
	    "all have one; 'categories' a list that 'data' has indices of (-1: no\n"
	    "value), or None.  With the format 'O' data is a list of objects." },
	{ "__enter__", (PyCFunction)trace_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)trace_exit, METH_VARARGS, NULL },
	{ .ml_name = NULL }
};

PyTypeObject trace_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "tnf._tnf.Trace",
	.tp_doc = "Open trace files; an iterable of their events.",
	.tp_basicsize = sizeof(struct trace),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
	.tp_new = trace_new,
	.tp_dealloc = (destructor)trace_dealloc,
	.tp_traverse = (traverseproc)trace_traverse,
	.tp_clear = (inquiry)trace_clear,
	.tp_iter = (getiterfunc)trace_iter,
	.tp_methods = trace_methods,
	.tp_getset = trace_getset,
};

static int
events_traverse(struct events *e, visitproc visit, void *arg)
{
	if (e->reading != NULL)
		Py_VISIT(e->reading->callable);
	return 0;
}

static int
events_clear(struct events *e)
{
	struct reading *r = e->reading;

	e->reading = NULL;
	reading_free(r);
	return 0;
}

static void
events_dealloc(struct events *e)
{
	PyObject_GC_UnTrack(e);
	events_clear(e);
	PyObject_GC_Del(e);
}

static PyObject *
events_next(struct events *e)
{
	struct reading *r = e->reading;
	struct tnf_event ev;
	PyObject *o;
	int n;

	if (r == NULL)
		return NULL;
	if (r->source->closed && !r->ended) {
		PyErr_SetString(PyExc_ValueError, "the trace is closed");
		return NULL;
	}
	if ((n = reading_next(r, &ev, &o)) <= 0)
		return NULL;
	return o != NULL ? o : event_object(r, &ev);
}

PyTypeObject events_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "tnf.Events",
	.tp_doc = "Iterator over the events of a trace, in order of time.",
	.tp_basicsize = sizeof(struct events),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
	    Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.tp_dealloc = (destructor)events_dealloc,
	.tp_traverse = (traverseproc)events_traverse,
	.tp_clear = (inquiry)events_clear,
	.tp_iter = PyObject_SelfIter,
	.tp_iternext = (iternextfunc)events_next,
};

/*
 * record.c - probes of a Python program: <tnf/runtime.h> as an object.
 *
 * libtnfprobe is that of the process: the copy that the program or prex has loaded,
 * otherwise the one that the dynamic linker finds.  It is not linked, since a program must
 * have only the copy that its controller knows.
 */
#include "python/tnfpy.h"

#include <dlfcn.h>
#include <structmember.h>

#include <tnf/runtime.h>

typedef struct tnf_probe_control *define_fn(const char *, const char *, const char *,
    unsigned, const struct tnf_probe_argument_type *);
typedef void hit_fn(struct tnf_probe_control *, const struct tnf_probe_value *);

static define_fn *define_probe;
static hit_fn *hit_probe;
static struct tnf_probe_control off;

struct recorder {
	PyObject_HEAD
	vectorcallfunc	 call;
	struct tnf_probe_control *probe;	/* &off: there is no library */
	PyObject	*name;
	PyObject	*names;			/* of the arguments: a tuple */
	unsigned	 n;
	tnf_uint32_t	 kinds[TNF_ARGUMENTS_MAX];
};

/* Objects and buffers borrowed from values until the probe's hit is over. */
struct borrowed {
	PyObject	*object[TNF_ARGUMENTS_MAX];	/* or NULL */
	Py_buffer	 buffer[TNF_ARGUMENTS_MAX];	/* obj NULL: none */
};

static void
find_library(void)
{
	void *lib = RTLD_DEFAULT;

	if (define_probe != NULL)
		return;
	if (dlsym(lib, "tnf_probe_define") == NULL)
		lib = dlopen("libtnfprobe.so.1", RTLD_NOW | RTLD_GLOBAL);
	*(void **)&hit_probe = dlsym(lib, "tnf_probe_hit");
	if (hit_probe != NULL)
		*(void **)&define_probe = dlsym(lib, "tnf_probe_define");
}

static void
set_integer(struct tnf_probe_value *v, PyObject *o)
{
	PyObject *number = PyNumber_Index(o);

	if (number != NULL)
		v->u.u = PyLong_AsUnsignedLongLongMask(number);
	Py_XDECREF(number);
}

static void
set_text(struct tnf_probe_value *v, PyObject *o, PyObject **ret_owned)
{
	PyObject *text = PyUnicode_Check(o) ? Py_NewRef(o) : PyObject_Str(o);
	Py_ssize_t len = 0;

	if (text == NULL)
		return;
	*ret_owned = text;
	v->u.text = PyUnicode_AsUTF8AndSize(text, &len);
	if (v->u.text == NULL) {	/* lone surrogates */
		PyErr_Clear();
		*ret_owned = PyUnicode_AsEncodedString(text, "utf-8",
		    "surrogateescape");
		if (*ret_owned == NULL) {
			PyErr_Clear();
			*ret_owned = PyUnicode_AsEncodedString(text, "utf-8",
			    "replace");
		}
		Py_DECREF(text);
		if (*ret_owned == NULL)
			return;
		v->u.text = PyBytes_AS_STRING(*ret_owned);
		len = PyBytes_GET_SIZE(*ret_owned);
	}
	v->size = (size_t)len;
}

static void
set_value(const struct recorder *r, unsigned i, PyObject *o,
    struct tnf_probe_value *v, struct borrowed *b)
{
	if (o == Py_None)
		return;
	switch (r->kinds[i]) {
	case TNF_ARG_FLOAT32:
	case TNF_ARG_FLOAT64:
		v->u.d = PyFloat_AsDouble(o);
		if (PyErr_Occurred())
			v->u.d = 0;
		break;
	case TNF_ARG_STRING:
	case TNF_ARG_TEXT:
		set_text(v, o, &b->object[i]);
		break;
	case TNF_ARG_BLOB:
		if (PyObject_GetBuffer(o, &b->buffer[i], PyBUF_SIMPLE) < 0) {
			b->buffer[i].obj = NULL;
			break;
		}
		v->u.data = b->buffer[i].len > 0 ? b->buffer[i].buf : "";
		v->size = (size_t)b->buffer[i].len;
		break;
	default:
		set_integer(v, o);
		break;
	}
	/* Errors are hidden from the program. */
	PyErr_Clear();
}

static void
give_back(struct borrowed *b, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		Py_XDECREF(b->object[i]);
		if (b->buffer[i].obj != NULL)
			PyBuffer_Release(&b->buffer[i]);
	}
}

/* The index of the argument with that name; n: there is none. */
static unsigned
place_of(const struct recorder *r, PyObject *name)
{
	unsigned i;

	for (i = 0; i < r->n; i++)
		if (PyTuple_GET_ITEM(r->names, i) == name)
			return i;
	for (i = 0; i < r->n; i++)
		if (PyUnicode_Compare(PyTuple_GET_ITEM(r->names, i), name) == 0)
			return i;
	return r->n;
}

static void __attribute__((noinline))
record_event(const struct recorder *r, PyObject *const *args, size_t n, PyObject *names)
{
	struct tnf_probe_value values[TNF_ARGUMENTS_MAX];
	struct borrowed b;
	PyObject *type, *value, *trace;
	unsigned i, at, named = names == NULL ? 0 : (unsigned)PyTuple_GET_SIZE(names);

	PyErr_Fetch(&type, &value, &trace);
	memset(values, 0, r->n * sizeof(values[0]));
	memset(b.object, 0, r->n * sizeof(b.object[0]));
	for (i = 0; i < r->n; i++)
		b.buffer[i].obj = NULL;
	for (i = 0; i < n && i < r->n; i++)
		set_value(r, i, args[i], &values[i], &b);
	for (i = 0; i < named; i++) {
		at = place_of(r, PyTuple_GET_ITEM(names, i));
		if (at < r->n && b.object[at] == NULL && b.buffer[at].obj == NULL)
			set_value(r, at, args[n + i], &values[at], &b);
	}
	hit_probe(r->probe, values);
	give_back(&b, r->n);
	PyErr_Restore(type, value, trace);
}

static PyObject *
recorder_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
	struct recorder *r = (struct recorder *)self;

	if (tnf_probe_is_on(r->probe))
		record_event(r, args, (size_t)PyVectorcall_NARGS(nargsf), names);
	Py_RETURN_NONE;
}

static int
recorder_bool(PyObject *self)
{
	return tnf_probe_is_on(((struct recorder *)self)->probe);
}

/* Reads the arguments of the definition: ((name, kind), ...). */
static int
read_members(struct recorder *r, PyObject *members,
    struct tnf_probe_argument_type *types)
{
	Py_ssize_t n = PySequence_Size(members), i;
	PyObject *name;

	if (n < 0 || n > (Py_ssize_t)TNF_ARGUMENTS_MAX) {
		if (n >= 0)
			PyErr_Format(PyExc_ValueError, "%zd arguments: at most %u", n,
			    TNF_ARGUMENTS_MAX);
		return -1;
	}
	if ((r->names = PyTuple_New(n)) == NULL)
		return -1;
	for (i = 0; i < n; i++) {
		PyObject *pair = PySequence_GetItem(members, i);

		if (pair == NULL || !PyArg_ParseTuple(pair, "UI", &name, &types[i].kind)) {
			Py_XDECREF(pair);
			return -1;
		}
		Py_INCREF(name);
		Py_DECREF(pair);
		PyUnicode_InternInPlace(&name);
		PyTuple_SET_ITEM(r->names, i, name);
		if ((types[i].name = PyUnicode_AsUTF8(name)) == NULL)
			return -1;
		r->kinds[i] = types[i].kind;
	}
	r->n = (unsigned)n;
	return 0;
}

static PyObject *
recorder_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
	struct tnf_probe_argument_type types[TNF_ARGUMENTS_MAX];
	const char *name, *keys, *detail;
	PyObject *members, *py_name;
	struct recorder *r;

	if (!PyArg_ParseTuple(args, "UssO:Recorder", &py_name, &keys, &detail, &members) ||
	    (name = PyUnicode_AsUTF8(py_name)) == NULL ||
	    (r = (struct recorder *)type->tp_alloc(type, 0)) == NULL)
		return NULL;
	r->call = recorder_call;
	r->name = Py_NewRef(py_name);
	find_library();
	if (read_members(r, members, types) < 0) {
		Py_DECREF(r);
		return NULL;
	}
	r->probe = define_probe == NULL ? &off : define_probe(name, keys, detail, r->n, types);
	if (r->probe != NULL)
		return (PyObject *)r;
	if (errno == ENOMEM)
		PyErr_NoMemory();
	else
		PyErr_Format(PyExc_ValueError, "%U: names, keys and detail have no control "
		    "characters, names no blanks; neither has semicolons", py_name);
	Py_DECREF(r);
	return NULL;
}

static void
recorder_dealloc(PyObject *self)
{
	struct recorder *r = (struct recorder *)self;

	Py_XDECREF(r->name);
	Py_XDECREF(r->names);
	Py_TYPE(self)->tp_free(self);
}

static PyObject *
recorder_available(PyObject *self, void *unused)
{
	return PyBool_FromLong(((struct recorder *)self)->probe != &off);
}

static PyObject *
recorder_name(PyObject *self, void *unused)
{
	return Py_NewRef(((struct recorder *)self)->name);
}

static PyGetSetDef recorder_getset[] = {
	{ "available", recorder_available, NULL, "libtnfprobe is there", NULL },
	{ "name", recorder_name, NULL, "of the probe", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyNumberMethods recorder_number = { .nb_bool = recorder_bool };

PyTypeObject recorder_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "tnf.Recorder",
	.tp_doc = "A probe of this program.  Made by tnf.probe().",
	.tp_basicsize = sizeof(struct recorder),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
	.tp_new = recorder_new,
	.tp_dealloc = recorder_dealloc,
	.tp_call = PyVectorcall_Call,
	.tp_vectorcall_offset = offsetof(struct recorder, call),
	.tp_as_number = &recorder_number,
	.tp_getset = recorder_getset,
};

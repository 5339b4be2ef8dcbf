/*
 * event.c - tnf.Event, tnf.Probe and values: copies that do not need the trace.
 */
#include "python/tnfpy.h"

#include "format/attributes.h"

#include <structmember.h>

struct probe {
	PyObject_HEAD
	PyObject *name;
	PyObject *file;
	PyObject *keys;		/* tuple of str */
	PyObject *attributes;	/* dict, not to be changed */
	PyObject *members;	/* tuple of (name, type) */
	PyObject *index;	/* dict: name to number of the member */
};

struct event {
	PyObject_VAR_HEAD	/* ob_size: members */
	long long	   time;
	unsigned long long tid;
	unsigned	   lwpid;
	int		   pid;
	int		   cpu;
	char		   kernel;
	PyObject	  *probe;
	PyObject	  *item[1];
};

static PyObject *
words_tuple(const char *s)
{
	PyObject *str = tnfpy_cstr(s), *list, *tuple;

	list = str != NULL ? PyUnicode_Split(str, NULL, -1) : NULL;
	tuple = list != NULL ? PyList_AsTuple(list) : NULL;
	Py_XDECREF(list);
	Py_XDECREF(str);
	return tuple;
}

/* Adds an attribute; of several with one name the first counts. */
static int
attribute_put(PyObject *dict, const struct attribute *a)
{
	PyObject *name = tnfpy_str(a->name, a->name_len);
	PyObject *value = tnfpy_str(a->value, a->value_len);
	int err = -1;

	if (name != NULL && value != NULL)
		err = PyDict_SetDefault(dict, name, value) == NULL ? -1 : 0;
	Py_XDECREF(name);
	Py_XDECREF(value);
	return err;
}

static PyObject *
attributes_dict(const char *s)
{
	PyObject *dict = PyDict_New(), *proxy;
	struct attribute a;

	while (dict != NULL && s != NULL && attribute_next(&s, false, &a))
		if (attribute_put(dict, &a) < 0)
			Py_CLEAR(dict);
	proxy = dict != NULL ? PyDictProxy_New(dict) : NULL;
	Py_XDECREF(dict);
	return proxy;
}

static PyObject *
members_tuple(const struct tnf_probe *p)
{
	PyObject *tuple = PyTuple_New(p->n_members), *o;

	for (unsigned i = 0; tuple != NULL && i < p->n_members; i++) {
		o = Py_BuildValue("(NN)", tnfpy_cstr(p->members[i].name),
		    tnfpy_cstr(p->members[i].type->name));
		if (o == NULL)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, o);
	}
	return tuple;
}

static PyObject *
index_dict(PyObject *members)
{
	PyObject *dict = PyDict_New(), *number;

	for (Py_ssize_t i = 0; dict != NULL && i < PyTuple_GET_SIZE(members); i++) {
		number = PyLong_FromSsize_t(i);
		if (number == NULL || PyDict_SetDefault(dict, PyTuple_GET_ITEM(
		    PyTuple_GET_ITEM(members, i), 0), number) == NULL)
			Py_CLEAR(dict);
		Py_XDECREF(number);
	}
	return dict;
}

PyObject *
probe_object(const struct tnf_probe *p, PyObject *file)
{
	struct probe *o = PyObject_New(struct probe, &probe_type);

	if (o == NULL)
		return NULL;
	o->file = Py_NewRef(file);
	o->name = tnfpy_cstr(p->name);
	o->keys = words_tuple(p->keys);
	o->attributes = attributes_dict(p->attrs);
	o->members = members_tuple(p);
	o->index = o->members != NULL ? index_dict(o->members) : NULL;
	if (o->name == NULL || o->keys == NULL || o->attributes == NULL ||
	    o->index == NULL)
		Py_CLEAR(o);
	return (PyObject *)o;
}

static void
probe_dealloc(struct probe *o)
{
	Py_XDECREF(o->name);
	Py_XDECREF(o->file);
	Py_XDECREF(o->keys);
	Py_XDECREF(o->attributes);
	Py_XDECREF(o->members);
	Py_XDECREF(o->index);
	PyObject_Free(o);
}

static PyObject *
probe_repr(struct probe *o)
{
	return PyUnicode_FromFormat("<tnf.Probe %R>", o->name);
}

static PyMemberDef probe_members[] = {
	{ "name", T_OBJECT, offsetof(struct probe, name), READONLY, "its name" },
	{ "file", T_OBJECT, offsetof(struct probe, file), READONLY,
	    "name of the trace file that defines it" },
	{ "keys", T_OBJECT, offsetof(struct probe, keys), READONLY,
	    "tuple of its keys" },
	{ "attributes", T_OBJECT, offsetof(struct probe, attributes), READONLY,
	    "its attributes by name, as str; 'file' and 'line' are of the source" },
	{ "members", T_OBJECT, offsetof(struct probe, members), READONLY,
	    "tuple of (name, type), one an argument" },
	{ .name = NULL }
};

PyTypeObject probe_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "tnf.Probe",
	.tp_doc = "A probe as a file defines it.",
	.tp_basicsize = sizeof(struct probe),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.tp_dealloc = (destructor)probe_dealloc,
	.tp_repr = (reprfunc)probe_repr,
	.tp_members = probe_members,
};

/* Fills in the members; members that cannot be read are None. */
static int
event_fill(struct event *o, struct reading *r, const struct tnf_event *ev)
{
	struct tnf_value v;

	for (Py_ssize_t i = 0; i < Py_SIZE(o); i++) {
		if (tnf_event_value(ev, (unsigned)i, &v))
			o->item[i] = value_object(r, ev->file, &v);
		else
			o->item[i] = Py_NewRef(Py_None);
		if (o->item[i] == NULL)
			return -1;
	}
	return 0;
}

PyObject *
event_object(struct reading *r, const struct tnf_event *ev)
{
	Py_ssize_t n = ev->probe->n_members;
	PyObject *probe = reading_probe(r, ev->probe);
	struct event *o;

	if (probe == NULL || (o = PyObject_GC_NewVar(struct event, &event_type,
	    n)) == NULL)
		return NULL;
	for (Py_ssize_t i = 0; i < n; i++)
		o->item[i] = NULL;
	o->probe = Py_NewRef(probe);
	o->time = ev->time;
	o->tid = ev->tid;
	o->lwpid = ev->lwpid;
	o->pid = ev->pid;
	o->cpu = ev->cpu;
	o->kernel = ev->kernel;
	if (event_fill(o, r, ev) < 0) {
		Py_DECREF(o);
		return NULL;
	}
	PyObject_GC_Track(o);
	return (PyObject *)o;
}

static int
event_traverse(struct event *o, visitproc visit, void *arg)
{
	Py_VISIT(o->probe);
	for (Py_ssize_t i = 0; i < Py_SIZE(o); i++)
		Py_VISIT(o->item[i]);
	return 0;
}

static void
event_dealloc(struct event *o)
{
	PyObject_GC_UnTrack(o);
	Py_TRASHCAN_BEGIN(o, event_dealloc)
	Py_XDECREF(o->probe);
	for (Py_ssize_t i = 0; i < Py_SIZE(o); i++)
		Py_XDECREF(o->item[i]);
	PyObject_GC_Del(o);
	Py_TRASHCAN_END
}

/* The member of that name, borrowed; NULL without an exception: there is none. */
static PyObject *
event_find(struct event *o, PyObject *name)
{
	PyObject *n = PyDict_GetItemWithError(((struct probe *)o->probe)->index,
	    name);

	return n != NULL ? o->item[PyLong_AsSsize_t(n)] : NULL;
}

static PyObject *
event_subscript(struct event *o, PyObject *name)
{
	PyObject *value = event_find(o, name);

	if (value == NULL && !PyErr_Occurred())
		PyErr_SetObject(PyExc_KeyError, name);
	return Py_XNewRef(value);
}

static int
event_contains(struct event *o, PyObject *name)
{
	if (event_find(o, name) != NULL)
		return 1;
	return PyErr_Occurred() ? -1 : 0;
}

static PyObject *
event_get(struct event *o, PyObject *args)
{
	PyObject *name, *other = Py_None, *value;

	if (!PyArg_ParseTuple(args, "O|O:get", &name, &other))
		return NULL;
	if ((value = event_find(o, name)) == NULL && PyErr_Occurred())
		return NULL;
	return Py_NewRef(value != NULL ? value : other);
}

static PyObject *
event_args(struct event *o, void *closure)
{
	PyObject *dict = PyDict_New(), *index = ((struct probe *)o->probe)->index;
	PyObject *name, *n;
	Py_ssize_t at = 0;

	while (dict != NULL && PyDict_Next(index, &at, &name, &n))
		if (PyDict_SetItem(dict, name, o->item[PyLong_AsSsize_t(n)]) < 0)
			Py_CLEAR(dict);
	return dict;
}

static PyObject *
event_cpu(struct event *o, void *closure)
{
	if (o->cpu < 0)
		Py_RETURN_NONE;
	return PyLong_FromLong(o->cpu);
}

static PyObject *
event_repr(struct event *o)
{
	PyObject *args = event_args(o, NULL), *text;

	if (args == NULL)
		return NULL;
	text = PyUnicode_FromFormat("<tnf.Event %lld %d/%u %U %R>", o->time,
	    o->pid, o->lwpid, ((struct probe *)o->probe)->name, args);
	Py_DECREF(args);
	return text;
}

static PyMemberDef event_members[] = {
	{ "time", T_LONGLONG, offsetof(struct event, time), READONLY,
	    "ns; the writer's CLOCK_MONOTONIC" },
	{ "pid", T_INT, offsetof(struct event, pid), READONLY, "process" },
	{ "lwpid", T_UINT, offsetof(struct event, lwpid), READONLY, "thread" },
	{ "tid", T_ULONGLONG, offsetof(struct event, tid), READONLY,
	    "thread as its library knows it; kernel: address of the task" },
	{ "kernel", T_BOOL, offsetof(struct event, kernel), READONLY,
	    "recorded by the kernel" },
	{ "probe", T_OBJECT, offsetof(struct event, probe), READONLY, "tnf.Probe" },
	{ .name = NULL }
};

static PyGetSetDef event_getset[] = {
	{ "cpu", (getter)event_cpu, NULL, "CPU, or None: the file does not say", NULL },
	{ "args", (getter)event_args, NULL, "dict of the members, made anew", NULL },
	{ .name = NULL }
};

static PyMethodDef event_methods[] = {
	{ "get", (PyCFunction)event_get, METH_VARARGS,
	    "get(name, default=None): a member, or 'default' if there is none" },
	{ .ml_name = NULL }
};

static PyMappingMethods event_mapping = {
	.mp_subscript = (binaryfunc)event_subscript,
};

static PySequenceMethods event_sequence = {
	.sq_contains = (objobjproc)event_contains,
};

PyTypeObject event_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "tnf.Event",
	.tp_doc = "An event; event[\"name\"] is a member of it.\n\n"
	    "It is a copy: it stays as it is when the trace goes on or is closed.",
	.tp_basicsize = offsetof(struct event, item),
	.tp_itemsize = sizeof(PyObject *),
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
	    Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.tp_dealloc = (destructor)event_dealloc,
	.tp_traverse = (traverseproc)event_traverse,
	.tp_repr = (reprfunc)event_repr,
	.tp_as_mapping = &event_mapping,
	.tp_as_sequence = &event_sequence,
	.tp_members = event_members,
	.tp_getset = event_getset,
	.tp_methods = event_methods,
};

/* The file of a value, and the depth reached in it. */
struct way {
	const struct tnf_file *file;
	struct nest	 in;
};

static PyObject *value_at(struct way *, const struct tnf_value *);

/* Sets a member; of two with the same name the first counts. */
static int
set_member(PyObject *dict, const char *name, PyObject *value)
{
	PyObject *key = value != NULL ? tnfpy_cstr(name) : NULL;
	int err = -1;

	if (key != NULL) {
		PyUnicode_InternInPlace(&key);
		err = PyDict_SetDefault(dict, key, value) == NULL ? -1 : 0;
	}
	Py_XDECREF(key);
	Py_XDECREF(value);
	return err;
}

static PyObject *
value_record(struct way *w, const struct tnf_value *v)
{
	PyObject *dict = PyDict_New();
	struct tnf_value item;

	if (dict == NULL || set_member(dict, "$type",
	    tnfpy_cstr(v->u.r.type->name)) < 0)
		goto fail;
	for (unsigned i = 0; nest_item(&w->in, w->file, v, i, &item); i++)
		if (set_member(dict, v->u.r.type->members[i].name,
		    value_at(w, &item)) < 0)
			goto fail;
	return dict;
fail:
	Py_XDECREF(dict);
	return NULL;
}

static PyObject *
value_array(struct way *w, const struct tnf_value *v)
{
	PyObject *list = PyList_New(0), *o;
	struct tnf_value item;
	int err = 0;

	for (unsigned i = 0; list != NULL && err == 0 &&
	    nest_item(&w->in, w->file, v, i, &item); i++) {
		o = value_at(w, &item);
		err = o == NULL ? -1 : PyList_Append(list, o);
		Py_XDECREF(o);
	}
	if (err < 0)
		Py_CLEAR(list);
	return list;
}

/* The characters of a value; a cut value is of a class of its own (tnf/__init__.py). */
static PyObject *
value_chars(const struct tnf_value *v)
{
	PyObject *whole, *module, *cut = NULL;

	whole = v->type->blob ? PyBytes_FromStringAndSize(v->u.s.chars,
	    (Py_ssize_t)v->u.s.len) : tnfpy_str(v->u.s.chars, v->u.s.len);
	if (whole == NULL || !v->cut)
		return whole;
	if ((module = PyImport_ImportModule("tnf")) != NULL)
		cut = PyObject_CallMethod(module, v->type->blob ? "CutBytes" :
		    "CutStr", "O", whole);
	Py_XDECREF(module);
	Py_DECREF(whole);
	return cut;
}

static PyObject *
value_scalar(const struct tnf_value *v)
{
	char c;

	switch (v->kind) {
	case TNF_K_CHAR:
		c = (char)v->u.i;
		return tnfpy_str(&c, 1);
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		return PyLong_FromLongLong(v->u.i);
	case TNF_K_UINT8: case TNF_K_UINT16: case TNF_K_UINT32: case TNF_K_UINT64:
		return PyLong_FromUnsignedLongLong(v->u.u);
	case TNF_K_FLOAT32: case TNF_K_FLOAT64:
		return PyFloat_FromDouble(v->u.d);
	case TNF_K_STRING:
		return value_chars(v);
	default:
		return tnfpy_cstr(v->type->name);
	}
}

static PyObject *
value_at(struct way *w, const struct tnf_value *v)
{
	if (v->null)
		Py_RETURN_NONE;
	if (v->kind != TNF_K_STRUCT && v->kind != TNF_K_ARRAY)
		return value_scalar(v);
	if (!nest_enter(&w->in, v))
		Py_RETURN_NONE;
	PyObject *o = v->kind == TNF_K_STRUCT ? value_record(w, v) : value_array(w, v);
	nest_leave(&w->in);
	return o;
}

PyObject *
value_object(struct reading *r, const struct tnf_file *file,
    const struct tnf_value *v)
{
	struct way w = { file, { .budget = &r->budget } };
	PyObject *o = value_at(&w, v);

	r->partial |= w.in.partial;
	return o;
}

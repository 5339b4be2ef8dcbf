/*
 * value.c - values of a trace as Python objects.
 */
#include "python/tnfpy.h"

/* Where a value is, and how deep we are in it. */
struct way {
	const struct tnf_file *file;
	struct nest	 in;
};

static PyObject *value_at(struct way *, const struct tnf_value *);

/* The first of two members that are called alike. */
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

/* One that has been cut is of a class that says so (tnf/__init__.py). */
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

	r->cut |= w.in.cut;
	return o;
}

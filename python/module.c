/*
 * module.c - the module tnf._tnf: exceptions and types.
 */
#include "python/tnfpy.h"

PyObject *tnfpy_error, *tnfpy_damage_warning, *tnfpy_loss_warning;

PyObject *
tnfpy_str(const char *chars, size_t len)
{
	return PyUnicode_DecodeUTF8(chars, (Py_ssize_t)len, "surrogateescape");
}

PyObject *
tnfpy_cstr(const char *s)
{
	if (s == NULL)
		Py_RETURN_NONE;
	return tnfpy_str(s, strlen(s));
}

/* An instance of 'type' with a text and two attributes; steals nothing. */
static PyObject *
make_instance(PyObject *type, PyObject *text, PyObject *file,
    const char *name, PyObject *value)
{
	PyObject *e = PyObject_CallOneArg(type, text);

	if (e == NULL || PyObject_SetAttrString(e, "file", file) < 0 ||
	    PyObject_SetAttrString(e, name, value) < 0)
		Py_CLEAR(e);
	return e;
}

PyObject *
tnfpy_raise_text(PyObject *file, const char *reason)
{
	PyObject *why = PyUnicode_FromString(reason), *text = NULL, *e = NULL;

	if (why != NULL)
		text = PyUnicode_FromFormat("%U: %U", file, why);
	if (text != NULL)
		e = make_instance(tnfpy_error, text, file, "reason", why);
	if (e != NULL)
		PyErr_SetObject(tnfpy_error, e);
	Py_XDECREF(e);
	Py_XDECREF(text);
	Py_XDECREF(why);
	return NULL;
}

PyObject *
tnfpy_raise(PyObject *file, int code)
{
	if (code == TNF_ERR_ALLOCFAIL || code == ENOMEM)
		return PyErr_NoMemory();
	if (code > TNF_ERRNO_MAX)
		return tnfpy_raise_text(file, tnf_error_message(code));
	errno = code;
	return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, file);
}

/* Calls warnings.warn() for the caller of tnf.open(). */
static int
warn_instance(PyObject *warning)
{
	PyObject *warnings, *done = NULL;

	if (warning == NULL)
		return -1;
	if ((warnings = PyImport_ImportModule("warnings")) != NULL)
		done = PyObject_CallMethod(warnings, "warn", "OOi", warning,
		    Py_None, 2);
	Py_XDECREF(warnings);
	Py_XDECREF(done);
	Py_DECREF(warning);
	return done != NULL ? 0 : -1;
}

int
tnfpy_warn_damage(PyObject *file, PyObject *offset, PyObject *reason)
{
	char place[48] = "";

	if (offset != Py_None)
		snprintf(place, sizeof place, "block at 0x%llx: ",
		    PyLong_AsUnsignedLongLong(offset));
	PyObject *text = PyUnicode_FromFormat("%U: %s%U", file, place, reason);
	if (text == NULL)
		return -1;
	PyObject *w = make_instance(tnfpy_damage_warning, text, file, "offset", offset);
	Py_DECREF(text);
	if (w != NULL && PyObject_SetAttrString(w, "text", reason) < 0)
		Py_CLEAR(w);
	return warn_instance(w);
}

int
tnfpy_warn_loss(PyObject *file, PyObject *lost, PyObject *reason)
{
	PyObject *text = PyUnicode_FromFormat("%U: %U", file, reason), *w;

	if (text == NULL)
		return -1;
	w = make_instance(tnfpy_loss_warning, text, file, "lost", lost);
	Py_DECREF(text);
	return warn_instance(w);
}

static int
add_class(PyObject *m, PyObject **ret, const char *name, const char *doc,
    PyObject *base, const char *attributes)
{
	PyObject *dict = PyDict_New();
	const char *short_name = strrchr(name, '.') + 1;
	char word[16];
	size_t n;

	for (; dict != NULL && *attributes != '\0'; attributes += n + (attributes[n] == ' ')) {
		n = strcspn(attributes, " ");
		snprintf(word, sizeof word, "%.*s", (int)n, attributes);
		if (PyDict_SetItemString(dict, word, Py_None) < 0)
			Py_CLEAR(dict);
	}
	if (dict == NULL)
		return -1;
	*ret = PyErr_NewExceptionWithDoc(name, doc, base, dict);
	Py_DECREF(dict);
	return *ret == NULL ? -1 : PyModule_AddObjectRef(m, short_name, *ret);
}

static int
add_classes(PyObject *m)
{
	if (add_class(m, &tnfpy_error, "tnf.Error",
	    "A file is not a sound TNF file.  file: its name; reason: why.",
	    PyExc_Exception, "file reason") < 0 ||
	    add_class(m, &tnfpy_damage_warning, "tnf.DamageWarning",
	    "Part of a file cannot be read.  file: its name; offset: of the first\n"
	    "block that is left out, or None; text: why, and how much.",
	    PyExc_UserWarning, "file offset text") < 0 ||
	    add_class(m, &tnfpy_loss_warning, "tnf.LossWarning",
	    "Events are missing.  file: its name; lost: their number by reason.",
	    PyExc_UserWarning, "file lost") < 0)
		return -1;
	return 0;
}

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "tnf._tnf",
	.m_doc = "The part of the package tnf that is written in C.",
	.m_size = -1,
};

PyMODINIT_FUNC PyInit__tnf(void);

PyMODINIT_FUNC
PyInit__tnf(void)
{
	PyObject *m = PyModule_Create(&definition);

	if (m == NULL || add_classes(m) < 0 || info_begin(m) < 0 ||
	    PyModule_AddType(m, &trace_type) < 0 ||
	    PyModule_AddType(m, &events_type) < 0 ||
	    PyModule_AddType(m, &event_type) < 0 ||
	    PyModule_AddType(m, &probe_type) < 0 ||
	    PyModule_AddType(m, &recorder_type) < 0)
		Py_CLEAR(m);
	return m;
}

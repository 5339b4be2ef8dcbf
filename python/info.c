/*
 * info.c - facts about each file: tnf.File.
 */
#include "analysis/attrs.h"
#include "format/core.h"
#include "python/tnfpy.h"

enum { F_NAME = 0, F_DAMAGE = 8 };	/* indices in fields[] */

static PyStructSequence_Field fields[] = {
	{ "name", "the path it was opened by" },
	{ "kind", "'process', 'kernel', or 'original' (Solaris)" },
	{ "events", "events in it now" },
	{ "first", "time of the first event, or None" },
	{ "last", "time of the last event, or None" },
	{ "overwritten", "events whose time is gone with an overwritten record" },
	{ "laps", "how often the buffer was gone through" },
	{ "damaged", "blocks that cannot be read" },
	{ "damage", "list of (offset, text)" },
	{ "lost", "dict: reason to number of events the writer could not record" },
	{ "pid", "of the first writer; None: kernel, or not told" },
	{ "host", "name of the machine, or None" },
	{ "facts", "dict: what the file tells about the machine" },
	{ "boot_id", "of the machine's boot (str), or None" },
	{ "wall_offset", "ns to be added to an event's time for ns since 1970, or None" },
	{ "size", "bytes that the header declares" },
	{ "size_real", "bytes of the file" },
	{ "word_bits", "of the writer: 32 or 64" },
	{ "swapped", "written in the other byte order" },
	{ NULL, NULL },
};

static PyStructSequence_Desc desc = {
	.name = "tnf.File",
	.doc = "A trace file in figures.",
	.fields = fields,
	.n_in_sequence = sizeof fields / sizeof fields[0] - 1,
};

static PyTypeObject *file_type;

int
info_begin(PyObject *m)
{
	file_type = PyStructSequence_NewType(&desc);
	return file_type == NULL ? -1 :
	    PyModule_AddObjectRef(m, "File", (PyObject *)file_type);
}

/* Adds an entry and takes over 'value' (NULL: an exception is set). */
static int
dict_put(PyObject *dict, const char *name, PyObject *value)
{
	int err = value == NULL ? -1 : PyDict_SetItemString(dict, name, value);

	Py_XDECREF(value);
	return err;
}

static PyObject *
lost_dict(const uint64_t *lost)
{
	PyObject *dict = PyDict_New();

	for (unsigned i = 0; dict != NULL && lost != NULL && i < TNF_LOST_REASONS; i++)
		if (lost[i] != 0 && dict_put(dict, loss_name(i) != NULL ?
		    loss_name(i) : "other",
		    PyLong_FromUnsignedLongLong(lost[i])) < 0)
			Py_CLEAR(dict);
	return dict;
}

static PyObject *
facts_dict(const tnf_context_t *c)
{
	static const char *const names[] = { "host", "system", "release",
	    "version", "machine", "boot", "cpus", "zone", "crashed", "missing", "printk" };
	PyObject *dict = PyDict_New();
	const char *s;

	for (size_t i = 0; dict != NULL && c != NULL &&
	    i < sizeof names / sizeof names[0]; i++) {
		s = tnf_context_fact(c, names[i]);
		if (s != NULL && dict_put(dict, names[i], tnfpy_cstr(s)) < 0)
			Py_CLEAR(dict);
	}
	return dict;
}

static PyObject *
boot_id(const struct tnf_ext *x)
{
	static const tnf_uint8_t none[sizeof x->boot_id];
	char text[TNF_BOOT_ID_TEXT];

	if (x == NULL || memcmp(x->boot_id, none, sizeof none) == 0)
		Py_RETURN_NONE;
	tnf_boot_id_text(x->boot_id, text);
	return PyUnicode_FromString(text);
}

/* The clock's offset, or None if it is 146 years or more, so that adding it to an event's
   time is safe. */
static PyObject *
wall_offset(const struct source_file *f, const struct tnf_ext *x)
{
	int64_t clock = INT64_MAX;

	if ((f->context == NULL || !tnf_context_wall(f->context, 0, &clock)) &&
	    x != NULL && x->start_wall != 0 &&
	    __builtin_sub_overflow(x->start_wall, x->start_mono, &clock))
		clock = INT64_MAX;
	if (clock < -(INT64_C(1) << 62) || clock > INT64_C(1) << 62)
		Py_RETURN_NONE;
	return PyLong_FromLongLong(clock);
}

/* The rows of 'damage' for the file of that number. */
static PyObject *
damage_of(PyObject *damage, Py_ssize_t number)
{
	PyObject *list = PyList_New(0), *row, *part;

	for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(damage); i++) {
		row = PyList_GET_ITEM(damage, i);
		if (PyLong_AsSsize_t(PyTuple_GET_ITEM(row, 0)) != number)
			continue;
		part = PyTuple_GetSlice(row, 1, 3);
		if (part == NULL || PyList_Append(list, part) < 0)
			Py_CLEAR(list);
		Py_XDECREF(part);
	}
	return list;
}

static PyObject *
time_of(const struct tnf_summary *sum, int64_t time)
{
	if (sum->events == 0)
		Py_RETURN_NONE;
	return PyLong_FromLongLong(time);
}

static const char *
kind_of(const struct tnf_ext *x)
{
	if (x == NULL)
		return "original";
	return x->kind == TNF_EXT_KERNEL ? "kernel" : "process";
}

/* A tuple filled field by field; after a NULL value it stays NULL, with the exception set. */
struct row {
	PyObject	*tuple;
	Py_ssize_t	 n;
};

static void
row_add(struct row *r, PyObject *value)
{
	if (value == NULL)
		Py_CLEAR(r->tuple);
	if (r->tuple == NULL)
		Py_XDECREF(value);
	else
		PyStructSequence_SetItem(r->tuple, r->n++, value);
}

static PyObject *
info_file(struct source_file *f, struct tnf_file *file, PyObject *damage)
{
	const struct tnf_ext *x = file != NULL ? tnf_file_ext(file) : NULL;
	struct row r = { PyStructSequence_New(file_type), 0 };
	struct tnf_summary s = { .size = f->size, .size_real = f->size };

	if (file != NULL)
		tnf_file_summary(file, &s);
	row_add(&r, Py_NewRef(f->name));
	row_add(&r, PyUnicode_FromString(kind_of(x)));
	row_add(&r, PyLong_FromUnsignedLongLong(s.events));
	row_add(&r, time_of(&s, s.first));
	row_add(&r, time_of(&s, s.last));
	row_add(&r, PyLong_FromUnsignedLongLong(s.overwritten));
	row_add(&r, PyLong_FromUnsignedLong(s.generation));
	row_add(&r, PyLong_FromUnsignedLongLong(s.damaged));
	row_add(&r, Py_NewRef(damage));
	row_add(&r, lost_dict(x != NULL ? x->lost : NULL));
	row_add(&r, x != NULL && x->kind == TNF_EXT_PROCESS ?
	    PyLong_FromLong(x->pid) : Py_NewRef(Py_None));
	row_add(&r, tnfpy_cstr(f->context != NULL ?
	    tnf_context_fact(f->context, "host") : NULL));
	row_add(&r, facts_dict(f->context));
	row_add(&r, boot_id(x));
	row_add(&r, wall_offset(f, x));
	row_add(&r, PyLong_FromUnsignedLongLong(s.size));
	row_add(&r, PyLong_FromUnsignedLongLong(s.size_real));
	row_add(&r, PyLong_FromUnsignedLong(s.word_bits));
	row_add(&r, PyBool_FromLong(s.swapped));
	return r.tuple;
}

PyObject *
info_files(struct source *s, struct tnf_file **files, PyObject *damage)
{
	PyObject *tuple = PyTuple_New(s->n), *file, *list;

	for (Py_ssize_t i = 0; tuple != NULL && i < s->n; i++) {
		list = damage_of(damage, i);
		file = list == NULL ? NULL : info_file(&s->file[i], files[i], list);
		if (file == NULL)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, file);
		Py_XDECREF(list);
	}
	return tuple;
}

PyObject *
info_losses(struct tnf_file **files, Py_ssize_t n)
{
	PyObject *tuple = PyTuple_New(n), *dict;
	struct losses losses = { NULL, 0 };

	for (Py_ssize_t i = 0; tuple != NULL && i < n; i++) {
		struct loss l = losses_count(&losses, files[i] != NULL ? tnf_file_ext(files[i]) : NULL);

		if ((dict = lost_dict(l.lost)) == NULL)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, i, dict);
	}
	losses_free(&losses);
	return tuple;
}

static int
warn_lost(PyObject *name, PyObject *lost)
{
	unsigned long long sum = 0;
	PyObject *reason, *n, *text;
	Py_ssize_t at = 0;
	int err;

	while (PyDict_Next(lost, &at, &reason, &n))
		sum += PyLong_AsUnsignedLongLongMask(n);
	if (sum == 0)
		return 0;
	text = PyUnicode_FromFormat("%llu events were lost", sum);
	if (text == NULL)
		return -1;
	err = tnfpy_warn_loss(name, lost, text);
	Py_DECREF(text);
	return err;
}

/* Warns from a copy of the list, since handlers of warnings can change the list. */
static int
warn_of(PyObject *file, PyObject *lost)
{
	PyObject *name = PyStructSequence_GetItem(file, F_NAME), *row;
	PyObject *rows = PyList_AsTuple(PyStructSequence_GetItem(file, F_DAMAGE));
	int err = rows != NULL ? 0 : -1;

	for (Py_ssize_t i = 0; err == 0 && i < PyTuple_GET_SIZE(rows); i++) {
		row = PyTuple_GET_ITEM(rows, i);
		err = tnfpy_warn_damage(name, PyTuple_GET_ITEM(row, 0),
		    PyTuple_GET_ITEM(row, 1));
	}
	Py_XDECREF(rows);
	return err < 0 ? err : warn_lost(name, lost);
}

int
info_warn(PyObject *files, PyObject *losses)
{
	PyObject *held = Py_NewRef(files);
	int err = 0;

	for (Py_ssize_t i = 0; err == 0 && i < PyTuple_GET_SIZE(held); i++)
		err = warn_of(PyTuple_GET_ITEM(held, i), PyTuple_GET_ITEM(losses, i));
	Py_DECREF(held);
	return err;
}

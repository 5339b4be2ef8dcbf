/*
 * source.c - opens and maps the files of a trace, and puts them into streams.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

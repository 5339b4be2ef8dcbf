/*
 * tnfpy.h - declarations shared by the parts of the Python module.
 *
 * Everything here runs with the interpreter's lock held.  Python code may run whenever an
 * object is made or freed, so an object that is being changed must not be reachable from
 * Python.
 */
#ifndef PYTHON_TNFPY_H
#define PYTHON_TNFPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <tnf/context.h>

#include "analysis/expr/expr.h"

/* module.c */
extern PyObject *tnfpy_error;		/* tnf.Error */
extern PyObject *tnfpy_damage_warning;	/* tnf.DamageWarning */
extern PyObject *tnfpy_loss_warning;	/* tnf.LossWarning */

/* Raises tnf.Error or an OSError about a file (a str); returns NULL. */
PyObject *tnfpy_raise(PyObject *file, int code);
PyObject *tnfpy_raise_text(PyObject *file, const char *reason);
/* Warns about a file; -1: the warning became an exception. */
int tnfpy_warn_damage(PyObject *file, PyObject *offset, PyObject *text);
int tnfpy_warn_loss(PyObject *file, PyObject *lost, PyObject *text);

/* Bytes of a file as a str; bytes that are not UTF-8 become lone surrogates. */
PyObject *tnfpy_str(const char *chars, size_t len);
PyObject *tnfpy_cstr(const char *);		/* NULL: None */

/*
 * trace.c: the bytes of the files of one Trace, shared by the Trace and its readers; the
 * last user unmaps them.
 */
struct source_file {
	PyObject	*name;		/* str */
	const void	*base;
	size_t		 size;
	tnf_context_t	*context;	/* NULL: the file has none */
	bool		 blank;		/* nothing has been recorded yet */
};

struct source {
	unsigned	 refs;
	bool		 closed;	/* the Trace is closed */
	bool		 salvage;
	bool		 partial_told;	/* the user was told of values that are shown in part */
	Py_ssize_t	 n;
	int64_t		 first;		/* time of the first event; or 0 */
	struct source_file file[];
};

/* Opens a sequence of paths; NULL: an exception is set. */
struct source *source_open(PyObject *files, bool salvage);
void source_release(struct source *);		/* NULL is fine */
/* Makes a stream of all files.  Their damage is appended to 'damage', a list of tuples
   (number of the file, offset, text); NULL: it is not reported. */
tnf_stream_t *source_stream(struct source *, PyObject *damage,
    struct tnf_file **files);

/* info.c: makes a tuple of tnf.File. */
PyObject *info_files(struct source *, struct tnf_file **files,
    PyObject *damage);
/* A tuple with the losses of each file, without those that an earlier file of the same
   buffer has told. */
PyObject *info_losses(struct tnf_file **files, Py_ssize_t n);
int info_warn(PyObject *files, PyObject *losses);
int info_begin(PyObject *module);

/* reading.c: one pass through the events of a source. */
struct reading {
	struct source	*source;
	tnf_stream_t	*stream;
	PyObject	**probes;	/* tnf.Probe by id; NULL: not met */
	unsigned	 n_probes;
	PyObject	*callable;	/* where= as a function or as an expression */
	struct expr	*expr;
	struct expr_source expr_source;
	struct tnf_file	**files;	/* as in the source; NULL: blank */
	uint64_t	 budget;	/* items of records left: analysis/value.h */
	bool		 names;		/* of values are asked for */
	bool		 partial;	/* not all of a value was shown: analysis/value.h */
	bool		 running;	/* a call is in progress */
	bool		 ended;		/* there are no more */
};

/* Takes over 'stream' (may be NULL); returns NULL if an exception is set. */
struct reading *reading_new(struct source *, tnf_stream_t *stream,
    struct tnf_file **files, PyObject *where);
void reading_free(struct reading *);		/* NULL is fine */
/* Reads the next event for which 'where' holds.  Returns 1; 0: there are no more; -1:
   exception.  *object (if not NULL) becomes the tnf.Event if one had to be made, else NULL. */
int reading_next(struct reading *, struct tnf_event *, PyObject **object);
/* The context of the file; NULL: it has none. */
const tnf_context_t *reading_context(const struct reading *, const struct tnf_file *);
PyObject *reading_probe(struct reading *, struct tnf_probe *); /* borrowed */
/* Checks that open() accepts 'where'; -1: an exception is set. */
int reading_check_where(PyObject *where);

/* event.c: a value as a Python object. */
PyObject *value_object(struct reading *, const struct tnf_file *,
    const struct tnf_value *);

/* event.c */
extern PyTypeObject event_type, probe_type;

/* record.c */
extern PyTypeObject recorder_type;
PyObject *probe_object(const struct tnf_probe *, PyObject *file);
PyObject *event_object(struct reading *, const struct tnf_event *);

/* columns.c: reads all remaining events as [(name, format, data, missing, categories)];
   'wanted': None, a probe's name or a sequence of names.  With r->names integers that have
   names are strings: these names. */
PyObject *columns_read(struct reading *, PyObject *wanted);

/* trace.c */
extern PyTypeObject trace_type, events_type;

#endif

/*
 * origin.c - what a trace tells about where it was made.
 */
#include <stdlib.h>

#include "tnfdump/input.h"
#include "tnfdump/origin.h"
#include "tnfdump/usersym.h"
#include "tnfdump/xalloc.h"

/* One a file, made when first asked for; looked up by the file last used. */
struct origin {
	const struct tnf_file *file;
	tnf_context_t	*context;	/* NULL: has none */
	bool		 has_clock;
	int64_t		 clock;
	uint32_t	 lwpid;		/* whose name was asked last */
	const char	*comm;
};

static struct origin *origins, *latest;
static unsigned n_origins;

/* What is 146 years off is no clock: an event's time can be added to it. */
static void
find_clock(struct origin *o)
{
	const struct tnf_ext *x = tnf_file_ext(o->file);

	if (o->context != NULL && tnf_context_wall(o->context, 0, &o->clock))
		o->has_clock = true;
	else if (x != NULL && x->start_wall != 0)
		o->has_clock = !__builtin_sub_overflow(x->start_wall,
		    x->start_mono, &o->clock);
	if (o->clock < -(INT64_C(1) << 62) || o->clock > INT64_C(1) << 62)
		o->has_clock = false;
}

static struct origin *
make(struct dump *d, const struct tnf_file *f)
{
	struct origin *o;

	origins = xreallocarray(origins, n_origins + 1, sizeof *origins);
	o = &origins[n_origins++];
	*o = (struct origin){ .file = f };
	for (unsigned i = 0; i < d->n_inputs; i++)
		if (d->inputs[i].file == f && tnf_context_open_mem(
		    d->inputs[i].base, d->inputs[i].size, &o->context) != 0)
			o->context = NULL;
	find_clock(o);
	return o;
}

static struct origin *
origin_of(struct dump *d, const struct tnf_file *f)
{
	if (latest != NULL && latest->file == f)
		return latest;
	for (unsigned i = 0; i < n_origins; i++)
		if (origins[i].file == f)
			return latest = &origins[i];
	return latest = make(d, f);
}

const char *
origin_comm(struct dump *d, const struct tnf_event *ev)
{
	struct origin *o = origin_of(d, ev->file);
	const struct tnf_context_task *task;

	if (o->context == NULL)
		return NULL;
	if (o->comm == NULL || o->lwpid != ev->lwpid) {
		task = tnf_context_task(o->context, (int32_t)ev->lwpid);
		o->comm = task != NULL ? task->comm : NULL;
		o->lwpid = ev->lwpid;
	}
	return o->comm;
}

bool
origin_clock(struct dump *d, const struct tnf_file *f, int64_t *ret)
{
	struct origin *o = origin_of(d, f);

	if (o->has_clock)
		*ret = o->clock;
	return o->has_clock;
}

/* A kernel address: function, and how far in. */
static const char *
origin_symbol(struct dump *d, const struct tnf_file *f, uint64_t addr,
    uint64_t *offset)
{
	struct origin *o = origin_of(d, f);
	const struct tnf_context_symbol *s;

	if (o->context == NULL ||
	    (s = tnf_context_symbol(o->context, addr)) == NULL)
		return NULL;
	*offset = addr - s->start;
	return s->name;
}

const char *
origin_place(struct dump *d, const struct tnf_event *ev, uint64_t addr,
    uint64_t *offset)
{
	const char *name = origin_symbol(d, ev->file, addr, offset);

	return name != NULL ? name : usersym_find(origin_of(d, ev->file)->context,
	    ev->pid, addr, offset);
}

const char *
origin_fact(struct dump *d, const struct tnf_file *f, const char *name)
{
	struct origin *o = origin_of(d, f);

	return o->context != NULL ? tnf_context_fact(o->context, name) : NULL;
}

const tnf_context_t *
origin_context(struct dump *d, const struct tnf_file *f)
{
	return origin_of(d, f)->context;
}

void
origins_free(void)
{
	unsigned i;

	usersym_free();
	for (i = 0; i < n_origins; i++)
		tnf_context_close(origins[i].context);
	free(origins);
	origins = latest = NULL;
	n_origins = 0;
}

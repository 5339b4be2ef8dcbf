/*
 * labels.c - prints values and threads by names from the trace itself.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/pretty-names.h"
#include "common/map.h"
#include "common/xalloc.h"
#include "tnfdump/origin.h"
#include "tnfdump/text/pretty.h"

bool
labels_possible(const struct tnf_probe *p)
{
	return strchr(p->name, '.') != NULL;
}

bool
labels_put(struct dump *d, struct out *o, const struct tnf_event *ev, const struct tnf_value *v,
    const char *member)
{
	return member != NULL && labels_possible(ev->probe) &&
	    v->kind >= TNF_K_CHAR && v->kind <= TNF_K_UINT64 &&
	    value_names_put(o, origin_value_names(d, ev, member), v->u.u, print_chars);
}

/* The key of a kernel thread: the address of its structure, which may be another thread's
   after the thread has ended.  Every machine has its own addresses. */
struct thread_key {
	const struct tnf_file *file;	/* with --hosts; else NULL: one machine */
	uint64_t address;
};

struct thread {
	uint32_t lwpid;
	int32_t	 pid;
};

static struct thread_key
thread_key(const struct dump *d, const struct tnf_event *ev, uint64_t address)
{
	return (struct thread_key){ d->hosts != NULL ? ev->file : NULL, address };
}

void
labels_see_thread(struct dump *d, const struct tnf_event *ev)
{
	struct thread_key key = thread_key(d, ev, ev->tid);
	struct thread *t;
	struct tnf_value v;

	if (d->threads == NULL) {
		d->threads = tnf_xcalloc(1, sizeof *d->threads);
		tnf_map_init(d->threads, sizeof *t);
	}
	if (strcmp(ev->probe->name, "thread_exit") == 0) {
		tnf_map_remove(d->threads, &key, sizeof key);
		return;
	}
	if ((t = tnf_map_put(d->threads, &key, sizeof key, NULL)) != NULL)
		*t = (struct thread){ ev->lwpid, ev->pid };
	/* The first member is the address of the new thread, which has written nothing yet. */
	if (strcmp(ev->probe->name, "thread_create") == 0 && ev->probe->n_members > 0 &&
	    tnf_event_value(ev, 0, &v)) {
		key.address = v.u.u;
		tnf_map_remove(d->threads, &key, sizeof key);
	}
}

/* The thread at this address; NULL: it has written no event yet.  *of is an event as if it had
   written this one. */
static const struct thread *
thread_at(struct dump *d, const struct tnf_event *ev, uint64_t address, struct tnf_event *of)
{
	struct thread_key key = thread_key(d, ev, address);
	const struct thread *t = d->threads != NULL ?
	    tnf_map_get(d->threads, &key, sizeof key) : NULL;

	*of = *ev;
	if (t == NULL)
		return NULL;
	of->lwpid = t->lwpid;
	of->pid = t->pid;
	of->tid = address;
	return t;
}

bool
labels_put_thread(struct dump *d, struct out *o, const struct tnf_event *ev, uint64_t address)
{
	struct tnf_event of;
	const char *name;

	if (thread_at(d, ev, address, &of) == NULL)
		return false;
	tnf_out_u64(o, of.lwpid);
	if ((name = origin_comm(d, &of)) != NULL) {
		out_char(o, '(');
		print_name(o, name);
		out_char(o, ')');
	}
	return true;
}

const char *
labels_thread_name(struct dump *d, const struct tnf_event *ev, uint64_t address)
{
	struct tnf_event of;

	return thread_at(d, ev, address, &of) == NULL ? NULL : origin_comm(d, &of);
}

void
labels_free(struct dump *d)
{
	if (d->threads != NULL)
		tnf_map_free(d->threads);
	free(d->threads);
	d->threads = NULL;
}

/*
 * why-input.c - the events of the dump go into the index of --why, with the names that the
 * dump finds.
 */
#include "analysis/attrs.h"
#include "common/xalloc.h"
#include "tnfdump/hosts.h"
#include "tnfdump/origin.h"
#include "tnfdump/report/reports.h"

struct why_input {
	struct dump *d;
	struct why *why;
	struct why_pairs *pairs;
	struct perprobe messages;	/* hosts_message() */
	struct out key;
};

static const char *
feed_comm(void *arg, const struct tnf_event *ev)
{
	return origin_comm(arg, ev);
}

static const char *
feed_symbol(void *arg, const struct tnf_event *ev, uint64_t addr)
{
	uint64_t offset;

	return origin_place(arg, ev, addr, &offset);
}

static const char *
feed_device(void *arg, const struct tnf_file *f, uint64_t device)
{
	const tnf_context_t *c = origin_context(arg, f);

	return c == NULL ? NULL : tnf_context_device(c, (uint32_t)(device >> 20),
	    (uint32_t)(device & 0xfffff));
}

static const char *
feed_cgroup(void *arg, const struct tnf_event *ev)
{
	return origin_cgroup(arg, ev);
}

struct why_input *
why_input_new(struct dump *d)
{
	const struct why_source source = { feed_comm, feed_symbol, feed_device, feed_cgroup, d };
	struct why_input *f = tnf_xcalloc(1, sizeof(*f));

	f->d = d;
	f->why = why_new(&source);
	f->pairs = why_pairs_new(f->why);
	tnf_out_memory(&f->key);
	return f;
}

void
why_input_free(struct why_input *f)
{
	if (f == NULL)
		return;
	why_pairs_free(f->pairs);
	why_free(f->why);
	tnf_out_close(&f->key);
	free(f->messages.base);
	free(f);
}

struct why_pairs *
why_input_pairs(struct why_input *f)
{
	return f->pairs;
}

void
why_input_event(struct why_input *f, const struct tnf_event *ev, enum pair_role role,
    const struct pair_slice *slice)
{
	struct tnf_event machine = *ev;
	bool sent;

	if (!ev->kernel)
		origin_host(f->d, ev, &machine.pid, &machine.lwpid);
	why_feed(f->why, &machine);
	why_pairs_feed(f->pairs, &machine, role, slice);
	if (f->d->hosts != NULL && hosts_message(f->d, &f->messages, ev, &f->key, &sent))
		(sent ? why_sent : why_received)(f->why, &machine, f->key.base,
		    (size_t)(f->key.p - f->key.base));
}

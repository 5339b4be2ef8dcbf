/*
 * info.c - the files in figures (--info): gathering.
 */
#include "tnfdump/report/info.h"
#include "tnfdump/input.h"
#include "tnfdump/options.h"
#include "common/xalloc.h"

uint64_t
info_lost(const struct info *f)
{
	uint64_t n = 0;

	for (unsigned i = 0; f->ext != NULL && i < TNF_LOST_REASONS; i++)
		n += f->ext->lost[i];
	return n;
}

const char *
info_ended(const struct info *f)
{
	if (f->ext == NULL || f->ext->kind != TNF_EXT_PROCESS)
		return NULL;
	return f->ext->ended >= f->ext->attached ? "yes" : "no";
}

const char *
info_missing(const struct info *f)
{
	return f->context == NULL ? NULL : tnf_context_fact(f->context, "missing");
}

uint64_t
info_count(const struct info_all *all, unsigned probe)
{
	return probe < all->counts.n ?
	    ((const uint64_t *)(const void *)all->counts.base)[probe] : 0;
}

bool
info_wall(const struct info *f, int64_t time, int64_t *wall)
{
	if (f->context != NULL && tnf_context_wall(f->context, time, wall))
		return true;
	if (f->ext == NULL || f->ext->start_wall == 0)
		return false;
	*wall = (int64_t)((uint64_t)f->ext->start_wall + (uint64_t)time -
	    (uint64_t)f->ext->start_mono);
	return true;
}

/* Do the writers number their blocks? */
static bool
info_numbered(const struct info *f)
{
	for (unsigned i = 0; i < f->n_cpu; i++)
		if (f->cpu[i].events > 0 && f->cpu[i].block == 0)
			return false;
	return f->n_cpu > 0;
}

int64_t
info_complete(const struct dump *d, const struct info *f)
{
	int64_t from = INT64_MAX;

	if (d->filters != NULL || f->events == 0 || info_missing(f) != NULL)
		return INT64_MAX;
	if (f->sum.generation <= 1 && f->sum.overwritten == 0 && !info_numbered(f))
		return INT64_MIN;
	/* Of a CPU whose first block is there nothing is missing. */
	for (unsigned i = 0; i < f->n_cpu; i++)
		if (f->cpu[i].events > 0 && f->cpu[i].block != 1 &&
		    (from == INT64_MAX || f->cpu[i].first > from))
			from = f->cpu[i].first;
	return from == INT64_MAX && info_numbered(f) ? INT64_MIN : from;
}

static void
info_note_cpu(struct info *f, const struct tnf_event *ev)
{
	unsigned cpu = (unsigned)ev->cpu, n = f->n_cpu;

	idset_add(&f->cpus, cpu, 1);
	if (cpu >= INFO_CPUS_MAX)
		return;
	if (cpu >= n) {
		f->n_cpu = cpu + 1;
		f->cpu = tnf_xreallocarray(f->cpu, f->n_cpu, sizeof(*f->cpu));
		memset(f->cpu + n, 0, (f->n_cpu - n) * sizeof(*f->cpu));
	}
	struct info_cpu *c = &f->cpu[cpu];
	if (c->events++ == 0) {
		c->first = ev->time;
		c->block = ev->block;
	}
	c->last = ev->time;
}

static int
info_begin(struct dump *d)
{
	struct info_all *all = tnf_xcalloc(1, sizeof *all);

	all->n = d->n_inputs;
	all->files = tnf_xcalloc(all->n, sizeof *all->files);
	for (unsigned i = 0; i < all->n; i++) {
		struct info *f = &all->files[i];
		f->in = &d->inputs[i];
		f->ext = tnf_file_ext(f->in->file);
		if (tnf_context_open_mem(f->in->base, f->in->size,
		    &f->context) != 0)
			f->context = NULL;
	}
	d->state = all;
	return 0;
}

static int
info_begin_text(struct dump *d)
{
	info_begin(d);
	info_text_begin(d);
	return 0;
}

static int
info_event(struct dump *d, const struct tnf_event *ev)
{
	struct info_all *all = d->state;
	struct info *f = all->files;

	while (f->in->file != ev->file)
		f++;
	if (f->events++ == 0)
		f->first = ev->time;
	f->last = ev->time;
	idset_add(&f->threads, (uint64_t)(uint32_t)ev->pid << 32 | ev->lwpid,
	    ev->tid);
	idset_add(&f->pids, (uint32_t)ev->pid, 1);
	if (ev->cpu >= 0)
		info_note_cpu(f, ev);
	++*(uint64_t *)perprobe(&all->counts, ev->probe, sizeof(uint64_t));
	return 0;
}

static void
info_release(struct info_all *all)
{
	for (unsigned i = 0; i < all->n; i++) {
		tnf_context_close(all->files[i].context);
		idset_free(&all->files[i].threads);
		idset_free(&all->files[i].pids);
		idset_free(&all->files[i].cpus);
		free(all->files[i].cpu);
	}
	free(all->files);
	free(all->counts.base);
	free(all);
}

static int
info_finish(struct dump *d, int (*print)(struct dump *))
{
	struct info_all *all = d->state;

	for (unsigned i = 0; i < all->n; i++)
		tnf_file_summary(all->files[i].in->file, &all->files[i].sum);
	int r = print(d);
	info_release(all);
	return r;
}

static int
end_text(struct dump *d)
{
	return info_finish(d, info_text);
}

static int
end_json(struct dump *d)
{
	return info_finish(d, info_json);
}

static const struct output text = {
	.name = "info", .begin = info_begin_text, .event = info_event, .end = end_text
};

static const struct output json = {
	.name = "info=json", .begin = info_begin, .event = info_event, .end = end_json
};

int
info_set(struct dump *d, const char *arg)
{
	if (arg == NULL || strcmp(arg, "text") == 0)
		return output_choose(d, "info", &text);
	if (strcmp(arg, "json") == 0)
		return output_choose(d, "info", &json);
	return options_wrong("info", "no form \"%s\": it is text or json", arg);
}

bool
info_chosen(const struct dump *d)
{
	return d->output == &text || d->output == &json;
}

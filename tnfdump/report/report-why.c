/*
 * report-why.c - --why and --why-slow: the causes of an instance's duration.
 */
#include "analysis/json.h"
#include "tnfdump/hosts.h"
#include "tnfdump/report/report.h"

#define INSTANCES_MAX	10u	/* that --id prints */
#define FOLDED_MAX	1000u

enum form { FORM_TEXT, FORM_JSON, FORM_FOLDED };

struct why_run {
	const char *option;		/* "why" or "why-slow" */
	const char *pair;		/* NULL: to be chosen */
	const char *id;			/* NULL: the slowest */
	enum form form;
	struct why_input *input;
	struct why *why;		/* of 'input', as 'pairs' */
	struct why_pairs *pairs;
};

static struct why_run *
run_of(struct dump *d)
{
	if (d->why == NULL)
		d->why = tnf_xcalloc(1, sizeof(*d->why));
	return d->why;
}

static int
set_pair(struct dump *d, const char *option, const char *pair)
{
	struct why_run *r = run_of(d);

	if (r->option != NULL && strcmp(r->option, option) != 0)
		return options_wrong(option, "not with --%s: one report at a time", r->option);
	r->option = option;
	if (pair != NULL && strcmp(pair, "json") == 0)
		r->form = FORM_JSON;
	else if (pair != NULL)
		r->pair = pair;
	return 0;
}

int
why_set(struct dump *d, const char *pair)
{
	return set_pair(d, "why", pair);
}

int
why_slow_set(struct dump *d, const char *pair)
{
	return set_pair(d, "why-slow", pair);
}

int
why_id_set(struct dump *d, const char *value)
{
	run_of(d)->id = strcmp(value, "slowest") == 0 ? NULL : value;
	return 0;
}

static int
why_begin(struct dump *d)
{
	struct why_run *r = d->why;

	reports_pairs(d);
	r->input = why_input_new(d);
	r->pairs = why_input_pairs(r->input);
	r->why = why_pairs_index(r->pairs);
	d->state = r;
	return 0;
}

static int
why_event(struct dump *d, const struct tnf_event *ev)
{
	struct why_run *r = d->why;
	struct pair_slice slice;

	why_input_event(r->input, ev, pairs_feed(d->pairs, ev, d->keep, &slice), &slice);
	return 0;
}

/* Prints text that has names from the trace in it, line by line. */
static void
print_lines(struct dump *d, struct out *text)
{
	const char *p = text->base, *end;

	while ((end = memchr(p, '\n', (size_t)(text->p - p))) != NULL) {
		print_chars(&d->out, p, (size_t)(end - p));
		out_char(&d->out, '\n');
		p = end + 1;
	}
	text->p = text->base;
}

/* Says which events the trace lacks, and how to record them. */
static void
print_missing(struct dump *d)
{
	struct losses losses = { 0 };
	uint64_t lost = 0;

	for (unsigned i = 0; i < d->n_inputs; i++)
		lost += losses_count(&losses, tnf_file_ext(d->inputs[i].file)).events;
	losses_free(&losses);
	if (lost > 0)
		tnf_out_format(&d->out, "Events were lost: %" PRIu64 ".\n", lost);
	if (why_has_kernel(d->why->why))
		return;
	out_lit(&d->out, "Not in the trace: what the threads waited for.  Record the kernel "
	    "meanwhile, and give its file, too:\n"
	    "    prex -k -c 'buffer alloc 64m; trace $why; enable $why; ktrace on'\n"
	    "    tnfxtract kernel.tnf\n");
}

static void
print_instance(struct dump *d, const struct why_instance *in)
{
	struct why_run *r = d->why;
	struct why_tree t = why_pairs_explain(r->pairs, in);
	struct out text;

	tnf_out_memory(&text);
	why_put_instance(r->pairs, &text, in, &t);
	if (r->form == FORM_JSON) {
		out_lit(&d->out, "{\"pair\":");
		json_name(&d->out, in->name);
		tnf_out_format(&d->out, ",\"took\":%" PRId64 ",\"typical\":%" PRId64 ",\"verdict\":",
		    in->took, why_pairs_typical_took(r->pairs));
		json_text(&d->out, text.base, (size_t)(text.p - text.base));
		out_lit(&d->out, ",\"tree\":");
		why_put_json(r->why, &d->out, &t);
		out_lit(&d->out, "}\n");
	} else {
		print_lines(d, &text);
		print_missing(d);
		if (why_has_kernel(r->why)) {
			why_put_tree(r->why, &text, &t, in->start.time);
			print_lines(d, &text);
		}
	}
	tnf_out_close(&text);
	why_tree_free(&t);
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int
tell_pairs(struct dump *d)
{
	struct why_run *r = d->why;
	const char *name[20];
	struct out names;
	unsigned n = 0;

	while (n < 20 && (name[n] = why_pairs_name(r->pairs, n)) != NULL)
		n++;
	qsort(name, n, sizeof *name, by_text);
	tnf_out_memory(&names);
	for (unsigned i = 0; i < n; i++) {
		out_char(&names, ' ');
		out_str(&names, name[i]);
	}
	out_char(&names, '\0');
	if (names.base[0] == '\0')
		dump_error(d, "--%s: nothing begins and ends in what was read: name the probes "
		    "with --pair START,END[,MEMBER]", r->option);
	else
		dump_error(d, "--%s: %s: no such pair has ended: there are%s", r->option, r->pair,
		    names.base);
	tnf_out_close(&names);
	return -1;
}

static int
print_chosen(struct dump *d)
{
	struct why_run *r = d->why;
	unsigned printed = 0;
	size_t n;

	struct why_instance *const *all = why_pairs_all(r->pairs, &n);
	if (r->id == NULL) {
		print_instance(d, all[n - 1]);
		return 0;
	}
	for (size_t i = n; i-- > 0 && printed < INSTANCES_MAX; )
		if (why_instance_has(all[i], r->id)) {
			if (printed++ > 0 && r->form == FORM_TEXT)
				out_char(&d->out, '\n');
			print_instance(d, all[i]);
		}
	if (printed == 0)
		dump_error(d, "--id %s: no start of %s has this value in a member", r->id,
		    all[0]->name);
	return printed > 0 ? 0 : -1;
}

static int
why_end(struct dump *d)
{
	struct why_run *r = d->why;
	struct out text;
	size_t n;
	int status = 0;

	const char *name = why_pairs_choose(r->pairs, r->pair);
	if (name == NULL)
		return tell_pairs(d);
	why_pairs_all(r->pairs, &n);
	if (n == 0) {
		dump_error(d, "--%s: %s: all %" PRIu64 " began before the trace is complete: "
		    "a larger buffer reaches further back", r->option, name,
		    why_pairs_left_out(r->pairs));
		return -1;
	}
	if (r->form == FORM_FOLDED)
		why_fold(r->pairs, d, FOLDED_MAX);
	else if (strcmp(r->option, "why") == 0)
		status = print_chosen(d);
	else {
		tnf_out_memory(&text);
		why_put_table(r->pairs, &text, r->form == FORM_JSON);
		if (r->form == FORM_JSON)
			tnf_out_bytes(&d->out, text.base, (size_t)(text.p - text.base));
		else {
			print_lines(d, &text);
			print_missing(d);
		}
		tnf_out_close(&text);
	}
	return status;
}

static int
why_end_free(struct dump *d)
{
	int status = why_end(d);

	why_input_free(d->why->input);
	d->why->input = NULL;
	d->why->pairs = NULL;
	d->why->why = NULL;
	return status;
}

static const struct output why_output = {
	"why", "causes of a duration", why_begin, why_event, why_end_free, .pretty = true,
	.all = true, .whole = true
};

int
why_choose(struct dump *d)
{
	struct why_run *r = d->why;

	if (r == NULL)
		return 0;
	if (r->option == NULL)
		return options_wrong("id", "belongs to --why, as in --why=request --id 812");
	if (d->output == output_find("jsonl"))
		r->form = FORM_JSON;
	else if (d->output == output_find("folded"))
		r->form = FORM_FOLDED;
	else if (d->output != &outputs[0])
		return options_wrong(r->option, "is text, --to jsonl or --to folded: "
		    "not with --%s", d->chosen_by);
	if (r->id != NULL && strcmp(r->option, "why") != 0)
		return options_wrong("id", "belongs to --why: --why-slow compares many");
	d->output = &why_output;
	return 0;
}

/*
 * --why --to folded: a flame graph of the waits, and one of the CPU.
 */
struct folding {
	struct why *w;
	struct why_sums sums;
	struct out line, frame;
	const char *pair;
};

/* Ends the frame: blanks and semicolons separate in this format. */
static void
put_frame(struct folding *f)
{
	out_char(&f->line, ';');
	for (const char *p = f->frame.base; p < f->frame.p; p++)
		out_char(&f->line, *p == ';' || *p == ' ' || *p == '\n' ? '_' : *p);
	f->frame.p = f->frame.base;
}

static void
fold_leaf(void *arg, const struct why_node *const *path, unsigned n)
{
	const struct why_node *leaf = path[n - 1];
	struct folding *f = arg;
	bool runs = leaf->kind == WHY_RUN;

	f->line.p = f->line.base;
	out_str(&f->line, f->pair);
	out_str(&f->frame, runs ? "on the CPU" : "waits");
	put_frame(f);
	for (unsigned i = 0; i < n; i++) {
		if (path[i]->kind == WHY_TAKEN)
			continue;
		why_put_thread(f->w, &f->frame, path[i]->thread, path[i]->from, false);
		put_frame(f);
		if (i + 1 < n && path[i]->kind != WHY_READY) {
			out_str(&f->frame, path[i]->kind == WHY_QUEUED ? "queued" :
			    why_reason_name(path[i]));
			put_frame(f);
		}
	}
	why_put_leaf(f->w, &f->frame, leaf, runs);
	put_frame(f);
	why_sum_of(&f->sums, f->line.base, (size_t)(f->line.p - f->line.base))->ns +=
	    leaf->to - leaf->from;
}

void
why_fold(struct why_pairs *p, struct dump *d, size_t max)
{
	struct folding f = { .w = why_pairs_index(p) };
	size_t n;

	struct why_instance *const *all = why_pairs_all(p, &n);
	tnf_out_memory(&f.line);
	tnf_out_memory(&f.frame);
	f.pair = all[0]->name;
	for (size_t i = 0, take = n < max ? n : max; i < take; i++) {
		struct why_tree t = why_pairs_explain(p, all[i * n / take]);
		why_leaves(&t, fold_leaf, &f);
		why_tree_free(&t);
	}
	for (const struct why_sum *s = f.sums.first; s != NULL; s = s->next) {
		print_chars(&d->out, s->text, s->len);
		out_char(&d->out, ' ');
		tnf_out_u64(&d->out, (uint64_t)s->ns);
		out_char(&d->out, '\n');
	}
	why_sums_free(&f.sums);
	tnf_out_close(&f.line);
	tnf_out_close(&f.frame);
}

/*
 * The events of the dump go into the index of --why, with the names that the
 * dump finds.
 */
struct why_input {
	struct dump *d;
	struct why *why;
	struct why_pairs *pairs;
	struct perprobe messages;	/* hosts_message_key() */
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
	if (f->d->hosts != NULL && hosts_message_key(f->d, &f->messages, ev, &f->key, &sent))
		(sent ? why_sent : why_received)(f->why, &machine, f->key.base,
		    (size_t)(f->key.p - f->key.base));
}

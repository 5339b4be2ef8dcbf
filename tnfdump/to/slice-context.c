/*
 * slice-context.c - merges the contexts of several traces into one.
 *
 * A context is text, one line for each fact (tnf(5), "Context").  The context of the
 * kernel's file comes first, as it has most facts; then come the tasks, symbols and objects
 * of the other files.  If a fact occurs twice, the first counts.
 */
#include "libtnf/context-write.h"
#include "tnfdump/origin.h"
#include "tnfdump/tnfdump.h"
#include "tnfdump/to/tnf-write.h"

struct text {
	const char *at;
	size_t	    size;
};

static struct text
text_of(const struct input *in)
{
	const struct tnf_ext *x = tnf_file_ext(in->file);
	struct text t = { NULL, 0 };

	if (x == NULL || x->extra_offset == 0 || x->extra_offset > in->size ||
	    x->extra_size > in->size - x->extra_offset)
		return t;
	t.at = (const char *)in->base + x->extra_offset;
	t.size = (size_t)x->extra_size;
	return t;
}

static bool
slice_context_starts(const struct text *line, const char *word)
{
	size_t n = strlen(word);

	return line->size > n && memcmp(line->at, word, n) == 0 &&
	    line->at[n] == ' ';
}

/* Takes the next line with its newline; a last line without a newline is ignored. */
static bool
next_line(struct text *rest, struct text *line)
{
	const char *end = rest->size == 0 ? NULL :
	    memchr(rest->at, '\n', rest->size);

	if (end == NULL)
		return false;
	line->at = rest->at;
	line->size = (size_t)(end + 1 - rest->at);
	rest->at += line->size;
	rest->size -= line->size;
	return true;
}

/* True if the line is copied.  "inner" lines are left out if there are several files: the
   numbers of containers are then translated. */
static bool
slice_context_belongs(const struct text *line, bool first, bool alone)
{
	if (slice_context_starts(line, "end") || (slice_context_starts(line, "inner") && !alone))
		return false;
	return first || slice_context_starts(line, "task") || slice_context_starts(line, "ended") ||
	    slice_context_starts(line, "symbol") || slice_context_starts(line, "object");
}

static void
slice_context_copy(FILE *f, const struct input *in, struct map *redacted, bool first, bool alone)
{
	struct text rest = text_of(in), line;

	while (next_line(&rest, &line)) {
		if (!slice_context_belongs(&line, first, alone))
			continue;
		if (redacted != NULL)
			redact_line(f, redacted, line.at, line.size);
		else
			fwrite(line.at, 1, line.size, f);
	}
}

static void
slice_context_past(struct context_writer *w, const char *what, const struct tnf_context_former *old, size_t n)
{
	char word[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(word, sizeof(word), "%s %d %lld", what, old[i].tid, (long long)old[i].time);
		context_fact(w, word, old[i].comm);
	}
}

/* A process writes its names into blocks, which are not copied: the names go into the context. */
static void
slice_context_names(struct context_writer *w, struct dump *d, const struct input *in)
{
	const struct tnf_ext *x = tnf_file_ext(in->file);
	const tnf_context_t *c = origin_context(d, in->file);
	char word[64];
	size_t n;

	if (x == NULL || x->names == 0 || c == NULL)
		return;
	const struct tnf_context_task *t = tnf_context_tasks(c, &n);
	for (size_t i = 0; i < n; i++) {
		snprintf(word, sizeof(word), "thread %d %d %d", t[i].tid, t[i].pid, t[i].ppid);
		context_fact(w, word, t[i].comm);
	}
	const struct tnf_context_former *past = tnf_context_formers(c, &n);
	slice_context_past(w, "renamed", past, n);
	past = tnf_context_ran(c, &n);
	slice_context_past(w, "runs", past, n);
}

/* The index of the file whose context comes first; n_inputs: no file has a context. */
static unsigned
slice_context_leader(const struct dump *d)
{
	unsigned i, found = d->n_inputs;

	for (i = 0; i < d->n_inputs; i++) {
		if (text_of(&d->inputs[i]).at == NULL)
			continue;
		if (tnf_file_ext(d->inputs[i].file)->kind == TNF_EXT_KERNEL)
			return i;
		if (found == d->n_inputs)
			found = i;
	}
	return found;
}

char *
slice_context(struct dump *d, struct map *redacted, size_t *size)
{
	unsigned i, first = slice_context_leader(d);
	struct context_writer w = { .text = NULL };
	bool named = false;
	const struct tnf_ext *x;

	for (i = 0; i < d->n_inputs; i++)
		named |= (x = tnf_file_ext(d->inputs[i].file)) != NULL && x->names != 0;
	if ((first == d->n_inputs && !named) || (w.f = open_memstream(&w.text, size)) == NULL)
		return NULL;
	if (first < d->n_inputs)
		slice_context_copy(w.f, &d->inputs[first], redacted, true, d->n_inputs == 1);
	else
		fputs("TNFCTX 1\n", w.f);
	for (i = 0; i < d->n_inputs; i++)
		if (i != first)
			slice_context_copy(w.f, &d->inputs[i], redacted, false, false);
	for (i = 0; i < d->n_inputs && redacted == NULL; i++)
		slice_context_names(&w, d, &d->inputs[i]);
	fputs("end 1\n", w.f);
	return fclose(w.f) == 0 ? w.text : NULL;
}
